"""FIFO depths before sizing exists: enough by construction, not minimal.

A stream on an undirected cycle of tasks is safe with its token count. That is more than safety needs; the rule here is:

    A stream that leaves a task with *several* outputs, and lies on an undirected cycle, holds all its tokens.
    Every other stream holds w + r - 1, w and r being the most tokens one iteration of its writer and of its reader moves, and
    at least 2.

Firing rule: an iteration fires when all its reads and writes are possible. So a writer waits while fewer than w slots are free
and a reader while fewer than r tokens are there. With w + r - 1 slots not both: a writer that waits leaves at least r tokens.
(The larger of w and r is not enough: 3 slots, writes of 3, reads of 2. After one of each a single token is left, too few to
read, and two slots are free, too few to write.) A stream that holds all its tokens never makes its writer wait.

Why it cannot deadlock, for an acyclic task graph in which every token written is read: suppose that nobody can run.
(1) Follow a task that waits to write downstream: its consumer is not finished, is blocked and could read this stream, so it waits
to write itself (go on, the graph is acyclic) or waits to read another stream, which is short of tokens. (2) Let P be the producer
of a stream that is short of tokens. P is not finished, so it is blocked. If it has one output it does not wait to write, since
that stream is short of tokens; if it has several it does not wait for those that hold all their tokens. So it waits to read
another stream that is short of tokens (go on upstream: a task without inputs never waits to read, contradiction), or it has
several outputs and waits to write one that is a bridge of the undirected graph. (3) Then go on at (1) from that bridge. Of
the two halves that it joins, the walk stays in its consumer's from now on: it could return only across the bridge itself,
which is not short of tokens, and downstream it points away. Each further bridge cuts off a smaller half, so this ends too.

Rings of buffers are streams of blocks, of which a task takes one at a time; a ring holds one or two, never all. So a ring may
be the only output of its writer, or a bridge; anything else is refused.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

from stc.diagnostics import CompileError

SHALLOW = 2
"""The least depth of a FIFO: a shift register that reads and writes in one cycle."""


@dataclass(frozen=True)
class StreamEdge:
    """A stream between two tasks.

    `tokens`: all that cross it. `written`, `read`: the most that one iteration of the producer or the consumer moves.
    """

    name: str
    producer: str
    consumer: str
    tokens: int
    written: int = 1
    read: int = 1


def provisional_depths(streams: Sequence[StreamEdge], channels: Sequence[tuple[str, str]] = ()) -> dict[str, int]:
    """The depth of every stream, in tokens, by the rule above.

    `channels` are further connections between tasks (producer, consumer): rings of buffers. CompileError where the tasks form
    a cycle, and where a ring is one of several outputs of a task and lies on an undirected cycle.
    """
    edges = [*((stream.producer, stream.consumer) for stream in streams), *channels]
    _refuse_cycles(edges)
    outputs = Counter(producer for producer, _ in edges)
    bridges = bridge_ends(edges)

    def may_be_shallow(producer: str, consumer: str) -> bool:
        return outputs[producer] == 1 or frozenset((producer, consumer)) in bridges

    for producer, consumer in channels:
        if not may_be_shallow(producer, consumer):
            raise CompileError(
                f"task {producer} has other outputs beside a ring of buffers to {consumer}, and their paths meet again",
                where=producer,
                accepted="a ring of buffers as the only output of its task",
            )

    def depth(stream: StreamEdge) -> int:
        if not may_be_shallow(stream.producer, stream.consumer):
            return max(SHALLOW, stream.tokens)
        return least_depth(stream)

    return {stream.name: depth(stream) for stream in streams}


def least_depth(stream: StreamEdge) -> int:
    """The depth from which a stream is a FIFO that reads and writes in one cycle, and its iterations have room."""
    return max(SHALLOW, room_of_iterations(stream))


def room_of_iterations(stream: StreamEdge) -> int:
    """The depth at which writer and reader of a stream cannot hold up each other by the size of their iterations."""
    return min(stream.tokens, stream.written + stream.read - 1)


def _refuse_cycles(edges: Sequence[tuple[str, str]]) -> None:
    graph: nx.DiGraph[str] = nx.DiGraph(edges)
    if not nx.is_directed_acyclic_graph(graph):
        cycle = [producer for producer, _ in nx.find_cycle(graph)]
        raise CompileError(f"tasks form a cycle: {', '.join(cycle)}", accepted="an acyclic graph of tasks")


def bridge_ends(edges: Sequence[tuple[str, str]]) -> set[frozenset[str]]:
    """The connections whose removal separates the undirected graph; parallel edges are none."""
    if not edges:
        return set()
    multiplicity = Counter(frozenset(ends) for ends in edges)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from(edges)
    return {frozenset(ends) for ends in nx.bridges(graph) if multiplicity[frozenset(ends)] == 1}
