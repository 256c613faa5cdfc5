"""Proofs about converters (docs/design/method.md sections 5 and 7): they emit the target's sequence, and no live entry is lost.

A converter runs, in each iteration of its `shared_loops`, the rest of the source's loops to store tokens and the rest of the
target's loops to load them; `block_order` says at which address. What is proved, for every token and every shared iteration:

1. *The same block.* Both sides' shared loops visit the same bases in the same order (`compare_sequences` of the prefixes, for all
   symbol values), so that a block is filled and emptied for one and the same part of the tensor.
2. *Inside.* Every address lies within `buffer_shape`.
3. *No overwriting.* Within a shared iteration two different coordinates never have one address.
4. *Received before.* Each entry of each token that leaves was stored, in this shared iteration, at the address it is loaded from.

5. *Filled at all.* Where a loop of the source inside a shared iteration may have no iteration, the target has the same loop.

From 1 and 2 to 5 follows that each emitted entry is the tensor's entry at the coordinate that the target's order gives the token;
the tokens leave in the target's order because the emptying loops are the target's loops. A loop drives at most one data dimension,
so 2 to 4 are statements about one dimension at a time: about the set of pairs (address, coordinate less the base) that the loops
inside, and the entries of an element, enumerate. This set is a sum of *digits*. Digits in normal form (sorted, merged where one
continues the other) that are equal are equal sets, for any trip count; digits of which each advances by more than all finer ones
cover are distinct. Where this does not decide, the pairs of one dimension are counted out, all of them.

Between shared iterations the lowering protects an entry. Of a ring, with any number of blocks, the filling task acquires a block
only after the emptying task gave it back, and the emptying task acquires it only when it is full. One task with one block empties
it before it fills it again; with two it fills one half while it empties the other, and begins the next run when both are done.

A line buffer (`window`) has one task, so that shared iterations follow one another. Its addresses along the window are the block's
modulo the extent of the buffer: 2 to 4 are proved for the block, and for each step of its schedule that

6. tiles are received and sent each once, in the order of the two types, each at its own line modulo the extent;
7. when a tile is sent its last line has been received, and no line was received that takes the place of its first.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import prod
from typing import TypeAlias

import numpy as np

from stc.iteration.converter import block_order
from stc.iteration.line_buffer import LineSchedule, moving_tiles
from stc.iteration.order import Coordinate, StreamOrder
from stc.iteration.proofs import Differs, Equal, Unproved, compare_sequences, coordinate_of, spelled, values_spelled
from stc.iteration.size import Size, is_static, maximum, minimum, simplified, static, symbols_in

MOST_PAIRS = 1 << 24
"""A dimension with more (address, coordinate) pairs than these is not counted out."""


@dataclass(frozen=True)
class Proved:
    """All statements hold; `method` is "closed form", or "counted" where a dimension's pairs had to be counted out."""

    method: str


@dataclass(frozen=True)
class ConverterFault:
    """A converter that emits something wrong.

    `token`: the first at fault (of the source where `side` is "source": one that is stored wrongly) and its `coordinate`;
    `reason`: what is wrong with it. `symbols`: values of symbols at which it happens.
    """

    side: str
    token: int
    coordinate: tuple[int, ...] | None
    reason: str
    symbols: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        where = f" where {values_spelled(self.symbols)}" if self.symbols else ""
        return f"token {self.token} of the {self.side}, at {spelled(self.coordinate)}, {self.reason}{where}"


Outcome: TypeAlias = Proved | ConverterFault | Unproved


