"""Exact fusion: no legal grouping of small graphs moves fewer bytes, all of them tried; and never more than the greedy one."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence

import networkx as nx
import pytest

from stc.design_space.exact_fusion import fuse_exactly
from stc.design_space.fusion import UNLIMITED_PORTS, FusionEdge, FusionKernel, external_bytes
from stc.diagnostics import CompileError
from stc.strategies.fusion import FUSION, FusionProblem, check_groups, joined
from stc_testing.drawn import seeds

Groups = list[list[str]]


def drawn(seed: int, most: int, on_chip: int | None = None) -> FusionProblem:
    """Up to `most` kernels; tensors with several readers, some with several between the same two, some that cannot stay on chip,
    some results kept; ports enough, or few."""
    generator = random.Random(seed)
    count = generator.randint(2, most)
    limit = generator.choice((0, 7, 15, 25, 40, 1 << 50)) if on_chip is None else on_chip
    names = [f"k{at}" for at in range(count)]
    kernels = [
        FusionKernel(name, min(limit, generator.randint(0, 9)), *(frozenset(generator.sample("abcdef", generator.randint(0, 2)))
                                                                   for _ in range(2)))
        for name in names
    ]
    edges: list[FusionEdge] = []
    for at, name in enumerate(names[:-1]):
        for number in range(generator.choice((1, 1, 1, 2))):
            size, kept = generator.randint(0, 50), generator.random() < 0.2
            readers = generator.sample(names[at + 1 :], generator.randint(0, min(3, count - at - 1)))
            apart = 1 << 51 if generator.random() < 0.1 else 0
            costs = ((generator.randint(0, 6) + apart, generator.randint(0, 2)) for _ in readers)
            edges += [FusionEdge(name, reader, *cost, f"{name}.{number}", size, kept)
                      for reader, cost in zip(readers, costs, strict=True)]
    return FusionProblem(kernels, edges, limit, generator.choice((UNLIMITED_PORTS, 4, 6, 9)))


def partitions(names: Sequence[str]) -> Iterator[Groups]:
    if not names:
        yield []
        return
    for rest in partitions(names[1:]):
        yield [[names[0]], *rest]
        for at in range(len(rest)):
            yield [*rest[:at], [names[0], *rest[at]], *rest[at + 1 :]]


def is_legal(problem: FusionProblem, groups: Groups) -> bool:
    """Recomputed: room, ports, and no circle."""
    home = {name: at for at, group in enumerate(groups) for name in group}
    kernel_of = {kernel.name: kernel for kernel in problem.kernels}
    for at, group in enumerate(groups):
        inside = [edge for edge in problem.edges if home[edge.producer] == home[edge.consumer] == at]
        taken = sum(edge.converter_bytes + edge.fifo_bytes for edge in inside) + sum(kernel_of[name].local_bytes for name in group)
        ports = {("in", port) for name in group for port in kernel_of[name].inputs}
        ports |= {("out", port) for name in group for port in kernel_of[name].results}
        ports |= {("between", edge.producer) for edge in problem.edges if [home[edge.producer], home[edge.consumer]].count(at) == 1}
        if taken > problem.on_chip or (len(group) > 1 and len(ports) > problem.ports):
            return False
    ends = {(home[edge.producer], home[edge.consumer]) for edge in problem.edges}
    return nx.is_directed_acyclic_graph(nx.DiGraph([pair for pair in ends if pair[0] != pair[1]]))


def moved(problem: FusionProblem, groups: Groups) -> int:
    """Recomputed, tensor by tensor: read by each group that has a reader but not the producer, written if read."""
    total = 0
    for tensor in {edge.tensor for edge in problem.edges}:
        edges = [edge for edge in problem.edges if edge.tensor == tensor]
        readers = [group for group in groups
                   if {edge.consumer for edge in edges} & set(group) and edges[0].producer not in group]
        total += edges[0].tensor_bytes * (len(readers) + (1 if readers and not edges[0].kept else 0))
    return total


@pytest.mark.parametrize("seed", seeds(40))
def test_it_is_the_best_of_all_groupings(seed: int, capsys: pytest.CaptureFixture[str]) -> None:
    problem = drawn(seed, most=6)
    names = [kernel.name for kernel in problem.kernels]
    least = min(moved(problem, groups) for groups in partitions(names) if is_legal(problem, groups))
    found = [list(group) for group in FUSION.decide("exact", problem)]
    assert is_legal(problem, found) and moved(problem, found) == least == problem.external_bytes(found)
    assert capsys.readouterr().err == "", "proved"


@pytest.mark.parametrize("seed", seeds(12, first=500))
def test_it_moves_no_more_than_the_greedy_one(seed: int) -> None:
    problem = drawn(seed, most=14, on_chip=30)
    found, greedy = (problem.external_bytes(FUSION.decide(name, problem)) for name in ("exact", "greedy"))
    assert found <= greedy


def of_unit_kernels(ends: str, on_chip: int, sizes: dict[str, int] | None = None, stream: int = 0) -> FusionProblem:
    """Kernels of one byte, and tensors of 10 or `sizes` bytes by producer, between those that `ends` names in pairs."""
    edges = [FusionEdge(a, b, stream, 0, a, (sizes or {}).get(a, 10)) for a, b in ends.split()]
    return FusionProblem([FusionKernel(name, 1) for name in sorted({*ends} - {" "})], edges, on_chip)


def test_a_chain_is_cut_where_its_tensor_is_smallest() -> None:
    """The greedy one fills the first group instead."""
    problem = of_unit_kernels("ab bc cd", 3, {"b": 1})
    assert FUSION.decide("exact", problem) == [["a", "b"], ["c", "d"]] and problem.external_bytes([["a", "b"], ["c", "d"]]) == 2
    assert problem.external_bytes(FUSION.decide("greedy", problem)) == 20


def test_a_tensor_is_read_once_by_all_readers_of_one_group() -> None:
    problem = of_unit_kernels("ab ac ad", 3)
    groups = FUSION.decide("exact", problem)
    assert problem.external_bytes(groups) == 20 and sorted(map(len, groups)) == [1, 3]


@pytest.mark.parametrize("readers", ["b", "bc"])
def test_what_is_written_anyway_costs_its_reads(readers: str) -> None:
    """Cut is the larger tensor, which is written, in place of the smaller one, which is not."""
    edges = [FusionEdge("a", reader, 0, 0, "t", 10, kept=True) for reader in readers]
    assert external_bytes(edges, [["a"], [*readers]]) == 10 and external_bytes(edges, [["a", *readers]]) == 0
    kernels = [FusionKernel("a", 1), FusionKernel("b", 1), FusionKernel("c", 0), FusionKernel("d", 1)]
    problem = FusionProblem(kernels, [*edges, FusionEdge("b", "d", 0, 0, "u", 8)], 2)
    assert problem.external_bytes(FUSION.decide("exact", problem)) == 10


def test_kernels_that_are_together_do_not_bring_in_those_that_have_no_ports_left() -> None:
    """The greedy one puts `a` and `b` together, and the update `b` and `c`: all three would have a port too many."""
    kernels = [FusionKernel("a", 1, frozenset("16")), FusionKernel("b", 1, frozenset("2")), FusionKernel("c", 1, frozenset("34"))]
    edges = [FusionEdge("a", "b", 0, 0, "s", 10), FusionEdge("a", "c", 0, 0, "t", 10)]
    problem = FusionProblem(kernels, edges, 100, 4, [["b", "c"]])
    assert FUSION.decide("greedy", problem)[0] == ["a", "b"]
    found = [list(group) for group in FUSION.decide("exact", problem)]
    assert found == [["a"], ["b", "c"]] and all(len(group) == 1 or problem.limits.fits(group) for group in found)


def test_groups_that_would_wait_for_each_other_are_none() -> None:
    """a and d read one tensor, b and c another: both pairs would save a read, and feed each other, without a path inside."""
    sizes = {"s": 100, "t": 100, "a": 1, "c": 1}
    problem = of_unit_kernels("sa sd tb tc ab cd", 2, sizes)
    large = [FusionKernel(name, 2 if name in "st" else 1) for name in "stacbd"]
    problem = FusionProblem(large, problem.edges, 2)
    groups = FUSION.decide("exact", problem)
    assert problem.external_bytes(groups) == 504 and is_legal(problem, [list(group) for group in groups])


def test_a_stream_beside_a_path_counts_though_it_could_cross_for_little(capsys: pytest.CaptureFixture[str]) -> None:
    """What is between members of a group stays there: no converter is saved by 2 bytes of traffic."""
    path = [FusionEdge(a, b, 0, 0, a, 100) for a, b in ("ab", "bc", "cd")]
    edges = [*path, FusionEdge("a", "c", 2, 0, "beside", 1)]
    problem = FusionProblem([FusionKernel(name, 1) for name in "abcd"], edges, 5)
    assert problem.external_bytes(FUSION.decide("exact", problem)) == 200 and capsys.readouterr().err == ""


@pytest.mark.parametrize(("on_chip", "count"), [(0, 4), (1, 2), (3, 1), (1 << 60, 1)])
def test_streams_count_on_chip_where_they_stay(on_chip: int, count: int) -> None:
    """Kernels without buffers, at the limits: nothing, one stream, all three, no limit."""
    problem = of_unit_kernels("ab bc cd", on_chip, stream=1)
    empty = FusionProblem([FusionKernel(kernel.name, 0) for kernel in problem.kernels], problem.edges, on_chip)
    assert len(FUSION.decide("exact", empty)) == count


def test_nothing_and_what_nothing_ties() -> None:
    assert FUSION.decide("exact", FusionProblem([], [], 0)) == []
    assert FUSION.decide("exact", FusionProblem([FusionKernel("a", 1), FusionKernel("b", 1)], [], 2)) == [["a"], ["b"]]


def test_kernels_of_one_update_are_together_before_anything_is_chosen() -> None:
    """Beside c the greedy group of a has no room for d; chosen with both in mind, there is a grouping."""
    edges = [FusionEdge("a", "b", 0, 0, "t", 10), FusionEdge("a", "d", 0, 0, "u", 5), FusionEdge("b", "c", 0, 0, "v", 50)]
    problem = FusionProblem([FusionKernel(name, 1) for name in "abcd"], edges, 3, together=[["a", "d"]])
    with pytest.raises(CompileError, match="kernels a, d read and update one tensor"):
        joined(problem, FUSION.decide("greedy", problem), problem.together)
    groups = FUSION.decide("exact", problem)
    assert sorted(map(sorted, groups)) == [["a", "d"], ["b", "c"]] == sorted(map(sorted, joined(problem, groups, problem.together)))
    with pytest.raises(CompileError, match="kernels a, d read and update one tensor, and need 2 bytes on chip together"):
        FUSION.decide("exact", FusionProblem(problem.kernels, edges, 1, together=[["a", "d"]]))


def test_a_kernel_above_the_limit_is_refused() -> None:
    with pytest.raises(CompileError, match="a: needs 1 bytes of on-chip memory, on-chip allows 0; accepted: --on-chip of"):
        FUSION.decide("exact", of_unit_kernels("ab", 0))


def test_what_is_not_proved_is_said_with_its_gap(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """No time at all: the greedy groups, and the bound that is known."""
    problem = of_unit_kernels("ab bc cd", 3, {"b": 1})
    atoms = [[kernel.name] for kernel in problem.kernels]
    stopped = fuse_exactly(problem.limits, atoms, FUSION.decide("greedy", problem), most_seconds=0)
    check_groups(problem, stopped.groups)
    assert problem.external_bytes(stopped.groups) == 20 and stopped.least_bytes < 20
    monkeypatch.setattr("stc.strategies.fusion.fuse_exactly", lambda *given: fuse_exactly(*given, most_seconds=0))
    FUSION.decide("exact", problem)
    assert capsys.readouterr().err == (
        "warning: fusion: stopped after 0 s, not proved optimal; 20 bytes between groups, "
        "no grouping has fewer than 0 (gap 100.0%)\n"
    )
