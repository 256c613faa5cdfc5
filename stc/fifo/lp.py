"""FIFO depths from a schedule: when every task starts, and which of its own it keeps, so that FIFOs are cheap and no cycle is lost
(docs/design/method.md section 6).

Every task has one schedule or several (`TaskSchedule`: the cycles of all it does, in a run that is possible); its start is free
besides. With start-time potentials s, one constraint per FIFO keeps its target from starving, s_target - s_source >=
`FifoCurves.least_delay`, and implies the constraint along every path. Everything ends by the least makespan, or a slack above. The
objective is what the FIFOs cost at the slots they then need (`FifoCurves.slots`): the step function of the platform, and bits to
break ties. The delay of an edge lies in one of several pieces (`stc.fifo.pieces`), each with a binary variable.

A schedule without stalls at some depths is a solution of all that holds tasks up, and the run itself is the earliest solution: at
these depths the design is at least as fast as the schedule, in the model that the schedules are taken from.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import floor, inf

import numpy as np
import pulp

from stc.fifo.pieces import Choice, EdgeCosts, Ends, Piece, SizingProblem
from stc.network.graph import Channel
from stc.platforms.platform import Resources

GAP = 0.01
"""How far above the optimum of its program the cost may be, as a part of it."""

PENALTY = 1e6
"""Cost of a cycle beyond the piece that was chosen; the choice is made with the tolerances of floating point."""


@dataclass(frozen=True)
class FifoSchedule:
    """The solution of the program.

    `schedules`: by task, the number of the one it keeps. `shifts`: by task, how many cycles later than in that one it starts.
    `slots` and `delays`: by FIFO, the slots it needs and the cycles between the starts of its tasks. `makespan`: the cycle in which
    everything has ended. `seconds`: in the solver. `preparation_seconds`: before, for reading costs off curves and writing the
    program. `ahead`: depths that FIFOs of loads have to have for it, where it counts on more than they have.
    """

    shifts: dict[str, int]
    schedules: dict[str, int]
    slots: dict[str, int]
    delays: dict[str, int]
    makespan: int
    solver: str
    seconds: float
    preparation_seconds: float
    ahead: Mapping[str, int] = field(default_factory=dict[str, int])


def solve(problem: SizingProblem, usable: Resources, slack: float = 0.0) -> FifoSchedule:
    """The cheapest schedule that ends within (1 + `slack`) of the makespan; `usable`: what the device has.

    ValueError where no choice of schedules and starts keeps the rings and ends in time.
    """
    begin = time.perf_counter()
    costs = EdgeCosts(problem, usable, floor(problem.makespan * (1 + slack)))
    program = _Program(costs)
    shifts, schedules = program.solved()
    ends = [problem.schedules[task][schedules[task]].end + shift for task, shift in shifts.items()]
    return FifoSchedule(
        shifts,
        schedules,
        {edge.name: _slots(costs, edge, shifts, schedules) or 0 for edge in problem.graph.sized},
        {edge.name: shifts[edge.consumer] - shifts[edge.producer] for edge in problem.graph.sized},
        max(ends, default=0),
        f"mixed-integer linear program of {program.binaries} binaries, PuLP {pulp.__version__} with HiGHS",
        program.seconds,
        time.perf_counter() - begin - program.seconds,
    )


def _slots(costs: EdgeCosts, edge: Channel, shifts: Mapping[str, int], schedules: Mapping[str, int]) -> int | None:
    """The depth an edge needs in a schedule; None where its target starves."""
    return costs.depth(edge, (schedules[edge.producer], schedules[edge.consumer]), shifts[edge.consumer] - shifts[edge.producer])


@dataclass(frozen=True)
class _Solution:
    """Schedules, a piece per edge, and what they cost."""

    schedules: dict[str, int]
    pieces: dict[Ends, Piece]
    cost: float


class _Program:
    """`binaries`: how many variables were whole so far; `seconds`: time spent in the solver."""

    def __init__(self, costs: EdgeCosts) -> None:
        self.costs, self.schedules, self.binaries, self.seconds = costs, costs.problem.schedules, 0, 0.0

    def solved(self) -> tuple[dict[str, int], dict[str, int]]:
        """Shifts and schedules.

        Without shifts first: what the best choice of schedules costs then bounds what any FIFO may cost.
        """
        least = {ends: self.costs.least_cost(ends) for ends in self.costs.edges}
        unmoved = {ends: self.costs.unmoved(ends) for ends in self.costs.edges}
        still = self._chosen(unmoved, moved=False) if all(unmoved.values()) else None
        in_place = dict.fromkeys(self.schedules, 0)
        if still is not None and still.cost <= (1 + GAP) * sum(least.values()):
            return in_place, still.schedules
        spare = (still.cost if still is not None else inf) - sum(least.values())
        best = self._chosen({ends: self.costs.pieces(ends, cost + spare) for ends, cost in least.items()}, moved=True)
        shifts = self._shifts(best) if best is not None else None
        if best is not None and shifts is not None and self._keeps(shifts, best.schedules):
            return shifts, best.schedules
        if still is None:
            raise ValueError("no starts keep all schedules and rings")
        return in_place, still.schedules

    def _keeps(self, shifts: Mapping[str, int], schedules: Mapping[str, int]) -> bool:
        """Whether nobody starves or waits for a block: a last check in whole numbers."""
        for ends, edges in self.costs.edges.items():
            if any(not edge.is_ring and _slots(self.costs, edge, shifts, schedules) is None for edge in edges):
                return False
            rings = [edge for edge in edges if edge.is_ring]
            least, largest = self.costs.delays(ends, (schedules[ends[0]], schedules[ends[1]])) if rings else (0, 0)
            if rings and not least <= shifts[ends[1]] - shifts[ends[0]] <= largest:
                return False
        return True

    def _chosen(self, pieces: Mapping[Ends, Mapping[Choice, Sequence[Piece]]], moved: bool) -> _Solution | None:
        """The cheapest choice of schedules and pieces, None where there is none. Tasks keep their starts unless `moved`."""
        problem = pulp.LpProblem("schedules", pulp.LpMinimize)
        at_schedule = {task: self._picks(f"schedule_{n}", len(some)) for n, (task, some) in enumerate(self.schedules.items())}
        shifts = {task: pulp.LpVariable(f"s_{n}") for n, task in enumerate(self.schedules)}
        for task, picks in at_schedule.items():
            ranges = [self.costs.shifts(task, schedule) if moved else (0, 0) for schedule in range(len(picks))]
            problem += pulp.lpSum(picks) == 1
            problem += shifts[task] >= pulp.lpSum(low * x for (low, _), x in zip(ranges, picks, strict=True))
            problem += shifts[task] <= pulp.lpSum(high * x for (_, high), x in zip(ranges, picks, strict=True))
        cost: list[pulp.LpAffineExpression] = []
        chosen: list[tuple[Ends, Piece, pulp.LpVariable]] = []
        for n, (ends, by_choice) in enumerate(pieces.items()):
            entries = [(choice, piece) for choice, some in by_choice.items() for piece in some]
            picks = self._picks(f"piece_{n}", len(entries))
            extra = [pulp.LpVariable(f"extra_{n}_{i}", 0) for i in range(len(entries))]
            for side, task in enumerate(ends):
                for schedule, x in enumerate(at_schedule[task]):
                    problem += pulp.lpSum(z for (choice, _), z in zip(entries, picks, strict=True) if choice[side] == schedule) == x
            delay = shifts[ends[1]] - shifts[ends[0]]
            problem += delay == pulp.lpSum(p.least * z + y for (_, p), z, y in zip(entries, picks, extra, strict=True))
            for (_, piece), z, y in zip(entries, picks, extra, strict=True):
                problem += y <= (piece.largest - piece.least) * z
                cost.append(piece.cost * z + piece.slope * y)
                chosen.append((ends, piece, z))
        problem += pulp.lpSum(cost)
        self.binaries += sum(variable.cat == pulp.LpInteger for variable in problem.variables())
        if not self._is_solved(problem):
            return None
        best: dict[Ends, tuple[float, Piece]] = {}
        for ends, piece, z in chosen:
            best[ends] = max(best.get(ends, (-1.0, piece)), (z.value() or 0, piece), key=lambda entry: entry[0])
        schedules = {task: int(np.argmax([x.value() or 0 for x in picks])) for task, picks in at_schedule.items()}
        return _Solution(schedules, {ends: piece for ends, (_, piece) in best.items()}, _value(cost))

    def _is_solved(self, problem: pulp.LpProblem) -> bool:
        """Solve; whether there is a solution."""
        begin = time.perf_counter()
        problem.solve(pulp.HiGHS(msg=False, gapRel=GAP))
        self.seconds += time.perf_counter() - begin
        return pulp.LpStatus[problem.status] == "Optimal"

    def _picks(self, name: str, count: int) -> list[pulp.LpVariable]:
        """Variables of which one is 1."""
        if count == 1:
            return [pulp.LpVariable(f"{name}_0", 1, 1)]
        return [pulp.LpVariable(f"{name}_{i}", cat=pulp.LpBinary) for i in range(count)]

    def _shifts(self, found: _Solution) -> dict[str, int] | None:
        """Whole shifts for the pieces chosen: rounding down keeps all differences of whole numbers."""
        problem = pulp.LpProblem("shifts", pulp.LpMinimize)
        shifts = {
            task: pulp.LpVariable(f"s_{n}", *self.costs.shifts(task, picked))
            for n, (task, picked) in enumerate(found.schedules.items())
        }
        cost: list[pulp.LpAffineExpression] = []
        for n, (ends, piece) in enumerate(found.pieces.items()):
            _, largest = self.costs.delays(ends, (found.schedules[ends[0]], found.schedules[ends[1]]))
            delay = shifts[ends[1]] - shifts[ends[0]]
            beyond = pulp.LpVariable(f"beyond_{n}", 0)
            problem += delay >= piece.floor
            problem += delay <= largest
            problem += delay - beyond <= piece.largest
            cost.append(max(piece.slope, 0) * delay + PENALTY * beyond)
        problem += pulp.lpSum(cost)
        if not self._is_solved(problem):
            return None
        return {task: floor((variable.value() or 0) + 1e-6) for task, variable in shifts.items()}


def _value(terms: Sequence[pulp.LpAffineExpression]) -> float:
    return sum(float(term.value() or 0) for term in terms)
