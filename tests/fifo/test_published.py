"""FIFO depths as published: delays of least sum along paths, and what the counts of tokens do not see."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import pytest
from timed_networks import random_network, run_bounded

from stc.diagnostics import CompileError
from stc.fifo.published import MOST_PATHS, least_delays, published_slots

Edge = tuple[str, str, str, int]

DIAMOND: list[Edge] = [("ab", "a", "b", 5), ("bd", "b", "d", 40), ("ac", "a", "c", 5), ("cd", "c", "d", 2)]


def test_reconvergent_paths_are_equally_long() -> None:
    """The short branch of a diamond is delayed until its tokens meet those of the long one."""
    delays = least_delays(DIAMOND)
    assert delays["ab"] + delays["bd"] == 45 == delays["ac"] + delays["cd"]
    assert delays["ac"] >= 5 and delays["cd"] >= 2


def paths_between(source: str, target: str, edges: list[Edge]) -> Iterator[list[str]]:
    """The names of the edges along each path of an acyclic graph."""
    if source == target:
        yield []
    for name, start, end, _ in edges:
        if start == source:
            yield from ([name, *rest] for rest in paths_between(end, target, edges))


@pytest.mark.parametrize("seed", range(30))
def test_every_path_has_the_longest_sum(seed: int) -> None:
    fifos = random_network(seed).graph.fifos
    edges = [(fifo.name, fifo.producer, fifo.consumer, index % 5) for index, fifo in enumerate(fifos)]
    delays, first = least_delays(edges), {name: cycle for name, _, _, cycle in edges}
    kernels = {end for _, source, target, _ in edges for end in (source, target)}
    for source in kernels:
        for target in kernels - {source}:
            paths = list(paths_between(source, target, edges))
            longest = max((sum(first[name] for name in path) for path in paths), default=0)
            assert all(sum(delays[name] for name in path) >= longest for path in paths)


def test_paths_are_not_enumerated_for_ever() -> None:
    """A chain of diamonds has as many paths as two to the power of its length."""
    corners = [f"k{index}" for index in range(16)]
    edges = [(f"{a}{b}{side}", a, b, 1) for a, b in pairwise(corners) for side in "lr"]
    with pytest.raises(CompileError, match=f"more than {MOST_PATHS} paths between kernels"):
        least_delays(edges)


def test_some_designs_do_not_end_at_published_depths() -> None:
    """Bursts are not in the model: of random networks some block, at two slots at least as tools give; most do not."""
    blocked = 0
    for seed in range(40):
        network = random_network(seed)
        slots = {name: max(2, count) for name, count in published_slots(network).items()}
        blocked += run_bounded(network, slots) is None
    assert 1 <= blocked <= 20

