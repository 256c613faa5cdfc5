"""External memory in runs of a network and in schedules: words that come late, and that are taken slowly."""

from __future__ import annotations

from dataclasses import replace
from math import ceil

import numpy as np
import pytest

from stc.fifo.network_run import Network, earliest_run, latest_run
from stc.fifo.sizing import schedule
from stc.iteration.task_timeline import Loop, Repeat, Row, TaskTimeline
from stc.iteration.trace import MemoryBeats
from stc.network.graph import Channel, TaskGraph
from stc.platforms.platform import load_platform

USABLE = load_platform("u55c").usable
WORDS = 40


def loop_of(name: str, writes: bool, count: int, depth: int, memory: MemoryBeats | None = None, late: int = 0) -> Loop:
    """One token of a FIFO per iteration and cycle."""
    port = (name, writes)
    return Loop(count, 1, 0, depth, {port: np.arange(count)}, {port: np.full(count, late)}, memory=memory)


def load(name: str, fifo: str, micro: int) -> TaskTimeline:
    return TaskTimeline(name, loop_of(fifo, True, WORDS, 4, MemoryBeats(100, micro, False), late=3))


def store(name: str, fifo: str, micro: int) -> TaskTimeline:
    return TaskTimeline(name, loop_of(fifo, False, WORDS, 3, MemoryBeats(0, micro, True)))


def slow_store(ready: list[int], interval: int, cycles_per_beat: float) -> list[int]:
    """What `stc_sim/loop_clock.h` does word by word, without freezes before the first."""
    free, last, taken = 0.0, -interval, []
    for at in ready:
        wanted = max(at, last + interval)
        free = wanted if ceil(free - 1e-6) < wanted else free
        last = ceil(free - 1e-6)
        taken.append(last)
        free += cycles_per_beat
    return taken


@pytest.mark.parametrize("cycles_per_beat", [1.0, 1.203008, 1.5, 2.406016, 3.0])
@pytest.mark.parametrize("interval", [1, 2])
def test_memory_takes_words_at_its_rate(cycles_per_beat: float, interval: int) -> None:
    chance = np.random.default_rng(7)
    for gaps in (np.zeros(WORDS, dtype=np.int64), chance.integers(0, 5, WORDS)):
        ready = np.cumsum(gaps)
        loop = Loop(WORDS, interval, 0, 3, memory=MemoryBeats(0, round(cycles_per_beat * 1e6), True))
        assert loop.issued(ready).tolist() == slow_store(ready.tolist(), interval, cycles_per_beat)


def test_a_rate_between_whole_cycles_is_kept() -> None:
    """Words that wait for memory go at its issue rate, not at the next one that is a whole or a half cycle."""
    taken = Loop(1000, 1, 0, 3, memory=MemoryBeats(0, 1_203_008, True)).issued(np.zeros(1000, dtype=np.int64))
    assert taken[-1] == ceil(999 * 1.203008)


def test_words_come_after_the_latency_and_at_the_rate_of_memory() -> None:
    loop = Loop(6, 1, 0, 3, memory=MemoryBeats(100, 1_203_008, False))
    assert loop.unhindered.tolist() == [100, 102, 103, 104, 105, 107]
    late = np.array([0, 0, 110, 0, 0, 0])
    assert loop.issued(late).tolist() == [100, 102, 110, 111, 112, 113]  # the rest has arrived by then


def test_a_loop_that_is_run_again_waits_for_memory_again() -> None:
    loop = loop_of("w", True, 3, 4, MemoryBeats(50, 1_000_000, False), late=3)
    reader = TaskTimeline("reader", loop_of("w", False, 6, 1))
    graph = TaskGraph.of([Channel("w", "load", "reader", 6, 2)])
    run = earliest_run(Network([TaskTimeline("load", Repeat(loop, 2)), reader], graph))
    assert run.written["w"].tolist() == [53, 54, 55, 109, 110, 111]


def forked(micro: int) -> Network:
    """Two inputs from memory of which one task reads all words of the first before any of the second; another needs both."""
    first = loop_of("a", False, WORDS, 1)
    second = Loop(WORDS, 1, 0, 6, {("b", False): np.arange(WORDS), ("s", True): np.arange(WORDS)},
                  {("b", False): np.zeros(WORDS, dtype=np.int64), ("s", True): np.full(WORDS, 5)})
    join = TaskTimeline("join", Row((first, second)))
    tasks = [load("load_a", "a", micro), load("load_b", "b", micro), join, store("out", "s", micro)]
    fed = [Channel(name, f"load_{name}", "join", WORDS, 2) for name in ("a", "b")]
    return Network(tasks, TaskGraph.of([*fed, Channel("s", "join", "out", WORDS, WORDS, 32)], loads=["load_a", "load_b"]))


@pytest.mark.parametrize("micro", [1_000_000, 1_203_008, 2_406_016])
def test_nobody_reads_a_word_before_it_is_there(micro: int) -> None:
    network = forked(micro)
    first = earliest_run(network)
    last = latest_run(network, first, first.makespan + 7)
    for run in (first, last):
        for name in ("a", "b"):
            assert (run.needed[name] >= first.written[name] + 1).all()
    assert last.begins["load_a"] == first.begins["load_a"] == 0
    assert last.makespan == first.makespan + 7
    found = schedule(network, USABLE)
    assert found.makespan <= earliest_run(network).makespan
    assert "load_a" not in found.shifts and found.shifts["join"] >= 0


def test_a_fast_producer_of_a_slow_store_needs_more_than_a_shift_register() -> None:
    """A store that takes two words in three cycles lets words pile up while they come in bursts, one per cycle."""
    burst = loop_of("s", True, 4, 2, late=1)
    pause = Loop(20, 1, 0, 0)
    program = Repeat(Row((burst, pause)), WORDS // 4)

    def slots(micro: int) -> int:
        graph = TaskGraph.of([Channel("s", "source", "out", WORDS, WORDS, 32)])
        return schedule(Network([TaskTimeline("source", program), store("out", "s", micro)], graph), USABLE).slots["s"]

    assert slots(1_000_000) <= 2 < slots(1_203_008)


def test_what_deals_out_loaded_words_may_be_told_how_many() -> None:
    """By a FIFO that is sized, though those that it fills are not."""
    told = TaskTimeline("send", loop_of("count", True, 1, 2))
    words, left = ("words", False), ("left", True)
    asked = loop_of("count", False, 1, 2)
    each, at_once = np.arange(WORDS), np.zeros(WORDS, int)
    moved = Loop(WORDS, 1, 0, 2, {words: each, left: each}, {words: at_once, left: at_once})
    tasks = [told, load("load", "words", 10**6), TaskTimeline("deal", Row((asked, moved))), store("store", "left", 10**6)]
    ways = [("count", "send", "deal"), ("words", "load", "deal"), ("left", "deal", "store")]
    fifos = [Channel(name, producer, consumer, 2, WORDS, 32) for name, producer, consumer in ways]
    graph = replace(TaskGraph.of(fifos, ["load"]), deals=frozenset({"deal"}))
    found = schedule(Network(tasks, graph), USABLE)
    assert {fifo.name for fifo in graph.sized} == {"count"}
    assert found.slots == {"count": 2}
    assert found.makespan == earliest_run(Network(tasks, graph)).makespan
