"""FIFOs that are filled ahead from memory: behind loads, what holds their words, and what deals them out."""

from __future__ import annotations

from dataclasses import replace

from stc.network.graph import Channel, TaskGraph

WAYS = [("words", "load", "chunk"), ("left", "chunk", "one"), ("right", "chunk", "two"), ("sums", "one", "deal")]
WAYS.append(("a", "deal", "two"))
FIFOS = [Channel(name, producer, consumer, 8) for name, producer, consumer in WAYS]
GRAPH = replace(TaskGraph.of(FIFOS, ["load"]), deals=frozenset({"chunk", "deal"}))


def test_what_deals_out_loaded_words_runs_ahead_as_loads_do() -> None:
    assert GRAPH.memory_fed == {"words", "left", "right"}
    assert {fifo.name for fifo in GRAPH.sized} == {"sums", "a"}
    assert replace(GRAPH, deals=frozenset()).memory_fed == {"words"}


def test_one_that_loads_in_turn_feeds_nobody_ahead() -> None:
    assert replace(GRAPH, turns=frozenset({"load"})).memory_fed == frozenset()
