"""HIDA's example of intensity- and connectedness-aware unrolling (Ye, Jun, Chen, ASPLOS 2024), asked of our search.

    A[32][16] = ...                              512 iterations
    B[16][16] = ...                              256
    C[i][j] += A[2 i][k] * B[k][j]               4,096, of 16 x 16 x 16

HIDA unrolls A by [4, 1], B by [1, 2] and the product by [4, 8, 1]: 4, 2 and 32 iterations at once, 128 cycles each; arrays of 8, 8
and 32 banks. Unaware of either, all three have 32 at once, and the arrays 64, 64 and 32 banks.
"""

from __future__ import annotations

from math import lcm

import pytest

from stc.design_space.parallelism import Parallelism, Work
from stc.design_space.parallelism_search import balanced_parallelism
from stc.platforms.budget import Counts

ROWS_OF_A = 2
"""Of A for one row of C: its index is 2 i."""

A = Work("A", 32 * 16, sums=32 * 16, point=Counts(dsp=1), lane_extent=16, divided_extent=32, divides_lanes=False, family=0)
B = Work("B", 16 * 16, sums=16 * 16, point=Counts(dsp=1), lane_extent=16, divided_extent=1, divides_lanes=False, family=1)
C = Work("C", 16 * 16 * 16, sums=16 * 16, point=Counts(dsp=1), lane_extent=16, divided_extent=16, divides_lanes=False, family=0)
WORKS = (A, B, C)


def chosen(dsp: int) -> tuple[Parallelism, Parallelism, Parallelism]:
    """Of A, B and C, where an iteration at once takes one of so many DSPs."""
    found = balanced_parallelism(WORKS, Counts(dsp=dsp, ports=32))
    return found["A"], found["B"], found["C"]


def at_once(parallelism: Parallelism) -> int:
    return parallelism.lanes * parallelism.copies


@pytest.mark.parametrize(("dsp", "expected"), [(19, (2, 1, 16)), (10, (1, 1, 8)), (3, (1, 1, 1))])
def test_intensity_decides_how_many_iterations_run_at_once(dsp: int, expected: tuple[int, int, int]) -> None:
    """HIDA's factors at half, a quarter, and the least of its DSPs: all take as long, and none is left."""
    found = chosen(dsp)
    assert tuple(map(at_once, found)) == expected
    assert max(cycles(dsp)) == 4096 // expected[2]


def test_the_product_has_as_many_as_in_hida() -> None:
    """32 iterations at once, 128 cycles. HIDA's 4 + 2 + 32 DSPs would do; we need 42 of them: what computes A is copied along with
    the product, and keeps the lanes that it has by then. Unaware of intensity all three have 32, 96 DSPs, and are no faster."""
    assert max(cycles(42)) == 128
    a, b, c = map(at_once, chosen(42))
    assert (a, b, c) == (8, 2, 32)


def test_connected_computations_agree_and_arrays_have_few_banks() -> None:
    """Banks as HIDA counts them: along each dimension the least common multiple of what the two sides take at once.

    We divide the product as [2, 16, 1], HIDA as [4, 8, 1]: the last parallel loop takes lanes first, up to the 16 f32 of a memory
    port's word, and only then rows are divided among copies, since a copy is a task with streams of its own, and a lane is none.
    Lanes divide each other, rows of A and of C have one number of copies, and no array has more banks than entries of C at once.
    """
    a, b, c = chosen(42)
    assert (c.copies, c.lanes) == (2, 16)
    assert a.copies == c.copies, "a copy of the product reads the slice of A that one copy makes"
    assert c.lanes % b.lanes == 0 and b.copies == 1
    banks_of_a = lcm(a.copies, ROWS_OF_A * c.copies) * a.lanes
    banks_of_b = lcm(b.lanes, c.lanes)
    assert (banks_of_a, banks_of_b, c.copies * c.lanes) == (16, 16, 32), "8, 8 and 32 in HIDA; 64, 64 and 32 unaware of both"


def cycles(dsp: int) -> list[int]:
    return [work.cycles(own) for work, own in zip(WORKS, chosen(dsp), strict=True)]
