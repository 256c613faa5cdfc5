"""Greedy fusion on random graphs: what its docstring promises, recomputed independently."""

from __future__ import annotations

from itertools import chain

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.design_space.fusion import FusionEdge, FusionKernel, fuse_greedily
from stc.diagnostics import CompileError
from stc_testing.drawn import examples

UNLIMITED = 1 << 60
Problem = tuple[list[FusionKernel], list[FusionEdge]]


@st.composite
def problems(draw: st.DrawFn) -> Problem:
    """Kernels in topological order and edges between them, parallel ones included, in any order."""
    sizes = draw(st.lists(st.integers(0, 9), min_size=1, max_size=9))
    kernels = [FusionKernel(f"k{index}", size) for index, size in enumerate(sizes)]
    numbers = st.integers(0, len(sizes) - 1)
    ends = draw(st.lists(st.tuples(numbers, numbers), max_size=16)) if len(sizes) > 1 else []
    costs = st.integers(0, 9)
    edges = [FusionEdge(f"k{min(a, b)}", f"k{max(a, b)}", draw(costs)) for a, b in ends if a != b]
    return kernels, edges


def group_numbers(groups: list[list[str]]) -> dict[str, int]:
    return {name: number for number, group in enumerate(groups) for name in group}


@examples(200)
@given(problems(), st.integers(0, 40))
def test_groups(problem: Problem, extra: int):
    kernels, edges = problem
    on_chip = max(kernel.local_bytes for kernel in kernels) + extra
    groups = fuse_greedily(kernels, edges, on_chip)
    place = group_numbers(groups)
    names = [kernel.name for kernel in kernels]

    assert sorted(chain.from_iterable(groups)) == sorted(names), "each kernel is in one group"
    assert all(group == sorted(group, key=names.index) for group in groups)
    assert all(place[edge.producer] <= place[edge.consumer] for edge in edges), "groups only feed later ones"
    for number, group in enumerate(groups):
        inside = sum(edge.stream_bytes for edge in edges if place[edge.producer] == place[edge.consumer] == number)
        assert inside + sum(kernel.local_bytes for kernel in kernels if kernel.name in group) <= on_chip
    for edge in edges:
        first, second = place[edge.producer], place[edge.consumer]
        if first != second and cost_of({*groups[first], *groups[second]}, problem) <= on_chip:
            assert stands_between(first, second, problem, place), "groups that fit together are merged"


def cost_of(members: set[str], problem: Problem) -> int:
    """Memory of kernels in one group: their own, and the streams among them."""
    kernels, edges = problem
    streams = sum(edge.stream_bytes for edge in edges if {edge.producer, edge.consumer} <= members)
    return streams + sum(kernel.local_bytes for kernel in kernels if kernel.name in members)


def stands_between(first: int, second: int, problem: Problem, place: dict[str, int]) -> bool:
    """Whether a third group is fed by the first and feeds the second, directly or not."""
    ends = {(place[edge.producer], place[edge.consumer]) for edge in problem[1]}
    reached = {b for a, b in ends if a == first and b != second and b != first}
    while new := {b for a, b in ends if a in reached} - reached:
        reached |= new
    return second in reached


@examples(75)
@given(problems())
def test_with_unlimited_memory(problem: Problem):
    """One group for all kernels that tensors connect."""
    kernels, edges = problem
    groups = fuse_greedily(kernels, edges, UNLIMITED)
    graph: nx.Graph[str] = nx.Graph([(edge.producer, edge.consumer) for edge in edges])
    graph.add_nodes_from(kernel.name for kernel in kernels)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, nx.connected_components(graph)))


def test_branches_that_meet_late_are_one_group():
    kernels = [FusionKernel(name, 1) for name in "sabcd"]
    edges = [FusionEdge(a, b, 1) for a, b in ("sa", "ab", "cd", "bd")]
    assert fuse_greedily(kernels, edges, 100) == [["s", "a", "b", "c", "d"]]


