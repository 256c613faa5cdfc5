"""Runs that end, but later than they could: which FIFO lacks room, and how much of it gives the cycles back."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from handmade import Handmade, fifo, loop, manifest

from stc.network.graph import Channel
from stc.simulation.depth_cost import depth_cost
from stc.simulation.slowness import MOST_RUNS, Slowness, slow_because
from stc.simulation.task_graphs import all_fifos
from stc.simulation.timing_table import SimulationOptions

pytestmark = pytest.mark.heavy

DEPTH = 21
FORK = """
static void split(const int *x, hls::stream<int> &a, hls::stream<int> &b, hls::stream<int> &e) {
  split_loop: for (int i = 0; i < 200; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(x[i]); b.write(x[i]); e.write(x[i]);
  }
}
static void pipe(hls::stream<int> &a, hls::stream<int> &o) {
  pipe_loop: for (int i = 0; i < 200; i++) {
#pragma HLS pipeline II=1 style=flp
    o.write(a.read() + 1);
  }
}
static void join(hls::stream<int> &b, hls::stream<int> &e, hls::stream<int> &o, hls::stream<int> &r) {
  join_loop: for (int i = 0; i < 200; i++) {
#pragma HLS pipeline II=1 style=flp
    r.write(b.read() + e.read() + o.read());
  }
}
static void last(hls::stream<int> &r, int *y) {
  last_loop: for (int i = 0; i < 200; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = r.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a"), b("b"), e("e"), o("o"), r("r");
  split(x, a, b, e); pipe(a, o); join(b, e, o, r); last(r, y);
}
"""
STREAMS = [fifo("a", "split", "pipe", 200), fifo("b", "split", "join", 200), fifo("e", "split", "join", 200),
           fifo("o", "pipe", "join", 200), fifo("r", "join", "last", 200)]
LOOPS = [loop("split", "split_loop", 200, 3, writes="abe"), loop("pipe", "pipe_loop", 200, DEPTH, "a", "o"),
         loop("join", "join_loop", 200, 2, "beo", "r"), loop("last", "last_loop", 200, reads="r")]


@pytest.fixture(scope="module")
def fork(tmp_path_factory: pytest.TempPathFactory, headers: Path) -> Handmade:
    return Handmade(FORK, manifest(STREAMS, LOOPS), tmp_path_factory.mktemp("slow"), headers)


ROOMY = {"a": 200, "b": 200, "e": 200, "o": 200, "r": 200}


def explained(
    design: Handmade, depths: Mapping[str, int], reference: Mapping[str, int], most_runs: int = MOST_RUNS
) -> Slowness | None:
    runs = design.run(depths), design.run(reference)
    return slow_because(all_fifos(design.manifest), depths, *runs, lambda change: design.run({**depths, **change}), most_runs)


@pytest.mark.parametrize("depth", [3, 10, DEPTH - 1])
def test_the_short_way_round_a_long_pipeline_is_named_with_the_depth_that_is_enough(fork: Handmade, depth: int) -> None:
    depths = {**ROOMY, "b": depth}
    found = explained(fork, depths, ROOMY)
    assert found is not None and found.culprits == ("b",)
    (cause,) = found.causes
    best, now = fork.run(ROOMY).cycles, fork.run(depths).cycles
    assert best is not None and now is not None
    assert found.lost == cause.saved == now - best
    least = next(d for d in range(depth, 200) if fork.run({**depths, "b": d}).cycles == best)
    assert dict(cause.depths) == {"b": least}
    assert cause.stalled > 0 and f"set the depth to at least {least} for 'b', which saves all of them" in found.text
    assert f"FIFO 'b' (split to join, depth {depth})" in found.text


def test_fifos_whose_writers_wait_for_free_are_not_blamed(fork: Handmade) -> None:
    """With b too shallow the split waits for it alone; a and o are as shallow as can be without costing a cycle."""
    shallow = {"a": 3, "b": 10, "e": 200, "o": 3, "r": 3}
    assert fork.run({**shallow, "b": 200}).cycles == fork.run(ROOMY).cycles
    found = explained(fork, shallow, ROOMY)
    assert found is not None and found.culprits == ("b",)


def test_two_fifos_that_must_both_grow_are_said_together(fork: Handmade) -> None:
    """Two short ways, equally shallow: more room in one of them gains nothing."""
    depths = {**ROOMY, "b": 10, "e": 10}
    now, best = fork.run(depths).cycles, fork.run(ROOMY).cycles
    assert best is not None and now is not None
    assert fork.run({**depths, "b": 200}).cycles == fork.run({**depths, "e": 200}).cycles == now
    found = explained(fork, depths, ROOMY)
    assert found is not None and set(found.culprits) == {"b", "e"}
    (cause,) = found.causes
    assert cause.saved == now - best and fork.run({**depths, **cause.depths}).cycles == best
    for name, depth in cause.depths.items():
        fewer = fork.run({**depths, **cause.depths, name: depth - 1}).cycles
        assert fewer is not None and fewer > best


def test_what_one_saves_alone_and_what_takes_another_are_both_said(fork: Handmade) -> None:
    """The shallower of two short ways costs the difference alone; the rest takes both."""
    depths = {**ROOMY, "b": 10, "e": 13}
    now, best = fork.run(depths).cycles, fork.run(ROOMY).cycles
    part = fork.run({**depths, "b": 200}).cycles
    assert now is not None and part is not None and best is not None and best < part < now
    found = explained(fork, depths, ROOMY)
    assert found is not None and found.searched
    both, alone = found.causes
    assert set(both.depths) == {"b", "e"} and both.saved == now - best and fork.run({**depths, **both.depths}).cycles == best
    assert set(alone.depths) == {"b"} and alone.saved == now - part
    assert fork.run({**depths, **alone.depths}).cycles == part
    assert fork.run({**depths, "b": alone.depths["b"] - 1}).cycles != part


def test_no_slower_no_explanation(fork: Handmade) -> None:
    assert explained(fork, ROOMY, {**ROOMY, "b": 10}) is None
    assert explained(fork, ROOMY, ROOMY) is None


def test_a_run_that_is_slower_for_another_reason_blames_no_fifo(fork: Handmade) -> None:
    """The reference was run with shallower pipelines: no FIFO can give these cycles back."""
    other = manifest(STREAMS, [replace(entry, depth=1) for entry in LOOPS])
    result = fork.run(ROOMY)
    best = replace(fork.design, manifest=other).run(SimulationOptions(depths=ROOMY))
    assert result.cycles is not None and best.cycles is not None and result.cycles > best.cycles
    found = slow_because(all_fifos(fork.manifest), ROOMY, result, best, lambda change: fork.run({**ROOMY, **change}))
    assert found is not None and found.causes == () and "no FIFO is at fault" in found.text


def test_the_number_of_runs_is_bounded(fork: Handmade) -> None:
    found = explained(fork, {**ROOMY, "b": 3}, ROOMY, most_runs=2)
    assert found is not None and found.runs == 2 and found.culprits == ("b",) and not found.searched
    assert "enough, and perhaps more than that, is a depth of" in found.text
    assert "the search was given up after 2 runs; 0 FIFOs that were full were not tried" in found.text
    assert fork.run({**ROOMY, **found.causes[0].depths}).cycles == fork.run(ROOMY).cycles


def test_fifos_that_a_load_task_writes_are_compared_with_the_depths_of_the_source(fork: Handmade) -> None:
    """How far a DMA runs ahead is not chosen with the depths: b and e cost cycles at two slots, and only fewer are to blame."""
    kernel = fork.manifest.kernels[0]
    tasks = tuple(replace(task, kind="load") if task.name == "split" else task for task in kernel.tasks)
    loaded = replace(fork.design, manifest=replace(fork.manifest, kernels=(replace(kernel, tasks=tasks),)))
    as_written, roomy, fewer = (SimulationOptions(depths=depths) for depths in ({}, {"b": 200, "e": 200}, {"b": 1}))
    now, fast, slow = (loaded.run(options) for options in (as_written, roomy, fewer))
    assert now.cycles is not None and fast.cycles is not None and slow.cycles is not None
    assert fast.cycles < now.cycles < slow.cycles
    assert depth_cost(loaded, as_written, now, 20).slowness is None
    assert depth_cost(fork.design, as_written, now, 20).unlimited == fork.run(ROOMY).cycles
    cost = depth_cost(loaded, fewer, slow, 20)
    assert cost.unlimited == now.cycles and cost.slowness is not None
    (cause,) = cost.slowness.causes
    assert dict(cause.depths) == {"b": 2} and cost.slowness.lost == slow.cycles - now.cycles <= cause.saved


# Runs that are made up -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class MadeUp:
    """A run of FIFOs that are all full."""

    cycles: int
    occupancies: Mapping[str, int]
    stalled_writers: Mapping[str, int] = field(default_factory=dict[str, int])


def made_up(
    shape: Mapping[str, tuple[int, int]], cycles: Callable[[Mapping[str, int]], int], waits: Mapping[str, int],
    usual: Mapping[str, int], most_runs: int = MOST_RUNS,
) -> Slowness | None:
    """`shape`: depth and bits of each FIFO of 100 tokens; `cycles` by depths, the reference being the run at 50 each."""
    links = [Channel(name, f"from_{name}", f"to_{name}", 100, depth, bits) for name, (depth, bits) in shape.items()]
    now = {name: depth for name, (depth, _) in shape.items()}

    def run(change: Mapping[str, int]) -> MadeUp:
        depths = {**now, **change}
        return MadeUp(cycles(depths), depths, waits)

    return slow_because(links, now, run({}), replace(run(dict.fromkeys(now, 50)), stalled_writers=usual), run, most_runs)


def test_a_fifo_whose_writer_waits_less_than_in_the_reference_is_named_too() -> None:
    """As in a random graph: two fixes of one loss, the cheaper one with a shorter wait than in the faster run."""
    found = made_up({"wide": (2, 64), "narrow": (13, 32), "idle": (4, 8)},
                    lambda depths: 1768 if depths["wide"] >= 3 or depths["narrow"] >= 14 else 1771,
                    waits={"wide": 1222, "narrow": 595, "idle": 3}, usual={"wide": 1219, "narrow": 710})
    assert found is not None and found.searched
    assert [(dict(cause.depths), cause.saved, cause.added_bits) for cause in found.causes] == [
        ({"narrow": 14}, 3, 32), ({"wide": 3}, 3, 64)
    ]


def test_what_saves_most_comes_first() -> None:
    found = made_up({"a": (1, 1), "b": (1, 99), "c": (1, 1)},
                    lambda depths: 100 - 5 * (depths["a"] > 3) - 9 * (depths["b"] > 6) - 5 * (depths["c"] > 2),
                    waits={"a": 9, "b": 1, "c": 1}, usual={})
    assert found is not None
    assert [(dict(cause.depths), cause.saved) for cause in found.causes] == [
        ({"a": 4, "b": 7, "c": 3}, 19), ({"b": 7}, 9), ({"c": 3}, 5), ({"a": 4}, 5)
    ]


def test_a_full_fifo_whose_writer_only_asks_for_room_is_found() -> None:
    """No wait is counted for it."""
    found = made_up({"a": (1, 1), "b": (2, 1), "c": (1, 1)}, lambda depths: 100 - (depths["b"] >= 6), waits={"a": 7}, usual={})
    assert found is not None and found.culprits == ("b",) and dict(found.causes[0].depths) == {"b": 6}


def test_fifos_that_were_not_tried_are_counted() -> None:
    """The most suspicious are tried first."""
    shape = {f"f{number}": (1, 1) for number in range(9)}
    found = made_up(shape, lambda depths: 100 - (depths["f8"] > 1) - (depths["f0"] > 1),
                    waits={name: 10 + number for number, name in enumerate(shape)}, usual={}, most_runs=4)
    assert found is not None and found.runs == 4 and not found.searched
    assert found.culprits == ("f8",) and found.not_tried == ("f4", "f3", "f2", "f1", "f0")
    assert "5 FIFOs that were full were not tried" in found.text
    all_of_it = made_up(shape, lambda depths: 100 - (depths["f8"] > 1) - (depths["f0"] > 1), waits={}, usual={})
    assert all_of_it is not None and set(all_of_it.culprits) == {"f0", "f8"} and all_of_it.not_tried == ()


def test_no_fifo_is_at_fault_is_only_said_of_a_search_that_ended() -> None:
    found = made_up({"a": (1, 1), "b": (1, 1)}, lambda depths: 90 if min(depths.values()) >= 50 else 100,
                    waits={"a": 1, "b": 1}, usual={}, most_runs=2)
    assert found is not None and found.causes == () and not found.searched and "no FIFO is at fault" not in found.text
