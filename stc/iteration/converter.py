"""Converter inference: the smallest buffer that turns one stream order into another (docs/design/method.md section 5).

The published Algorithm 1 is wrong as printed (it stops at the first data dimension that does not match and compares neither
trip counts nor steps); this follows its paragraph: the longest prefix of loops that both orders share wraps the converter,
and a data dimension is buffered only over what is visited inside that prefix.

Where an entry lies in the buffer is stated here once, in two forms that agree: `ConverterPlan.address` from the coordinate, and
`source_block` / `target_block` as the loops that enumerate it. Lowering, execution and proofs use these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import lcm, prod

from stc.iteration.line_buffer import LineSchedule, Tiles, aligned_lines, least_lines, line_schedule, moving_tiles
from stc.iteration.normal_form import normal_form, split_loop
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import maximum, static


@dataclass(frozen=True)
class ConverterPlan:
    """What a converter does.

    `source` and `target`: both orders, refined so that their first `shared_loops` loops are the same loops. `buffer_shape`:
    entries buffered per data dimension, one block, without the gaps that shared loops leave. `blocks`: 2 (ping-pong: one is
    filled while the other is emptied) or 1. `window`: the data dimension along which the buffer is circular (a line buffer,
    one task that receives and sends in turn), None for a block that is filled whole before it is emptied.

    ValueError, with a sentence fit for a user, where these do not fit together.
    """

    source: StreamOrder
    target: StreamOrder
    shared_loops: int
    buffer_shape: tuple[int, ...]
    blocks: int = 2
    window: int | None = None

    def __post_init__(self) -> None:
        check_orders(self.source, self.target)
        shared = common_prefix(self.source, self.target)
        if not 0 <= self.shared_loops <= shared:
            raise ValueError(
                f"has shared_loops = {self.shared_loops} but source and result share {shared}, expected 0 to {shared}"
            )
        for loop in range(self.shared_loops):
            if not keeps_windows_whole(self.target, loop, self.shared_loops):
                raise ValueError(f"shares loop {loop}, over whose iterations the windows of the result reach")
        if self.blocks not in (1, 2):
            raise ValueError(f"has blocks = {self.blocks}, expected 1 (single buffer) or 2 (ping-pong)")
        if self.window is not None and not 0 <= self.window < self.source.rank:
            raise ValueError(f"has window = {self.window}, expected a dimension of the tensor, 0 to {self.source.rank - 1}")
        self._check_buffer()
        if self.window is not None:
            self._check_window(self.window)

    def _check_buffer(self) -> None:
        if len(self.buffer_shape) != self.source.rank:
            raise ValueError(f"has a buffer of rank {len(self.buffer_shape)}, expected rank {self.source.rank} of the tensor")
        for dimension, extent in enumerate(self.buffer_shape):
            needed, available = (_room(order, dimension) for order in (self.source_block, self.source))
            if dimension != self.window and not needed <= extent <= available:
                raise ValueError(
                    f"buffers {extent} entries of dimension {dimension}, expected at least the {needed} visited inside "
                    f"the shared loops and at most the {available} of the tensor"
                )

    def _check_window(self, dimension: int) -> None:
        if self.blocks != 1:
            raise ValueError(f"has window = {dimension} and blocks = {self.blocks}, expected blocks = 1 of a line buffer")
        tiles, extent = self.tiles, self.buffer_shape[dimension]
        if tiles is None:
            raise ValueError(f"has window = {dimension}, along which source and result do not both move from tile to tile")
        if extent < (needed := least_lines(*tiles)):
            raise ValueError(f"has a window of {extent} lines of dimension {dimension}, expected at least the {needed} held")
        unit = aligned_lines(*tiles, dimension == self.source.rank - 1)
        if unit is None:
            raise ValueError(f"has window = {dimension}, along which the result moves by less than a token")
        if extent % unit:
            raise ValueError(f"has a window of {extent} entries in which a token may wrap around, expected a multiple of {unit}")
        if self.line_schedule is None:
            raise ValueError(f"has a window of {extent} lines, whose schedule takes too many loop nests")

    # Sizes ------------------------------------------------------------------------------------------------------------

    @property
    def shared(self) -> tuple[Loop, ...]:
        """The loops that source and target share, outermost first: a block is filled and emptied in each of their iterations."""
        return self.source.loops[: self.shared_loops]

    @property
    def iterations(self) -> int:
        """How often the block is filled and emptied: iterations of the shared loops."""
        return prod(static(loop.trip) for loop in self.shared)

    @property
    def block_entries(self) -> int:
        """Entries of one block."""
        return prod(self.buffer_shape)

    @property
    def buffer_entries(self) -> int:
        """Entries of all blocks."""
        return self.block_entries * self.blocks

    def at(self, values: Mapping[str, int]) -> ConverterPlan:
        """What it does at these values of symbols, in as much of its buffer as there is of the tensor."""
        source, target = self.source.at(values), self.target.at(values)
        extents = enumerate(self.buffer_shape)
        used = tuple(extent if index == self.window else min(extent, _room(source, index)) for index, extent in extents)
        return replace(self, source=source, target=target, buffer_shape=used)

    # Addresses --------------------------------------------------------------------------------------------------------

    @cached_property
    def source_block(self) -> StreamOrder:
        """The tokens that arrive in one shared iteration, by their addresses before `buffer_shape` wraps them."""
        return block_order(self.source, self.shared_loops)

    @cached_property
    def target_block(self) -> StreamOrder:
        """The tokens that leave in one shared iteration, by their addresses before `buffer_shape` wraps them."""
        return block_order(self.target, self.shared_loops)

    @cached_property
    def tiles(self) -> tuple[Tiles, Tiles] | None:
        """How source and target move along the window; None where there is none, or they do not move along it."""
        return None if self.window is None else moving_tiles(self.source_block, self.target_block, self.window)

    @cached_property
    def line_schedule(self) -> LineSchedule | None:
        """In which order a line buffer receives and sends tiles, in each shared iteration; None without a window."""
        if self.window is None or self.tiles is None:
            return None
        return line_schedule(*self.tiles, self.buffer_shape[self.window])

    def address(self, coordinate: Sequence[int]) -> tuple[int, ...]:
        """Where the entry of the tensor at `coordinate` lies in the buffer.

        Per data dimension: the digits that the shared loops count are taken out of the coordinate; along `window` what is
        left is taken modulo the extent of the buffer.
        """
        local = [self._without_shared_digits(dimension, value) for dimension, value in enumerate(coordinate)]
        if self.window is not None:
            local[self.window] %= self.buffer_shape[self.window]
        return tuple(local)

    def _without_shared_digits(self, dimension: int, value: int) -> int:
        shared = [self.source.loops[loop] for loop in self.source.coordinates[dimension].loops if loop < self.shared_loops]
        for loop in sorted(shared, key=lambda loop: -loop.step):
            if loop.trip != 1:
                value = value // (loop.step * static(loop.trip)) * loop.step + value % loop.step
        return value


def common_prefix(source: StreamOrder, target: StreamOrder) -> int:
    """How many outermost loops of both are the same: trip, dimension, and step unless it is a reuse loop."""
    shared = 0
    for first, second, left, right in zip(
        source.loops, target.loops, source.dimension_of_loop, target.dimension_of_loop, strict=False
    ):
        if left != right or first.trip != second.trip or (left is not None and first.step != second.step):
            break
        shared += 1
    return shared


def block_order(order: StreamOrder, shared: int) -> StreamOrder:
    """The order of one iteration of the `shared` outermost loops, in coordinates of a block without gaps.

    What the shared loops count is left out of the coordinates: a loop that advances by more than a shared loop covers
    advances by as many times less. `order` is exact along every dimension where this happens (`ConverterPlan` sees to it), so
    that every step is a multiple of what finer loops cover.
    """
    loops = tuple(_inside(order, shared, loop) for loop in range(shared, len(order.loops)))
    coordinates = tuple(Coordinate(tuple(loop - shared for loop in c.loops if loop >= shared)) for c in order.coordinates)
    return StreamOrder(order.element, loops, coordinates)


def _inside(order: StreamOrder, shared: int, position: int) -> Loop:
    loop, dimension = order.loops[position], order.dimension_of_loop[position]
    if dimension is None or loop.trip == 1:
        return Loop(loop.trip, 1)
    outer = (order.loops[index] for index in order.coordinates[dimension].loops if index < shared)
    return Loop(loop.trip, loop.step // prod(static(other.trip) for other in outer if other.step < loop.step))


def check_orders(source: StreamOrder, target: StreamOrder) -> None:
    """ValueError unless a converter can lead from `source` to `target`: one tensor, which the first sends exactly.

    The target may visit coordinates several times, by elements that overlap.
    """
    if not source.is_exact:
        raise ValueError("converter source is not exact: it does not visit every coordinate once up to temporal reuse")
    if not target.is_covering:
        raise ValueError("converter target does not visit every coordinate")
    if source.shape != target.shape:
        raise ValueError(f"converter source is of shape {_spelled(source)}, its target of {_spelled(target)}")


def _spelled(order: StreamOrder) -> str:
    return f"({', '.join(map(str, order.shape))})"


def keeps_windows_whole(target: StreamOrder, loop: int, shared: int) -> bool:
    """Whether what `target` visits within one iteration of the shared `loop` is not visited in another one as well."""
    dimension = target.dimension_of_loop[loop]
    if dimension is None or target.loops[loop].trip == 1 or target.is_tiled(dimension):
        return True
    return target.loops[loop].step >= target.span(dimension, shared)


def _room(order: StreamOrder, dimension: int) -> int:
    """Entries of a buffer along a dimension of all that `order` visits: at least one, even at a run-time size of none."""
    return max(1, maximum(order.shape[dimension]))


# Inference --------------------------------------------------------------------------------------------------------------


@lru_cache(1 << 12)
def infer_converter(source: StreamOrder, target: StreamOrder, line_buffers: bool = False) -> ConverterPlan:
    """The plan of least memory from `source` to `target` that hands whole blocks over; ValueError where there is none
    (`check_orders`). With `line_buffers` a line buffer where one is smaller (`line_buffer_of`).

    Every loop is shared that both have in common (after splitting to a common refinement): a loop that drives a dimension makes
    the block smaller by its trip count, a reuse loop does not make it larger. There are two blocks where the shared loops cut the
    tensor at least in two: so ping-pong never takes more than the tensor once, which is what a converter that shares nothing
    takes, and filling overlaps with emptying wherever two blocks fit in that.
    """
    check_orders(source, target)
    source, target, shared = _share_prefix(normal_form(source), normal_form(target))
    buffer_shape = block_order(source, shared).static_shape
    blocks = 2 if prod(buffer_shape) < prod(source.static_shape) else 1
    plan = ConverterPlan(source, target, shared, buffer_shape, blocks)
    return (line_buffer_of(plan) if line_buffers else None) or plan


def line_buffer_of(plan: ConverterPlan) -> ConverterPlan | None:
    """The smallest line buffer for the orders of `plan`, if there is one of fewer entries than `plan` takes with all its blocks.

    It receives and sends in turn: it is busy for source and target tokens together, where ping-pong is for the larger number
    of them. A single block of the whole tensor takes the same time, and sends its first token later.
    """
    return min(_line_buffers(plan), key=lambda candidate: candidate.buffer_entries, default=None)


def single_block_of(plan: ConverterPlan) -> ConverterPlan:
    """`plan` with one block instead of two: filled and emptied in turn, busy for source and target tokens together."""
    return replace(plan, blocks=1)


def _line_buffers(plan: ConverterPlan) -> Iterator[ConverterPlan]:
    """Line buffers of fewer entries than `plan`, those that share most loops first."""
    for shared in range(plan.shared_loops, -1, -1):
        source, target = (block_order(order, shared) for order in (plan.source, plan.target))
        for dimension in range(source.rank):
            if (tiles := moving_tiles(source, target, dimension)) is not None:
                yield from _along(plan, shared, dimension, source.static_shape, tiles)


def _along(
    plan: ConverterPlan, shared: int, dimension: int, shape: tuple[int, ...], tiles: tuple[Tiles, Tiles]
) -> Iterator[ConverterPlan]:
    """The smallest line buffer along `dimension` of a block of `shape` whose schedule is short, if it is smaller than `plan`."""
    unit = aligned_lines(*tiles, dimension == len(shape) - 1)
    if unit is None:
        return
    one_line = prod(shape) // shape[dimension]
    least = -(-least_lines(*tiles) // unit) * unit
    for lines in range(least, -(-plan.buffer_entries // one_line), unit):
        if line_schedule(*tiles, lines) is not None:
            buffer_shape = (*shape[:dimension], lines, *shape[dimension + 1 :])
            yield ConverterPlan(plan.source, plan.target, shared, buffer_shape, 1, dimension)
            return


def _share_prefix(source: StreamOrder, target: StreamOrder) -> tuple[StreamOrder, StreamOrder, int]:
    """Refine both orders and count the loops they share from the outside."""
    shared = 0
    while shared < min(len(source.loops), len(target.loops)):
        if source.dimension_of_loop[shared] != target.dimension_of_loop[shared]:
            break
        is_reuse = source.dimension_of_loop[shared] is None
        trips = _common_outer_trips(source.loops[shared], target.loops[shared], is_reuse)
        if trips is None:
            break
        split = _with_outer_trip(source, shared, trips), _with_outer_trip(target, shared, trips)
        if not keeps_windows_whole(split[1], shared, shared + 1):
            break
        source, target = split
        shared += 1
    return source, target, shared


def _common_outer_trips(source: Loop, target: Loop, is_reuse: bool) -> int | None:
    """The trip count of the largest loop that is an outer part of both, None where there is none."""
    if is_reuse:
        return static(source.trip) if source.trip == target.trip else None
    if source == target:
        return static(source.trip)
    covered = static(source.trip) * source.step
    if covered != static(target.trip) * target.step:
        return None
    common_step = lcm(source.step, target.step)
    return None if common_step == covered else covered // common_step


def _with_outer_trip(order: StreamOrder, position: int, trips: int) -> StreamOrder:
    trip = static(order.loops[position].trip)
    return order if trip == trips else split_loop(order, position, trip // trips)
