"""Default tiles, loop orders and unroll factors."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.design_space.tiling import default_order, default_tiles, default_unroll, reduction_unroll, row_loop
from stc_testing.drawn import examples

many = examples(37)


@many
@given(st.lists(st.integers(1, 200), max_size=4), st.integers(1, 40))
def test_tiles_divide_and_are_the_largest(extents: list[int], limit: int):
    tiles = default_tiles(extents, limit)
    for extent, tile in zip(extents, tiles, strict=True):
        assert tile <= limit and extent % tile == 0
        assert not any(extent % larger == 0 for larger in range(tile + 1, limit + 1) if larger <= extent)


def test_tiles_by_example():
    assert default_tiles([1024, 50257, 36, 1], 16) == (16, 1, 12, 1)
    with pytest.raises(ValueError, match="divisor limit is 0, expected at least 1"):
        default_tiles([4], 0)


@many
@given(st.integers(0, 6), st.data())
def test_order_is_a_permutation_with_reductions_inside(count: int, data: st.DataObject):
    reductions = sorted(data.draw(st.sets(st.integers(0, max(0, count - 1))))) if count else []
    order = default_order(count, reductions)
    assert sorted(order) == list(range(count))
    outer = count - len(reductions)
    assert list(order[:outer]) == [loop for loop in range(count) if loop not in reductions]
    assert list(order[outer:]) == reductions


MATMUL = ([2], [[0, 2], [2, 1], [0, 1]])


@pytest.mark.parametrize(
    ("tiles", "reductions", "operands", "lanes", "expected"),
    [
        ((16, 16, 16), *MATMUL, 16, (1, 16, 1)),
        ((16, 16, 16), *MATMUL, 8, (1, 8, 1)),  # more points than lanes: a divisor of them
        ((16, 13, 16), *MATMUL, 8, (1, 1, 1)),  # a prime number of points has no other
        ((16, 1, 16), *MATMUL, 16, (1, 1, 1)),  # loop 0 is not the last dimension of what it indexes
        ((16, 16, 16), [2], [[0, 2], [1, 2], [0, 1]], 16, (1, 1, 1)),  # a transposed operand: banks collide
        ((8, 12), [1], [[0, 1], [0]], 16, (1, 1)),  # a row sum: the parallel loop is not innermost in its input
        ((8, 12), [0], [[0, 1], [1]], 16, (1, 12)),  # a column sum
        ((4, 8), [], [[0, 1], [1], [0], [0, 1]], 8, (1, 8)),  # broadcasts along either dimension
        ((4,), [0], [[0], []], 8, (1,)),  # everything is reduced
        ((1, 1), [], [[0, 1]], 8, (1, 1)),
        ((), [], [[]], 8, ()),
    ],
)
def test_unroll(
    tiles: tuple[int, ...], reductions: list[int], operands: list[list[int]], lanes: int, expected: tuple[int, ...]
):
    assert default_unroll(tiles, reductions, operands, lanes) == expected


@pytest.mark.parametrize(
    ("tiles", "reductions", "operands", "lanes", "expected"),
    [
        ((64, 64), [1], [[0, 1], [1], [0]], 16, (1, 16)),  # a product with a row
        ((64, 64), [1], [[0, 1], [1], [0]], 12, (1, 8)),  # a divisor
        ((8, 64), [1], [[0, 1], [1], [0]], 16, (1, 2)),  # two sums of a tile in flight for each adder
        ((3, 64), [1], [[0, 1], [1], [0]], 16, (1, 1)),
        ((64, 13), [1], [[0, 1], [1], [0]], 12, (1, 1)),
        ((64, 64), [0], [[0, 1], [0], [1]], 16, (1, 1)),  # terms do not come as lanes
        ((4, 16, 3, 8), [2, 3], [[0, 2, 3], [1, 2, 3], [0, 1]], 16, (1, 1, 1, 8)),  # the last reduction
        ((8,), [], [[0], [0]], 8, (1,)),
    ],
)
def test_unroll_of_a_reduction(
    tiles: tuple[int, ...], reductions: list[int], operands: list[list[int]], lanes: int, expected: tuple[int, ...]
):
    assert reduction_unroll(tiles, reductions, operands, lanes) == expected


@pytest.mark.parametrize(
    ("sums", "terms", "expected"), [(1, 64, 16), (3, 64, 16), (4, 250, 10), (4, 13, 13), (4, 17, 1), (64, 32, 16)]
)
def test_integers_are_added_in_a_cycle_however_few_sums_there_are(sums: int, terms: int, expected: int):
    assert reduction_unroll((sums, terms), [1], [[0, 1], [1], [0]], 16, of_integers=True) == (1, expected)


@pytest.mark.parametrize(
    ("inputs", "results", "expected"),
    [
        ([(0, 2), (2, 1)], [(0, 1)], 0),            # x w: rows of x
        ([(0, 2), (1, 2)], [(0, 1)], 1),            # x w^T: no lanes; each entry of x is used for several columns
        ([(2, 0), (2, 1)], [(0, 1)], None),         # x^T w: tokens of x run along its rows
        ([(0, 3), (0, 3, 1)], [(0, 1)], None),      # batches have weights of their own
        ([(0, 2)], [(0,)], 0),                      # a sum of each row
        ([(0, 2)], [(0, 1)], 0),                    # the same results in all columns, which are the lanes
        ([(2,)], [(1,)], None),                     # nothing but lanes
    ],
)
def test_the_loop_of_rows(inputs: list[tuple[int, ...]], results: list[tuple[int, ...]], expected: int | None):
    assert row_loop((6, 10, 8, 8), (2, 3), inputs, results) == expected
