"""Which kernels become one accelerator.

A strategy gets the kernels with what they cost on chip and the tensors between them, and returns groups: inside a group tensors
are streams, between groups they go through external memory.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import networkx as nx

from stc.design_space.exact_fusion import fuse_exactly
from stc.design_space.fusion import (
    UNLIMITED_PORTS,
    FusionEdge,
    FusionKernel,
    GroupLimits,
    external_bytes,
    fuse_greedily,
    require_room,
)
from stc.design_space.published.fusion import published_fusion
from stc.diagnostics import CompileError, warn
from stc.strategies.registry import Decision, WrongPlan


@dataclass(frozen=True)
class FusionProblem:
    """`kernels` in topological order; `edges` from producer to consumer, one for each tensor and reader; `on_chip`: bytes
    that one group may take (C_max); `ports`: how many memory ports. `together`: kernels that one tensor updated in place makes one
    group, whatever the plan says (`joined`)."""

    kernels: Sequence[FusionKernel]
    edges: Sequence[FusionEdge]
    on_chip: int
    ports: int = UNLIMITED_PORTS
    together: Sequence[Collection[str]] = ()

    @property
    def limits(self) -> GroupLimits:
        """What a group may take."""
        return GroupLimits({kernel.name: kernel for kernel in self.kernels}, self.edges, self.on_chip, self.ports)

    def bytes_of(self, group: Sequence[str]) -> int:
        """On-chip bytes of a group: its kernels, and the converters and FIFOs between them."""
        return self.limits.bytes_of(group)

    def external_bytes(self, groups: Groups) -> int:
        """Bytes that tensors between kernels move to and from external memory: `stc.design_space.fusion.external_bytes`."""
        return external_bytes(self.edges, groups)


Groups: TypeAlias = Sequence[Sequence[str]]
"""Names of the kernels of each group, in any order."""


def check_groups(problem: FusionProblem, groups: Groups) -> None:
    """WrongPlan unless `groups` are a partition of the kernels, each within `on_chip` bytes, that feed each other one way only."""
    names = [kernel.name for kernel in problem.kernels]
    found = [name for group in groups for name in group]
    if unknown := [name for name in found if name not in names]:
        raise WrongPlan(f"there is no kernel '{unknown[0]}'")
    if missing := [name for name in names if name not in found]:
        raise WrongPlan(f"kernel '{missing[0]}' is in no group")
    if twice := [name for name in names if found.count(name) > 1]:
        raise WrongPlan(f"kernel '{twice[0]}' is in several groups")
    for group in groups:
        if not group:
            raise WrongPlan("a group is empty")
        if (needed := problem.bytes_of(group)) > problem.on_chip:
            raise WrongPlan(f"the group of '{group[0]}' needs {needed} bytes on chip, on-chip allows {problem.on_chip}")
    graph = group_graph(groups, problem.edges)
    if not nx.is_directed_acyclic_graph(graph):
        first, second = next(iter(nx.find_cycle(graph)))
        raise WrongPlan(f"the groups of '{groups[first][0]}' and '{groups[second][0]}' wait for each other")


def in_order(problem: FusionProblem, groups: Groups) -> list[list[str]]:
    """The same groups, their kernels in topological order, and each group behind those that feed it."""
    position = {kernel.name: index for index, kernel in enumerate(problem.kernels)}
    members = [sorted(group, key=position.__getitem__) for group in groups]
    graph = group_graph(members, problem.edges)
    order = nx.lexicographical_topological_sort(graph, key=lambda group: position[members[group][0]])
    return [members[group] for group in order]


def group_graph(groups: Groups, edges: Sequence[FusionEdge]) -> nx.DiGraph[int]:
    """Which group feeds which, by number."""
    placed = {name: number for number, group in enumerate(groups) for name in group}
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(len(groups)))
    ends = [(placed[edge.producer], placed[edge.consumer]) for edge in edges]
    graph.add_edges_from((first, second) for first, second in ends if first != second)
    return graph


def joined(problem: FusionProblem, groups: Groups, together: Sequence[Collection[str]]) -> list[list[str]]:
    """The groups with the kernels of each of `together` in one, and with them whatever stands between any two of these.

    CompileError where such a group takes more than `on_chip` bytes.
    """
    found = [list(group) for group in groups]
    for kernels in together:
        found = _joined(found, {number for number, group in enumerate(found) if not set(kernels).isdisjoint(group)})
    while circle := max(nx.strongly_connected_components(group_graph(found, problem.edges)), key=len, default=()):
        if len(circle) == 1:
            break
        found = _joined(found, circle)
    for group, kernels in ((group, kernels) for group in found for kernels in together if set(kernels) <= set(group)):
        if (needed := problem.bytes_of(group)) > problem.on_chip:
            what = f"kernels {', '.join(kernels)} read and update one tensor, and need {needed} bytes on chip together"
            raise CompileError(what, accepted=f"--on-chip of at least that, here {problem.on_chip}, or smaller tiles")
    return found


def _joined(groups: Sequence[Sequence[str]], numbers: Collection[int]) -> list[list[str]]:
    rest = [list(group) for number, group in enumerate(groups) if number not in numbers]
    one = [name for number in sorted(numbers) for name in groups[number]]
    return [*rest, one] if one else rest


FUSION: Decision[FusionProblem, Groups] = Decision(
    "fusion", "greedy", "every kernel in one group, each group within `on_chip` bytes, none waiting for each other", check_groups
)


@FUSION.strategy("greedy")
def greedy(problem: FusionProblem) -> Groups:
    """Ours: the nearest group of a predecessor that has room; sources join their first consumer, groups that fit are merged."""
    return fuse_greedily(problem.kernels, problem.edges, problem.on_chip, problem.ports)


@FUSION.strategy("published")
def published(problem: FusionProblem) -> Groups:
    """As published: Algorithm 2, which counts converters only and lets every source open a group."""
    return published_fusion(problem.kernels, problem.edges, problem.on_chip)


@FUSION.strategy("exact")
def exact(problem: FusionProblem) -> Groups:
    """The least external traffic (`FusionProblem.external_bytes`) within the limits of `greedy`: an integer program."""
    require_room(problem.kernels, problem.on_chip)
    atoms = in_order(problem, joined(problem, separate(problem), problem.together))
    plan = fuse_exactly(problem.limits, atoms, _greedily_joined(problem, atoms) or atoms)
    if (found := problem.external_bytes(plan.groups)) > plan.least_bytes:
        proved = f"no grouping has fewer than {plan.least_bytes:,} (gap {1 - plan.least_bytes / found:.1%})"
        warn(f"fusion: stopped after {plan.seconds:.0f} s, not proved optimal; {found:,} bytes between groups, {proved}")
    return in_order(problem, plan.groups)


def _greedily_joined(problem: FusionProblem, atoms: Groups) -> Groups | None:
    """What is known before anything is solved; None where `greedy` finds nothing that fits, or kernels that are to be together then
    have too many ports (but for `atoms`, which have those they have)."""
    try:
        found = joined(problem, greedy(problem), problem.together)
    except CompileError:
        return None
    given = {frozenset(atom) for atom in atoms}
    return found if all(frozenset(group) in given or problem.limits.fits(group) for group in found) else None


@FUSION.strategy("separate")
def separate(problem: FusionProblem) -> Groups:
    """No fusion: every kernel an accelerator of its own, all intermediates in external memory."""
    return [[kernel.name] for kernel in problem.kernels]

