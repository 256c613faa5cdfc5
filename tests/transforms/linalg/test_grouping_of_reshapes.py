"""Row-major reshapes as groupings of dimensions (stc/iteration/reshape.py)."""

from __future__ import annotations

from math import prod

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.iteration.reshape import (
    coarse_shape,
    fine_shape,
    groups_with_units,
    positions,
    refinement,
    split_interval,
    without_units,
)

factorisation = st.lists(st.integers(2, 4), min_size=1, max_size=5)


@given(factorisation, st.data())
def test_refinement_of_two_groupings_splits_both(fine: list[int], data: st.DataObject) -> None:
    """Both shapes merge neighbours of one fine shape, so there is a common refinement, at most as fine as that."""
    left, right = (_merge(fine, [data.draw(st.booleans()) for _ in fine[1:]]) for _ in range(2))
    found = refinement(left, right)
    assert found is not None
    assert (coarse_shape(found[0]), coarse_shape(found[1])) == (tuple(left), tuple(right))
    assert fine_shape(found[0]) == fine_shape(found[1])
    assert len(fine_shape(found[0])) <= len(fine)


def _merge(fine: list[int], joined: list[bool]) -> list[int]:
    shape = fine[:1]
    for extent, join in zip(fine[1:], joined, strict=True):
        if join:
            shape[-1] *= extent
        else:
            shape.append(extent)
    return shape


@pytest.mark.parametrize(("left", "right"), [([2, 3], [3, 2]), ([6, 4], [4, 6]), ([2, 9], [3, 6])])
def test_no_refinement(left: list[int], right: list[int]) -> None:
    assert refinement(left, right) is None


def test_refinement_needs_equal_sizes() -> None:
    with pytest.raises(ValueError, match="differ in size"):
        refinement([2, 3], [7])


@given(st.lists(st.sampled_from([1, 1, 2, 3]), max_size=6))
def test_units_join_a_neighbour(shape: list[int]) -> None:
    groups = groups_with_units(shape)
    assert coarse_shape(groups) == without_units(shape)
    assert not groups or fine_shape(groups) == tuple(shape)
    assert prod(coarse_shape(groups)) == prod(shape)


def test_positions_and_intervals() -> None:
    assert positions(((32,), (16, 64))) == ((0,), (1, 2))
    assert split_interval(1024, 1024, 3072, (16, 64)) == (16, (48, 64))
    assert split_interval(1, 6, 10, (2, 3)) is None
    assert split_interval(0, 6, 9, (2, 3)) == (0, (3, 3))
