"""Concatenations whose parts have sizes known at run time (docs/design/method.md section 2)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Size, sum_of


def joined(parts: Sequence[StreamOrder], full: StreamOrder, dimension: int) -> StreamOrder:
    """`full`, an order at the maxima, as the concatenation of `parts` along `dimension` has it; ValueError where it has no one loop
    over single entries along it."""
    loop = loop_along(full, dimension)
    parts = [part.from_its_begin for part in parts]
    return with_trip(full, loop, sum_of(*(_extent(part, dimension) for part in parts)))


def begins_of(parts: Sequence[StreamOrder], dimension: int) -> list[Size]:
    """Where each of `parts` begins, one behind the other along `dimension`; ValueError as `joined`."""
    extents = [_extent(part.from_its_begin, dimension) for part in parts]
    return [sum_of(*extents[:index]) for index in range(len(extents))]


def concatenation_mismatch(full: StreamOrder, parts: Sequence[StreamOrder], starts: Sequence[Sequence[Size]]) -> str | None:
    """Why `full` is not the concatenation of `parts` that begin at `starts`, for all values of the symbols; None if it is.

    Sound, and complete for what `joined` makes: all parts have the loops of `full`, but for the one along the dimension of the
    concatenation, over single entries, whose trips add up. The tokens of `full` at entries start to start + trips of that loop are
    then the part's, in order: the nest is the same, and only this loop's values are another range. A part of one entry may lack the
    loop.
    """
    along = sorted({dimension for start in starts for dimension, entry in enumerate(start) if entry != 0})
    if len(along) != 1:
        return f"parts begin at other entries of dimensions {along}, expected one dimension"
    (dimension,) = along
    parts = [part.from_its_begin for part in parts]
    try:
        loop = loop_along(full, dimension)
        extents = [_extent(part, dimension) for part in parts]
        begins = begins_of(parts, dimension)
    except ValueError as error:
        return str(error)
    for index, (part, extent, begin, start) in enumerate(zip(parts, extents, begins, starts, strict=True)):
        if start[dimension] != begin:
            return f"part {index} begins at {start[dimension]} of dimension {dimension}, expected {begin}"
        if part not in (expected := with_trip(full, loop, extent), without_loop(expected, loop)):
            return f"part {index} has another order than the whole, expected its loops: {expected}"
    total = sum_of(*extents)
    if full.loops[loop].trip != total:
        return f"the whole has {full.loops[loop].trip} entries along dimension {dimension}, expected {total}"
    return None


def loop_along(order: StreamOrder, dimension: int) -> int:
    """The one loop that moves along `dimension`, entry by entry."""
    loops = order.loops_of(dimension)
    if len(loops) != 1 or order.element[dimension] != 1 or order.loops[loops[0]].step != 1 or order.coordinates[dimension].constant:
        raise ValueError(f"dimension {dimension} of {order} is not one loop over single entries from 0 on")
    return loops[0]


def _extent(part: StreamOrder, dimension: int) -> Size:
    if not part.loops_of(dimension) and part.element[dimension] == 1:
        return 1
    return part.loops[loop_along(part, dimension)].trip


def with_trip(order: StreamOrder, loop: int, trip: Size) -> StreamOrder:
    """`order` with another number of iterations of one loop."""
    return replace(order, loops=(*order.loops[:loop], Loop(trip, order.loops[loop].step), *order.loops[loop + 1 :]))


def without_loop(order: StreamOrder, loop: int) -> StreamOrder:
    """Without a loop of one trip; as it is where it has another."""
    if order.loops[loop].trip != 1:
        return order
    rest = [
        Coordinate(tuple(other - (other > loop) for other in coordinate.loops if other != loop), coordinate.constant)
        for coordinate in order.coordinates
    ]
    return StreamOrder(order.element, (*order.loops[:loop], *order.loops[loop + 1 :]), tuple(rest))
