"""Reshapes and slices of streams some of whose dimensions have sizes known at run time (docs/design/method.md section 2).

A reshape keeps such a dimension as it is: there are as many entries before it, and behind it, in either shape. Where each entry has
one row-major position in both tensors at the largest sizes, it then has one index along that dimension in both, so that the tokens
that are there at smaller sizes are the same on both sides, in the same order: what is proved of the largest sizes holds for all.

So does a slice that cuts other dimensions only: where the whole and the slice count such a dimension by one loop over single
entries, a smaller size leaves out, on both sides, the tokens at the entries that are not there. And so do two orders of one tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import prod

from stc.iteration.concatenation import loop_along, with_trip
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import is_static, maximum, static


def at_largest(order: StreamOrder) -> StreamOrder:
    """`order` with each loop as long as it may become."""
    return replace(order, loops=tuple(Loop(maximum(loop.trip), loop.step) for loop in order.loops))


def resized(source: StreamOrder, target: StreamOrder) -> StreamOrder:
    """`target`, a reshape of `source` at the largest sizes, or another order of the same tensor, with the sizes of `source`.

    ValueError where a dimension of run-time size is not enumerated entry by entry by one loop, or not kept by the reshape.
    """
    if any(not is_static(source.loops[loop].trip) for loop in source.reuse_loops):
        raise ValueError(f"a loop of run-time size repeats tokens of {source}")
    shapes = at_largest(source).static_shape, target.static_shape
    for dimension in range(source.rank):
        if not has_known_size(source, dimension):
            trip, kept = source.loops[loop_along(source, dimension)].trip, _kept(dimension, *shapes)
            if kept is None:
                raise ValueError(f"dimension {dimension} of {list(shapes[0])} is none of {list(shapes[1])}")
            loop = loop_along(target, kept)
            target = with_trip(target, loop, trip)
    return target


def sliced(full: StreamOrder, part: StreamOrder, offset: Sequence[int]) -> StreamOrder:
    """`part`, the slice of `full` at `offset` at the largest sizes, with the sizes of `full`.

    ValueError where a dimension of run-time size is not enumerated entry by entry by one loop of both, or is cut.
    """
    if any(not is_static(full.loops[loop].trip) for loop in full.reuse_loops):
        raise ValueError(f"a loop of run-time size repeats tokens of {full}")
    shape = at_largest(full).static_shape
    for dimension, start in enumerate(offset):
        if not has_known_size(full, dimension):
            extent = part.static_shape[dimension]
            if (start, extent) != (0, shape[dimension]):
                raise ValueError(f"entries {start} to {start + extent} of dimension {dimension}, of run-time size, are cut out")
            part = with_trip(part, loop_along(part, dimension), full.loops[loop_along(full, dimension)].trip)
    return part


def gathered(parts: Sequence[StreamOrder], full: StreamOrder, offsets: Sequence[Sequence[int]]) -> StreamOrder:
    """`full`, of which `parts` are the slices at `offsets` at the largest sizes, with the sizes of `parts`.

    ValueError where a dimension of run-time size is not enumerated entry by entry by one loop of all, is not of one size in all
    parts, or is the one that they are slices of.
    """
    for part in parts:
        for dimension in range(part.rank):
            if not has_known_size(part, dimension):
                full = with_trip(full, loop_along(full, dimension), part.loops[loop_along(part, dimension)].trip)
    for part, offset in zip(parts, offsets, strict=True):
        if sliced(full, at_largest(part), offset) != part:
            raise ValueError(f"{part} has other sizes than the whole: {full}")
    return full


def dealt(full: StreamOrder, part: StreamOrder, parts: int) -> StreamOrder:
    """`part`, one of `parts` to which tokens of `full` go in turn at the largest sizes, with the sizes of `full`.

    The innermost loop deals its tokens, as many to each part, so that a size outside it changes nobody's turn. ValueError where
    that is not so, or a dimension of run-time size is not enumerated entry by entry by one loop of both.
    """
    if not full.loops or not is_static(inner := full.loops[-1].trip) or static(inner) % parts:
        raise ValueError(f"the innermost loop of {full} does not have as many tokens for each of {parts} parts")
    return sliced(full, part, (0,) * full.rank)


def has_known_size(order: StreamOrder, dimension: int) -> bool:
    """Whether how many entries there are along `dimension`, and where they begin, does not wait for run time."""
    coordinate = order.coordinates[dimension]
    return all(is_static(size) for size in (coordinate.constant, *(order.loops[loop].trip for loop in coordinate.loops)))


def _kept(dimension: int, source: Sequence[int], target: Sequence[int]) -> int | None:
    """The dimension of the shape `target` that `dimension` of `source` is."""
    before, extent = prod(source[:dimension]), source[dimension]
    found = (at for at, other in enumerate(target) if other == extent and prod(target[:at]) == before)
    return next(found, None)
