"""Slices of streams along dimensions that one loop enumerates entry by entry, and where a slice of a reshape lies before it."""

from __future__ import annotations

from collections.abc import Sequence

from stc.iteration.concatenation import loop_along, with_trip, without_loop
from stc.iteration.order import StreamOrder
from stc.iteration.size import static


def cut(order: StreamOrder, extents: Sequence[int]) -> StreamOrder:
    """The tokens of `order` in a slice of these `extents`, at the coordinates that they have in the slice.

    ValueError where a dimension that is cut is not enumerated entry by entry by one loop of known size.
    """
    for dimension, (extent, size) in enumerate(zip(extents, order.largest.static_shape, strict=True)):
        if extent != size:
            loop = loop_along(order, dimension)
            static(order.loops[loop].trip)
            order = without_loop(with_trip(order, loop, extent), loop)
    return order


def slice_before(
    source: StreamOrder, result: StreamOrder, offset: Sequence[int], extents: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Offset and extents of the slice of a tensor that comes in the order `source`, whose tokens are those of a slice of its
    reshape, which is the same tokens in the order `result`.

    ValueError unless the slice is some iterations of the outermost loop of `result`, and as many of the tokens are some iterations
    of that of `source`, each of which is the only one along its dimension, entry by entry.
    """
    shape, before = result.largest.static_shape, source.largest.static_shape
    cuts = [dimension for dimension, (extent, size) in enumerate(zip(extents, shape, strict=True)) if extent != size]
    along = source.dimension_of_loop[0] if source.loops else None
    if len(cuts) != 1 or loop_along(result, cuts[0]) != 0 or along is None or loop_along(source, along) != 0:
        raise ValueError(f"the slice at {list(offset)} of {result} is not some iterations of the outermost loops of both")
    iterations, own = static(result.loops[0].trip), static(source.loops[0].trip)
    begin, count = offset[cuts[0]] * own, extents[cuts[0]] * own
    if begin % iterations or count % iterations:
        raise ValueError(f"the slice at {list(offset)} of {result} ends inside an iteration of {source}")

    def in_source(entries: int, others: Sequence[int]) -> tuple[int, ...]:
        return (*others[:along], entries // iterations, *others[along + 1 :])

    return in_source(begin, [0] * source.rank), in_source(count, before)
