"""Fusion with the least external traffic (`external_bytes`), as an integer program under the limits of the greedy one.

A group is named by the first of its members, in topological order: `in[k, r]` says that k is in the group of r. That leaves no
two names for one grouping, and its relaxation already pays for what does not fit beside the first. Groups feed each other one way
where kernels have levels, equal inside a group, that rise along each tensor between groups.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from math import gcd
from typing import Any

import networkx as nx
import pulp

from stc.design_space.dies import least_whole
from stc.design_space.fusion import FusionEdge, GroupLimits, by_tensor, external_bytes

MOST_SECONDS = 60
"""In the solver; what it has found by then is taken, and its bound is said."""


@dataclass(frozen=True)
class ExactFusion:
    """`least_bytes`: no grouping has less external traffic, as the solver has proved; as much as this one has, unless it was
    stopped. `seconds`: in the solver."""

    groups: list[list[str]]
    least_bytes: int
    seconds: float


def fuse_exactly(
    limits: GroupLimits, atoms: Sequence[Sequence[str]], known: Sequence[Sequence[str]], most_seconds: float = MOST_SECONDS
) -> ExactFusion:
    """The groups with the least `external_bytes` that are within `limits` and feed each other one way only.

    `atoms`: kernels that are not to be parted, in topological order, each within the bytes on chip; one alone has the ports it has.
    `known`: groups that fit, for what is not found in time: no others are taken that are no better.
    """
    best, least = [list(group) for group in known], _unavoidable(limits)
    if external_bytes(limits.edges, best) == least:
        return ExactFusion(best, least, 0.0)
    program = _Program(limits, atoms, most=external_bytes(limits.edges, best))
    found = program.solved(most_seconds)
    if found is not None and external_bytes(limits.edges, found) < external_bytes(limits.edges, best):
        best = found
    return ExactFusion(best, max(least, program.least(external_bytes(limits.edges, best))), program.seconds)


def _unavoidable(limits: GroupLimits) -> int:
    """The traffic of tensors that cannot stay on chip: were all other kernels one group."""
    return sum(
        tensor[0].tensor_bytes * (2 - tensor[0].kept)
        for tensor in by_tensor(limits.edges)
        if any(edge.stream_bytes > limits.on_chip for edge in tensor)
    )


class _Program:
    """The integer program. `most`: bytes of external traffic that are known to do."""

    def __init__(self, limits: GroupLimits, atoms: Sequence[Sequence[str]], most: int) -> None:
        self.limits, self.atoms, self.seconds = limits, atoms, 0.0
        self._atom = {name: number for number, atom in enumerate(atoms) for name in atom}
        self._between = [edge for edge in limits.edges if self._atom[edge.producer] != self._atom[edge.consumer]]
        self._stream: dict[tuple[int, int], int] = {}
        for edge in self._between:
            ends = self._ends(edge)
            self._stream[ends] = self._stream.get(ends, 0) + edge.stream_bytes
        self._own = [limits.bytes_of(atom) for atom in atoms]
        self._graph: nx.DiGraph[int] = nx.DiGraph(list(self._stream))
        self._graph.add_nodes_from(range(len(atoms)))
        self._behind = {number: nx.descendants(self._graph, number) for number in self._graph}
        self._problem = pulp.LpProblem("fusion", pulp.LpMinimize)
        self._in = {
            (number, first): pulp.LpVariable(f"in_{number}_{first}", 0, 1, cat=pulp.LpInteger)
            for number in range(len(atoms))
            for first in range(number + 1)
            if number == first or self._may_meet(first, number)
        }
        self._of = [[first for first in range(number + 1) if (number, first) in self._in] for number in range(len(atoms))]
        self._both = {ends: self._joint(ends) for ends in self._stream}
        self._place()
        self._require_room()
        self._require_ports()
        self._require_levels()
        self._unit = reduce(gcd, (edge.tensor_bytes for edge in self._between), 0) or 1
        self._objective = pulp.lpSum(self._traffic())
        self._problem += self._objective
        self._problem += self._objective <= most // self._unit

    def _ends(self, edge: FusionEdge) -> tuple[int, int]:
        return self._atom[edge.producer], self._atom[edge.consumer]

    def _may_meet(self, first: int, second: int) -> bool:
        """Whether two may be in one group: with what stands between them, which is then there, too, they fit."""
        closed = {first, second} | {number for number in self._behind[first] if second in self._behind[number]}
        return self.limits.bytes_of([name for number in closed for name in self.atoms[number]]) <= self.limits.on_chip

    def _joint(self, ends: tuple[int, int]) -> dict[int, pulp.LpVariable]:
        """By group whether both ends are in it."""
        shared = [first for first in self._of[ends[0]] if first in self._of[ends[1]]] if self._may_meet(*ends) else []
        both = {first: pulp.LpVariable(f"both_{ends[0]}_{ends[1]}_{first}", 0, 1) for first in shared}
        for first in set(self._of[ends[0]]) & set(self._of[ends[1]]):
            one, other, exists = (self._in[number, first] for number in (*ends, first))
            if first in both:
                self._problem += both[first] <= one
                self._problem += both[first] <= other
            self._problem += both.get(first, 0) >= one + other - exists
        return both

    def _crosses(self, ends: tuple[int, int]) -> pulp.LpAffineExpression:
        return 1 - pulp.lpSum(self._both[ends].values())

    def _place(self) -> None:
        """Each in one group; and in a group with what stands between it and the first of it."""
        for number, groups in enumerate(self._of):
            self._problem += pulp.lpSum(self._in[number, first] for first in groups) == 1
            for first in groups[:-1]:
                self._problem += self._in[number, first] <= self._in[first, first]
                for before in self._graph.predecessors(number):
                    if before in self._behind[first]:
                        self._problem += self._in[number, first] <= self._in.get((before, first), 0)

    def _require_room(self) -> None:
        """In shares of C_max, of which half a byte is left for the solver's tolerance."""
        unit = max(self.limits.on_chip, 1)
        for first in range(len(self.atoms)):
            taken = [size / unit * self._in[number, first] for number, size in enumerate(self._own) if (number, first) in self._in]
            taken += [size / unit * self._both[ends][first] for ends, size in self._stream.items() if first in self._both[ends]]
            self._problem += pulp.lpSum(taken) <= (self.limits.on_chip + 0.5) / unit * self._in[first, first]

    def _require_ports(self) -> None:
        """Tensors that enter or leave a group of several take no more ports than there are."""
        kernels = self.limits.kernels.values()
        outside = [frozenset[str]().union(*(getattr(kernel, side) for kernel in kernels)) for side in ("inputs", "results")]
        most = sum(map(len, outside)) + len({edge.producer for edge in self._between})
        if most <= self.limits.ports:
            return
        for first in range(len(self.atoms)):
            alone = pulp.LpVariable(f"alone_{first}", 0, 1, cat=pulp.LpInteger)
            members = [self._in[number, first] for number in range(first, len(self.atoms)) if (number, first) in self._in]
            self._problem += pulp.lpSum(members) <= 1 + len(members) * (1 - alone)
            self._problem += pulp.lpSum(self._ports(first)) <= self.limits.ports + most * alone

    def _ports(self, first: int) -> Iterator[pulp.LpVariable]:
        """One for each tensor that a group may read or write."""
        needs: dict[tuple[str, str], list[pulp.LpVariable | pulp.LpAffineExpression]] = {}
        for name, kernel in self.limits.kernels.items():
            if (placed := self._in.get((self._atom[name], first))) is None:
                continue
            for side, tensor in (*(("read", each) for each in kernel.inputs), *(("written", each) for each in kernel.results)):
                needs.setdefault((side, tensor), []).append(placed)
        for edge in self._between:
            joint = self._both[self._ends(edge)].get(first, 0)
            ends = [self._in[number, first] - joint for number in self._ends(edge) if (number, first) in self._in]
            needs.setdefault(("crossing", edge.producer), []).extend(ends)
        for number, wanted in enumerate(needs.values()):
            port = pulp.LpVariable(f"port_{first}_{number}", 0, 1)
            for each in wanted:
                self._problem += port >= each
            yield port

    def _require_levels(self) -> None:
        highest = len(self.atoms) - 1
        levels = [pulp.LpVariable(f"level_{number}", 0, highest) for number in range(len(self.atoms))]
        for (number, first), placed in self._in.items():
            if number != first:
                self._problem += levels[number] - levels[first] <= highest * (1 - placed)
                self._problem += levels[first] - levels[number] <= highest * (1 - placed)
        for before, behind in self._stream:
            self._problem += levels[behind] >= levels[before] + self._crosses((before, behind))

    def _traffic(self) -> Iterator[pulp.LpAffineExpression]:
        """Of each tensor, in `_unit` bytes."""
        for number, tensor in enumerate(by_tensor(self._between)):
            size, ends = tensor[0].tensor_bytes // self._unit, list(dict.fromkeys(map(self._ends, tensor)))
            if len(ends) == 1:
                yield size * (2 - tensor[0].kept) * self._crosses(ends[0])
                continue
            for first in sorted({first for _, reader in ends for first in self._of[reader]}):
                reads = pulp.LpVariable(f"reads_{number}_{first}", 0, 1)
                for pair in ends:
                    if (pair[1], first) in self._in:
                        self._problem += reads >= self._in[pair[1], first] - self._both[pair].get(first, 0)
                yield size * reads
            if not tensor[0].kept:
                written = pulp.LpVariable(f"written_{number}", 0, 1)
                for pair in ends:
                    self._problem += written >= self._crosses(pair)
                yield size * written

    def solved(self, most_seconds: float) -> list[list[str]] | None:
        """The groups; None where none were found in time."""
        self._problem.solve(pulp.HiGHS(msg=False, gapRel=0, timeLimit=most_seconds, mip_feasibility_tolerance=1e-9))
        self.seconds = float(self._problem.solutionTime or 0.0)
        if self._problem.sol_status not in (pulp.LpSolutionOptimal, pulp.LpSolutionIntegerFeasible):
            return None
        members: dict[int, list[int]] = {}
        for (number, first), placed in self._in.items():
            if round(placed.value() or 0):
                members.setdefault(first, []).append(number)
        groups = [part for group in members.values() for part in self._parts(group)]
        return groups if self._is_legal(groups) else None

    def _parts(self, group: Sequence[int]) -> Iterator[list[str]]:
        """A group without what no tensor ties to it, which would be there for nothing: no read is saved, and none waits for it."""
        tied: nx.Graph[int] = nx.Graph()
        tied.add_nodes_from(group)
        for tensor in by_tensor(self._between):
            sides = {number for edge in tensor for number in self._ends(edge)} & set(group)
            nx.add_path(tied, sides)
        for part in nx.connected_components(tied):
            yield [name for number in sorted(part) for name in self.atoms[number]]

    def _is_legal(self, groups: Sequence[Sequence[str]]) -> bool:
        """Whether the solver's numbers are, in whole ones."""
        atoms = [list(atom) for atom in self.atoms]
        return all(group in atoms or self.limits.fits(group) for group in groups)

    def least(self, found: int) -> int:
        """What the solver has proved that no grouping is below, where one with `found` is known."""
        if self._problem.sol_status == pulp.LpSolutionInfeasible:
            return found
        solver: Any = self._problem.solverModel
        bound = float(solver.getInfo().mip_dual_bound) + self._objective.constant  # which PuLP does not hand over
        return least_whole(bound, found // self._unit) * self._unit
