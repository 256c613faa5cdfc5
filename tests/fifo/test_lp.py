"""Schedules and the depths that come from them, on random networks, against an execution of every iteration with real FIFOs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from timed_networks import UNLIMITED, cyclic_network, pipe, random_network, run_bounded

from stc.diagnostics import UntimedError
from stc.fifo.bounds import bounded_asap_schedule
from stc.fifo.curves import FifoCurves, latency_of
from stc.fifo.network_run import Network, bounded_run, earliest_run, latest_run
from stc.fifo.published import published_slots
from stc.fifo.sizing import schedule
from stc.iteration.task_timeline import Loop, TaskTimeline
from stc.network.graph import Channel, TaskGraph
from stc.platforms.platform import load_platform
from stc_testing.drawn import seeds

SEEDS = seeds(24)
USABLE = load_platform("u55c").usable


@pytest.mark.parametrize("seed", SEEDS)
def test_the_earliest_run_is_the_execution_with_unlimited_fifos(seed: int) -> None:
    network = random_network(seed)
    assert earliest_run(network).makespan == run_bounded(network, {fifo.name: UNLIMITED for fifo in network.graph.fifos})


@pytest.mark.parametrize("seed", SEEDS)
def test_the_earliest_run_of_tasks_that_wait_for_each_other(seed: int) -> None:
    """More often than tasks are walked, and within loops."""
    network = cyclic_network(seed, 120 if seed % 8 == 0 else 3)
    assert earliest_run(network).makespan == run_bounded(network, {fifo.name: UNLIMITED for fifo in network.graph.fifos})


def test_each_firing_of_tasks_that_wait_for_each_other_is_timed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not all of a loop, each time that one more token is known."""
    timed, tokens = list[int](), 400
    issued = Loop.issued

    def counted(loop: Loop, ready: np.ndarray) -> np.ndarray:
        timed.append(len(ready))
        return issued(loop, ready)

    monkeypatch.setattr(Loop, "issued", counted)
    ahead = np.arange(tokens)
    there = Loop(tokens + 1, 1, 0, 3, {("echo", True): ahead, ("answer", False): ahead + 1},
                 {("echo", True): np.full(tokens, 2), ("answer", False): np.zeros(tokens, int)})  # fmt: skip
    back = Loop(tokens, 1, 0, 3, {("echo", False): ahead, ("answer", True): ahead},
                {("echo", False): np.zeros(tokens, int), ("answer", True): np.full(tokens, 2)})  # fmt: skip
    fifos = [Channel("echo", "a", "b", UNLIMITED, UNLIMITED, 32), Channel("answer", "b", "a", UNLIMITED, UNLIMITED, 32)]
    earliest_run(Network([TaskTimeline("a", there), TaskTimeline("b", back)], TaskGraph.of(fifos)))
    assert sum(timed) <= 5 * tokens


def test_tasks_that_wait_for_each_other_for_ever() -> None:
    loop = {name: Loop(1, 1, 0, 2, {(f"to {name}", False): np.zeros(1, int), (f"to {other}", True): np.zeros(1, int)},
                       {(f"to {name}", False): np.zeros(1, int), (f"to {other}", True): np.ones(1, int)})
            for name, other in (("a", "b"), ("b", "a"))}  # fmt: skip
    graph = TaskGraph.of([Channel("to a", "b", "a", 9, 9, 8), Channel("to b", "a", "b", 9, 9, 8)])
    with pytest.raises(UntimedError, match="tasks a, b wait for each other for ever"):
        earliest_run(Network([TaskTimeline(name, loop[name]) for name in loop], graph))


@pytest.mark.parametrize("seed", SEEDS)
def test_the_latest_run_keeps_all_distances_and_ends_in_time(seed: int) -> None:
    network = random_network(seed)
    first = earliest_run(network)
    for end in (first.makespan, first.makespan + 100):
        last = latest_run(network, first, end)
        assert last.makespan == end
        for fifo in network.graph.fifos:
            assert (last.needed[fifo.name] >= last.written[fifo.name] + latency_of(fifo.depth)).all()
            assert (last.written[fifo.name] >= first.written[fifo.name]).all()
        for task in network.tasks:
            assert last.begins[task.name] >= first.begins[task.name]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_cycle_is_lost_at_the_depths_of_the_normal_schedule(seed: int) -> None:
    network = random_network(seed)
    found = schedule(network, USABLE)
    executed = run_bounded(network, found.slots)
    assert executed is not None
    assert executed <= found.makespan <= earliest_run(network).makespan


@pytest.mark.parametrize("seed", SEEDS)
def test_slots_that_are_given_are_kept_and_no_cycle_is_lost(seed: int) -> None:
    """As where the same tasks need them at another run-time size: of the FIFOs, every second has 5."""
    network = random_network(seed)
    given = {fifo.name: 5 for fifo in network.graph.sized[::2]}
    found = schedule(network, USABLE, given=given)
    assert all(found.slots[name] >= slots for name, slots in given.items())
    executed = run_bounded(network, found.slots)
    assert executed is not None and executed <= earliest_run(network.with_depths(found.slots)).makespan


@pytest.mark.parametrize("seed", SEEDS)
def test_no_cycle_is_lost_against_unlimited_fifos_of_the_same_latencies(seed: int) -> None:
    """Two slots answer a cycle sooner than more: what the schedule is compared with has shift registers where it has them."""
    network = random_network(seed)
    found = schedule(network, USABLE)
    reference = earliest_run(network.with_depths(found.slots))
    executed = run_bounded(network, found.slots)
    assert executed is not None and executed <= reference.makespan


