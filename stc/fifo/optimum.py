"""The cheapest FIFO depths at which a design keeps its cycles: exact, for designs small enough.

    found = optimal_depths(DepthTest(fifos, run, reference), most_runs=600)

More slots never make a run slower (see `stc.fifo.depth_search` for why, and for the exception, which is counted). So a run at
depths that are too few, raised until no FIFO can have one slot more without the run being fast enough, says: *one of these
FIFOs must be deeper*. Those with all their tokens drop out of the clause; what is left are the FIFOs that can stand in for
each other. (The first clauses are of one FIFO each: its least depth with all others unlimited.) The cheapest depths that
satisfy all such clauses (an integer program) are a lower bound on the bits; they are run: if they are enough they are the
optimum, if not, the run gives the next clause. What earlier clauses suggest (`stc.fifo.staircases`) is tried first: such a
clause takes one run, a search takes dozens. Every clause excludes depths that were not excluded before, so this ends; where
the budget of runs ends it earlier, the bound stands.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import pulp

from stc.fifo.depth_search import FLOOR, MOST_RUNS, DepthTest, SizedFifo, Vector, next_deeper
from stc.fifo.staircases import Clause, Staircases

GUESSES = 4
"""Runs that are spent on guessed clauses before one is searched for."""
Proof = Literal["each FIFO alone", "search", "not known"]


@dataclass(frozen=True)
class Optimum:
    """Deduced from runs, on the premise that more slots never make a run slower: no proof where a pipeline may freeze.

    `bits` and `depths` are None where the budget did not suffice; `lower_bound` (bits) holds in any case.

    `proof`: "each FIFO alone" where the least depths that hold for every FIFO with all others unlimited are enough together.
    `surprises`: runs that contradicted the premise; then nothing is known.
    """

    bits: int | None
    depths: dict[str, int] | None
    lower_bound: int
    proof: Proof
    runs: int
    surprises: int


def optimal_depths(test: DepthTest, most_runs: int = MOST_RUNS, known: Mapping[str, int] | None = None) -> Optimum:
    """The least bits; `known` are depths that are enough, which end the search once the bound meets them."""
    fifos, before = test.fifos, test.runs
    best = None if known is None else tuple(known[fifo.name] for fifo in fifos)
    trivial = sum(fifo.bits for fifo in fifos) * FLOOR
    staircases = Staircases(fifos)
    clauses: list[Clause] = [{index: depth} for index, depth in enumerate(test.least_alone) if depth > FLOOR]
    bound, depths = _cheapest(fifos, clauses)
    while test.surprises == 0:
        if best is not None and test.bits(best) <= bound:
            depths = best
        clause = None if depths == best else _guessed(test, depths, staircases)
        is_enough = depths == best or (clause is None and test.passes(depths))
        if test.surprises:
            break
        if is_enough:
            proof = "each FIFO alone" if all(len(entry) == 1 for entry in clauses) else "search"
            return Optimum(test.bits(depths), test.named(depths), bound, proof, test.runs - before, 0)
        if test.runs - before >= most_runs:
            return Optimum(None, None, bound, "not known", test.runs - before, 0)
        clauses.append(clause or _searched(test, depths, staircases))
        staircases.learn(clauses[-1])
        bound, depths = _cheapest(fifos, clauses)
    return Optimum(None, None, trivial, "not known", test.runs - before, test.surprises)


def _guessed(test: DepthTest, depths: Vector, staircases: Staircases) -> Clause | None:
    """A clause that earlier ones suggest and a run proves: depths that just do not satisfy it are not enough."""
    last_run = test.runs + GUESSES
    for guess in staircases.guesses(depths):
        if test.runs == last_run:
            break
        below = tuple(guess[index] - 1 if index in guess else tokens for index, tokens in enumerate(test.all_tokens))
        if not test.is_enough(below):
            return guess
    return None


def _searched(test: DepthTest, depths: Vector, staircases: Staircases) -> Clause:
    """What depths that are not enough say: they are raised as far as they still are not, narrow tokens first.

    FIFOs that the run never filled (or never came to) come first, those that earlier clauses name come last.
    """
    occupied = test.outcome(depths).occupancies
    order = sorted(range(len(depths)), key=lambda index: test.fifos[index].bits)
    named = [index for index in order if staircases.marks(index)]
    full = [index for index in order if index not in named and occupied.get(test.fifos[index].name, 0) >= depths[index]]
    groups = [named, full, [index for index in order if index not in named and index not in full]]

    def likely(index: int, too_few: int, enough: int) -> Collection[int]:
        marks = [depth - below for depth in staircases.marks(index) for below in (0, 1)]
        return marks if any(too_few < depth < enough for depth in marks) else next_deeper(index, too_few, enough)

    raised = test.raised(depths, groups, likely)
    return {index: depth + 1 for index, (depth, most) in enumerate(zip(raised, test.all_tokens, strict=True)) if depth < most}


def _cheapest(fifos: Sequence[SizedFifo], clauses: Sequence[Clause]) -> tuple[int, Vector]:
    """The least bits that satisfy all clauses, and such depths."""
    least = [FLOOR] * len(fifos)
    for clause in clauses:
        if len(clause) == 1:
            [(index, depth)] = clause.items()
            least[index] = max(least[index], depth)
    open_clauses = [clause for clause in clauses if all(least[index] < depth for index, depth in clause.items())]
    if open_clauses:
        least = _solved(fifos, least, open_clauses)
    return sum(fifo.bits * depth for fifo, depth in zip(fifos, least, strict=True)), tuple(least)


def _solved(fifos: Sequence[SizedFifo], least: Sequence[int], clauses: Sequence[Clause]) -> list[int]:
    """One binary per FIFO and depth that some clause names (`at least so deep`); deeper ones imply shallower ones."""
    problem = pulp.LpProblem("depths", pulp.LpMinimize)
    levels: dict[int, list[int]] = {}
    for clause in clauses:
        for index, depth in clause.items():
            levels.setdefault(index, []).append(depth)
    chosen: dict[tuple[int, int], pulp.LpVariable] = {}
    costs: list[pulp.LpAffineExpression] = []
    for index, depths in levels.items():
        below = least[index]
        for depth in sorted(set(depths)):
            chosen[index, depth] = pulp.LpVariable(f"f{index}_{depth}", cat="Binary")
            costs.append(fifos[index].bits * (depth - below) * chosen[index, depth])
            if below != least[index]:
                problem += chosen[index, depth] <= chosen[index, below]
            below = depth
    problem += pulp.lpSum(costs)
    for clause in clauses:
        problem += pulp.lpSum(chosen[entry] for entry in clause.items()) >= 1
    status = problem.solve(pulp.HiGHS(msg=False, gapRel=0))
    assert pulp.LpStatus[status] == "Optimal"
    result = list(least)
    for (index, depth), variable in chosen.items():
        if (variable.value() or 0) > 0.5:
            result[index] = max(result[index], depth)
    return result
