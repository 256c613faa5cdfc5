"""Reshapes of streams some of whose dimensions have sizes known at run time (docs/design/method.md section 2).

A reshape keeps such a dimension as it is: there are as many entries before it, and behind it, in either shape. Where each entry has
one row-major position in both tensors at the largest sizes, it then has one index along that dimension in both, so that the tokens
that are there at smaller sizes are the same on both sides, in the same order: what is proved of the largest sizes holds for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from stc.iteration.concatenation import loop_along
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import is_static, maximum


def at_largest(order: StreamOrder) -> StreamOrder:
    """`order` with each loop as long as it may become."""
    return replace(order, loops=tuple(Loop(maximum(loop.trip), loop.step) for loop in order.loops))


def resized(source: StreamOrder, target: StreamOrder) -> StreamOrder:
    """`target`, a reshape of `source` at the largest sizes, with the sizes of `source`.

    ValueError where a dimension of run-time size is not enumerated entry by entry by one loop, or not kept by the reshape.
    """
    if any(not is_static(source.loops[loop].trip) for loop in source.reuse_loops):
        raise ValueError(f"a loop of run-time size repeats tokens of {source}")
    shapes = at_largest(source).static_shape, target.static_shape
    for dimension, coordinate in enumerate(source.coordinates):
        if not all(is_static(size) for size in (coordinate.constant, *(source.loops[loop].trip for loop in coordinate.loops))):
            trip, kept = source.loops[loop_along(source, dimension)].trip, _kept(dimension, *shapes)
            if kept is None:
                raise ValueError(f"dimension {dimension} of {list(shapes[0])} is none of {list(shapes[1])}")
            loop = loop_along(target, kept)
            target = replace(target, loops=(*target.loops[:loop], Loop(trip, 1), *target.loops[loop + 1 :]))
    return target


def _kept(dimension: int, source: Sequence[int], target: Sequence[int]) -> int | None:
    """The dimension of the shape `target` that `dimension` of `source` is."""
    before, extent = prod(source[:dimension]), source[dimension]
    found = (at for at, other in enumerate(target) if other == extent and prod(target[:at]) == before)
    return next(found, None)
