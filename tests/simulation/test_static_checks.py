"""What the manifest alone tells: token counts, ends, cycles, and where paths part and meet."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import networkx as nx
import pytest
from generated_forks import generate
from handmade import fifo, loop, manifest

from stc.diagnostics import CompileError
from stc.manifest.schema import BlockBuffer, LoopSchedule, Manifest, Stream
from stc.network.graph import Node, TaskGraph
from stc.simulation.static_checks import check_statically, refuse_contradictions
from stc.simulation.task_graphs import task_graphs

STREAMS = [fifo("a", "split", "left", 15), fifo("b", "split", "join", 15),
           fifo("c", "left", "join", 3), fifo("d", "join", "end", 3)]
LOOPS = [loop("split", "l", 15, writes="ab"), loop("left", "l", 15, reads="a"), loop("left", "m", 3, writes="c"),
         loop("join", "l", 15, reads="b"), loop("join", "m", 3, reads="c", writes="d"), loop("end", "l", 3, reads="d")]


def design(streams: list[Stream] = STREAMS, loops: list[LoopSchedule] = LOOPS, **changes: dict[str, object]) -> Manifest:
    """A manifest whose tasks know their accesses exactly, unless `changes` (by task) says otherwise."""
    made = manifest(streams, loops)
    (kernel,) = made.kernels
    known = {"outside_loops": {}, "guarded": {}}
    tasks = tuple(replace(task, **{**known, **changes.get(task.name, {})}) for task in kernel.tasks)  # pyright: ignore[reportArgumentType]
    return replace(made, kernels=(replace(kernel, tasks=tasks),))


def errors(made: Manifest) -> list[str]:
    return [finding.text for finding in check_statically(made).findings if finding.severity == "error"]


def notes(made: Manifest) -> list[str]:
    return [finding.text for finding in check_statically(made).findings if finding.severity == "note"]


def test_a_design_whose_counts_agree_passes() -> None:
    report = check_statically(design())
    assert report.passed and report.findings == () and report.counted == ("a", "b", "c", "d") and report.channels == 4
    assert report.bridges == ("d",) and report.crossing == ()
    (entry,) = report.reconvergent_paths
    assert (entry.parts, entry.meets, entry.sides) == ("split", "join", (("a", "c"), ("b",)))
    refuse_contradictions(design())


def test_trip_counts_multiply_along_the_nest_and_unrolled_accesses_count() -> None:
    nest = [replace(loop("split", "inner", 5, writes="ab"), parent="outer"), loop("split", "outer", 3)]
    assert check_statically(design(loops=[*nest, *LOOPS[1:]])).passed
    four = [replace(loop("end", "l", 1), reads={"d": 4}), *LOOPS[:-1]]
    assert errors(design(loops=four)) == ["end reads 4 tokens, the manifest says 3"]


@pytest.mark.parametrize(("task", "trip", "text"), [
    ("split", 14, "split writes 14 tokens, the manifest says 15"), ("left", 16, "left reads 16 tokens, the manifest says 15"),
])
def test_a_side_that_moves_another_number_of_tokens_is_an_error(task: str, trip: int, text: str) -> None:
    wrong = design(loops=[replace(entry, trip=trip) if entry.task == task and entry.label == "l" else entry for entry in LOOPS])
    assert text in errors(wrong)
    with pytest.raises(CompileError, match="the manifest contradicts itself"):
        refuse_contradictions(wrong)


def test_accesses_outside_loops_count() -> None:
    fewer = [replace(entry, trip=2) if entry.task == "end" else entry for entry in LOOPS]
    assert errors(design(loops=fewer)) == ["end reads 2 tokens, the manifest says 3"]
    assert check_statically(design(loops=fewer, end={"outside_loops": {"d": 1}})).passed


def test_guards_make_a_count_a_bound_and_nothing_more() -> None:
    more = [replace(entry, trip=9) if entry.task == "end" else entry for entry in LOOPS]
    guarded = design(loops=more, end={"guarded": {"d": None}})
    assert errors(guarded) == []
    assert notes(guarded) == ["end reads at most 9 tokens, under a condition; the manifest says 3: not decided"]
    assert "d" not in check_statically(guarded).counted
    fewer = [replace(entry, trip=2) if entry.task == "end" else entry for entry in LOOPS]
    assert errors(design(loops=fewer, end={"guarded": {"d": None}})) == ["end reads at most 2 tokens, the manifest says 3"]
    counted = design(loops=more, end={"guarded": {"d": 3}})
    assert check_statically(counted).findings == () and "d" in check_statically(counted).counted
    assert errors(design(loops=more, end={"guarded": {"d": 4}})) == ["end reads 4 tokens, the manifest says 3"]


def test_what_a_task_does_not_say_is_not_guessed() -> None:
    fewer = [replace(entry, trip=2) if entry.task == "end" else entry for entry in LOOPS]
    unknown = design(loops=fewer, end={"guarded": None, "outside_loops": None})
    assert errors(unknown) == [] and notes(unknown) == ["the listed loops of end read 2 tokens, the manifest says 3: not decided"]
    runtime = design(loops=[replace(entry, trip=0) if entry.task == "end" else entry for entry in LOOPS])
    assert errors(runtime) == [] and len(notes(runtime)) == 1


def test_two_writers_and_unknown_ends_are_errors() -> None:
    made = design()
    (kernel,) = made.kernels
    second = tuple(replace(task, writes=(*task.writes, "d")) if task.name == "left" else task for task in kernel.tasks)
    two = replace(made, kernels=(replace(kernel, tasks=second),))
    assert errors(two) == ["is written by join, but in the list of tasks by left, join"]
    gone = tuple(task for task in kernel.tasks if task.name != "end")
    assert errors(replace(made, kernels=(replace(kernel, tasks=gone),))) == ["is read by 'end', which is no task"]
    twice = (*kernel.streams, kernel.streams[0])
    assert "is the name of two FIFOs or rings of blocks" in errors(replace(made, kernels=(replace(kernel, streams=twice),)))


def test_a_cycle_is_a_warning_with_its_tasks() -> None:
    back = [*STREAMS, fifo("back", "end", "split", 3)]
    loops = [*LOOPS, loop("end", "z", 3, writes=("back",)), loop("split", "z", 3, reads=("back",))]
    report = check_statically(design(back, loops))
    assert report.passed and report.reconvergent_paths == ()
    (finding,) = report.findings
    assert finding.severity == "warning" and "tasks form a cycle: " in finding.text
    assert {"split", "join", "end"} <= set(finding.text.split(": ")[1].split(";")[0].split(", "))


def test_rings_of_blocks_are_connections_too() -> None:
    made = design()
    (kernel,) = made.kernels
    ring = BlockBuffer("r", "i32", (4,), 2, 32, "split", "end", 3)
    more = {"split": {"writes": ("a", "b", "r")}, "end": {"reads": ("d", "r")}}
    tasks = tuple(replace(task, **more.get(task.name, {})) for task in kernel.tasks)
    loops = (*kernel.schedule, loop("split", "r", 3, writes="r"), loop("end", "r", 3, reads="r"))
    report = check_statically(replace(made, kernels=(replace(kernel, tasks=tasks, blocks=(ring,), schedule=loops),)))
    assert report.passed and report.bridges == ()
    assert {(entry.parts, entry.meets) for entry in report.reconvergent_paths} == {("split", "join"), ("split", "end")}


def test_two_sources_that_share_two_sinks_cross_without_reconvergence() -> None:
    report = check_statically(manifest([fifo(ends, ends[0], ends[1], 1) for ends in ("ac", "ad", "bc", "bd", "de")]))
    assert report.reconvergent_paths == () and report.bridges == ("de",) and report.crossing == ("ac", "ad", "bc", "bd")


def test_two_fifos_between_the_same_tasks_are_two_paths() -> None:
    (entry,) = check_statically(manifest([fifo("p", "a", "b", 1), fifo("q", "a", "b", 1)])).reconvergent_paths
    assert (entry.parts, entry.meets, entry.sides) == ("a", "b", (("p",), ("q",)))


def test_all_separate_ways_are_listed() -> None:
    three = manifest([fifo("p", "a", "b", 1), fifo("q", "a", "b", 1), fifo("r", "a", "c", 1), fifo("s", "c", "b", 1)])
    (entry,) = check_statically(three).reconvergent_paths
    assert entry.sides == (("p",), ("q",), ("r", "s"))


@pytest.mark.parametrize(("depths", "doubtful"), [
    ({"b": 15, "c": 3}, ()),                    # whoever waits for room in `a` is waited for by its reader only
    ({"a": 15, "b": 15, "c": 1, "d": 1}, ()),
    ({"b": 15}, ("a", "c")),                    # split for room in `a`, left for room in `c`, join for tokens of `b`
    ({"b": 14, "c": 3}, ("b",)),                # split for room in `b`, join for tokens of `c`, left for tokens of `a`
    ({"a": 15, "b": 14, "c": 2, "d": 1}, ("b",)),
])
def test_a_design_whose_tasks_cannot_form_a_wait_cycle_ends(depths: dict[str, int], doubtful: tuple[str, ...]) -> None:
    report = check_statically(design([replace(stream, depth=depths.get(stream.name, 2)) for stream in STREAMS]))
    assert report.doubtful == doubtful and report.ends == (not doubtful)


def test_of_two_fifos_between_the_same_tasks_either_may_be_full() -> None:
    """`a` may wait for room in one while `b` waits for a token of the other."""
    twice = [fifo("p", "a", "b", 3, depth=2), fifo("q", "a", "b", 3, depth=3)]
    assert list(task_graphs(manifest(twice))[0].full_in_wait_cycles()) == ["p"]


def test_nothing_is_proved_where_counts_do_not_agree() -> None:
    deep = [replace(stream, depth=15) for stream in STREAMS]
    assert check_statically(design(deep)).ends
    assert not check_statically(design(deep, [replace(loop("end", "l", 1), reads={"d": 4}), *LOOPS[:-1]])).ends
    assert not check_statically(design(deep, split={"guarded": {"a": None}})).ends


def _ways(network: TaskGraph, part: str, meet: str) -> list[list[Node]]:
    return list(nx.all_simple_paths(network.paths, ("task", part), ("task", meet)))  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize("seed", range(12))
def test_reconvergent_paths_and_bridges_of_generated_designs(seed: int) -> None:
    """Against enumeration: two ways with no common task between exist exactly for the pairs that are listed."""
    (network,) = task_graphs(generate(seed).manifest)
    listed = {(entry.parts, entry.meets): entry.sides for entry in network.reconvergent_paths()}
    for part in network.tasks:
        for meet in network.tasks:
            ways = _ways(network, part, meet) if part != meet else []
            apart = any(not set(one[1:-1]) & set(other[1:-1]) for one, other in combinations(ways, 2))
            assert ((part, meet) in listed) == apart
            if apart:
                found = {tuple(node[1] for node in way if node[0] == "channel") for way in ways}
                assert set(listed[part, meet]) <= found and len(listed[part, meet]) > 1
                assert not any(set(one) & set(other) for one, other in combinations(listed[part, meet], 2))
    whole = nx.number_connected_components(network.paths.to_undirected())
    for link in network.channels:
        without = network.paths.to_undirected()
        without.remove_edge(("task", link.producer), ("channel", link.name))
        assert (link.name in network.bridges) == (nx.number_connected_components(without) > whole)


def test_a_project_without_streams_says_nothing() -> None:
    made = manifest([])
    assert check_statically(made).passed and check_statically(made).channels == 0