def prove_converter(
    source: StreamOrder,
    target: StreamOrder,
    shared_loops: int,
    buffer_shape: tuple[int, ...],
    blocks: int,
    window: int | None = None,
    schedule: LineSchedule | None = None,
) -> Outcome:
    """Prove a converter, with `window` the line buffer that follows `schedule`; the first token at fault where it is wrong."""
    if not 0 <= shared_loops <= min(len(source.loops), len(target.loops)):
        return Unproved(f"there are no {shared_loops} loops to share")
    if blocks < 1:
        return Unproved(f"there are {blocks} blocks to acquire, expected at least one")
    if not source.rank == target.rank == len(buffer_shape):
        return Unproved(f"source, target and buffer are of rank {source.rank}, {target.rank} and {len(buffer_shape)}")
    if window is not None and not 0 <= window < source.rank:
        return Unproved(f"there is no dimension {window} for a window to move along")
    try:
        sides = (_Side("source", source, shared_loops), _Side("target", target, shared_loops))
        symbols_in((*source.sizes, *target.sizes))
    except ValueError as error:
        return Unproved(str(error))
    if (idle := _may_be_unfilled(source, target, shared_loops)) is not None:
        return Unproved(f"the source may not fill a block: it repeats it {idle} times, the target does not")
    extents = list(buffer_shape)
    if window is not None:
        extents[window] = _last_address(sides[0], window) + 1
    outcomes = [_prove_dimension(*sides, dimension, extent) for dimension, extent in enumerate(extents)]
    if faults := [outcome for outcome in outcomes if isinstance(outcome, ConverterFault)]:
        return min(faults, key=lambda fault: (fault.side, fault.token))  # all in the first shared iteration, which fills first
    verdict = compare_sequences(*(_bases(order, shared_loops) for order in (source, target)))
    if not isinstance(verdict, Equal):
        return _other_part(verdict, *sides)
    if unproved := [outcome for outcome in outcomes if isinstance(outcome, Unproved)]:
        return unproved[0]
    if window is not None and (failed := _line_fault(*sides, window, buffer_shape[window], schedule)) is not None:
        return failed
    return Proved("counted" if Proved("counted") in outcomes else "closed form")


def _may_be_unfilled(source: StreamOrder, target: StreamOrder, shared: int) -> Size | None:
    """The trip count of a reuse loop that may keep the source from filling a block which the target empties (statement 5). For
    loops that drive a dimension this is part of statement 4."""
    emptied = {loop.trip for loop in target.loops[shared:]}
    trips = (source.loops[loop].trip for loop in source.reuse_loops if loop >= shared)
    return next((trip for trip in trips if minimum(trip) == 0 and trip not in emptied), None)


# One block on both sides --------------------------------------------------------------------------------------------------


def _bases(order: StreamOrder, shared: int) -> StreamOrder:
    """The order of the shared loops alone: where the part of the tensor that a block is for begins."""
    coordinates = tuple(Coordinate(tuple(loop for loop in c.loops if loop < shared)) for c in order.coordinates)
    return StreamOrder((1,) * order.rank, order.loops[:shared], coordinates)


def _other_part(verdict: Differs | Unproved, source: _Side, target: _Side) -> ConverterFault | Unproved:
    if isinstance(verdict, Unproved):
        return verdict
    largest = {symbol.name: symbol.maximum for symbol in symbols_in((*source.order.sizes, *target.order.sizes))}
    values = largest | dict(verdict.symbols)  # a symbol that is only inside the shared loops may have any value
    order = target.order.at(values)
    token = verdict.token * target.block.at(values).token_count
    there, here = spelled(verdict.source), spelled(verdict.target)
    reason = f"leaves in shared iteration {verdict.token}, whose block starts at {there} in the source but at {here} in the target"
    return ConverterFault("target", token, coordinate_of(order, token), reason, tuple(sorted(values.items())))


# One dimension ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class _Digit:
    """`trip` values that advance the coordinate by `coordinate` and the address by `address`."""

    coordinate: int
    address: int
    trip: Size


