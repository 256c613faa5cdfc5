"""`grown_depths` on random networks: they end at its depths, under another scheduler than its own."""

from __future__ import annotations

import random

import pytest
from kahn_network import DRAIN, FILL, Access, Firing, Network, random_network, reading, writing

from stc.design_space.bounded_run import grown_depths
from stc.design_space.fifo_depths import SHALLOW, StreamEdge, bridge_ends, least_depth
from stc.diagnostics import CompileError
from stc.iteration.task_program import Action, Channel, TaskProgram

SEEDS = range(1000)


def action_of(firing: Firing) -> Action:
    """The same step in the terms of the token model: a block is taken without moving it, and handed over afterwards."""
    reads, writes, needs_token, needs_room = [], [], [], []
    for channel, access in firing.items():
        match access:
            case Access(0, 1, 0, -1):
                needs_room.append(channel)
            case Access(0, 0, 1, 0):
                writes.append((channel, 1))
            case Access(1, 0, -1, 0):
                needs_token.append(channel)
            case Access(0, 0, 0, 1):
                reads.append((channel, 1))
            case Access(tokens_needed=0):
                writes.append((channel, access.slots_needed))
            case _:
                reads.append((channel, access.tokens_needed))
    return Action(tuple(reads), tuple(writes), 1, tuple(needs_token), tuple(needs_room))


def grown(network: Network, unbounded: frozenset[str] = frozenset()) -> dict[str, int]:
    """Depths of the streams; the `unbounded` ones have room for everything."""
    programs = [TaskProgram(name, [action_of(firing) for firing in firings]) for name, firings in network.programs.items()]
    least = {s.name: max(SHALLOW, s.tokens) if s.name in unbounded else least_depth(s) for s in network.streams}
    channels = [Channel(s.name, least[s.name], 32, max(SHALLOW, s.tokens)) for s in network.streams]
    rings = [Channel(name, blocks, 0, blocks, fixed=True) for name, (_, _, blocks) in network.rings.items()]
    depths = grown_depths(programs, channels + rings)
    return {stream.name: depths[stream.name] for stream in network.streams}


def test_random_networks_end_at_grown_depths():
    grew = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        least = {stream.name: least_depth(stream) for stream in network.streams}
        depths = grown(network)
        assert network.ends(depths, chance), f"deadlock with seed {seed}"
        assert all(least[s.name] <= depths[s.name] <= max(SHALLOW, s.tokens) for s in network.streams)
        ends_at_least = network.ends(least, chance)
        assert (depths == least) == ends_at_least, f"seed {seed}: grows exactly where the least depths deadlock"
        grew += not ends_at_least
    assert grew > 100


def test_bridges_may_be_left_out_of_the_run():
    """As `set-fifo-depths` does: bridges of the undirected graph are unbounded in the run and least afterwards."""
    bridged = 0
    for seed in SEEDS:
        chance = random.Random(seed)
        network = random_network(chance)
        bridges = bridge_ends([(s.producer, s.consumer) for s in network.streams] + network.channels)
        free = {s.name: least_depth(s) for s in network.streams if frozenset((s.producer, s.consumer)) in bridges}
        assert network.ends(grown(network, frozenset(free)) | free, chance), f"deadlock with seed {seed}"
        bridged += bool(free)
    assert bridged > 100


def test_a_ring_that_waits_for_a_stream_nobody_asks_for():
    """`a` waits for the ring, `b` for room in `t`, `c` for `s` from `a`: only more room in `t` helps."""
    program: dict[str, list[Firing]] = {
        "a": [{"ring": access} for access in FILL * 4] + [{"s": writing(1)}] * 4,
        "b": [*({"ring": access} for access in DRAIN), *[{"t": writing(1)}] * 4, *({"ring": access} for access in DRAIN * 3)],
        "c": [{"s": reading(1)}] * 4 + [{"t": reading(1)}] * 4,
    }
    network = Network(program, [StreamEdge("s", "a", "c", 4), StreamEdge("t", "b", "c", 4)], {"ring": ("a", "b", 2)})
    depths = grown(network)
    assert depths["t"] == 4
    assert network.ends(depths, random.Random(0))


def test_a_network_that_ends_at_no_depth():
    program = [TaskProgram("a", [Action(writes=(("s", 1),))]), TaskProgram("b", [Action(reads=(("s", 1),), iterations=2)])]
    with pytest.raises(CompileError, match=r"tasks b wait for each other at any FIFO depth; accepted: an acyclic task graph"):
        grown_depths(program, [Channel("s", 2, 32, 2)])


def test_translation_of_rings():
    assert [action_of({"r": access}) for access in FILL] == [Action(needs_room=("r",)), Action(writes=(("r", 1),))]
