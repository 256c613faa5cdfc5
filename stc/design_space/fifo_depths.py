"""FIFO depths before sizing exists: enough by construction, not minimal.

field-notes.md gives every stream on an undirected cycle its token count. That is more than safety needs; the rule here is:

    A stream that leaves a task with *several* outputs, and lies on an undirected cycle, holds all its tokens.
    Every other stream holds what one loop iteration of either end moves, and at least 2.

Why it cannot deadlock, for an acyclic task graph: tasks with several outputs never wait to write. Suppose nobody can run.
Follow a task that waits to write downstream: its consumer is blocked and has a token waiting, so it waits to write itself
(go on, the graph is acyclic) or waits to read another, empty stream. Let P be the producer of that empty stream. P is not
finished, so it is blocked; it has one output, which is empty, or several, which it never waits for: so it waits to read an
empty stream. Go on upstream: a task without inputs never waits to read. Contradiction. (A stream that is a bridge of the
undirected graph carries no second path, so that its fork's other outputs cannot depend on it: 2 suffices there too.)
Rings of buffers behave like streams with one writer and one reader.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

SHALLOW = 2
"""The least depth of a FIFO: a shift register that reads and writes in one cycle."""


@dataclass(frozen=True)
class StreamEdge:
    """A stream between two tasks: all `tokens` that cross it, and the most one iteration of either end moves (`burst`)."""

    name: str
    producer: str
    consumer: str
    tokens: int
    burst: int = 1


def provisional_depths(streams: Sequence[StreamEdge], channels: Sequence[tuple[str, str]] = ()) -> dict[str, int]:
    """The depth of every stream, in tokens, by the rule above.

    `channels` are further connections between tasks (producer, consumer), such as ping-pong buffers.
    """
    edges = [*((stream.producer, stream.consumer) for stream in streams), *channels]
    outputs = Counter(producer for producer, _ in edges)
    bridges = _bridges(edges)

    def depth(stream: StreamEdge) -> int:
        shallow = max(SHALLOW, stream.burst)
        if outputs[stream.producer] == 1 or frozenset((stream.producer, stream.consumer)) in bridges:
            return shallow
        return max(shallow, stream.tokens)

    return {stream.name: depth(stream) for stream in streams}


def _bridges(edges: Sequence[tuple[str, str]]) -> set[frozenset[str]]:
    """The connections whose removal separates the undirected graph; parallel edges are none."""
    if not edges:
        return set()
    multiplicity = Counter(frozenset(ends) for ends in edges)
    graph: nx.Graph[str] = nx.Graph()
    graph.add_edges_from(edges)
    return {frozenset(ends) for ends in nx.bridges(graph) if multiplicity[frozenset(ends)] == 1}
