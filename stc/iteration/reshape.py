"""Row-major reshapes as groupings of dimensions.

A reshape that only splits dimensions (or only merges them) is described by `Groups`: for each dimension of the coarse shape
the extents of the fine dimensions that it consists of, outermost first. `((32,), (16, 64))` splits [32, 1024] to [32, 16, 64].
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import TypeAlias

Groups: TypeAlias = tuple[tuple[int, ...], ...]


def coarse_shape(groups: Groups) -> tuple[int, ...]:
    """Extents before splitting."""
    return tuple(prod(group) for group in groups)


def fine_shape(groups: Groups) -> tuple[int, ...]:
    """Extents after splitting."""
    return tuple(chain.from_iterable(groups))


def is_trivial(groups: Groups) -> bool:
    """Whether nothing is split."""
    return all(len(group) == 1 for group in groups)


def positions(groups: Groups) -> tuple[tuple[int, ...], ...]:
    """For each coarse dimension the indices of its fine dimensions."""
    found = []
    start = 0
    for group in groups:
        found.append(tuple(range(start, start + len(group))))
        start += len(group)
    return tuple(found)


def outermost(groups: Groups, coarse: int) -> int | None:
    """The outermost of the fine dimensions of a coarse one that has more than one entry; None where none has."""
    return next((fine for fine, extent in zip(positions(groups)[coarse], groups[coarse], strict=True) if extent != 1), None)


def divide_outermost(groups: Groups, coarse: int, count: int) -> Groups | None:
    """The groups of each of `count` equal parts along a coarse dimension: in 8, `((16, 64),)` is `((2, 64),)`.

    None where a part is not one of its outermost fine dimension as well.
    """
    if (fine := outermost(groups, coarse)) is None:
        return None
    place = fine - positions(groups)[coarse][0]
    group = groups[coarse]
    if group[place] % count:
        return None
    return (*groups[:coarse], (*group[:place], group[place] // count, *group[place + 1 :]), *groups[coarse + 1 :])


def refinement(left: Sequence[int], right: Sequence[int]) -> tuple[Groups, Groups] | None:
    """The coarsest shape that splits both shapes, as groups of each; None where there is none.

    The shapes must hold equally many elements, none of extent 0 and without dimensions of extent 1. [4, 3] and [2, 6] refine
    to [2, 2, 3]; [2, 3] and [3, 2] do not.
    """
    if prod(left) != prod(right):
        raise ValueError(f"shapes {list(left)} and {list(right)} differ in size")
    sides: tuple[list[list[int]], list[list[int]]] = ([], [])
    shapes = (list(left), list(right))
    rest = [1, 1]
    while shapes[0] or shapes[1] or rest != [1, 1]:
        for side in (0, 1):
            if rest[side] == 1:
                if not shapes[side]:
                    return None
                rest[side] = shapes[side].pop(0)
                sides[side].append([])
        factor = min(rest)
        if rest[0] % factor or rest[1] % factor or factor == 1:
            return None
        for side in (0, 1):
            sides[side][-1].append(factor)
            rest[side] //= factor
    return tuple(map(tuple, sides[0])), tuple(map(tuple, sides[1]))


def without_units(shape: Sequence[int]) -> tuple[int, ...]:
    """The shape without dimensions of extent 1."""
    return tuple(extent for extent in shape if extent != 1)


def groups_with_units(shape: Sequence[int]) -> Groups:
    """How the dimensions other than 1 of a shape take up its units: leading units go to the first, others to the one before.

    Empty for a shape of units only.
    """
    groups: list[list[int]] = []
    leading = 0
    for extent in shape:
        if extent != 1:
            groups.append([1] * leading + [extent] if not groups else [extent])
        elif groups:
            groups[-1].append(1)
        else:
            leading += 1
    return tuple(map(tuple, groups))


def split_interval(offset: int, size: int, extent: int, factors: Sequence[int]) -> tuple[int, tuple[int, ...]] | None:
    """A slice [offset, offset + size) of a dimension of `extent` entries, when `factors` split the slice's dimension.

    Returns (offset in the outermost factor, factors of the whole dimension), or None where slice or dimension are not whole
    multiples of the inner factors. Slice 1024..2048 of 3072 split by (16, 64) is offset 16 of (48, 64).
    """
    inner = prod(factors[1:])
    if prod(factors) != size or offset % inner or extent % inner:
        return None
    return offset // inner, (extent // inner, *factors[1:])
