"""Parallelism strategies: what is checked of a plan, and the published unrolling beside ours."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.design_space.parallelism import MOST_LANES_PER_TASK, Parallelism, Work
from stc.design_space.published.unrolling import published_unrolling
from stc.diagnostics import CompileError
from stc.platforms.budget import Counts
from stc.strategies.parallelism import PARALLELISM, ParallelismProblem, check_parallelism
from stc.strategies.registry import WrongPlan

MOST = Counts(dsp=1000, ports=32)


def work(name: str, points: int, lanes: int, family: int = 0, divided: int = 6) -> Work:
    return Work(name, points, points, Counts(dsp=5), lanes, divided, False, family)


TWO = [work("a", 6 * 64, 64), work("b", 6 * 16, 16)]


@pytest.mark.parametrize(
    ("a", "b", "complaint"),
    [
        ((3, 1), (1, 1), "3 lanes of a do not divide its loop of 64"),
        ((0, 1), (1, 1), "0 lanes of a do not divide its loop of 64"),
        ((1, 4), (1, 4), "4 copies of a do not divide its loop of 6"),
        ((1, 3), (1, 1), "b has 1 copies, others of its family 3"),
    ],
)
def test_wrong_plans(a: tuple[int, int], b: tuple[int, int], complaint: str) -> None:
    with pytest.raises(WrongPlan, match=complaint):
        check_parallelism(ParallelismProblem(TWO, MOST), {"a": Parallelism(*a), "b": Parallelism(*b)})
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        halves = Parallelism(2.0, 1)  # pyright: ignore[reportArgumentType]
        check_parallelism(ParallelismProblem(TWO, MOST), {"a": halves, "b": halves})
    with pytest.raises(WrongPlan, match="b has no lanes and copies"):
        check_parallelism(ParallelismProblem(TWO, MOST), {"a": Parallelism(1, 1)})


def test_lanes_divide_the_share_of_a_copy() -> None:
    one = replace(work("a", 640, 64, divided=64), divides_lanes=True)
    with pytest.raises(WrongPlan, match="32 lanes of a do not divide a copy's 16 iterations"):
        check_parallelism(ParallelismProblem([one], MOST), {"a": Parallelism(32, 4)})


def test_rows_divide_the_share_of_a_copy() -> None:
    one = replace(work("a", 640, 64, divided=8), row_extent=8, divides_rows=True)
    check_parallelism(ParallelismProblem([one], MOST), {"a": Parallelism(1, 4, 2)})
    with pytest.raises(WrongPlan, match="4 rows of a do not divide a copy's 2 iterations"):
        check_parallelism(ParallelismProblem([one], MOST), {"a": Parallelism(1, 4, 4)})


def test_parts_divide_the_loop_of_which_they_take_turns() -> None:
    one = replace(work("a", 640, 64, divided=8), dealt_extent=6)
    check_parallelism(ParallelismProblem([one], MOST), {"a": Parallelism(1, 4, parts=3)})
    with pytest.raises(WrongPlan, match="4 parts of a do not divide its loop of 6"):
        check_parallelism(ParallelismProblem([one], MOST), {"a": Parallelism(1, 4, parts=4)})


def test_the_slowest_is_unrolled_first() -> None:
    """512, 256 and 4096 iterations (the publication's three loops): all goes to the last, until it is as fast as the first."""
    loops = [work("A", 512, 512), work("B", 256, 256), work("C", 4096, 4096)]
    assert published_unrolling(loops, 3) == {"A": 1, "B": 1, "C": 1}
    assert published_unrolling(loops, 10) == {"A": 1, "B": 1, "C": 8}
    assert published_unrolling(loops, 19) == {"A": 2, "B": 1, "C": 16}
    assert published_unrolling(loops, 10**6) == dict.fromkeys("ABC", MOST_LANES_PER_TASK)
    assert published_unrolling([work("odd", 36, 12), work("even", 32, 32)], 100) == {"odd": 4, "even": 32}


def test_published_needs_its_number() -> None:
    with pytest.raises(CompileError, match="overall-unroll-size is 1, for 2 computations; accepted: at least one for each"):
        PARALLELISM.decide("published", ParallelismProblem(TWO, MOST, 1))
    chosen = PARALLELISM.decide("published", ParallelismProblem(TWO, MOST, 12))
    assert chosen == {"a": Parallelism(8, 1), "b": Parallelism(2, 1)}
