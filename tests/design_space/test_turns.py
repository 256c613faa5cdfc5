"""Tensors that take turns on memory ports: rows in which each waits for the one before, as few as can be."""

from __future__ import annotations

import random
from itertools import combinations, pairwise
from typing import TypeAlias

import networkx as nx
import pytest

from stc.design_space.makespan import Dependence
from stc.design_space.parallelism import MemoryOperand, MemoryPorts, Parallelism, Work, in_turns
from stc.design_space.turns import chains, dealt_to_ports, ports_in_turn
from stc.platforms.budget import NOTHING

Behind: TypeAlias = dict[int, set[int]]


def random_order(seed: int, count: int) -> Behind:
    """Which of so many readers wait for each, as a random graph has it."""
    draw = random.Random(seed)
    graph: nx.DiGraph[int] = nx.DiGraph()
    graph.add_nodes_from(range(count))
    graph.add_edges_from(pair for pair in combinations(range(count), 2) if draw.random() < 0.3)
    return {name: nx.descendants(graph, name) for name in graph}


def most_independent(behind: Behind) -> int:
    """The most tensors of which none waits for another: no fewer ports will do."""
    sizes = range(1, len(behind) + 1)
    return max(size for size in sizes if any(_independent(some, behind) for some in combinations(behind, size)))


def _independent(some: tuple[int, ...], behind: Behind) -> bool:
    return not any(b in behind[a] or a in behind[b] for a, b in combinations(some, 2))


@pytest.mark.parametrize("seed", range(20))
def test_each_of_a_row_waits_for_the_one_before(seed: int):
    behind = random_order(seed, 9)
    rows = chains({name: 1 + name % 3 for name in behind}, lambda later, before: later in behind[before])
    assert sorted(name for row in rows for name in row) == sorted(behind)
    assert all(later in behind[before] for row in rows for before, later in pairwise(row))
    assert most_independent(behind) <= len(rows) < len(behind)


def test_each_of_several_readers_has_one_before_it():
    """Of two rows the one whose tensor has as many readers, though it has more bytes; and another one where none has."""
    sizes, readers = {"a": 9, "b": 1, "c": 1, "d": 1}, {"a": 2, "c": 2}
    assert chains(sizes, lambda later, before: before in "ab" and later in "cd", readers) == [["a", "c"], ["b", "d"]]
    assert chains(sizes, lambda later, before: before in "ab" and later in "cd") == [["a", "d"], ["b", "c"]]
    in_turn = {"a": 1, "b": 9, "d": 1, "c": 1}  # which leaves the one with two readers to that which comes behind
    assert chains(in_turn, lambda later, before: before in "ab" and later in "cd", readers) == [["a", "c"], ["b", "d"]]


DEALT = [(7, 4, [2, 2, 2, 1]), (8, 4, [2] * 4), (3, 5, [1] * 3), (21, 20, [2, *[1] * 19])]


@pytest.mark.parametrize(("count", "ports", "sizes"), DEALT)
def test_names_are_dealt_evenly(count: int, ports: int, sizes: list[int]):
    dealt = dealt_to_ports(range(count), ports)
    assert [len(each) for each in dealt] == sizes and [name for each in dealt for name in each] == list(range(count))


def test_what_follows_one_another_needs_the_ports_of_the_most_demanding():
    """As in a layer: q, k and v beside one another, then the projection, the MLP's first product and its second."""
    needed = {"q": 4, "k": 2, "v": 2, "o": 4, "up": 8, "down": 10}
    before = {"q": (), "k": (), "v": (), "o": ("q", "k", "v"), "up": ("q", "k", "v", "o"), "down": ("q", "k", "v", "o", "up")}
    assert ports_in_turn(needed, before) == 10
    assert ports_in_turn(needed, {}) == sum(needed.values())
    assert ports_in_turn({**needed, "cache": 3}, before) == 10 + 3  # which the rule does not know


@pytest.mark.parametrize("seed", range(20))
def test_ports_are_no_fewer_than_independent_tensors(seed: int):
    behind = random_order(seed, 9)
    before = {name: [other for other in behind if name in behind[other]] for name in behind}
    assert most_independent(behind) <= ports_in_turn(dict.fromkeys(behind, 1), before) < len(behind)
    assert ports_in_turn(dict.fromkeys(behind, 3), before) == 3 * ports_in_turn(dict.fromkeys(behind, 1), before)


def work(name: str, tensor: str, *after: str, shared: int | None = None) -> Work:
    memory = (MemoryOperand(tensor, True, 16, shared),)
    waits = tuple(Dependence(other, 0.1, 0.5, 0.5) for other in after)
    return Work(name, 64, 8, NOTHING, 8, 8, False, len(name), memory, after=waits)


def test_a_computation_waits_for_all_that_its_ports_bring_before():
    works = [work("first", "a"), work("between", "b", "first", shared=0), work("last", "c", "between"), work("beside", "d")]
    first, between, last, beside = in_turns(works, dict.fromkeys("abcd", "f32"), {"f32"})
    assert first.memory[0].follows == frozenset() == beside.memory[0].follows
    assert between.memory[0].follows is None and between.after == works[1].after  # its tensor shares a port with small ones
    assert last.memory[0].follows == {"a", 0}  # all that read what comes through that port are over
    assert last.after == (*works[2].after, Dependence("first", 1.0, 1.0, 1.0))
    plan = {each.name: Parallelism(1, 1) for each in works} | {"last": Parallelism(1, 4)}
    assert MemoryPorts.of(works, plan).count == 1 + 1 + 4 + 1
    turned = MemoryPorts.of([first, between, last, beside], plan)
    assert turned.count == 4 + 1
    assert turned.changed([last], {**plan, "last": Parallelism(1, 2)}).count == 2 + 1
    beside_too = in_turns([*works, work("later", "e", shared=0)], dict.fromkeys("abcde", "f32"), {"f32"})
    assert beside_too[2].memory[0].follows == {"a"}  # another may still read there
    assert in_turns(works, dict.fromkeys("abcd", "f32"))[2].memory[0].follows == {"a"}  # small ones may have narrower words
    assert in_turns(works, {"d": "f32"})[2].memory == works[2].memory
    unlike = in_turns(works, {"a": "i8", "c": "f32"})[2]
    assert unlike.memory[0].follows == frozenset()  # words of one type share a port
    assert unlike.after == works[2].after  # and no other is waited for: group sums are scaled as they come
