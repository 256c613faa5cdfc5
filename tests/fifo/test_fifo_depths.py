"""The deadlock-freedom claim of `provisional_depths`, by execution; and that the executions can fail."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from kahn_network import DRAIN, FILL, Network, random_network, reading, writing

from stc.diagnostics import CompileError
from stc.fifo.depths import SHALLOW, provisional_depths
from stc.network.graph import Channel, TaskGraph
from stc_testing.drawn import seeds

SEEDS = seeds(600)


def depths_of(network: Network) -> dict[str, int]:
    return provisional_depths(network.graph)


def shallow(stream: Channel) -> int:
    return max(SHALLOW, min(stream.tokens, stream.written + stream.read - 1))


def test_random_networks_end_under_any_schedule():
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        assert network.ends(depths_of(network), chance), f"deadlock with seed {seed}"


def test_outcome_does_not_depend_on_the_schedule():
    """Also where depths are too small."""
    outcomes = set()
    for seed in range(400):
        chance = random.Random(seed)
        network = random_network(chance)
        depths = {stream.name: shallow(stream) for stream in network.streams}
        ends = {network.ends(depths, random.Random(schedule)) for schedule in range(4)}
        assert len(ends) == 1
        outcomes |= ends
    assert outcomes == {True, False}


def test_the_networks_deadlock_where_a_deep_stream_is_made_shallow():
    deep = deadlocks = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        depths = depths_of(network)
        for stream in network.streams:
            if depths[stream.name] > shallow(stream):
                deep += 1
                deadlocks += not network.ends(depths | {stream.name: shallow(stream)}, chance)
    assert deep > 150
    assert deadlocks > 30


def test_the_networks_deadlock_where_streams_hold_one_burst_only():
    """The rule once was the larger of both bursts."""
    deadlocks = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        depths = depths_of(network)
        for stream in network.streams:
            burst = max(SHALLOW, stream.written, stream.read)
            depths[stream.name] = depths[stream.name] if depths[stream.name] > shallow(stream) else burst
        deadlocks += not network.ends(depths, chance)
    assert deadlocks > 30


# By hand --------------------------------------------------------------------------------------------------------------


def fork_and_join(tokens: int) -> Network:
    """A fork sends all of `long` before `short`; the join wants `short` first."""
    program = {
        "fork": [{"long": writing(1)}] * tokens + [{"short": writing(1)}] * tokens,
        "join": [{"short": reading(1)}] * tokens + [{"long": reading(1)}] * tokens,
    }
    return Network(program, [Channel(name, "fork", "join", tokens) for name in ("long", "short")])


def test_fork_and_join_need_all_tokens():
    network = fork_and_join(16)
    assert depths_of(network) == {"long": 16, "short": 16}
    assert network.ends(depths_of(network), random.Random(0))
    assert not network.ends({"long": 15, "short": 16}, random.Random(0))


def test_bursts_of_three_and_two_need_four_slots():
    program = {"a": [{"s": writing(3)}] * 4, "b": [{"s": reading(2)}] * 6}
    network = Network(program, [Channel("s", "a", "b", 12, written=3, read=2)])
    assert depths_of(network) == {"s": 4}
    assert network.ends({"s": 4}, random.Random(0))
    assert not network.ends({"s": 3}, random.Random(0))


def test_a_stream_never_holds_more_than_its_tokens():
    assert provisional_depths(TaskGraph.of([Channel("s", "a", "b", 16, written=16, read=16)])) == {"s": 16}
    assert provisional_depths(TaskGraph.of([Channel("s", "a", "b", 1)])) == {"s": SHALLOW}


def test_chains_trees_and_bridges_are_shallow():
    edges = [("a", "b"), ("b", "c"), ("b", "d"), ("x", "c")]
    streams = [Channel(f"{a}{b}", a, b, 100) for a, b in edges]
    assert set(provisional_depths(TaskGraph.of(streams)).values()) == {SHALLOW}


def test_only_the_streams_of_the_fork_are_deep():
    edges = [("load", "fork"), ("fork", "left"), ("fork", "right"), ("left", "join"), ("right", "join"), ("join", "store")]
    depths = provisional_depths(TaskGraph.of(Channel(f"{a}_{b}", a, b, 64) for a, b in edges))
    assert {name for name, depth in depths.items() if depth > SHALLOW} == {"fork_left", "fork_right"}
    assert depths["fork_left"] == 64


def test_a_ring_closes_a_cycle_too():
    streams = [Channel("s", "fork", "join", 64), Channel("t", "fork", "fill", 64), Channel("u", "drain", "join", 64)]
    assert set(provisional_depths(TaskGraph.of(streams)).values()) == {SHALLOW}
    with_ring = provisional_depths(TaskGraph.of([*streams, Channel("ring", "fill", "drain", 2, is_ring=True)]))
    assert with_ring == {"s": 64, "t": 64, "u": SHALLOW}


def test_no_streams():
    assert provisional_depths(TaskGraph.of([])) == {}


def ring_beside_a_stream() -> Network:
    """`a` fills four blocks of a ring of two, then sends `s`, which `c` wants first; `b` sends `t` before it drains the last."""
    program = {
        "a": [{"ring": access} for access in FILL * 4] + [{"s": writing(1)}] * 4,
        "b": [*({"ring": access} for access in DRAIN), *[{"t": writing(1)}] * 4, *({"ring": access} for access in DRAIN * 3)],
        "c": [{"s": reading(1)}] * 4 + [{"t": reading(1)}] * 4,
    }
    return Network(program, [Channel("s", "a", "c", 4), Channel("t", "b", "c", 4)], {"ring": ("a", "b", 2)})


def test_a_ring_beside_other_outputs_is_refused():
    network = ring_beside_a_stream()
    assert not network.ends({"s": 4, "t": 2}, random.Random(0))
    with pytest.raises(CompileError) as raised:
        depths_of(network)
    assert str(raised.value) == (
        "a: task a has other outputs beside a ring of buffers to b, and their paths meet again; "
        "accepted: a ring of buffers as the only output of its task"
    )
    alone = replace(network, streams=[Channel("s", "a", "c", 4)])
    assert depths_of(alone) == {"s": SHALLOW}


@pytest.mark.parametrize("edges", [[("a", "b"), ("b", "c"), ("c", "b")], [("b", "b")]], ids=["two tasks", "one task"])
def test_cycles_are_refused(edges: list[tuple[str, str]]):
    with pytest.raises(CompileError, match=r"tasks form a cycle: b.*; accepted: an acyclic graph of tasks"):
        provisional_depths(TaskGraph.of(Channel(f"s{index}", *ends, 4) for index, ends in enumerate(edges)))
