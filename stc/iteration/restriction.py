"""Stream orders restricted to a slice of their tensor: the tokens that lie in it, in order, as an order again."""

from __future__ import annotations

from collections.abc import Sequence

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import static


def restricted(order: StreamOrder, offsets: Sequence[int], extents: Sequence[int]) -> StreamOrder | None:
    """The tokens of a static exact `order` in the slice at `offsets` of `extents`, at their coordinates within the slice.

    A slice restricts a dimension's loops to an interval each, or it has no such form and None is returned (a slice of 6 rows out
    of tiles of 4). Tokens that a boundary of the slice cuts have no such form either.
    """
    if not order.is_static or not order.is_exact:
        return None
    loops = list(order.loops)
    for dimension, (offset, extent) in enumerate(zip(offsets, extents, strict=True)):
        trips = _trips(order, dimension, offset, offset + extent)
        if trips is None:
            return None
        for loop, trip in trips.items():
            loops[loop] = Loop(trip, order.loops[loop].step)
    coordinates = tuple(Coordinate(coordinate.loops) for coordinate in order.coordinates)
    return StreamOrder(order.element, tuple(loops), coordinates)


def _trips(order: StreamOrder, dimension: int, start: int, stop: int) -> dict[int, int] | None:
    """For each loop of `dimension` in how many of its iterations the coordinate lies in start..stop, None if not one interval.

    From the coarsest loop: either its iterations are all in or all out, or all that is in lies in one iteration of it.
    """
    if start < 0 or stop > order.span(dimension) or stop <= start:
        return None
    trips: dict[int, int] = {}
    for loop in sorted(order.coordinates[dimension].loops, key=lambda loop: -order.loops[loop].step):
        step, trip = order.loops[loop].step, static(order.loops[loop].trip)
        if trip == 1:
            trips[loop] = 1
        elif start % step == 0 and stop % step == 0:
            trips[loop] = (stop - start) // step
            start, stop = 0, step
        elif start // step == (stop - 1) // step:
            trips[loop] = 1
            start, stop = start % step, (stop - 1) % step + 1
        else:
            return None
    return trips if (start, stop) == (0, order.element[dimension]) else None
