"""The tasks of a run that could not go on, and who waits for whom.

A blocked task waits for one other task: for the writer of the channel it wants to read, for the reader of the one that is full.
Following these waits ends in a circle of tasks or at a task that has already ended. A circle with waits for room and waits for
tokens is a lack of depth: where it turns from one to the other, paths part and meet again. A circle of waits of one kind only is a
cycle of the tasks themselves, and no depth helps if all of them are for tokens. A wait for a task that has ended means that the two
sides disagree on the number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal, TypeAlias

import networkx as nx

from stc.manifest.schema import Manifest
from stc.simulation.csim import BlockedTask
from stc.simulation.cures import Room, Run
from stc.simulation.task_graphs import task_graphs

STUCK = ("deadlock", "livelock")
Cause: TypeAlias = Literal["depth", "token count", "cycle of tasks", "ring", "unknown"]
"""A FIFO too shallow; two sides that disagree on the number of tokens; tasks that feed each other; a ring of blocks, whose count is
no depth; or what the report of the run does not tell."""


@dataclass(frozen=True)
class Stop:
    """Where one task stopped: it waits to read (or write) token `token` of `tokens` of a channel, counted from 0.

    `on`: the task it waits for. `held_back`: tokens that the pipeline of the writer has computed but keeps.
    """

    task: str
    waits_to: str
    channel: str
    kind: str
    on: str
    occupancy: int
    depth: int | None
    token: int
    tokens: int | None
    held_back: int
    loop: str
    line: int


@dataclass(frozen=True)
class Circle:
    """Tasks that wait for each other, in order: each waits for the next one, the last for the first.

    `parts` and `meets`: the tasks where the paths part and where they meet; `full` and `empty` the channels on their two sides.
    """

    stops: tuple[Stop, ...]

    @property
    def full(self) -> tuple[str, ...]:
        return tuple(stop.channel for stop in self.stops if stop.waits_to == "write")

    @property
    def empty(self) -> tuple[str, ...]:
        return tuple(stop.channel for stop in self.stops if stop.waits_to == "read")

    @property
    def parts(self) -> tuple[str, ...]:
        """Tasks that wait for room while the task before them in the circle waits for their tokens."""
        return self._turns("read", "write")

    @property
    def meets(self) -> tuple[str, ...]:
        """Tasks that wait for tokens while the task before them waits for them to make room."""
        return self._turns("write", "read")

    def _turns(self, before: str, after: str) -> tuple[str, ...]:
        around = pairwise((self.stops[-1], *self.stops))
        return tuple(stop.task for last, stop in around if (last.waits_to, stop.waits_to) == (before, after))


class Deadlock:
    """The blocked tasks of one run as a graph of waits."""

    def __init__(self, manifest: Manifest, result: Run):
        self.manifest = manifest
        self.result = result
        self.links = {link.name: link for graph in task_graphs(manifest) for link in graph.channels}
        self.blocked = {task.task: task for task in result.blocked}

    @cached_property
    def waits(self) -> nx.DiGraph[str]:
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.blocked)
        graph.add_edges_from((task.task, other) for task in self.blocked.values() for other in self._awaited(task))
        return graph

    def _awaited(self, task: BlockedTask) -> Iterator[str]:
        if task.waits_to == "join":
            yield from self._inside(task.task)
        elif task.peer in self.blocked:
            yield task.peer
        elif task.peer:
            yield from self._inside(task.peer)

    def _inside(self, task: str) -> Iterator[str]:
        """The blocked tasks of the dataflow region that `task` opened."""
        return (name for name in self.blocked if name.startswith(f"{task}."))

    @cached_property
    def circles(self) -> tuple[Circle, ...]:
        found = [part for part in nx.strongly_connected_components(self.waits) if self._is_circle(part)]
        return tuple(self._circle(part) for part in sorted(found, key=sorted))

    def _is_circle(self, part: set[str]) -> bool:
        return len(part) > 1 or any(self.waits.has_edge(task, task) for task in part)

    def _circle(self, part: set[str]) -> Circle:
        names = [edge[0] for edge in nx.find_cycle(self.waits.subgraph(part), min(part))]
        stops = [self.stop(self.blocked[name]) for name in names if self.blocked[name].waits_to in ("read", "write")]
        first = next((i for i, stop in enumerate(stops) if (stops[i - 1].waits_to, stop.waits_to) == ("read", "write")), 0)
        return Circle((*stops[first:], *stops[:first]))

    @cached_property
    def short(self) -> tuple[Stop, ...]:
        """Tasks that wait for one that has ended."""
        ended = (
            task for task in self.blocked.values()
            if task.waits_to in ("read", "write") and not self.waits.out_degree(task.task) and task.peer != ""
        )
        return tuple(self.stop(task) for task in ended)

    @property
    def behind(self) -> tuple[str, ...]:
        told = {stop.task for circle in self.circles for stop in circle.stops} | {stop.task for stop in self.short}
        return tuple(name for name, task in self.blocked.items() if name not in told and task.waits_to != "join")

    def stop(self, task: BlockedTask) -> Stop:
        link = self.links.get(task.channel)
        return Stop(
            task=task.task,
            waits_to=task.waits_to,
            channel=task.channel,
            kind=task.kind,
            on=task.peer,
            occupancy=task.occupancy,
            depth=task.depth,
            token=task.tokens_read if task.waits_to == "read" else task.tokens_written - task.held_back,
            tokens=link.tokens if link is not None and link.tokens > 0 else None,
            held_back=task.held_back,
            loop=task.loop,
            line=task.line,
        )

    @property
    def cause(self) -> Cause:
        if self.short:
            return "token count"
        if not self.circles:
            return "unknown"
        for circle in self.circles:
            if not circle.full:
                return "cycle of tasks"
            if not self.enlargeable(circle):
                return "ring"
        return "depth"

    @staticmethod
    def enlargeable(circle: Circle) -> list[str]:
        """The full FIFOs of a circle; a ring of blocks has no depth to set."""
        full = (stop for stop in circle.stops if stop.waits_to == "write")
        return [stop.channel for stop in full if stop.kind == "fifo" and stop.depth is not None]

    def room(self, name: str) -> Room:
        """The FIFO `name`, which is full: as deep as its tokens are many is always enough."""
        stop = next(stop for circle in self.circles for stop in circle.stops if stop.channel == name and stop.waits_to == "write")
        link = self.links.get(name)
        assert stop.depth is not None
        return Room(stop.depth, stop.tokens or MOST_DEPTH, link.bits if link is not None else 1)


MOST_DEPTH = 1 << 20
"""The largest depth that is tried where the manifest does not say how many tokens there are."""
