"""The tasks of an emitted project and what connects them, as a graph that other tools can ask.

Nodes are tasks, edges FIFOs and rings of blocks. For questions about paths each channel becomes a node between its two tasks, so
that two FIFOs between the same tasks are two paths.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias, cast

import networkx as nx

from stc.manifest.schema import Kernel, Manifest

Node: TypeAlias = tuple[Literal["task", "channel"], str]


@dataclass(frozen=True)
class Link:
    """A FIFO or a ring of blocks. `depth` in tokens (or blocks), `bits` per token, `tokens` that cross per launch."""

    name: str
    producer: str
    consumer: str
    depth: int
    tokens: int
    bits: int
    is_ring: bool


@dataclass(frozen=True)
class Reconvergence:
    """Ways from the task `parts` to the task `meets`, two or as many as there are with no other task in common: the channels
    along each."""

    kernel: str
    parts: str
    meets: str
    sides: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TaskNetwork:
    """One kernel. `memory_fed`: the FIFOs that a load task fills."""

    kernel: str
    tasks: tuple[str, ...]
    links: tuple[Link, ...]
    memory_fed: frozenset[str]

    @cached_property
    def by_name(self) -> dict[str, Link]:
        return {link.name: link for link in self.links}

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """Tasks, and an edge per channel (its key the channel's name, its data `link`)."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        graph.add_nodes_from(self.tasks)
        for link in self.links:
            graph.add_edge(link.producer, link.consumer, key=link.name, link=link)
        return graph

    @cached_property
    def paths(self) -> nx.DiGraph[Node]:
        """Tasks and channels as nodes."""
        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(("task", name) for name in self.tasks)
        for link in self.links:
            graph.add_edge(("task", link.producer), ("channel", link.name))
            graph.add_edge(("channel", link.name), ("task", link.consumer))
        return graph

    @cached_property
    def bridges(self) -> frozenset[str]:
        """Channels on no undirected cycle: no depth of theirs can make a deadlock."""
        ends = nx.bridges(self.paths.to_undirected())
        loops = {link.name for link in self.links if link.producer == link.consumer}
        return frozenset(node[1] for edge in ends for node in edge if node[0] == "channel") - loops

    def cycle(self) -> tuple[str, ...]:
        """Tasks that form a directed cycle, in order; empty where there is none."""
        try:
            return tuple(edge[0] for edge in nx.find_cycle(self.graph))
        except nx.NetworkXNoCycle:
            return ()

    def full_in_circles(self) -> Iterator[str]:
        """Channels that may be full while tasks wait in a circle.

        A task waits for a token of the producer, or for room, of the consumer, where fewer slots than tokens are there; a channel
        is not full and empty at once. Any more waits than these are not possible, so that without such channels no circle is
        (launches that overlap included: the first of those that have not ended never waits for room that a later one takes).
        """
        waits: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        shallow = [link for link in self.links if link.depth < link.tokens]
        for link in self.links:
            waits.add_edge(link.consumer, link.producer, key=link.name)
        for link in shallow:
            waits.add_edge(link.producer, link.consumer, key=link.name)
        for link in shallow:
            waits.remove_edge(link.consumer, link.producer, key=link.name)
            if nx.has_path(waits, link.consumer, link.producer):
                yield link.name
            waits.add_edge(link.consumer, link.producer, key=link.name)

    def reconvergences(self) -> Iterator[Reconvergence]:
        """Every pair of tasks that separate ways join, with a largest set of such ways; nothing where tasks form a cycle."""
        if self.cycle():
            return
        components = cast(Iterable[set[Node]], nx.biconnected_components(self.paths.to_undirected()))
        for nodes in components:
            if len(nodes) > 2:
                yield from self._within(self.paths.subgraph(nodes))

    def _within(self, block: nx.DiGraph[Node]) -> Iterator[Reconvergence]:
        order = list(nx.topological_sort(block))
        parts = [node for node in order if block.out_degree(node) > 1]
        meets = [node for node in order if block.in_degree(node) > 1]
        for part in parts:
            below = nx.descendants(block, part)
            for meet in meets:
                if meet in below and len(sides := _separate_ways(block, part, meet)) > 1:
                    yield Reconvergence(self.kernel, part[1], meet[1], sides)


def _separate_ways(graph: nx.DiGraph[Node], part: Node, meet: Node) -> tuple[tuple[str, ...], ...]:
    """The channels on as many ways from `part` to `meet` as there are that share no other node; none where no way leads there."""
    try:
        ways = list(nx.node_disjoint_paths(graph, part, meet))
    except nx.NetworkXNoPath:
        return ()
    return tuple(sorted(tuple(node[1] for node in way if node[0] == "channel") for way in ways))


def networks(manifest: Manifest) -> tuple[TaskNetwork, ...]:
    """The network of each kernel of `manifest`."""
    return tuple(_network(kernel) for kernel in manifest.kernels)


def _network(kernel: Kernel) -> TaskNetwork:
    fifos = [Link(s.name, s.producer, s.consumer, s.depth, s.tokens, s.bits, False) for s in kernel.streams]
    rings = [Link(b.name, b.producer, b.consumer, b.count, b.blocks, b.bits, True) for b in kernel.blocks]
    loads = {task.name for task in kernel.tasks if task.kind == "load"}
    fed = frozenset(link.name for link in fifos if link.producer in loads)
    return TaskNetwork(kernel.name, tuple(task.name for task in kernel.tasks), (*fifos, *rings), fed)


def fifo_links(manifest: Manifest) -> list[Link]:
    """The FIFOs of all kernels of `manifest`, rings of blocks apart."""
    return [link for network in networks(manifest) for link in network.links if not link.is_ring]
