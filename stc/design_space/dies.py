"""On which die each part of a design lies: as few wires between dies as may be, within what a plan may use of each.

Dies are in a row (0 at the bottom); a link whose ends are n dies apart takes its wires at each of the n boundaries between. A part
that has memory ports stays at the memory's die. The integer program says of each part and boundary whether the part lies above it:
the wires at a boundary are then those of a cut, and a program without tight resources has whole optima by itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import reduce
from itertools import pairwise
from math import ceil, floor, isfinite
from typing import Any

import pulp

from stc.diagnostics import BeyondBudget, CompileError
from stc.platforms.platform import Resources, share_of

HANDSHAKE = 2
"""Wires of a stream besides its bits: valid and ready."""

MOST_SECONDS = 60
"""In the solver; what it has found by then is taken, and its bound is said."""

FITTING = "a smaller design, smaller units (stc estimate DIR --dies --cut FILE), larger dies, or units that are on none"

NAMES = {"lut": "LUT", "ff": "FF", "bram36": "BRAM36", "uram": "URAM", "dsp": "DSP"}
_KINDS = tuple(field.name for field in fields(Resources))
_NOTHING = Resources(0, 0, 0, 0, 0)
_TOLERANCE = 1e-9


@dataclass(frozen=True)
class Part:
    """A compute unit, or a task, with what it takes. `die`: the one that it has to lie on; None: any."""

    name: str
    takes: Resources
    die: int | None = None


@dataclass(frozen=True)
class DieLink:
    """A FIFO between two parts, by name, and its wires."""

    name: str
    first: str
    second: str
    wires: int


@dataclass(frozen=True)
class DieGraph:
    """`dies`: what a plan may use of each, in their row. `wires`: how many may cross the boundary of two neighbours; None: any."""

    parts: tuple[Part, ...]
    links: tuple[DieLink, ...]
    dies: tuple[Resources, ...]
    wires: int | None = None

    def taken(self, dies: Mapping[str, int]) -> list[Resources]:
        """What lies on each die, for parts on these `dies`."""
        on: list[list[Resources]] = [[] for _ in self.dies]
        for part in self.parts:
            on[dies[part.name]].append(part.takes)
        return [reduce(Resources.plus, some, _NOTHING) for some in on]

    def boundary_wires(self, dies: Mapping[str, int]) -> list[int]:
        """The wires at each boundary: number b is between dies b and b + 1."""
        ends = [(link.wires, *sorted((dies[link.first], dies[link.second]))) for link in self.links]
        return [sum(wires for wires, low, high in ends if low <= below < high) for below in range(len(self.dies) - 1)]

    def crossing_wires(self, dies: Mapping[str, int]) -> int:
        """What is minimised: wires, each as often as it crosses a boundary."""
        return sum(self.boundary_wires(dies))


@dataclass(frozen=True)
class DiePlan:
    """The die of each part. `least_wires`: no plan has fewer crossing wires, as the solver has proved; as many as this one has,
    unless it was stopped. `seconds`: in the solver."""

    dies: dict[str, int]
    least_wires: int
    seconds: float


def complaint_about(graph: DieGraph, dies: Mapping[str, int]) -> str | None:
    """What is wrong with these dies, by part, as one clause; None where nothing is."""
    names = {part.name for part in graph.parts}
    if unknown := [name for name in dies if name not in names]:
        return f"there is no '{unknown[0]}'"
    for part in graph.parts:
        if part.name not in dies:
            return f"'{part.name}' has no die"
        if dies[part.name] not in range(len(graph.dies)):
            return f"'{part.name}' is on die {dies[part.name]}, of dies 0 to {len(graph.dies) - 1}"
        if part.die is not None and dies[part.name] != part.die:
            return f"'{part.name}' is on die {dies[part.name]}, its memory ports are at die {part.die}"
    return _shortage(graph, dies)


def _shortage(graph: DieGraph, dies: Mapping[str, int]) -> str | None:
    """What a die, or a boundary, has too little of: the one that lacks the largest part of what it has."""
    worst, words = _TOLERANCE, None
    for die, (taken, has) in enumerate(zip(graph.taken(dies), graph.dies, strict=True)):
        for kind, amount in asdict(taken).items():
            usable = float(getattr(has, kind))
            if (over := share_of(amount - usable, usable)) > worst:
                on = [part for part in graph.parts if dies[part.name] == die]
                largest = max(on, key=lambda part: float(getattr(part.takes, kind)))
                worst, words = over, (
                    f"die {die} lacks {ceil(amount - usable):,} of {ceil(amount):,} {NAMES[kind]} ({floor(usable):,} may be used; "
                    f"'{largest.name}' takes {ceil(getattr(largest.takes, kind)):,})"
                )
    for below, wires in enumerate(graph.boundary_wires(dies) if graph.wires is not None else ()):
        if (over := wires / (graph.wires or 1) - 1) > worst:
            worst, words = over, f"{wires:,} wires cross between dies {below} and {below + 1}, where {graph.wires:,} may"
    return words


def assign(graph: DieGraph, most_seconds: float = MOST_SECONDS) -> DiePlan:
    """The dies with the fewest crossing wires. BeyondBudget where nothing fits, which says what would lack least."""
    program = _Program(graph, may_lack=False)
    if (dies := program.solved(most_seconds)) is not None:
        return DiePlan(dies, program.least(graph.crossing_wires(dies)), program.seconds)
    least = _Program(graph, may_lack=True)
    best = least.solved(most_seconds)
    shortage = None if best is None else _shortage(graph, best)
    if shortage is None:
        raise CompileError(f"no dies were found in {most_seconds:g} seconds", accepted="another strategy, or fewer parts")
    what = f"no assignment to {len(graph.dies)} die(s) fits: at best {shortage}"
    raise BeyondBudget(what, accepted=FITTING)


def assign_greedily(graph: DieGraph) -> dict[str, int]:
    """The baseline: parts that are bound to a die first, then the largest ones, each where it adds the fewest crossing wires of the
    dies that have room. CompileError where none has."""
    dies: dict[str, int] = {}
    left = sorted(graph.parts, key=lambda part: (part.die is None, -_share(graph, part)))
    for at, part in enumerate(left):
        placed = DieGraph(tuple(left[: at + 1]), _among(graph.links, {*dies, part.name}), graph.dies, graph.wires)
        tried = [{**dies, part.name: die} for die in ([part.die] if part.die is not None else range(len(graph.dies)))]
        fits = [found for found in tried if _shortage(placed, found) is None]
        if not fits:
            raise CompileError(f"no die has room for '{part.name}': {_shortage(placed, tried[0])}", accepted="strategy optimum")
        dies = min(fits, key=placed.crossing_wires)
    return {part.name: dies[part.name] for part in graph.parts}


def greedy_wires(graph: DieGraph) -> int | None:
    """The crossing wires of the baseline; None where it finds no dies that fit."""
    try:
        return graph.crossing_wires(assign_greedily(graph))
    except CompileError:
        return None


def _among(links: Iterable[DieLink], parts: set[str]) -> tuple[DieLink, ...]:
    return tuple(link for link in links if {link.first, link.second} <= parts)


def _share(graph: DieGraph, part: Part) -> float:
    """The largest share that a part takes of any resource of all dies together."""
    whole = reduce(Resources.plus, graph.dies)
    return max(share_of(getattr(part.takes, kind), getattr(whole, kind)) for kind in _KINDS)


def least_whole(bound: float, found: int) -> int:
    """The fewest wires that a proved `bound` leaves where a plan was `found`: a whole number."""
    return max(0, min(found, ceil(bound - 1e-6))) if isfinite(bound) else 0


class _Program:
    """The integer program. `may_lack`: dies and boundaries may have too little, and the sum of the shares they lack is least."""

    def __init__(self, graph: DieGraph, *, may_lack: bool) -> None:
        self.graph, self.seconds = graph, 0.0
        self._problem = pulp.LpProblem("dies", pulp.LpMinimize)
        self._lacking: list[pulp.LpVariable] | None = [] if may_lack else None
        self._above = {part.name: self._sides(number, part) for number, part in enumerate(graph.parts)}
        self._require_room()
        crossing = self._crossing()
        self._problem += pulp.lpSum(crossing if self._lacking is None else self._lacking)

    def _sides(self, number: int, part: Part) -> list[pulp.LpVariable]:
        """By boundary whether the part lies above it: above a higher one only if above all below."""
        sides: list[pulp.LpVariable] = []
        for below in range(len(self.graph.dies) - 1):
            limits = (0, 1) if part.die is None else (int(part.die > below), int(part.die > below))
            sides.append(pulp.LpVariable(f"above_{number}_{below}", *limits, cat=pulp.LpInteger))
        for lower, higher in pairwise(sides):
            self._problem += higher <= lower
        return sides

    def _on(self, part: str, die: int) -> pulp.LpAffineExpression:
        """1 where the part lies on the die."""
        sides = [pulp.LpAffineExpression(constant=1), *self._above[part], pulp.LpAffineExpression()]
        return sides[die] - sides[die + 1]

    def _lack(self) -> pulp.LpVariable | int:
        if self._lacking is None:
            return 0
        self._lacking.append(pulp.LpVariable(f"lacking_{len(self._lacking)}", 0))
        return self._lacking[-1]

    def _require_room(self) -> None:
        for die, has in enumerate(self.graph.dies):
            for kind in _KINDS:
                amount = getattr(has, kind)
                usable = floor(2 * amount) / 2  # amounts are halves (BRAM36): within the solver's tolerance none is beyond
                shares = {part.name: share_of(getattr(part.takes, kind), amount) for part in self.graph.parts}
                taken = [share * self._on(part, die) for part, share in shares.items() if share]
                self._problem += pulp.lpSum(taken) <= share_of(usable, amount) + self._lack()

    def _crossing(self) -> list[pulp.LpAffineExpression]:
        """The wires at all boundaries, kept to what each has room for."""
        between = Counter[tuple[str, str]]()
        for link in self.graph.links:
            if link.first != link.second:
                between[min(link.first, link.second), max(link.first, link.second)] += link.wires
        found: list[pulp.LpAffineExpression] = []
        for below in range(len(self.graph.dies) - 1):
            at = [wires * self._cut(number, ends, below) for number, (ends, wires) in enumerate(between.items())]
            if self.graph.wires is not None:
                self._problem += pulp.lpSum(at) * (1 / self.graph.wires) <= 1 + self._lack()
            found += at
        return found

    def _cut(self, number: int, ends: Sequence[str], below: int) -> pulp.LpVariable:
        cut = pulp.LpVariable(f"cut_{number}_{below}", 0, 1)
        first, second = (self._above[end][below] for end in ends)
        self._problem += cut >= first - second
        self._problem += cut >= second - first
        return cut

    def solved(self, most_seconds: float) -> dict[str, int] | None:
        """The die of each part; None where there is no solution, or none was found in time."""
        if not self.graph.parts:
            return {}
        self._problem.solve(pulp.HiGHS(msg=False, gapRel=0, timeLimit=most_seconds, mip_feasibility_tolerance=1e-9))
        self.seconds = float(self._problem.solutionTime or 0.0)
        if self._problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
            return None
        return {name: sum(round(side.value() or 0) for side in sides) for name, sides in self._above.items()}

    def least(self, found: int) -> int:
        """What the solver has proved that no plan is below, where it `found` one."""
        if self._problem.sol_status == pulp.LpSolutionOptimal:
            return found
        solver: Any = self._problem.solverModel
        bound = float(solver.getInfo().mip_dual_bound)
        return least_whole(bound, found)
