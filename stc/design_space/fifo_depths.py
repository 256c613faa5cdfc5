"""FIFO depths before sizing exists: enough by construction, not minimal (field-notes.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import networkx as nx

SHALLOW = 2
"""The depth of a FIFO that cannot lie on a deadlock cycle."""


@dataclass(frozen=True)
class StreamEdge:
    """A stream between two tasks. `tokens`: how many distinct tokens cross it, revisits taken once."""

    name: str
    producer: str
    consumer: str
    tokens: int


def provisional_depths(streams: Sequence[StreamEdge], channels: Sequence[tuple[str, str]] = ()) -> dict[str, int]:
    """The depth of every stream, in tokens.

    A stream that is a bridge of the undirected task graph lies on no cycle, so it can never be part of a deadlock: depth 2.
    Any other holds all its distinct tokens. `channels` are further connections between tasks (ping-pong buffers) that
    can close a cycle but need no depth.
    """
    multiplicity: dict[frozenset[str], int] = {}
    graph: nx.Graph[str] = nx.Graph()
    for producer, consumer in [*((s.producer, s.consumer) for s in streams), *channels]:
        ends = frozenset((producer, consumer))
        multiplicity[ends] = multiplicity.get(ends, 0) + 1
        graph.add_edge(producer, consumer)
    bridges = {frozenset(ends) for ends in nx.bridges(graph)} if graph.number_of_edges() else set()
    single = {ends for ends in bridges if multiplicity[ends] == 1}

    def depth(stream: StreamEdge) -> int:
        if frozenset((stream.producer, stream.consumer)) in single:
            return SHALLOW
        return max(SHALLOW, stream.tokens)

    return {stream.name: depth(stream) for stream in streams}
