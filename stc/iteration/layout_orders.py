"""Stream orders of operations that only move data: slices, concatenations, reshapes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import gcd

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.vectorize import largest_divisor


def row_major(extents: Sequence[int], element: Sequence[int]) -> StreamOrder:
    """Elements of a tensor in row-major order; a dimension covered by one element has no loop."""
    return in_order(extents, element, range(len(extents)))


def in_order(extents: Sequence[int], element: Sequence[int], dimensions: Sequence[int]) -> StreamOrder:
    """Elements of a tensor, its dimensions nested in the given order (outermost first), one loop each where needed."""
    loops: list[Loop] = []
    position: dict[int, int] = {}
    for dimension in dimensions:
        if extents[dimension] != element[dimension]:
            position[dimension] = len(loops)
            loops.append(Loop(extents[dimension] // element[dimension], element[dimension]))
    coordinates = tuple(
        Coordinate((position[dimension],) if dimension in position else ()) for dimension in range(len(extents))
    )
    return StreamOrder(tuple(element), tuple(loops), coordinates)


def slice_orders(
    source: StreamOrder | None,
    extents: Sequence[int],
    offsets: Sequence[Sequence[int]],
    sizes: Sequence[Sequence[int]],
    largest: int,
) -> tuple[StreamOrder, list[StreamOrder]]:
    """The order in which a tensor is read to cut `sizes` at `offsets` out of it, and the order of each slice.

    That is the nesting in which the tensor comes (`source`), with elements cut where a boundary cuts them; row-major over
    elements of at most `largest` entries per dimension where it comes in no particular order, or moves along a dimension with
    several loops.
    """
    boundaries = [gcd(extent, *(v[dim] for v in (*offsets, *sizes))) for dim, extent in enumerate(extents)]
    element, nest = _shape_of_moves(boundaries, [source], largest)
    return in_order(extents, element, nest), [in_order(size, element, nest) for size in sizes]


def concat_orders(
    sources: Sequence[StreamOrder | None],
    extents: Sequence[int],
    sizes: Sequence[Sequence[int]],
    largest: int,
    single: Collection[int] = (),
) -> tuple[StreamOrder, list[StreamOrder]]:
    """The order of a concatenation and those in which its inputs of `sizes` are read for it.

    The nesting is that of the first input that has one (`sources`), with elements that no boundary and no input cuts. Along the
    dimensions `single`, of run-time size, an element has one entry, and its columns follow at once: readers take it whole.
    """
    boundaries = [1 if dim in single else gcd(extent, *(size[dim] for size in sizes)) for dim, extent in enumerate(extents)]
    element, nest = _shape_of_moves(boundaries, sources, largest)
    if single and (last := len(extents) - 1) not in single:
        nest = (*(dimension for dimension in nest if dimension != last), last)
    return in_order(extents, element, nest), [in_order(size, element, nest) for size in sizes]


def _shape_of_moves(
    boundaries: Sequence[int], sources: Sequence[StreamOrder | None], largest: int
) -> tuple[tuple[int, ...], Sequence[int]]:
    """Element and nesting of tokens that respect `boundaries` and come from `sources`."""
    known = [source for source in sources if source is not None and nesting(source) is not None]
    if not known:
        return tuple(largest_divisor(boundary, largest) for boundary in boundaries), range(len(boundaries))
    nest = nesting(known[0])
    assert nest is not None
    element = tuple(gcd(boundary, *(order.element[dim] for order in known)) for dim, boundary in enumerate(boundaries))
    return element, nest


def nesting(order: StreamOrder) -> tuple[int, ...] | None:
    """The dimensions of `order` from the outermost loop inwards, None unless each has at most one loop and all is exact."""
    order = order.without_reuse().without_unit_loops()
    if not order.is_exact or any(len(coordinate.loops) > 1 for coordinate in order.coordinates):
        return None
    looped = [dimension for dimension in order.dimension_of_loop if dimension is not None]
    return (*looped, *(dimension for dimension in range(order.rank) if dimension not in looped))


def reshape_orders(old: Sequence[int], new: Sequence[int], largest: int) -> tuple[StreamOrder, StreamOrder]:
    """Row-major orders of a tensor and of its reshape over blocks that are contiguous in both: one token sequence."""
    block = largest_divisor(gcd(old[-1] if old else 1, new[-1] if new else 1), largest)
    return row_major(old, _last_only(old, block)), row_major(new, _last_only(new, block))


def _last_only(extents: Sequence[int], block: int) -> tuple[int, ...]:
    """The element of `block` entries along the last dimension."""
    return (*([1] * (len(extents) - 1)), block) if extents else ()
