"""Minimisation and the exact optimum of FIFO depths, on networks small enough to try every depth."""

from __future__ import annotations

from dataclasses import replace
from math import floor, prod

import pytest
from max_plus import Firing, Network, TimedTask, best_by_exhaustion, random_network

from stc.fifo.depth_search import DepthTest, Outcome, SizedFifo, memory_bits, minimal_depths
from stc.fifo.optimum import optimal_depths

SEEDS = range(60)


def depth_test(network: Network, slack: float = 0.0, start: dict[str, int] | None = None) -> DepthTest:
    reference = network.reference()
    assert reference.cycles is not None
    return DepthTest(network.sized(start), network.run, reference, floor(reference.cycles * (1 + slack)))


def assert_minimal(network: Network, depths: dict[str, int], allowed: int) -> None:
    cycles = network.run(depths).cycles
    assert cycles is not None and cycles <= allowed
    for name, depth in depths.items():
        assert depth >= 1
        if depth > 1:
            below = network.run({**depths, name: depth - 1}).cycles
            assert below is None or below > allowed, f"{name} can be one less than {depth}"


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_minimal_depths_are_enough_and_minimal(seed: int, slack: float):
    network = random_network(seed)
    test = depth_test(network, slack)
    minimal = minimal_depths(test)
    assert_minimal(network, minimal.depths, test.allowed)
    assert minimal.cycles == network.run(minimal.depths).cycles
    assert minimal.surprises == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_start_depths_that_are_too_few_fall_back_to_what_the_reference_run_held(seed: int):
    network = random_network(seed)
    test = depth_test(network, start=dict.fromkeys(network.bits, 1))
    minimal = minimal_depths(test)
    assert (minimal.start == "given") == (network.run(dict.fromkeys(network.bits, 1)).cycles == network.reference().cycles)
    assert_minimal(network, minimal.depths, test.allowed)


def small_networks() -> list[int]:
    seeds = [seed for seed in range(200) if prod(random_network(seed, 4).tokens(n) for n in random_network(seed, 4).bits) <= 2500]
    assert len(seeds) >= 60
    return seeds[:60]


@pytest.mark.parametrize("seed", small_networks())
def test_the_optimum_is_that_of_exhaustive_search(seed: int):
    network = random_network(seed, 4)
    test = depth_test(network)
    found = optimal_depths(test)
    expected = best_by_exhaustion(network, test.allowed)
    assert found.bits == found.lower_bound == expected
    assert found.depths is not None
    assert sum(network.bits[name] * depth for name, depth in found.depths.items()) == expected
    cycles = network.run(found.depths).cycles
    assert cycles is not None and cycles <= test.allowed


def test_minimal_depths_are_near_the_optimum():
    """No guarantee for one network, but the sum over many must be close, and known depths must not change the optimum."""
    bits = best = 0
    for seed in range(150):
        network = random_network(seed)
        test = depth_test(network)
        minimal = minimal_depths(test)
        found = optimal_depths(test, known=minimal.depths)
        assert found.bits == optimal_depths(depth_test(network)).bits
        assert found.bits is not None and found.bits <= minimal.bits
        bits, best = bits + minimal.bits, best + found.bits
    assert best <= bits <= 1.05 * best


def test_a_budget_of_runs_leaves_a_proved_lower_bound():
    bounds: list[int] = []
    for seed in range(60):
        network = random_network(seed)
        optimum = optimal_depths(depth_test(network)).bits
        found = optimal_depths(depth_test(network), most_runs=2)
        assert optimum is not None and found.lower_bound <= optimum
        if found.proof == "not known":
            assert found.bits is None and found.depths is None
            bounds.append(found.lower_bound)
    assert bounds


def tokens_kept_before_or_behind(narrow: int, wide: int) -> Network:
    """A token can wait before or behind the task in the middle, until the last task has all of the other path."""
    def each(reads: dict[str, int], writes: dict[str, int]) -> tuple[Firing, ...]:
        return (Firing(reads, writes),) * 6

    tasks = (
        TimedTask("fork", 1, 1, each({}, {"in": 1, "other": 1})),
        TimedTask("middle", 1, 1, each({"in": 1}, {"out": 1})),
        TimedTask("join", 1, 1, each({"other": 1}, {}) + each({"out": 1}, {})),
    )
    return Network(tasks, {"in": narrow, "other": 8, "out": wide})


def test_tokens_are_kept_where_they_are_narrow():
    """An unlimited run keeps them behind the task, however wide they are there."""
    network = tokens_kept_before_or_behind(narrow=8, wide=512)
    assert network.reference().occupancies["out"] == 6
    minimal = minimal_depths(depth_test(network))
    assert minimal.depths["out"] == 2 or minimal.depths["out"] == 1
    assert minimal.bits == optimal_depths(depth_test(network)).bits


def test_contradictory_runs_are_counted_and_prove_nothing():
    """A run that is faster with a slot less, as a pipeline that freezes later can be."""
    fifos = [SizedFifo("a", 8, 6, 6), SizedFifo("b", 8, 6, 6)]

    def run(depths: dict[str, int]) -> Outcome:
        slow = depths["a"] < 3 or (depths["a"] == 4 and depths["b"] == 5)
        return Outcome(11 if slow else 10, depths)

    test = DepthTest(fifos, lambda depths: run(dict(depths)), Outcome(10, {"a": 6, "b": 6}))
    assert minimal_depths(test).depths == {"a": 3, "b": 1}
    test.passes((4, 5))
    assert test.surprises == 1
    assert optimal_depths(test).proof == "not known"


def test_a_reference_that_does_not_end_is_refused():
    with pytest.raises(ValueError, match="did not end"):
        DepthTest([], lambda depths: Outcome(None, {}), Outcome(None, {}))


def test_nothing_to_size():
    test = DepthTest([], lambda depths: Outcome(7, {}), Outcome(7, {}))
    assert minimal_depths(test).depths == {}
    assert optimal_depths(test).bits == 0


def test_memory_steps():
    """Shift registers cost nothing, LUTRAM up to 128 deep (8 LUTs for 7 bits), then blocks."""
    assert memory_bits(32, 32) == 0 and memory_bits(2048, 2) == 0
    assert memory_bits(32, 33) == memory_bits(32, 64) == 40 * 64
    assert memory_bits(32, 512) == 18 * 1024
    assert memory_bits(512, 4096) == 8 * 288 * 1024


def test_more_bits_in_one_fifo_only_move_tokens_elsewhere():
    """Whatever the widths, the closing check holds: a minimal end for every one of them."""
    for wide in (1, 8, 64, 512):
        network = replace(tokens_kept_before_or_behind(16, wide))
        test = depth_test(network)
        assert_minimal(network, minimal_depths(test).depths, test.allowed)