def chain_of(*sizes: int, stream_bytes: int = 1) -> Problem:
    kernels = [FusionKernel(f"k{index}", size) for index, size in enumerate(sizes)]
    return kernels, [FusionEdge(f"k{i}", f"k{i + 1}", stream_bytes) for i in range(len(sizes) - 1)]


def test_a_chain_is_cut_where_the_budget_ends():
    assert fuse_greedily(*chain_of(2, 2, 2, 2), 11) == [["k0", "k1", "k2", "k3"]]
    assert fuse_greedily(*chain_of(2, 2, 2, 2), 10) == [["k0", "k1", "k2"], ["k3"]]
    assert fuse_greedily(*chain_of(2, 2, 2, 2), 2) == [["k0"], ["k1"], ["k2"], ["k3"]]


def test_the_latest_group_is_joined():
    kernels = [FusionKernel(name, 4) for name in "sabc"]
    edges = [FusionEdge(a, b, 0) for a, b in ("sa", "ab", "ac", "bc")]
    assert fuse_greedily(kernels, edges, 8) == [["s", "a"], ["b", "c"]]


def test_a_source_without_room_at_its_first_consumer_stands_alone():
    """Placed with its second consumer, as once happened, it would feed an earlier group: groups in a cycle."""
    kernels = [FusionKernel("s", 5), FusionKernel("r", 0), FusionKernel("a", 6), FusionKernel("b", 5)]
    edges = [FusionEdge("r", "a", 0), FusionEdge("s", "a", 0), FusionEdge("a", "b", 0), FusionEdge("s", "b", 0)]
    assert fuse_greedily(kernels, edges, 10) == [["s"], ["r", "a"], ["b"]]


def test_a_kernel_that_nothing_feeds_or_reads_is_a_group():
    assert fuse_greedily([FusionKernel("k", 3)], [], 3) == [["k"]]
    assert fuse_greedily([], [], 0) == []


def test_one_kernel_above_the_budget():
    with pytest.raises(CompileError) as raised:
        fuse_greedily(*chain_of(2, 7, 2), 5)
    assert str(raised.value) == (
        "k1: needs 7 bytes of on-chip memory, on-chip allows 5; accepted: --on-chip of at least 7 bytes, or smaller tiles"
    )


def test_a_group_has_no_more_memory_ports_than_the_platform():
    """Layers in a row with two parameters each: as many as there are ports for, but for one tensor in and one out."""
    ends = {0: {"x"}}
    read = [{f"w{n}", f"b{n}"} | ends.get(n, set()) for n in range(24)]
    kernels = [FusionKernel(f"k{n}", 1, frozenset(names), frozenset("y" * (n == 23))) for n, names in enumerate(read)]
    edges = [FusionEdge(f"k{n}", f"k{n + 1}", 0) for n in range(23)]
    groups = fuse_greedily(kernels, edges, 100, 32)
    assert [len(group) for group in groups] == [15, 9]
    assert [len(group) for group in fuse_greedily(kernels, edges, 100, 3)] == [1] * 24
    shared = [FusionKernel(name, 1, frozenset({"x", "y"})) for name in "ab"]
    assert fuse_greedily(shared, [FusionEdge("a", "b", 0)], 100, 2) == [["a", "b"]], "what both read takes one port"


def test_connected_kernels_that_fit_are_one_group_whatever_is_open_on_the_way():
    """Three streams leave the first four at once, and one port less than that is enough for all of them."""
    ends = {"a": frozenset({"x"})}
    results = {"e": frozenset({"y"})}
    kernels = [FusionKernel(name, 1, ends.get(name, frozenset()), results.get(name, frozenset())) for name in "abcde"]
    edges = [FusionEdge(a, b, 0) for a, b in ("ab", "ac", "ad", "be", "ce", "de")]
    assert fuse_greedily(kernels, edges, 100, 2) == [["a", "b", "c", "d", "e"]]
    assert len(fuse_greedily([*kernels, FusionKernel("z", 1)], edges, 100, 2)) > 1, "z is connected with none of them"
    assert len(fuse_greedily(kernels, edges, 4, 2)) > 1, "they do not fit"
