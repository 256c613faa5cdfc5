"""Stream orders by row-major position: what a reshape leaves alone."""

from __future__ import annotations

from itertools import accumulate

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import static


def flattened(order: StreamOrder) -> StreamOrder:
    """The order in which the single entries of the tensor cross, by their row-major position: rank 1, elements of one entry.

    Two orders whose flattened orders are the same sequence are the same data under a reshape of the tensor. ValueError where an
    extent other than the first is symbolic: then positions are no sums of loops.
    """
    inner = [static(extent) for extent in order.shape[1:]]
    strides = [*accumulate(reversed(inner), lambda stride, extent: stride * extent, initial=1)][::-1][: order.rank]
    loops: list[Loop] = []
    driving: list[int] = []
    for position, (loop, dimension) in enumerate(zip(order.loops, order.dimension_of_loop, strict=True)):
        loops.append(loop if dimension is None else Loop(loop.trip, loop.step * strides[dimension]))
        driving += [] if dimension is None else [position]
    for extent, stride in zip(order.element, strides, strict=True):
        driving.append(len(loops))
        loops.append(Loop(extent, stride))
    offset = sum(static(coordinate.constant) * stride for coordinate, stride in zip(order.coordinates, strides, strict=True))
    return StreamOrder((1,), tuple(loops), (Coordinate(tuple(driving), offset),))
