"""Time in cycles: laws that were measured on RTL, and formulas anyone can check by hand."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from itertools import pairwise
from math import ceil
from pathlib import Path
from typing import Any

import pytest
from conftest import HEADERS, compiler

from stc.simulation.instrument import instrument

pytestmark = pytest.mark.heavy

Simulate = Callable[..., dict[str, Any]]
TOKENS = 512

FORK_PIPE_JOIN = """
static void split(const int *x, hls::stream<int> &a, hls::stream<int> &b) {
  split_loop: for (int i = 0; i < 512; i++) {
#pragma HLS pipeline II=1 style=flp
    const int v = x[i];
    a.write(v);
    b.write(v);
  }
}
static void pipe(hls::stream<int> &a, hls::stream<int> &o) {
  pipe_loop: for (int i = 0; i < 512; i++) {
#pragma HLS pipeline II=1
    o.write(a.read() + 1);
  }
}
static void join(hls::stream<int> &b, hls::stream<int> &o, int *y) {
  join_loop: for (int i = 0; i < 512; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read() + o.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a");
  hls::stream<int, 2> b("b");
  hls::stream<int, 2> o("o");
  split(x, a, b);
  pipe(a, o);
  join(b, o, y);
}
"""

NESTS = """
static void produce(const int *x, hls::stream<int> &s) {
  outer: for (int i = 0; i < 7; i++) {
    inner: for (int j = 0; j < 5; j++) {
#pragma HLS pipeline II=1 style=flp
      s.write(x[5 * i + j]);
    }
  }
}
static void consume(hls::stream<int> &s, int *y) {
  rows: for (int i = 0; i < 7; i++) {
    int sum = 0;
    columns: for (int j = 0; j < 5; j++) {
#pragma HLS pipeline II=1 style=flp
      sum += s.read();
    }
    y[i] = sum;
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 64> s("s");
  produce(x, s);
  consume(s, y);
}
"""


@pytest.fixture(scope="module")
def simulate(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Simulate]:
    """Builds a kernel once with time, for runs with different timing tables."""

    def build(kernel: str) -> Simulate:
        folder = tmp_path_factory.mktemp("timed")
        source = instrument(HEADERS + kernel, "kernel.cpp")
        source += f"""
#include "stc_sim.h"
int main() {{
  stc_sim::Report report("{folder}/csim.json");
  std::vector<int> x(512, 1), y(512);
  report.run("top", [&] {{ top(x.data(), y.data()); }});
  return report.finish();
}}
"""
        (folder / "program.cpp").write_text(source)
        compiler("-DSTC_SIM_TIMED", str(folder / "program.cpp"), "-o", str(folder / "program"))
        return lambda *lines, invocations=1: _run(folder, lines, invocations)

    return build


def _run(folder: Path, lines: tuple[str, ...], invocations: int) -> dict[str, Any]:
    (folder / "timing.txt").write_text("\n".join(lines))
    environment = {**os.environ, "STC_SIM_TIMING": str(folder / "timing.txt"), "STC_SIM_INVOCATIONS": str(invocations)}
    command = [str(folder / "program")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20, check=False)
    result: dict[str, Any] = json.loads((folder / "csim.json").read_text())
    result["ends"] = [end for _, end in result["timing"]["invocations"]]
    result["cycles"] = result["ends"][-1] if result["ends"] else None
    result["printed"] = done.stdout
    return result


@pytest.fixture(scope="module")
def reconvergence(simulate: Callable[[str], Simulate]) -> Simulate:
    return simulate(FORK_PIPE_JOIN)


def _table(style: str, depth: int, fifo: int) -> tuple[str, ...]:
    return (
        "loop split split_loop 1 1 flp",
        "loop join join_loop 1 1 flp",
        f"loop pipe pipe_loop 1 {depth} {style}",
        f"fifo b {fifo} 0",
    )


@pytest.mark.parametrize("stages", [10, 14, 70])
def test_a_stalling_pipeline_needs_as_many_slots_beside_it_as_stages_between_read_and_write(
    reconvergence: Simulate, stages: int
) -> None:
    """RTL of L such stages: deadlock for every FIFO depth <= L, slow at L+1 and L+2, full rate from L+3."""
    depth = stages + 2   # a stage before the read, and the last one writes
    slots = (2, stages, stages + 1, stages + 2, stages + 3, stages + 9)
    run = {fifo: reconvergence(*_table("stp", depth, fifo)) for fifo in slots}
    assert [run[fifo]["outcome"] for fifo in (2, stages)] == ["deadlock"] * 2
    full = run[stages + 9]["cycles"]
    assert TOKENS + stages <= full <= TOKENS + stages + 8
    assert run[stages + 3]["cycles"] == full
    assert run[stages + 1]["cycles"] > run[stages + 2]["cycles"] > full


@pytest.mark.parametrize("style", ["flp", "frp"])
def test_a_flushing_pipeline_never_deadlocks(reconvergence: Simulate, style: str) -> None:
    cycles = [reconvergence(*_table(style, 14, fifo))["cycles"] for fifo in (2, 7, 14, 17, 30)]
    assert cycles == sorted(cycles, reverse=True)
    assert cycles[0] > 3 * cycles[-1] and cycles[-2] == cycles[-1]


def test_unlimited_fifos_are_as_fast_as_large_ones_and_tell_what_is_needed(reconvergence: Simulate) -> None:
    table = _table("flp", 14, 2)
    unlimited = reconvergence(*table, "unbounded")
    needed = {entry["channel"]: entry["highest_occupancy"] for entry in unlimited["timing"]["channels"]}
    sized = reconvergence(*table[:-1], f"fifo b {needed['b']} 0")
    assert sized["cycles"] == unlimited["cycles"]
    assert reconvergence(*table[:-1], f"fifo b {needed['b'] - 1} 0")["cycles"] > unlimited["cycles"]


def test_every_cycle_of_a_task_is_busy_or_stalled_on_a_named_channel(reconvergence: Simulate) -> None:
    result = reconvergence(*_table("flp", 14, 4))
    names = [entry["channel"] for entry in result["timing"]["channels"]]
    tasks = {entry["task"]: entry for entry in result["timing"]["tasks"]}
    join = tasks["join"]
    waited = {name: sum(s[4] for s in join["stalls"] if names[s[0]] == name and s[1] == "read") for name in "bo"}
    assert waited["o"] > 10 * waited["b"]
    assert join["stalled_reading"] == sum(stall[4] for stall in join["stalls"])
    begin, end = join["calls"][0]
    assert TOKENS <= end - begin - join["stalled_reading"] <= TOKENS + 4
    assert {names[stall[0]] for stall in tasks["split"]["stalls"]} == {"b"}


def test_only_a_perfect_nest_runs_as_one_loop(simulate: Callable[[str], Simulate]) -> None:
    """35 iterations flattened, but 7 times 5 iterations and a drain of the pipeline each."""
    run = simulate(NESTS)
    result = run("loop produce inner 1 6 flp", "loop consume columns 1 6 flp")
    calls = {entry["task"]: entry["calls"][0] for entry in result["timing"]["tasks"]}
    assert calls["produce"][1] == 34 + 6 + 1
    assert calls["consume"][1] >= 7 * (4 + 6 + 1)


def test_external_memory_sets_the_rate_and_the_start(simulate: Callable[[str], Simulate]) -> None:
    run = simulate(NESTS)
    loops = "loop produce inner 1 3 flp reads=x", "loop consume columns 1 3 flp"
    fast = run("port x 1 1 16 16", *loops)   # the first word is read in stage 1
    late = run("port x 100 1 16 16", *loops)
    slow = run("port x 100 10 16 16", *loops)
    produced = [
        next(entry["calls"][0][1] for entry in r["timing"]["tasks"] if entry["task"] == "produce") for r in (fast, late, slow)
    ]
    assert produced[1] - produced[0] == 99
    assert produced[2] - produced[1] == 34 * 9
    one_burst = run("port x 100 1 4 1", *loops)   # each burst of 4 words waits for the one before it
    assert one_burst["cycles"] > 8 * 100


STORE = """
static void produce(hls::stream<int> &s) {
  for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=flp
    s.write(i);
  }
}
static void store(hls::stream<int> &s, int *y) {
  words: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = s.read();
  }
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 64> s("s");
  produce(s);
  store(s, y);
}
"""


def test_memory_takes_words_at_a_rate_between_whole_cycles(simulate: Callable[[str], Simulate]) -> None:
    run = simulate(STORE)
    cycles = {beat: run(f"port y 0 {beat} 16 16", "loop store words 1 3 flp writes=y")["cycles"] for beat in (1, 1.2, 1.5, 2)}
    assert [cycles[beat] - cycles[1] for beat in (1.2, 1.5, 2)] == [ceil(99 * 0.2), ceil(99 * 0.5), 99]


ALTERNATING = """
static void first(hls::stream<int> &a) {
  words: for (int i = 0; i < 300000; i++) {
#pragma HLS pipeline II=9 style=flp
    a.write(i);
  }
}
static void second(hls::stream<int> &b) {
  words: for (int i = 0; i < 300000; i++) {
#pragma HLS pipeline II=9 style=flp
    b.write(i);
  }
}
static void consume(hls::stream<int> &a, hls::stream<int> &b, int *y) {
  int sum = 0;
  for (int i = 0; i < 300000; i++) {
    sum += a.read();
    sum -= b.read();
  }
  y[0] = sum;
}
extern "C" void top(const int *x, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a");
  hls::stream<int, 2> b("b");
  first(a);
  second(b);
  consume(a, b, y);
}
"""


def test_hundreds_of_thousands_of_waits_are_merged_again_and_again(simulate: Callable[[str], Simulate]) -> None:
    """Each thinning once widened the gap fourfold, until it overflowed to 0 and nothing merged any more: no end."""
    result = simulate(ALTERNATING)("loop first words 9 3 flp", "loop second words 9 7 flp")
    consume = next(entry for entry in result["timing"]["tasks"] if entry["task"] == "consume")
    assert result["cycles"] >= 9 * 299_999 and 2 <= len(consume["stalls"]) <= 4096
    assert sum(stall[4] for stall in consume["stalls"]) == consume["stalled_reading"]


def test_invocations_overlap_in_steady_state(simulate: Callable[[str], Simulate]) -> None:
    result = simulate(NESTS)("loop produce inner 1 6 flp", "loop consume columns 1 6 flp", invocations=4)
    ends = result["ends"]
    intervals = [second - first for first, second in pairwise(ends)]
    consume = 7 * (4 + 6 + 1)
    assert intervals[1:] == intervals[:-1]
    assert consume <= intervals[0] < ends[0]


def test_a_limit_ends_the_run_with_a_sentence(reconvergence: Simulate) -> None:
    result = reconvergence(*_table("flp", 14, 30), "limit 300")
    assert result["outcome"] == "limit" and "beyond the limit of 300" in result["printed"]
