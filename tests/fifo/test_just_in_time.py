"""Tasks behind loads write just in time: no cycle is lost with FIFOs of the depths that this takes."""

from __future__ import annotations

import numpy as np
import pytest
from timed_networks import UNLIMITED, cyclic_network, random_network, run_bounded

from stc.fifo.curves import FifoCurves
from stc.fifo.just_in_time import behind_loads, just_in_time
from stc.fifo.network_run import Network, earliest_run
from stc.fifo.sizing import schedule
from stc.iteration.task_timeline import Loop, TaskTimeline
from stc.iteration.trace import Port
from stc.network.graph import Channel, TaskGraph
from stc.platforms.platform import load_platform

SEEDS = range(60)


def slots(network: Network) -> tuple[dict[str, int], dict[str, int], int]:
    """Depths of all FIFOs just in time, and as early as possible, and the cycles of the latter."""
    run = earliest_run(network)
    early = {name: FifoCurves(run.written[name], run.needed[name], run.taken[name]).slots(0) for name in run.written}
    return {name: curve.slots(0) for name, curve in just_in_time(network.graph, run).items()}, early, run.makespan


@pytest.mark.parametrize("seed", SEEDS)
def test_no_cycle_is_lost(seed: int) -> None:
    network = random_network(seed)
    depths, _, makespan = slots(network)
    cycles = run_bounded(network, depths)
    assert cycles is not None
    assert cycles <= makespan


@pytest.mark.parametrize("seed", SEEDS)
def test_no_cycle_is_lost_beside_tasks_that_wait_for_each_other(seed: int) -> None:
    network = cyclic_network(seed, rounds=3)
    found = schedule(network, load_platform("u55c").usable)
    cycles = run_bounded(network, found.slots)
    assert cycles is not None
    assert cycles <= earliest_run(network.with_depths(found.slots)).makespan


def test_less_is_stored_than_as_early_as_possible() -> None:
    found = [slots(random_network(seed)) for seed in SEEDS]
    assert sum(sum(depths.values()) for depths, _, _ in found) < sum(sum(early.values()) for _, early, _ in found)


def pipeline(name: str, count: int, interval: int, reads: list[str], writes: list[str]) -> TaskTimeline:
    """A loop that moves a token of each FIFO in each iteration."""
    ports: list[Port] = [*((fifo, False) for fifo in reads), *((fifo, True) for fifo in writes)]
    every, none = np.arange(count), np.zeros(count, dtype=np.int64)
    return TaskTimeline(name, Loop(count, interval, 0, 1, dict.fromkeys(ports, every), dict.fromkeys(ports, none)))


def test_what_a_fork_of_loaded_tokens_hands_out_is_not_stored() -> None:
    """A load whose words go to two slow readers: as early as possible each FIFO would have room for nearly all of them."""
    ends = {"words": ("load", "fork"), "left": ("fork", "one"), "right": ("fork", "other")}
    fifos = [Channel(name, producer, consumer, UNLIMITED, UNLIMITED, 32) for name, (producer, consumer) in ends.items()]
    tasks = [
        pipeline("load", 100, 1, [], ["words"]),
        pipeline("fork", 100, 1, ["words"], ["left", "right"]),
        pipeline("one", 100, 10, ["left"], []),
        pipeline("other", 100, 10, ["right"], []),
    ]
    network = Network(tasks, TaskGraph.of(fifos, ["load"]))
    depths, early, makespan = slots(network)
    assert behind_loads(network.graph) == ("load", "fork")
    assert set(depths) == {"left", "right"}  # a load that waits costs nothing
    assert max(depths.values()) <= 2 < 80 < min(early["left"], early["right"])
    cycles = run_bounded(network, {**depths, "words": 2})
    assert cycles is not None
    assert cycles <= makespan
