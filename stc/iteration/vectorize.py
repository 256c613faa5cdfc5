"""Vectorised orders: the same entries in the same order, one short vector per token (docs/design/method.md section 2)."""

from __future__ import annotations

from stc.iteration.order import Coordinate, Loop, StreamOrder


def largest_divisor(extent: int, limit: int) -> int:
    """The largest divisor of `extent` that is at most `limit`."""
    if limit < 1:
        raise ValueError(f"divisor limit is {limit}, expected at least 1")
    return next(divisor for divisor in range(min(extent, limit), 0, -1) if extent % divisor == 0)


def smallest_divisor(extent: int, least: int) -> int:
    """The smallest divisor of `extent` that is at least `least`, or `extent` where that is less."""
    return next((divisor for divisor in range(max(1, least), extent) if extent % divisor == 0), extent)


def vectorized(order: StreamOrder, lanes: int) -> StreamOrder:
    """`order` with its tokens cut into vectors of at most `lanes` entries, row-major within the old token.

    The new element is 1 x ... x 1 x L, L the largest divisor of the last element extent that is at most `lanes`.
    """
    if order.rank == 0:
        return order
    width = largest_divisor(order.element[-1], lanes)
    element = (1,) * (order.rank - 1) + (width,)
    loops = list(order.loops)
    coordinates: list[Coordinate] = []
    for extent, step, coordinate in zip(order.element, element, order.coordinates, strict=True):
        if extent == step:
            coordinates.append(coordinate)
            continue
        coordinates.append(Coordinate((*coordinate.loops, len(loops)), coordinate.constant))
        loops.append(Loop(extent // step, step))
    return StreamOrder(element, tuple(loops), tuple(coordinates))