class _Side:
    """What one side does in a shared iteration: its loops inside, with their steps in coordinates and in addresses."""

    def __init__(self, name: str, order: StreamOrder, shared: int):
        self.name, self.order, self.shared = name, order, shared
        self.block = block_order(order, shared)

    def start(self, dimension: int) -> tuple[Size, Size]:
        """Address and coordinate (less the base) at which a dimension begins."""
        return simplified(self.block.coordinates[dimension].constant), simplified(self.order.coordinates[dimension].constant)

    def digits(self, dimension: int) -> list[_Digit]:
        """The digits of the first entries of tokens, outermost loop first."""
        loops = ((self.order.loops[k], self.block.loops[k - self.shared]) for k in self.order.loops_of(dimension, self.shared))
        return [_Digit(outside.step, inside.step, outside.trip) for outside, inside in loops]

    def entries(self, dimension: int) -> tuple[_Digit, ...]:
        """The digits of all entries of all tokens, in normal form: finest first."""
        return _normal_digits([*self.digits(dimension), _Digit(1, 1, self.order.element[dimension])])

    def tokens(self, dimension: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """For each position of the dimension's loops the address and the coordinate of a token's first entry, and the number of
        the first such token in the first shared iteration (static sizes)."""
        address, coordinate, token = (np.zeros(1, dtype=np.int64) for _ in range(3))
        for digit, k in zip(self.digits(dimension), self.order.loops_of(dimension, self.shared), strict=True):
            values = np.arange(static(digit.trip), dtype=np.int64)
            inner = prod(static(loop.trip) for loop in self.order.loops[k + 1 :])
            address = np.add.outer(address, values * digit.address).ravel()
            coordinate = np.add.outer(coordinate, values * digit.coordinate).ravel()
            token = np.add.outer(token, values * inner).ravel()
        starts = self.start(dimension)
        return address + static(starts[0]), coordinate + static(starts[1]), token


def _normal_digits(digits: Iterable[_Digit]) -> tuple[_Digit, ...]:
    """The same set of sums: digits of one value dropped, the finest first, merged where one continues the one before."""
    normal: list[_Digit] = []
    for digit in sorted((d for d in digits if simplified(d.trip) != 1), key=lambda d: (d.coordinate, d.address, str(d.trip))):
        finer = normal[-1] if normal else None
        if finer is not None and is_static(finer.trip) and is_static(digit.trip):
            span = static(finer.trip)
            if (digit.coordinate, digit.address) == (span * finer.coordinate, span * finer.address):
                normal[-1] = _Digit(finer.coordinate, finer.address, span * static(digit.trip))
                continue
        normal.append(digit)
    return tuple(normal)


def _prove_dimension(source: _Side, target: _Side, dimension: int, extent: int) -> Outcome:
    digits = source.entries(dimension)
    same = digits == target.entries(dimension) and source.start(dimension) == target.start(dimension)
    if _are_distinct(digits) and _last_address(source, dimension) < extent and (same or _is_within(target, source, dimension)):
        return Proved("closed form")
    sizes = (*source.order.sizes, *target.order.sizes)
    values = {symbol.name: symbol.maximum for symbol in symbols_in(sizes)}
    outcome = _counted(_at(source, values), _at(target, values), dimension, extent)
    if isinstance(outcome, ConverterFault):
        return replace(outcome, symbols=tuple(sorted(values.items())))
    if isinstance(outcome, Proved) and not _is_static(source, target, dimension):
        return Unproved(f"the loops of dimension {dimension} inside the shared loops are symbolic and not alike on both sides")
    return outcome


def _is_within(target: _Side, source: _Side, dimension: int) -> bool:
    """Whether the source brings an interval of the dimension, each coordinate at the address of its value, and the target stays in
    it: windows that overlap."""
    full = source.entries(dimension)
    if source.start(dimension) != (0, 0) or len(full) > 1 or any((d.coordinate, d.address) != (1, 1) for d in full):
        return False
    if not all(is_static(digit.trip) for digit in full):
        return False
    diagonal = all(digit.coordinate == digit.address for digit in target.entries(dimension))
    return diagonal and target.start(dimension) == (0, 0) and _last_address(target, dimension) <= _last_address(source, dimension)


def _is_static(source: _Side, target: _Side, dimension: int) -> bool:
    digits = [digit.trip for side in (source, target) for digit in side.digits(dimension)]
    return all(is_static(size) for size in (*digits, *source.start(dimension), *target.start(dimension)))


def _at(side: _Side, values: dict[str, int]) -> _Side:
    return _Side(side.name, side.order.at(values), side.shared)


def _are_distinct(digits: Iterable[_Digit]) -> bool:
    """Whether an address determines all digits, and so the coordinate: each advances by more than all finer ones cover."""
    covered = 0
    for digit in sorted(digits, key=lambda digit: digit.address):
        if digit.address <= covered:
            return False
        covered += (maximum(digit.trip) - 1) * digit.address
    return True


def _last_address(side: _Side, dimension: int) -> int:
    steps = sum((maximum(digit.trip) - 1) * digit.address for digit in side.entries(dimension))
    return maximum(side.start(dimension)[0]) + steps


def _counted(source: _Side, target: _Side, dimension: int, extent: int) -> Outcome:
    """Statements 2 to 4 for one dimension, static, pair by pair."""
    if any(_pairs(side, dimension) > MOST_PAIRS for side in (source, target)):
        return Unproved(f"dimension {dimension} has more than {MOST_PAIRS} addresses to count")
    stored = np.full(extent, -1, dtype=np.int64)  # the coordinate that each address holds
    addresses, coordinates, tokens = source.tokens(dimension)
    order = np.argsort(tokens, kind="stable")
    for address, coordinate, token in zip(addresses[order], coordinates[order], tokens[order], strict=True):
        first, last = int(address), int(address) + source.order.element[dimension]
        if last > extent:
            reason = f"is stored at {first} to {last - 1} of dimension {dimension}, outside of the buffer's {extent} entries"
            return _fault(source, int(token), reason)
        arriving = np.arange(coordinate, coordinate + source.order.element[dimension])
        held = stored[first:last]
        if (clash := np.flatnonzero((held >= 0) & (held != arriving))).size:
            at = int(clash[0])
            reason = (
                f"overwrites coordinate {int(held[at])} of dimension {dimension} by {int(arriving[at])} "
                f"at address {first + at} of it"
            )
            return _fault(source, int(token), reason)
        stored[first:last] = arriving
    addresses, coordinates, tokens = target.tokens(dimension)
    required = np.add.outer(coordinates, offsets := np.arange(target.order.element[dimension]))
    places = np.add.outer(addresses, offsets)
    found = np.where(places < extent, stored[np.minimum(places, extent - 1)], -1)
    wrong = found != required
    if not wrong.any():
        return Proved("counted")
    row = min(np.flatnonzero(wrong.any(axis=1)), key=lambda index: tokens[index])
    column = int(np.flatnonzero(wrong[row])[0])
    held = int(found[row, column])
    reason = (
        f"needs coordinate {int(required[row, column])} of dimension {dimension} at address {int(places[row, column])} of it, "
        "which "
        + ("was not received in the same shared iteration" if held < 0 else f"holds coordinate {held}")
    )
    return _fault(target, int(tokens[row]), reason)


# Line buffers -------------------------------------------------------------------------------------------------------------


def _line_fault(
    source: _Side, target: _Side, window: int, extent: int, schedule: LineSchedule | None
) -> ConverterFault | Unproved | None:
    """Statements 6 and 7, step by step through the schedule; None where they hold."""
    if not all(side.block.is_static for side in (source, target)):
        return Unproved("a line buffer whose loops inside the shared loops are symbolic")
    tiles = moving_tiles(source.block, target.block, window)
    if tiles is None or schedule is None:
        return Unproved(f"source and target do not both move along dimension {window} from tile to tile")
    arriving, leaving = tiles
    if max(arriving.span, leaving.span) > extent or _wraps_inside_a_token(source, target, window, extent):
        return Unproved(f"a tile or a token does not fit into a window of {extent} lines of dimension {window}")
    received = sent = 0
    for step in schedule:
        side, tile, done = (source, arriving, received) if step.receives else (target, leaving, sent)
        token, first = done * tile.inside.token_count, done * tile.step
        if done == tile.trip:
            return _fault(side, token, "is one more than there are")
        if step.line != first % extent:
            return _fault(side, token, f"lies at line {step.line} of the window, expected line {first % extent}")
        if step.receives:
            received += 1
            continue
        sent += 1
        last, there = first + tile.span - 1, received * arriving.step
        if last >= there:
            return _fault(side, token, f"needs line {last} of dimension {window}, of which {there} lines were received")
        if there - first > extent:
            usurper = there - 1 - (there - 1 - first) % extent
            return _fault(side, token, f"needs line {first} of dimension {window}, overwritten by line {usurper}")
    for side, tile, done in ((source, arriving, received), (target, leaving, sent)):
        if done < tile.trip:
            return _fault(side, done * tile.inside.token_count, "is left out by the schedule")
    return None


def _wraps_inside_a_token(source: _Side, target: _Side, window: int, extent: int) -> bool:
    """Whether a vector, which lies along the last dimension, would begin at the end of the window and end at its start."""
    if window != source.order.rank - 1:
        return False
    for side in (source, target):
        starts = side.tokens(window)[0]
        if (starts % extent + side.order.element[window] > extent).any():
            return True
    return False


def _pairs(side: _Side, dimension: int) -> int:
    return prod(static(digit.trip) for digit in side.digits(dimension)) * side.order.element[dimension]


def _fault(side: _Side, token: int, reason: str) -> ConverterFault:
    return ConverterFault(side.name, token, coordinate_of(side.order, token), reason)