@pytest.mark.parametrize("seed", range(10))
def test_a_least_depth_is_kept_and_counts(seed: int) -> None:
    network = random_network(seed)
    pairs = [replace(fifo, written=2, read=2) for fifo in network.graph.fifos]
    found = schedule(replace(network, graph=TaskGraph.of(pairs)), USABLE)
    assert min(found.slots.values()) >= 3
    executed = run_bounded(network, found.slots)
    assert executed is not None and executed <= earliest_run(network).makespan


@pytest.mark.parametrize("seed", SEEDS)
def test_slack_is_kept(seed: int) -> None:
    network = random_network(seed)
    found = schedule(network, USABLE, slack=0.2)
    least = earliest_run(network).makespan
    assert found.makespan <= 1.2 * least
    executed = run_bounded(network, found.slots)
    assert executed is not None and executed <= 1.2 * least


def test_the_networks_need_more_than_shift_registers() -> None:
    """Most of them lose cycles, and some block, with two slots everywhere: the tests above could fail."""
    slower = blocked = deep = 0
    for seed in SEEDS:
        network = random_network(seed)
        executed = run_bounded(network, {fifo.name: 2 for fifo in network.graph.fifos})
        blocked += executed is None
        slower += executed is not None and executed > earliest_run(network).makespan
        deep += any(slots > 2 for slots in schedule(network, USABLE).slots.values())
    assert blocked >= 5 and slower >= 5 and deep >= 10


def test_a_fast_producer_waits_for_a_slow_consumer_instead_of_filling_its_fifo() -> None:
    """As published (normal) the FIFO holds half of all tokens: the producer never waits. Without loss two slots do."""
    graph = TaskGraph.of([Channel("s", "a", "b", 2000, 2000, 32)])
    network = Network([TaskTimeline("a", pipe(2000, 1, [], ["s"], 5)), TaskTimeline("b", pipe(2000, 2, ["s"], [], 5))], graph)
    assert published_slots(network)["s"] > 900
    assert published_slots(network, conservative=True)["s"] <= 8
    found = schedule(network, USABLE)
    assert found.slots["s"] <= 2
    cycles = run_bounded(network, found.slots)
    assert cycles is not None and cycles <= earliest_run(network).makespan


def test_tokens_wait_where_they_are_narrow() -> None:
    """Beside a long pipeline either the wide input or the narrow output of a short one has to hold what is under way."""
    tokens = 300
    tasks = [
        TaskTimeline("fork", pipe(tokens, 1, [], ["long", "wide"], 1)),
        TaskTimeline("deep", pipe(tokens, 1, ["long"], ["slow"], 150)),
        TaskTimeline("short", pipe(tokens, 1, ["wide"], ["narrow"], 3)),
        TaskTimeline("join", pipe(tokens, 1, ["slow", "narrow"], [], 1)),
    ]
    ends = {"long": ("fork", "deep"), "wide": ("fork", "short"), "slow": ("deep", "join"), "narrow": ("short", "join")}
    bits = {"long": 512, "wide": 512, "slow": 512, "narrow": 16}
    fifos = [Channel(name, *pair, tokens, tokens, bits[name]) for name, pair in ends.items()]
    network = Network(tasks, TaskGraph.of(fifos))
    found = schedule(network, USABLE)
    assert found.slots["wide"] <= 3 and 140 <= found.slots["narrow"] <= 160
    exchanged = [replace(fifo, bits={"wide": 16, "narrow": 512}.get(fifo.name, fifo.bits)) for fifo in fifos]
    swapped = schedule(Network(tasks, TaskGraph.of(exchanged)), USABLE)
    assert swapped.slots["narrow"] <= 3 and 140 <= swapped.slots["wide"] <= 160


def test_the_least_delay_of_one_token() -> None:
    assert FifoCurves(np.array([7]), np.array([2]), np.array([2])).least_delay() == 7


def test_a_bounded_run_is_the_execution_at_these_depths() -> None:
    compared, slower = 0, 0
    for seed in range(60):
        network = random_network(seed)
        first = earliest_run(network)
        for depth in (3, 5):
            depths = {fifo.name: depth for fifo in network.graph.fifos}
            found = bounded_run(network, depths, first, 10 * first.makespan)
            if found is not None:
                assert found.makespan == run_bounded(network, depths)
                compared, slower = compared + 1, slower + (found.makespan > first.makespan)
    assert compared > 20 and slower > 5


def test_bounding_expensive_fifos_costs_no_cycle() -> None:
    found = 0
    for seed in SEEDS:
        network = random_network(seed)
        first = earliest_run(network)
        everything = {fifo.name: len(first.written[fifo.name]) for fifo in network.graph.fifos}
        _, run = bounded_asap_schedule(network, everything, USABLE, first, first.makespan)
        if run is not None:
            found += 1
            needed = {
                fifo.name: FifoCurves(run.written[fifo.name], run.needed[fifo.name], run.taken[fifo.name]).slots(0)
                for fifo in network.graph.fifos
            }
            assert run.makespan == first.makespan
            assert any(needed[name] < tokens for name, tokens in everything.items())
    assert found > 10
