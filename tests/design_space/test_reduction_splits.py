"""Into how many partial sums reductions are split."""

from __future__ import annotations

import pytest

from stc.design_space.reduction_splits import copy_sums, lane_sums


@pytest.mark.parametrize(
    ("extent", "lanes"), [(1, 1), (3, 1), (4, 2), (16, 4), (17, 1), (100, 10), (410, 10), (4096, 16), (1021, 1)]
)
def test_lanes_are_the_widest_divisor_that_combines_quickly(extent: int, lanes: int):
    assert lane_sums(extent) == lanes


@pytest.mark.parametrize(
    ("extent", "most", "copies"), [(390, 14, 13), (390, 12, 10), (390, 0, 1), (390, 400, 15), (13, 13, 1), (1, 5, 1)]
)
def test_copies_are_the_most_that_combine_quickly(extent: int, most: int, copies: int):
    assert copy_sums(extent, most) == copies
