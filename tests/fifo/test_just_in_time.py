"""Tasks that only feed others write just in time: no cycle is lost with FIFOs of the depths that this takes."""

from __future__ import annotations

from dataclasses import replace

import pytest
from timed_networks import UNLIMITED, cyclic_network, pipe, random_network, run_bounded, stopping

from stc.fifo.curves import FifoCurves
from stc.fifo.just_in_time import feeding, just_in_time
from stc.fifo.network_run import Network, earliest_run
from stc.fifo.sizing import schedule
from stc.iteration.task_timeline import Node, Repeat, Row, TaskTimeline
from stc.network.graph import Channel, TaskGraph
from stc.platforms.platform import load_platform
from stc_testing.drawn import seeds


def slots(network: Network) -> tuple[dict[str, int], dict[str, int], int]:
    """Depths of all FIFOs just in time, and as early as possible, and the cycles of the latter."""
    run = earliest_run(network)
    early = {name: FifoCurves(run.written[name], run.needed[name], run.taken[name]).slots(0) for name in run.written}
    return {name: curve.slots(0) for name, curve in just_in_time(network.graph, run).items()}, early, run.makespan


@pytest.mark.parametrize("seed", seeds(60))
def test_no_cycle_is_lost(seed: int) -> None:
    network = stopping(random_network(seed))
    depths, _, makespan = slots(network)
    cycles = run_bounded(network, depths)
    assert cycles is not None
    assert cycles <= makespan


@pytest.mark.parametrize("seed", seeds(60))
def test_no_cycle_is_lost_before_tasks_that_wait_for_each_other(seed: int) -> None:
    """A source that is held up feeds the first of them."""
    cyclic = cyclic_network(seed, rounds=3)
    first, tokens = cyclic.tasks[0], 40
    fed = Channel("fed", "source", first.name, UNLIMITED, UNLIMITED, 32)
    tasks = [
        TaskTimeline("source", pipe(tokens, 1, [], ["fed"])),
        TaskTimeline(first.name, Row((first.program, pipe(tokens, 2, ["fed"], [])))),
        *cyclic.tasks[1:],
    ]
    network = Network(tasks, TaskGraph.of([*cyclic.graph.fifos, fed]))
    assert "source" in feeding(network.graph)
    found = schedule(network, load_platform("u55c").usable)
    assert found.slots["fed"] < tokens - 2
    cycles = run_bounded(network, found.slots)
    assert cycles is not None
    assert cycles <= earliest_run(network.with_depths(found.slots)).makespan


def test_less_is_stored_than_as_early_as_possible() -> None:
    found = [slots(stopping(random_network(seed))) for seed in seeds(60)]
    assert sum(sum(depths.values()) for depths, _, _ in found) < sum(sum(early.values()) for _, early, _ in found)


def network_of(programs: dict[str, Node], fifos: dict[str, tuple[str, str]], *, crossing: int = 0) -> Network:
    """Tasks with these programs, and FIFOs between two each; the task `load` loads."""
    made = [Channel(name, *ends, UNLIMITED, UNLIMITED, 32, crossing=crossing) for name, ends in fifos.items()]
    return Network([TaskTimeline(name, program) for name, program in programs.items()], TaskGraph.of(made, ["load"]))


def forked(crossing: int = 0) -> Network:
    """Loaded words that are unpacked and go to two readers, one of which begins 20 cycles later."""
    programs: dict[str, Node] = {
        "load": pipe(100, 1, [], ["words"]),
        "unpack": pipe(100, 1, ["words"], ["all"]),
        "fork": pipe(100, 1, ["all"], ["left", "right"]),
        "one": Row((pipe(200, 1, [], []), pipe(100, 10, ["left"], []), pipe(20, 1, [], []))),
        "other": Row((pipe(220, 1, [], []), pipe(100, 10, ["right"], []))),
    }
    ends = {"words": ("load", "unpack"), "all": ("unpack", "fork"), "left": ("fork", "one"), "right": ("fork", "other")}
    return network_of(programs, ends, crossing=crossing)


def test_what_lies_between_two_readers_is_stored() -> None:
    """What both could have long before is not."""
    depths, early, makespan = slots(forked())
    assert feeding(forked().graph) == ("load", "unpack", "fork", "one", "other")
    assert depths == {"words": 1, "all": 1, "left": 1, "right": 3}
    assert min(early["left"], early["right"]) == 100
    assert run_bounded(forked(), depths) == makespan


@pytest.mark.parametrize(("crossing", "depth"), [(4, 2), (40, 9)])
def test_tokens_that_cross_dies_are_written_as_much_earlier(crossing: int, depth: int) -> None:
    """From writing a token to using its slot again it is twice the way, and 3 cycles (latencies of token and slot): as many tokens
    as come in that time, one in 10 cycles, are under way. The later reader's lie in wait for 20 cycles more."""
    depths, _, _ = slots(forked(crossing))
    assert depths == {"words": depth, "all": depth, "left": depth, "right": depth + 2}


@pytest.mark.parametrize(("bursts", "words", "interval", "start"), [(3, 100, 2, 1500), (2, 300, 2, 1500), (3, 100, 8, 3000)])
def test_gaps_between_loaded_words_are_bridged(bursts: int, words: int, interval: int, start: int) -> None:
    """A load pauses for 80 cycles before each burst: FIFOs behind it are as deep as what unpacks its words counts on."""
    tokens = bursts * words
    programs: dict[str, Node] = {
        "load": Repeat(Row((pipe(80, 1, [], []), pipe(words, 1, [], ["words"]))), bursts),
        "unpack": pipe(tokens, interval, ["words"], ["all"]),
        "user": Row((pipe(start, 1, [], []), pipe(tokens, interval, ["all"], []))),
    }
    network = network_of(programs, {"words": ("load", "unpack"), "all": ("unpack", "user")})
    depths, _, makespan = slots(network)
    assert 2 < depths["words"] < words
    cycles = run_bounded(network, depths)
    assert cycles is not None
    assert cycles <= makespan
    less = run_bounded(network, depths | {"words": 2})
    assert less is not None
    assert less > makespan


def test_who_needs_one_of_the_words_early_is_not_kept_waiting() -> None:
    """A load that fills one FIFO and then, for a hold, another that is needed first: it is not held up by the first one."""
    programs: dict[str, Node] = {
        "load": Row((pipe(10, 1, [], ["late"]), pipe(10, 1, [], ["early"]))),
        "hold": Row((pipe(10, 1, ["early"], []), pipe(10, 1, [], ["held"]))),
        "one": Row((pipe(1000, 1, [], []), pipe(10, 1, ["late"], []))),
        "other": Row((pipe(10, 1, ["held"], []), pipe(1200, 1, [], []))),
    }
    ends = {"late": ("load", "one"), "early": ("load", "hold"), "held": ("hold", "other")}
    network = network_of(programs, ends)
    graph = replace(network.graph, holds=frozenset(["hold"]), turns=frozenset(["load"]))
    depths, _, makespan = slots(replace(network, graph=graph))
    assert depths["late"] == 10
    cycles = run_bounded(network, depths)
    assert cycles is not None
    assert cycles <= makespan


def test_rings_of_blocks_hold_nobody_up() -> None:
    """All of a block is written before any of it is read: what writes one, and what is behind it, runs as early as it can."""
    fifos = [Channel("words", "load", "fill", 1, 1, 32), Channel("block", "fill", "user", 1, 2, is_ring=True)]
    fifos.append(Channel("sums", "user", "last", 1, 1, 32))
    assert feeding(TaskGraph.of(fifos, ["load"])) == ("load",)
