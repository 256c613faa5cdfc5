"""Greedy kernel fusion under a limit of memory (docs/design/method.md section 5, with its corrections)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import networkx as nx

from stc.diagnostics import CompileError

UNLIMITED_PORTS = 1 << 30


@dataclass(frozen=True)
class FusionKernel:
    """A kernel before fusion. `local_bytes`: its tiles and accumulators. `inputs`: the tensors that it reads from external memory
    whatever it is fused with; `results`: those that it writes there. Tensors that share a port have one name."""

    name: str
    local_bytes: int
    inputs: frozenset[str] = frozenset()
    results: frozenset[str] = frozenset()


@dataclass(frozen=True)
class FusionEdge:
    """A tensor from one kernel to another, and the bytes it costs if it stays on chip. `tensor`: which one (empty: the only
    one of its producer), of `tensor_bytes` in external memory. `kept`: it is written there whatever its readers are fused with."""

    producer: str
    consumer: str
    converter_bytes: int
    fifo_bytes: int = 0
    tensor: str = ""
    tensor_bytes: int = 0
    kept: bool = False

    @property
    def stream_bytes(self) -> int:
        """Converter and FIFO together."""
        return self.converter_bytes + self.fifo_bytes


def by_tensor(edges: Sequence[FusionEdge]) -> list[list[FusionEdge]]:
    """The edges of each tensor."""
    found: dict[str, list[FusionEdge]] = {}
    for edge in edges:
        found.setdefault(edge.tensor or edge.producer, []).append(edge)
    return list(found.values())


def external_bytes(edges: Sequence[FusionEdge], groups: Sequence[Sequence[str]]) -> int:
    """What tensors between kernels cost in external memory: of each that crosses groups its bytes once for each group that reads
    it from there, and once for writing it, unless it is written anyway. Inputs and results of the function are in no edge."""
    home = {name: number for number, group in enumerate(groups) for name in group}
    total = 0
    for tensor in by_tensor(edges):
        reading = {home[edge.consumer] for edge in tensor if home[edge.producer] != home[edge.consumer]}
        total += tensor[0].tensor_bytes * (len(reading) + (bool(reading) and not tensor[0].kept))
    return total


@dataclass(frozen=True)
class GroupLimits:
    """What one group may take: `on_chip` bytes (C_max), and `ports` to external memory."""

    kernels: Mapping[str, FusionKernel]
    edges: Sequence[FusionEdge]
    on_chip: int
    ports: int

    def bytes_of(self, members: Collection[str]) -> int:
        """On-chip bytes of kernels in one group: their own, and the converters and FIFOs between them."""
        inside = set(members)
        streams = sum(edge.stream_bytes for edge in self.edges if edge.producer in inside and edge.consumer in inside)
        return sum(kernel.local_bytes for name, kernel in self.kernels.items() if name in inside) + streams

    def fits(self, members: Collection[str]) -> bool:
        """Whether kernels may be one group. A tensor that leaves or enters it takes a port, however many read it; a single kernel
        has the ports it has."""
        inside = set(members)
        if self.bytes_of(inside) > self.on_chip:
            return False
        crossing = {edge.producer for edge in self.edges if (edge.producer in inside) != (edge.consumer in inside)}
        inputs = frozenset[str]().union(*(self.kernels[name].inputs for name in inside))
        results = frozenset[str]().union(*(self.kernels[name].results for name in inside))
        return len(inside) == 1 or len(inputs) + len(crossing) + len(results) <= self.ports


def fuse_greedily(
    kernels: Sequence[FusionKernel], edges: Sequence[FusionEdge], on_chip: int, ports: int = UNLIMITED_PORTS
) -> list[list[str]]:
    """Groups of kernel names, in an order in which groups only feed later ones.

    `kernels` are in topological order, `on_chip` is C_max in bytes, `ports` the most memory ports of a group. Each
    kernel joins the latest group among its predecessors' if what that adds (its own memory and the streams from
    members) keeps the group within both, else it opens a group. A kernel without predecessors is placed with its
    first consumer (as published each source would open a group of its own), or alone in front where that group has no
    room: never with a later consumer, whose group the first one may already feed. Groups that still fit together
    afterwards are merged. Connected kernels that all fit together are one group at once: on the way there a group may
    have more ports than in the end, since each stream that leaves it takes one. CompileError where one kernel alone
    exceeds `on_chip`.
    """
    limits = GroupLimits({kernel.name: kernel for kernel in kernels}, edges, on_chip, ports)
    require_room(kernels, on_chip)
    if _is_connected(limits) and limits.fits(limits.kernels):
        return [list(limits.kernels)]
    incoming = _incoming(edges)
    is_source = {kernel.name: not incoming.get(kernel.name) for kernel in kernels}
    groups: list[list[str]] = []
    group_of: dict[str, int] = {}
    waiting = {kernel.name for kernel in kernels if is_source[kernel.name]}
    for kernel in (kernel for kernel in kernels if not is_source[kernel.name]):
        sources = [edge for edge in incoming[kernel.name] if edge.producer in waiting]
        waiting -= {edge.producer for edge in sources}
        _place(kernel.name, sources, incoming, limits, groups, group_of)
    alone = [[kernel.name] for kernel in kernels if kernel.name not in group_of]
    return _merge([*alone, *groups], limits)


def require_room(kernels: Sequence[FusionKernel], on_chip: int) -> None:
    """CompileError where one kernel alone exceeds `on_chip` bytes."""
    for kernel in kernels:
        if kernel.local_bytes > on_chip:
            raise CompileError(
                f"needs {kernel.local_bytes} bytes of on-chip memory, on-chip allows {on_chip}",
                where=kernel.name,
                accepted=f"--on-chip of at least {kernel.local_bytes} bytes, or smaller tiles",
            )


def _merge(groups: list[list[str]], limits: GroupLimits) -> list[list[str]]:
    """Join groups that share a tensor while they fit `on_chip` together, and order what remains.

    The walk above opens a group for every branch that starts at inputs only; where branches meet, theirs become one. A pair is
    left apart where a third group stands between the two: merging them would close a cycle.
    """
    position = {name: index for index, name in enumerate(limits.kernels)}
    while True:
        group_of = {name: index for index, members in enumerate(groups) for name in members}
        graph: nx.DiGraph[int] = nx.DiGraph()
        graph.add_nodes_from(range(len(groups)))
        ends = [(group_of[edge.producer], group_of[edge.consumer]) for edge in limits.edges]
        graph.add_edges_from((first, second) for first, second in ends if first != second)
        pair = next((pair for pair in sorted(graph.edges) if _may_merge(pair, graph, groups, limits)), None)
        if pair is None:
            order = nx.lexicographical_topological_sort(graph, key=lambda group: min(position[name] for name in groups[group]))
            return [sorted(groups[group], key=position.__getitem__) for group in order]
        first, second = pair
        groups = [*(members for index, members in enumerate(groups) if index not in pair), groups[first] + groups[second]]


def _may_merge(pair: tuple[int, int], graph: nx.DiGraph[int], groups: Sequence[Sequence[str]], limits: GroupLimits) -> bool:
    if not limits.fits([*groups[pair[0]], *groups[pair[1]]]):
        return False
    first, second = pair
    return not any(nx.has_path(graph, other, second) for other in graph.successors(first) if other != second)


def _is_connected(limits: GroupLimits) -> bool:
    graph: nx.Graph[str] = nx.Graph([(edge.producer, edge.consumer) for edge in limits.edges])
    graph.add_nodes_from(limits.kernels)
    return bool(limits.kernels) and nx.is_connected(graph)


def _incoming(edges: Sequence[FusionEdge]) -> dict[str, list[FusionEdge]]:
    incoming: dict[str, list[FusionEdge]] = {}
    for edge in edges:
        incoming.setdefault(edge.consumer, []).append(edge)
    return incoming


def _place(
    name: str,
    sources: Sequence[FusionEdge],
    incoming: Mapping[str, Sequence[FusionEdge]],
    limits: GroupLimits,
    groups: list[list[str]],
    group_of: dict[str, int],
) -> None:
    """Put kernel `name`, and the sources that wait for it, into the latest group of its predecessors or a new one."""
    latest = max((group_of[edge.producer] for edge in incoming[name] if edge.producer in group_of), default=None)
    if latest is not None and limits.fits([*groups[latest], name]):
        groups[latest].append(name)
    else:
        latest = len(groups)
        groups.append([name])
    group_of[name] = latest
    for producer in dict.fromkeys(edge.producer for edge in sources):
        if limits.fits([*groups[latest], producer]):
            groups[latest].append(producer)
            group_of[producer] = latest
