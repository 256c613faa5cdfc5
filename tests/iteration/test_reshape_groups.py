"""Groupings of dimensions against numpy."""

from __future__ import annotations

from itertools import chain, pairwise
from math import prod

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.iteration.reshape import (
    coarse_shape,
    divide_outermost,
    fine_shape,
    groups_with_units,
    is_trivial,
    outermost,
    positions,
    refinement,
    split_interval,
    without_units,
)
from stc_testing.drawn import examples

many = examples(50)
factors = st.lists(st.integers(2, 4), min_size=1, max_size=5)


def merged(numbers: list[int], cuts: list[bool]) -> list[int]:
    """Products of neighbours that no cut separates."""
    products = [numbers[0]]
    for number, cut in zip(numbers[1:], cuts, strict=False):
        if cut:
            products.append(number)
        else:
            products[-1] *= number
    return products


def coarsest_common(left: list[int], right: list[int]) -> list[int] | None:
    """The oracle: dimensions end at strides; both shapes' strides together must divide one another."""
    strides = sorted({prod(shape[index:]) for shape in (left, right) for index in range(len(shape) + 1)})
    if any(large % small for small, large in pairwise(strides)):
        return None
    return [large // small for small, large in pairwise(strides)][::-1]


@many
@given(factors, st.permutations(range(5)), st.lists(st.booleans(), min_size=4, max_size=4), st.lists(st.booleans(), min_size=4))
def test_refinement_is_the_coarsest(numbers: list[int], order: list[int], left_cuts: list[bool], right_cuts: list[bool]):
    other = [numbers[index] for index in order if index < len(numbers)]
    for right_numbers in (numbers, other):
        left, right = merged(numbers, left_cuts), merged(right_numbers, right_cuts)
        expected = coarsest_common(left, right)
        found = refinement(left, right)
        if expected is None:
            assert found is None
            continue
        assert found is not None
        assert [list(coarse_shape(groups)) for groups in found] == [left, right]
        assert [list(fine_shape(groups)) for groups in found] == [expected, expected]


def test_refinement_by_example():
    assert refinement([4, 3], [2, 6]) == (((2, 2), (3,)), ((2,), (2, 3)))
    assert refinement([2, 3], [3, 2]) is None
    assert refinement([], []) == ((), ())
    with pytest.raises(ValueError, match=r"shapes \[2\] and \[3\] differ in size"):
        refinement([2], [3])


@many
@given(st.lists(st.lists(st.integers(1, 4), min_size=1, max_size=3), max_size=4))
def test_positions_cover_the_fine_dimensions(lists: list[list[int]]):
    groups = tuple(map(tuple, lists))
    assert list(chain.from_iterable(positions(groups))) == list(range(len(fine_shape(groups))))
    assert [len(group) for group in positions(groups)] == [len(group) for group in groups]
    assert is_trivial(groups) == (coarse_shape(groups) == fine_shape(groups) and len(groups) == len(fine_shape(groups)))


@many
@given(st.lists(st.sampled_from([1, 1, 2, 5]), max_size=6))
def test_units_belong_to_a_neighbour(shape: list[int]):
    groups = groups_with_units(shape)
    assert coarse_shape(groups) == without_units(shape)
    if without_units(shape):
        assert list(fine_shape(groups)) == shape
    else:
        assert groups == ()


@many
@given(st.integers(0, 12), st.lists(st.integers(1, 3), min_size=1, max_size=3), st.integers(0, 12))
def test_split_interval_is_a_slice_of_the_outermost_factor(offset: int, split: list[int], rest: int):
    size = prod(split)
    extent = offset + size + rest
    found = split_interval(offset, size, extent, split)
    inner = prod(split[1:])
    if offset % inner or extent % inner:
        assert found is None
        return
    assert found is not None
    start, whole = found
    part = np.arange(extent).reshape(whole)[start : start + split[0]]
    assert part.shape == tuple(split)
    assert part.ravel().tolist() == list(range(offset, offset + size))


def test_split_interval_by_example():
    assert split_interval(1024, 1024, 3072, (16, 64)) == (16, (48, 64))
    assert split_interval(0, 8, 8, (3, 2)) is None


def test_parts_of_a_divided_dimension_reshape_to_parts() -> None:
    """Rows 0 to 3 and 4 to 7 of [1, 4, 2, 3] are its planes 0, 1 and 2, 3; in three nothing is."""
    groups, count = ((1, 4, 2), (3,)), 2
    fine, narrow = outermost(groups, 0), divide_outermost(groups, 0, count)
    assert (fine, narrow) == (1, ((1, 2, 2), (3,)))
    assert fine is not None and narrow is not None
    values = np.arange(24).reshape(coarse_shape(groups))
    parts = np.split(values.reshape(fine_shape(groups)), count, axis=fine)
    for part, rows in zip(parts, np.split(values, count, axis=0), strict=True):
        assert np.array_equal(part, rows.reshape(fine_shape(narrow)))
    assert divide_outermost(groups, 0, 3) is None
    assert outermost(((1, 1), (3,)), 0) is None
