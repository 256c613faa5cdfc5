"""Greedy kernel fusion under a memory budget (method.md section 5, with its corrections)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import networkx as nx

from stc.diagnostics import CompileError


@dataclass(frozen=True)
class FusionKernel:
    """A kernel before fusion. `local_bytes`: its tiles and accumulators."""

    name: str
    local_bytes: int


@dataclass(frozen=True)
class FusionEdge:
    """A tensor from one kernel to another. `stream_bytes`: the converter and FIFO it costs if it stays on chip."""

    producer: str
    consumer: str
    stream_bytes: int


@dataclass
class _Group:
    members: list[str] = field(default_factory=list)
    bytes: int = 0


def fuse_greedily(kernels: Sequence[FusionKernel], edges: Sequence[FusionEdge], budget: int) -> list[list[str]]:
    """Groups of kernel names, in an order in which groups only feed later ones.

    `kernels` are in topological order, `budget` is C_max in bytes. Each kernel joins the latest group among its
    predecessors' if what that adds (its own memory and the streams from members) keeps the group within the budget, else
    it opens a group. A kernel without predecessors is placed with its first consumer (as published each source would open a
    group of its own), or alone in front where that group has no room: never with a later consumer, whose group the first
    one may already feed. Groups that still fit together afterwards are merged. CompileError where one kernel alone exceeds
    the budget.
    """
    local = {kernel.name: kernel.local_bytes for kernel in kernels}
    for kernel in kernels:
        if kernel.local_bytes > budget:
            raise CompileError(
                f"needs {kernel.local_bytes} bytes of on-chip memory, the budget is {budget}",
                where=kernel.name,
                accepted=f"a budget of at least {kernel.local_bytes} bytes, or smaller tiles",
            )
    incoming = _incoming(edges)
    is_source = {kernel.name: not incoming.get(kernel.name) for kernel in kernels}
    groups: list[_Group] = []
    group_of: dict[str, int] = {}
    waiting = {kernel.name for kernel in kernels if is_source[kernel.name]}
    for kernel in (kernel for kernel in kernels if not is_source[kernel.name]):
        sources = [edge for edge in incoming[kernel.name] if edge.producer in waiting]
        waiting -= {edge.producer for edge in sources}
        _place(kernel.name, sources, incoming, local, groups, group_of, budget)
    alone = [[kernel.name] for kernel in kernels if kernel.name not in group_of]
    return _merge([*alone, *(group.members for group in groups)], local, edges, budget)


def _merge(groups: list[list[str]], local: Mapping[str, int], edges: Sequence[FusionEdge], budget: int) -> list[list[str]]:
    """Join groups that share a tensor while they fit the budget together, and order what remains.

    The walk above opens a group for every branch that starts at inputs only; where branches meet, theirs become one. A pair is
    left apart where a third group stands between the two: merging them would close a cycle.
    """
    position = {name: index for index, name in enumerate(local)}
    while True:
        group_of = {name: index for index, members in enumerate(groups) for name in members}
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(groups)))
        ends = [(group_of[edge.producer], group_of[edge.consumer]) for edge in edges]
        graph.add_edges_from((first, second) for first, second in ends if first != second)
        pair = next((pair for pair in sorted(graph.edges) if _may_merge(pair, graph, groups, local, edges, budget)), None)
        if pair is None:
            order = nx.lexicographical_topological_sort(graph, key=lambda group: min(position[name] for name in groups[group]))
            return [sorted(groups[group], key=position.__getitem__) for group in order]
        first, second = pair
        groups = [*(members for index, members in enumerate(groups) if index not in pair), groups[first] + groups[second]]


def _may_merge(
    pair: tuple[int, int],
    graph: nx.DiGraph[int],
    groups: Sequence[Sequence[str]],
    local: Mapping[str, int],
    edges: Sequence[FusionEdge],
    budget: int,
) -> bool:
    members = {*groups[pair[0]], *groups[pair[1]]}
    streams = sum(edge.stream_bytes for edge in edges if edge.producer in members and edge.consumer in members)
    if sum(local[name] for name in members) + streams > budget:
        return False
    first, second = pair
    return not any(nx.has_path(graph, other, second) for other in graph.successors(first) if other != second)


def _incoming(edges: Sequence[FusionEdge]) -> dict[str, list[FusionEdge]]:
    incoming: dict[str, list[FusionEdge]] = {}
    for edge in edges:
        incoming.setdefault(edge.consumer, []).append(edge)
    return incoming


def _place(
    name: str,
    sources: Sequence[FusionEdge],
    incoming: Mapping[str, Sequence[FusionEdge]],
    local: Mapping[str, int],
    groups: list[_Group],
    group_of: dict[str, int],
    budget: int,
) -> None:
    """Put kernel `name`, and the sources that wait for it, into the latest group of its predecessors or a new one."""
    placed = [group_of[edge.producer] for edge in incoming[name] if edge.producer in group_of]
    own = local[name]
    if placed:
        latest = max(placed)
        streams = sum(edge.stream_bytes for edge in incoming[name] if group_of.get(edge.producer) == latest)
        if groups[latest].bytes + own + streams <= budget:
            _join(name, own + streams, latest, groups, group_of)
        else:
            _open(name, own, groups, group_of)
    else:
        _open(name, own, groups, group_of)
    home = group_of[name]
    for producer in dict.fromkeys(edge.producer for edge in sources):
        cost = local[producer] + sum(edge.stream_bytes for edge in sources if edge.producer == producer)
        if groups[home].bytes + cost <= budget:
            _join(producer, cost, home, groups, group_of)


def _join(name: str, cost: int, group: int, groups: list[_Group], group_of: dict[str, int]) -> None:
    groups[group].members.append(name)
    groups[group].bytes += cost
    group_of[name] = group


def _open(name: str, cost: int, groups: list[_Group], group_of: dict[str, int]) -> None:
    groups.append(_Group([name], cost))
    group_of[name] = len(groups) - 1
