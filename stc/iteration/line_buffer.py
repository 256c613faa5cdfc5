"""Line buffers: a circular buffer along one data dimension, filled and emptied in turn by one task.

Both sides move along the dimension from low to high, tile by tile; a *line* is one index of the dimension with all that lies
there. A tile of the source brings new lines; a tile of the target needs some of them, and may need lines of the tile before it
again (a sliding window). A target tile leaves as soon as its last line is there, so that the fewest lines are held.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import lcm

from stc.iteration.order import Coordinate, StreamOrder
from stc.iteration.size import static

MOST_STEPS = 16
"""Loop nests a line buffer's task may consist of, one after the other: code size, not time."""


@dataclass(frozen=True)
class Tiles:
    """How one side moves along the dimension: `trip` tiles of `span` lines, each `step` lines after the one before.

    `inside`: the tokens of one tile, in coordinates that start at the tile's first line.
    """

    trip: int
    step: int
    span: int
    inside: StreamOrder


@dataclass(frozen=True)
class LineStep:
    """Receive a tile of the source (`receives`) or send one of the target, its first line at `line` of the circular buffer."""

    receives: bool
    line: int


@dataclass(frozen=True)
class LineSchedule:
    """What the task does: `before`, then `repeats` times `body`, then `after`."""

    before: tuple[LineStep, ...]
    body: tuple[LineStep, ...]
    repeats: int
    after: tuple[LineStep, ...]

    @property
    def length(self) -> int:
        """Loop nests it is written with."""
        return len(self.before) + len(self.body) + len(self.after)

    def __iter__(self) -> Iterator[LineStep]:
        yield from self.before
        for _ in range(self.repeats):
            yield from self.body
        yield from self.after


def moving_tiles(source: StreamOrder, target: StreamOrder, dimension: int) -> tuple[Tiles, Tiles] | None:
    """How both sides of a block move along `dimension`; None unless both do so outermost, the source line by line on."""
    sides = _tiles_along(source, dimension), _tiles_along(target, dimension)
    if sides[0] is None or sides[1] is None or sides[0].step != sides[0].span:
        return None
    return sides[0], sides[1]


def aligned_lines(source: Tiles, target: Tiles, is_last: bool) -> int | None:
    """What the number of lines must be a multiple of, so that no vector wraps around; None where any number lets one wrap.

    Vectors lie along the last dimension: only there several lines are in one token of the hardware.
    """
    if not is_last:
        return 1
    token = target.inside.element[-1]
    steps = [target.step, *(target.inside.loops[loop].step for loop in target.inside.coordinates[-1].loops)]
    return None if any(step % token for step in steps) else lcm(source.inside.element[-1], token)


def _tiles_along(block: StreamOrder, dimension: int) -> Tiles | None:
    """The tiles in which `block` moves along `dimension`, None unless its outermost loop (of several iterations) does so."""
    outer = next((index for index, loop in enumerate(block.loops) if loop.trip != 1), None)
    if outer is None or block.dimension_of_loop[outer] != dimension:
        return None
    loop = block.loops[outer]
    return Tiles(static(loop.trip), loop.step, block.span(dimension, outer + 1), _inner(block, outer + 1))


def _inner(order: StreamOrder, start: int) -> StreamOrder:
    """`order` inside its first `start` loops."""
    coordinates = tuple(Coordinate(tuple(loop - start for loop in c.loops if loop >= start)) for c in order.coordinates)
    return StreamOrder(order.element, order.loops[start:], coordinates)


def least_lines(source: Tiles, target: Tiles) -> int:
    """Lines that must be held: from the first one still needed to the last one of the source tile that arrives next."""
    most = sent = 0
    for received in range(1, source.trip + 1):
        there = received * source.step
        most = max(most, there - sent * target.step)
        sent = max(sent, min(target.trip, (there - target.span) // target.step + 1))
    return most


def line_schedule(source: Tiles, target: Tiles, lines: int) -> LineSchedule | None:
    """The schedule over a circular buffer of `lines` lines; None where it takes more than `MOST_STEPS` loop nests."""
    around = lcm(source.step, target.step, lines)
    period = around // source.step + around // target.step
    if min(source.trip + target.trip, period) > MOST_STEPS:
        return None
    steps = list(_steps(source, target, lines))
    if len(steps) <= MOST_STEPS:
        return LineSchedule(tuple(steps), (), 0, ())
    for start in range(MOST_STEPS - period + 1):
        end = start + period
        while steps[end : end + period] == steps[start : start + period] and end + period <= len(steps):
            end += period
        found = LineSchedule(
            tuple(steps[:start]), tuple(steps[start : start + period]), (end - start) // period, tuple(steps[end:])
        )
        if found.length <= MOST_STEPS:
            return found
    return None


def _steps(source: Tiles, target: Tiles, lines: int) -> Iterator[LineStep]:
    sent = 0
    for received in range(1, source.trip + 1):
        yield LineStep(True, (received - 1) * source.step % lines)
        while sent < target.trip and sent * target.step + target.span <= received * source.step:
            yield LineStep(False, sent * target.step % lines)
            sent += 1
