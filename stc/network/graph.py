"""The tasks of a kernel and the channels between them: one graph for sizing, emission, diagnosis and reports.

It is built from IR (`stc.analysis.task_graph`) and from the manifest of an emitted project (`stc.simulation.task_graphs`). For
questions about paths each channel becomes a node between its two tasks, so that two FIFOs between the same tasks are two paths.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, TypeAlias, cast

import networkx as nx

Node: TypeAlias = tuple[Literal["task", "channel"], str]


@dataclass(frozen=True)
class Channel:
    """A FIFO, or a ring of blocks. `tokens` (or blocks) cross it per launch, `depth` of them fit, each of `bits`.

    `written`, `read`: the most tokens that one iteration of a loop of the producer or consumer moves. `crossing`: cycles that a
    token takes to the die of the consumer, and that the slot it leaves takes back.
    """

    name: str
    producer: str
    consumer: str
    tokens: int
    depth: int = 0
    bits: int = 0
    is_ring: bool = False
    written: int = 1
    read: int = 1
    crossing: int = 0


@dataclass(frozen=True)
class ReconvergentPaths:
    """Paths from the task `parts` to the task `meets` with no other task in common: two, or as many as there are.

    `sides`: the channels along each path.
    """

    kernel: str
    parts: str
    meets: str
    sides: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class TaskGraph:
    """One kernel. `loads`: the tasks that fetch bus words of external memory. `holds`: those that take all they read before they
    write anything, so that a channel to them is never full for good. `turns`: the loads that fill several channels in turn, so
    that who makes them wait for one makes others wait for theirs. `deals`: tasks that hand each token on to one of several."""

    kernel: str
    tasks: tuple[str, ...]
    channels: tuple[Channel, ...]
    loads: frozenset[str] = frozenset()
    holds: frozenset[str] = frozenset()
    turns: frozenset[str] = frozenset()
    deals: frozenset[str] = frozenset()

    @staticmethod
    def of(channels: Iterable[Channel], loads: Iterable[str] = ()) -> TaskGraph:
        """The tasks at the ends of `channels`."""
        found = tuple(channels)
        tasks = dict.fromkeys(task for channel in found for task in (channel.producer, channel.consumer))
        return TaskGraph("", tuple(tasks), found, frozenset(loads))

    def with_depths(self, depths: Mapping[str, int]) -> TaskGraph:
        """The same with these depths of the channels they name."""
        channels = (replace(channel, depth=depths.get(channel.name, channel.depth)) for channel in self.channels)
        return replace(self, channels=tuple(channels))

    def without(self, tasks: Collection[str]) -> TaskGraph:
        """The same without some tasks, and their channels."""
        channels = tuple(each for each in self.channels if each.producer not in tasks and each.consumer not in tasks)
        return replace(self, tasks=tuple(task for task in self.tasks if task not in tasks), channels=channels)

    @cached_property
    def by_name(self) -> dict[str, Channel]:
        return {channel.name: channel for channel in self.channels}

    @cached_property
    def fifos(self) -> tuple[Channel, ...]:
        return tuple(channel for channel in self.channels if not channel.is_ring)

    @cached_property
    def rings(self) -> tuple[Channel, ...]:
        return tuple(channel for channel in self.channels if channel.is_ring)

    @cached_property
    def memory_fed(self) -> frozenset[str]:
        """The FIFOs that a task fills which loads, or holds what was loaded, or deals out what it has from those; of such that load
        in turn the ones to holds."""
        filled = [fifo for fifo in self.fifos if fifo.producer in self.loads | self.holds]
        fed = [fifo for fifo in filled if fifo.producer not in self.turns or fifo.consumer in self.holds]
        dealing = {fifo.consumer for fifo in fed} & self.deals
        return frozenset(fifo.name for fifo in (*fed, *(fifo for fifo in self.fifos if fifo.producer in dealing)))

    @cached_property
    def fed(self) -> tuple[Channel, ...]:
        """The same, with what is known of them."""
        return tuple(fifo for fifo in self.fifos if fifo.name in self.memory_fed)

    @cached_property
    def sized(self) -> tuple[Channel, ...]:
        """The other FIFOs, whose depth counts: a load task that waits costs nothing."""
        return tuple(fifo for fifo in self.fifos if fifo.name not in self.memory_fed)

    @cached_property
    def outputs(self) -> Counter[str]:
        """How many channels each task writes."""
        return Counter(channel.producer for channel in self.channels)

    @cached_property
    def graph(self) -> nx.MultiDiGraph[str]:
        """Tasks, and an edge per channel (its key the channel's name)."""
        graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        graph.add_nodes_from(self.tasks)
        for channel in self.channels:
            graph.add_edge(channel.producer, channel.consumer, key=channel.name)
        return graph

    @cached_property
    def paths(self) -> nx.DiGraph[Node]:
        """Tasks and channels as nodes, without those channels to tasks that hold all of them."""
        graph: nx.DiGraph[Node] = nx.DiGraph()
        graph.add_nodes_from(("task", name) for name in self.tasks)
        for channel in (channel for channel in self.channels if channel.consumer not in self.holds):
            nx.add_path(graph, [("task", channel.producer), ("channel", channel.name), ("task", channel.consumer)])
        return graph

    @cached_property
    def bridges(self) -> frozenset[str]:
        """Channels on no undirected cycle, and those whose reader holds them: no depth of theirs can make a deadlock."""
        ends = nx.bridges(self.paths.to_undirected())
        loops = {channel.name for channel in self.channels if channel.producer == channel.consumer}
        held = frozenset(channel.name for channel in self.channels if channel.consumer in self.holds)
        return held | (frozenset(node[1] for edge in ends for node in edge if node[0] == "channel") - loops)

    @cached_property
    def cycles(self) -> tuple[frozenset[str], ...]:
        """The tasks that feed each other, in groups."""
        parts = cast(Iterable[set[str]], nx.strongly_connected_components(self.graph))
        return tuple(frozenset(part) for part in parts if self.graph.subgraph(part).number_of_edges())

    def cycle(self) -> tuple[str, ...]:
        """Tasks that form a directed cycle, in order; empty where there is none."""
        try:
            return tuple(edge[0] for edge in nx.find_cycle(self.graph))
        except nx.NetworkXNoCycle:
            return ()

    def full_in_wait_cycles(self) -> Iterator[str]:
        """Channels that may be full while tasks wait in a wait-for cycle.

        A task waits for a token of the producer, or for room, of the consumer, where fewer slots than tokens are there; a channel
        is not full and empty at once. Any more waits than these are not possible, so that without such channels no wait-for cycle
        is (launches that overlap included: the first of those that have not ended never waits for room that a later one takes).
        """
        waits: nx.MultiDiGraph[str] = nx.MultiDiGraph()
        waited_for = (channel for channel in self.channels if channel.consumer not in self.holds)
        shallow = [channel for channel in waited_for if channel.depth < channel.tokens]
        for channel in self.channels:
            waits.add_edge(channel.consumer, channel.producer, key=channel.name)
        for channel in shallow:
            waits.add_edge(channel.producer, channel.consumer, key=channel.name)
        for channel in shallow:
            waits.remove_edge(channel.consumer, channel.producer, key=channel.name)
            if nx.has_path(waits, channel.consumer, channel.producer):
                yield channel.name
            waits.add_edge(channel.consumer, channel.producer, key=channel.name)

    def reconvergent_paths(self) -> Iterator[ReconvergentPaths]:
        """Every pair of tasks that separate ways join, with a largest set of such ways; nothing where tasks form a cycle."""
        if self.cycle():
            return
        components = cast(Iterable[set[Node]], nx.biconnected_components(self.paths.to_undirected()))
        for nodes in components:
            if len(nodes) > 2:
                yield from self._within(self.paths.subgraph(nodes))

    def _within(self, block: nx.DiGraph[Node]) -> Iterator[ReconvergentPaths]:
        order = list(nx.topological_sort(block))
        parts = [node for node in order if block.out_degree(node) > 1]
        meets = [node for node in order if block.in_degree(node) > 1]
        for part in parts:
            below = nx.descendants(block, part)
            for meet in meets:
                if meet in below and len(sides := _separate_ways(block, part, meet)) > 1:
                    yield ReconvergentPaths(self.kernel, part[1], meet[1], sides)


def _separate_ways(graph: nx.DiGraph[Node], part: Node, meet: Node) -> tuple[tuple[str, ...], ...]:
    """The channels on as many ways from `part` to `meet` as there are that share no other node; none where no way leads there."""
    try:
        ways = list(nx.node_disjoint_paths(graph, part, meet))
    except nx.NetworkXNoPath:
        return ()
    return tuple(sorted(tuple(node[1] for node in way if node[0] == "channel") for way in ways))
