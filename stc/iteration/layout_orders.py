"""Stream orders of operations that only move data: slices, concatenations, reshapes."""

from __future__ import annotations

from collections.abc import Sequence
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

    That is the order in which the tensor comes (`source`) where its elements respect the slices' boundaries and each
    dimension has one loop; else row-major over elements of at most `largest` entries per dimension that do.
    """
    boundaries = [gcd(extent, *(v[dim] for v in (*offsets, *sizes))) for dim, extent in enumerate(extents)]
    nest = None if source is None else nesting(source, boundaries)
    element = tuple(largest_divisor(boundary, largest) for boundary in boundaries)
    if source is not None and nest is not None:
        return in_order(extents, source.element, nest), [in_order(size, source.element, nest) for size in sizes]
    return row_major(extents, element), [row_major(size, element) for size in sizes]


def nesting(order: StreamOrder, boundaries: Sequence[int]) -> tuple[int, ...] | None:
    """The dimensions of `order` from the outermost loop inwards, None unless each has one exact loop and the elements divide
    `boundaries`."""
    if any(boundary % extent for boundary, extent in zip(boundaries, order.element, strict=True)):
        return None
    order = order.without_revisits().without_unit_loops()
    if not order.is_exact or any(len(coordinate.loops) > 1 for coordinate in order.coordinates):
        return None
    looped = [dimension for dimension in order.dimension_of_loop if dimension is not None]
    return (*looped, *(dimension for dimension in range(order.rank) if dimension not in looped))


def concat_orders(
    extents: Sequence[int], sizes: Sequence[Sequence[int]], largest: int
) -> tuple[StreamOrder, list[StreamOrder]]:
    """Row-major orders of a concatenation and of its inputs, over elements that no boundary cuts."""
    element = tuple(
        largest_divisor(gcd(extent, *(size[dim] for size in sizes)), largest) for dim, extent in enumerate(extents)
    )
    return row_major(extents, element), [row_major(size, element) for size in sizes]


def reshape_orders(old: Sequence[int], new: Sequence[int], largest: int) -> tuple[StreamOrder, StreamOrder]:
    """Row-major orders of a tensor and of its reshape over blocks that are contiguous in both: one token sequence."""
    block = largest_divisor(gcd(old[-1] if old else 1, new[-1] if new else 1), largest)
    return row_major(old, _last_only(old, block)), row_major(new, _last_only(new, block))


def _last_only(extents: Sequence[int], block: int) -> tuple[int, ...]:
    """The element of `block` entries along the last dimension."""
    return (*([1] * (len(extents) - 1)), block) if extents else ()
