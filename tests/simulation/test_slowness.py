"""Runs that end, but later than they could: which FIFO lacks room, and how much of it gives the cycles back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from handmade import Handmade, fifo, loop, manifest

from stc.simulation.slowness import Slowness, slow_because
from stc.simulation.timing_table import SimulationOptions

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
def fork(tmp_path_factory: pytest.TempPathFactory, timed_headers: Path) -> Handmade:
    return Handmade(FORK, manifest(STREAMS, LOOPS), tmp_path_factory.mktemp("slow"), timed_headers)


ROOMY = {"a": 200, "b": 200, "e": 200, "o": 200, "r": 200}


def explained(design: Handmade, depths: Mapping[str, int], reference: Mapping[str, int], **more: int) -> Slowness | None:
    result, best = design.run(depths), design.run(reference)
    return slow_because(design.manifest, depths, result, best, lambda change: design.run({**depths, **change}), **more)


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
    assert cause.stalled > 0 and f"set the depth to at least {least} for 'b', which reaches the reference" in found.text
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


def test_no_slower_no_explanation(fork: Handmade) -> None:
    assert explained(fork, ROOMY, {**ROOMY, "b": 10}) is None
    assert explained(fork, ROOMY, ROOMY) is None


def test_a_run_that_is_slower_for_another_reason_blames_no_fifo(fork: Handmade) -> None:
    """The reference was run with shallower pipelines: no FIFO can give these cycles back."""
    other = manifest(STREAMS, [replace(entry, depth=1) for entry in LOOPS])
    result = fork.run(ROOMY)
    best = replace(fork.design, manifest=other).run(SimulationOptions(depths=ROOMY))
    assert result.cycles is not None and best.cycles is not None and result.cycles > best.cycles
    found = slow_because(fork.manifest, ROOMY, result, best, lambda change: fork.run({**ROOMY, **change}))
    assert found is not None and found.causes == () and "no FIFO is at fault" in found.text


def test_the_number_of_runs_is_bounded(fork: Handmade) -> None:
    found = explained(fork, {**ROOMY, "b": 3}, ROOMY, most_runs=2)
    assert found is not None and found.runs == 2 and found.culprits == ("b",)
    assert fork.run({**ROOMY, **found.causes[0].depths}).cycles == fork.run(ROOMY).cycles
