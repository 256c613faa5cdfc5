"""How much of each computation runs at once.

A strategy gets every computation with its points, DSPs for one of them and the ways it can be sped up, and returns lanes and
copies: lanes are points of one task at once, copies are tasks side by side on slices.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stc.design_space.parallelism import ONE_PORT, Parallelism, Work
from stc.design_space.parallelism_search import balanced_parallelism, shortest_parallelism
from stc.design_space.published.unrolling import published_unrolling
from stc.diagnostics import CompileError
from stc.platforms.budget import Counts
from stc.strategies.registry import Decision, WrongPlan


@dataclass(frozen=True)
class ParallelismProblem:
    """`works`: the computations, in topological order; `most`: what all of them may take together, `port` what one memory port
    does. `overall_unroll_size`: how many points of all computations together may run at once, 0 where only `most` bounds them.
    `rank`: which of the designs that a strategy finds is asked for, 1 for the best; past the last one, any that it gives before.
    """

    works: Sequence[Work]
    most: Counts
    overall_unroll_size: int = 0
    port: Counts = ONE_PORT
    rank: int = 1


ParallelismPlan: TypeAlias = Mapping[str, Parallelism]
"""Lanes and copies by the name of each work."""


def check_parallelism(problem: ParallelismProblem, plan: ParallelismPlan) -> None:
    """WrongPlan unless every work has lanes, rows and copies that divide its loops, one number of copies per family."""
    copies: dict[int, int] = {}
    for work in problem.works:
        if work.name not in plan:
            raise WrongPlan(f"{work.name} has no lanes and copies")
        chosen = plan[work.name]
        if operator.index(chosen.lanes) < 1 or work.lane_extent % chosen.lanes:
            raise WrongPlan(f"{chosen.lanes} lanes of {work.name} do not divide its loop of {work.lane_extent}")
        if operator.index(chosen.copies) < 1 or work.divided_extent % chosen.copies:
            raise WrongPlan(f"{chosen.copies} copies of {work.name} do not divide its loop of {work.divided_extent}")
        share = work.divided_extent // chosen.copies
        if work.divides_lanes and share % chosen.lanes:
            raise WrongPlan(f"{chosen.lanes} lanes of {work.name} do not divide a copy's {share} iterations")
        rows = work.row_extent // (chosen.copies if work.divides_rows else 1)
        if operator.index(chosen.rows) < 1 or rows % chosen.rows:
            raise WrongPlan(f"{chosen.rows} rows of {work.name} do not divide a copy's {rows} iterations")
        if operator.index(chosen.parts) < 1 or work.dealt_extent % chosen.parts:
            raise WrongPlan(f"{chosen.parts} parts of {work.name} do not divide its loop of {work.dealt_extent}")
        if copies.setdefault(work.family, chosen.copies) != chosen.copies:
            raise WrongPlan(f"{work.name} has {chosen.copies} copies, others of its family {copies[work.family]}")


PARALLELISM: Decision[ParallelismProblem, ParallelismPlan] = Decision(
    "parallelism", "shortest", "lanes and copies of every computation, divisors of its loops", check_parallelism
)


@PARALLELISM.strategy("shortest")
def shortest(problem: ParallelismProblem) -> ParallelismPlan:
    """Ours: what shortens the makespan most for what it takes comes next."""
    return shortest_parallelism(problem.works, problem.most, problem.port, problem.rank)


@PARALLELISM.strategy("balanced")
def balanced(problem: ParallelismProblem) -> ParallelismPlan:
    """For the interval: the slowest is sped up first; what others have beyond its issue rate is taken back and spent once more."""
    return balanced_parallelism(problem.works, problem.most, problem.port)


@PARALLELISM.strategy("published")
def published(problem: ParallelismProblem) -> ParallelismPlan:
    """As published: the slowest is unrolled twice as far until `overall_unroll_size` is used up; no copies of tasks."""
    if problem.overall_unroll_size < len(problem.works):
        raise CompileError(
            f"overall-unroll-size is {problem.overall_unroll_size}, for {len(problem.works)} computations",
            where="parallelism strategy 'published'",
            accepted="at least one for each computation",
        )
    factors = published_unrolling(problem.works, problem.overall_unroll_size)
    return {name: Parallelism(factor, 1) for name, factor in factors.items()}
