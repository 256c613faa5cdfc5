"""Stream orders of operations that only move data: slices, concatenations, reshapes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import chain
from math import gcd, prod

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.reshape import is_trivial, positions, refinement, without_units
from stc.iteration.vectorize import largest_divisor, vectorized


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
    successive: int | None = None,
) -> tuple[StreamOrder, list[StreamOrder]]:
    """The order of a concatenation and those in which its inputs of `sizes` are read for it.

    The nesting is that of the first input that has one (`sources`), with elements that no boundary and no input cuts. Where what is
    joined are rows, or single entries, that come one behind the other, an element has one index of the dimensions outside of them:
    else the rows of several would come in turn. Where entries cross one by one along some dimensions (`single`), parts of rows come
    row-major, whatever the inputs are: so lies a cache in memory, to which several designs append. Inputs with one index
    each of the dimension `successive` come one behind the other.
    """
    if single:
        row = 1 if len(extents) - 1 in single else largest_divisor(gcd(extents[-1], *(size[-1] for size in sizes)), largest)
        element, nest = _last_only(extents, row), range(len(extents))
        return in_order(extents, element, nest), [in_order(size, element, nest) for size in sizes]
    boundaries = [gcd(extent, *(size[dim] for size in sizes)) for dim, extent in enumerate(extents)]
    element, nest = _shape_of_moves(boundaries, sources, largest)
    if successive is not None:
        nest = (successive, *(dim for dim in nest if dim != successive))
    joined = max((dim for dim, extent in enumerate(extents) if any(size[dim] != extent for size in sizes)), default=0)
    if joined < len(extents) - 1 or element[joined] == 1:  # of pieces of rows, readers take several rows at once
        rows = (*([1] * joined), *element[joined:])
        cut = [(order, in_order(size, rows, nest)) for order, size in zip(sources, sizes, strict=True) if order is not None]
        if cut and all(same_sequence(vectorized(order, 1), vectorized(other, 1)) for order, other in cut):
            element = rows
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


def reshape_orders(
    source: StreamOrder | None, old: Sequence[int], new: Sequence[int], largest: int
) -> tuple[StreamOrder, StreamOrder]:
    """The orders of a tensor and of its reshape, which are one token sequence.

    Row-major over blocks that are contiguous in both; where dimensions are only split, or only merged, the nesting in which the
    tensor comes (`source`), with its elements, cut where a dimension ends inside, if these are no smaller.
    """
    block = largest_divisor(gcd(old[-1] if old else 1, new[-1] if new else 1), largest)
    kept = None if source is None else _kept_nesting(source, old, new)
    if kept is not None and kept[0].element_count >= block:
        return kept
    return row_major(old, _last_only(old, block)), row_major(new, _last_only(new, block))


def _kept_nesting(source: StreamOrder, old: Sequence[int], new: Sequence[int]) -> tuple[StreamOrder, StreamOrder] | None:
    """The orders that nest as `source` does; None where there are none, or dimensions are neither only split nor only merged."""
    nest = nesting(source)
    if nest is None or prod(old) != prod(new) or (refined := refinement(without_units(old), without_units(new))) is None:
        return None
    of_old, of_new = refined
    longer = [[place for place, extent in enumerate(shape) if extent != 1] for shape in (old, new)]
    element = [source.element[place] for place in longer[0]]
    own = [longer[0].index(place) for place in nest if old[place] != 1]
    if is_trivial(of_new):
        parts = [_block(size, group) for size, group in zip(element, of_old, strict=True)]
        before, after = [prod(part) for part in parts], [*chain(*parts)]
        others = [place for dimension in own for place in positions(of_old)[dimension]]
    elif is_trivial(of_old):
        groups = positions(of_new)
        parts = [_cut([element[place] for place in places], group) for places, group in zip(groups, of_new, strict=True)]
        before, after = [*chain(*parts)], [prod(part) for part in parts]
        looped = [place for place in own if before[place] != old[longer[0][place]]]
        merged = [*dict.fromkeys(next(of for of, places in enumerate(groups) if place in places) for place in looped)]
        if looped != [place for dimension in merged for place in groups[dimension] if place in looped]:
            return None  # the loops of a merged dimension are not next to each other
        others = [*merged, *(dimension for dimension in range(len(groups)) if dimension not in merged)]
    else:
        return None
    return _with_units(old, longer[0], before, own), _with_units(new, longer[1], after, others)


def _with_units(shape: Sequence[int], longer: Sequence[int], element: Sequence[int], nest: Sequence[int]) -> StreamOrder:
    """`in_order` of a shape, of whose dimensions `longer` than 1 there are `element` and `nest`."""
    sizes = dict(zip(longer, element, strict=True))
    units = [place for place in range(len(shape)) if place not in sizes]
    return in_order(shape, [sizes.get(place, 1) for place in range(len(shape))], [*units, *(longer[place] for place in nest)])


def _block(size: int, extents: Sequence[int]) -> tuple[int, ...]:
    """The largest part of `size` entries of a dimension that is a block of the dimensions it is split into, outermost first."""
    part: list[int] = []
    for extent in reversed(extents):
        part.insert(0, gcd(size, extent))
        size = size // extent if size % extent == 0 else 1
    return tuple(part)


def _cut(sizes: Sequence[int], extents: Sequence[int]) -> tuple[int, ...]:
    """Of a block of dimensions, outermost first, what is contiguous once they are merged."""
    part: list[int] = []
    whole = True
    for size, extent in zip(reversed(sizes), reversed(extents), strict=True):
        part.insert(0, size if whole else 1)
        whole = whole and size == extent
    return tuple(part)


def _last_only(extents: Sequence[int], block: int) -> tuple[int, ...]:
    """The element of `block` entries along the last dimension."""
    return (*([1] * (len(extents) - 1)), block) if extents else ()
