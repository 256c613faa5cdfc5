"""Who waits for whom where a run could not go on: one diagnosis for the C++ engine, the Python schedule and the token model.

A task that stopped waits for one other task: for the writer of the channel it wants to read, for the reader of the one that is
full. Following these waits ends in a wait-for cycle or at a task that has ended. A wait-for cycle with waits for room and waits for
tokens is a lack of depth: where it turns from one to the other, paths part and meet again. One of waits of one kind only is a cycle
of the tasks themselves, and no depth helps if all of them are for tokens. A wait for a task that has ended means that the two sides
disagree on the number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, TypeAlias

import networkx as nx

Cause: TypeAlias = Literal["depth", "token count", "cycle of tasks", "ring", "unknown"]
"""A FIFO too shallow; two sides that disagree on the number of tokens; tasks that feed each other; a ring of blocks, whose count is
no depth; or what is known of the run does not tell."""


@dataclass(frozen=True)
class Stop:
    """Where one task stopped: it waits to read (or write) token `token` of `tokens` of a channel, counted from 0.

    `waits_to`: read or write; other waits (join, acquire, poll) have no channel. `kind`: "fifo", or another kind of channel, which
    has no depth to set. `on`: the task it waits for, empty where nobody knows. `held_back`: tokens that the pipeline of the writer
    has computed but keeps.
    """

    task: str
    waits_to: str
    channel: str
    kind: str
    on: str
    occupancy: int
    depth: int | None
    token: int
    tokens: int | None = None
    held_back: int = 0
    loop: str = ""
    line: int = 0

    @property
    def is_at_a_channel(self) -> bool:
        return self.waits_to in ("read", "write")

    @property
    def text(self) -> str:
        """The wait in words."""
        total = f" of {self.tokens}" if self.tokens is not None else ""
        state = "full" if self.waits_to == "write" else "nothing to read" if self.occupancy else "empty"
        taken = f"{self.occupancy} of {self.depth}" if self.depth is not None else f"{self.occupancy}"
        if self.waits_to == "write" and self.held_back and self.depth is not None and self.occupancy < self.depth:
            taken += f", and {self.held_back} in its pipeline"  # a block is taken from the ring before it is filled
        where = f" (loop {self.loop}, line {self.line})" if self.loop else f" (line {self.line})" if self.line else ""
        token = f"token {self.token}{total} of '{self.channel}'"
        return f"{self.task}{where} waits to {self.waits_to} {token}, {state} ({taken}), for {self.on}"

    @property
    def disagreement(self) -> str:
        """The wait in words, if it is for a task that has ended."""
        if self.waits_to == "read":
            return f"{self.on} has ended after {self.token} tokens of '{self.channel}', but {self.task} wants more"
        return f"{self.on} has ended, but {self.task} still has tokens of '{self.channel}' to write after {self.token}"


@dataclass(frozen=True)
class WaitCycle:
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
        """Tasks that wait for room while the task before them in the cycle waits for their tokens."""
        return self._turns("read", "write")

    @property
    def meets(self) -> tuple[str, ...]:
        """Tasks that wait for tokens while the task before them waits for them to make room."""
        return self._turns("write", "read")

    @property
    def enlargeable(self) -> list[Stop]:
        """The waits for room of a FIFO; a ring of blocks has no depth to set."""
        return [stop for stop in self.stops if stop.waits_to == "write" and stop.kind == "fifo" and stop.depth is not None]

    def _turns(self, before: str, after: str) -> tuple[str, ...]:
        around = pairwise((self.stops[-1], *self.stops))
        return tuple(stop.task for last, stop in around if (last.waits_to, stop.waits_to) == (before, after))


class Diagnosis:
    """The tasks of one run that have not ended, as a graph of waits."""

    def __init__(self, stops: Iterable[Stop]):
        self.stops = {stop.task: stop for stop in stops}

    @cached_property
    def waits(self) -> nx.DiGraph[str]:
        graph: nx.DiGraph[str] = nx.DiGraph()
        graph.add_nodes_from(self.stops)
        graph.add_edges_from((stop.task, other) for stop in self.stops.values() for other in self._awaited(stop))
        return graph

    def _awaited(self, stop: Stop) -> Iterator[str]:
        if stop.waits_to == "join":
            yield from self._inside(stop.task)
        elif stop.on in self.stops:
            yield stop.on
        elif stop.on:
            yield from self._inside(stop.on)

    def _inside(self, task: str) -> Iterator[str]:
        """The stopped tasks of the dataflow region that `task` opened."""
        return (name for name in self.stops if name.startswith(f"{task}."))

    @cached_property
    def wait_cycles(self) -> tuple[WaitCycle, ...]:
        parts = [part for part in nx.strongly_connected_components(self.waits) if self.waits.subgraph(part).number_of_edges()]
        return tuple(self._wait_cycle(part) for part in sorted(parts, key=sorted))

    def _wait_cycle(self, part: set[str]) -> WaitCycle:
        names = [edge[0] for edge in nx.find_cycle(self.waits.subgraph(part), min(part))]
        stops = [self.stops[name] for name in names if self.stops[name].is_at_a_channel]
        first = next((i for i, stop in enumerate(stops) if (stops[i - 1].waits_to, stop.waits_to) == ("read", "write")), 0)
        return WaitCycle((*stops[first:], *stops[:first]))

    @cached_property
    def short(self) -> tuple[Stop, ...]:
        """Tasks that wait for one that has ended."""
        alone = (stop for stop in self.stops.values() if not self.waits.out_degree(stop.task))
        return tuple(stop for stop in alone if stop.is_at_a_channel and stop.on)

    @property
    def behind(self) -> tuple[str, ...]:
        """Tasks held up by those of the wait-for cycles and those that are short of tokens."""
        told = {stop.task for cycle in self.wait_cycles for stop in cycle.stops} | {stop.task for stop in self.short}
        return tuple(name for name, stop in self.stops.items() if name not in told and stop.waits_to != "join")

    def as_json(self) -> dict[str, Any]:
        cycles = [
            {"stops": [asdict(stop) for stop in cycle.stops], "parts": cycle.parts, "meets": cycle.meets,
             "full": cycle.full, "empty": cycle.empty}
            for cycle in self.wait_cycles
        ]
        return {"wait_cycles": cycles, "short": [asdict(stop) for stop in self.short], "behind": self.behind}

    @property
    def cause(self) -> Cause:
        if self.short:
            return "token count"
        for cycle in self.wait_cycles:
            if not cycle.full:
                return "cycle of tasks"
            if not cycle.enlargeable:
                return "ring"
        return "depth" if self.wait_cycles else "unknown"
