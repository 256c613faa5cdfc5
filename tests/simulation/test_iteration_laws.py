"""What one iteration of a pipelined loop does with channels, in cycles that anyone can check by hand.

A token written in cycle c can be read from c + 1 on, and so can a block; a slot or a block given back in cycle c is free from c + 1
on. A pipeline of depth D reads in stage 1 and writes in stage D - 1, counted from 0; its loop ends D + 1 cycles after the last
iteration came into stage 0.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from handmade import Handmade, loop, manifest

from stc.manifest.schema import Manifest
from stc.simulation.simulate import SimulationResult, TaskTime
from stc.simulation.timing_table import SimulationOptions

TOKENS = 70
BLOCKS = 9
FILL_DEPTH = 5   # stages from taking a block to releasing it
DRAIN = 10       # iterations that read one block

PAIRS = """
static void numbers(hls::stream<int> &a) {
  numbers_loop: for (int i = 0; i < 70; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(i);
  }
}
static void pairs(hls::stream<int> &a, int *y) {
  pairs_loop: for (int i = 0; i < 35; i++) {
#pragma HLS pipeline II=2 style=flp
    const int first = a.read();
    y[i] = a.read() - first;
  }
}
extern "C" void top(const int *, int *y) {
#pragma HLS dataflow
  hls::stream<int, 2> a("a");
  numbers(a);
  pairs(a, y);
}
"""

RING = """
typedef int row[3];
static void fill(hls::stream_of_blocks<row, BLOCKS_> &rows) {
  fill_loop: for (int i = 0; i < 9; i++) {
#pragma HLS pipeline II=1 style=flp
    hls::write_lock<row> block(rows);
    for (int j = 0; j < 3; j++) block[j] = 3 * i + j;
  }
}
static void drain(hls::stream_of_blocks<row, BLOCKS_> &rows, int *y) {
  for (int i = 0; i < 9; i++) {
    hls::read_lock<row> block(rows);
    drain_loop: for (int j = 0; j < 10; j++) {
#pragma HLS pipeline II=1 style=flp
      y[10 * i + j] = block[j % 3];
    }
  }
}
extern "C" void top(const int *, int *y) {
#pragma HLS dataflow
  hls::stream_of_blocks<row, BLOCKS_> rows;
  fill(rows);
  drain(rows, y);
}
static void check(int *y) {
  top(nullptr, y);
  for (int i = 0; i < 90; i++) if (y[i] != i / 10 * 3 + i % 10 % 3) throw std::runtime_error("block of another row");
}
"""


SEQUENTIAL = """
static void numbers(hls::stream<int> &a) {
  numbers_loop: for (int i = 0; i < 800; i++) {
#pragma HLS pipeline II=1 style=flp
    a.write(i);
  }
}
static void sums(hls::stream<int> &a, hls::stream<int> &b) {
  sums_loop: for (int i = 0; i < 25; i++) {
#pragma HLS pipeline II=32 style=flp
    int sum = 0;
    for (int j = 0; j < 32; j++) sum += a.read();
    b.write(sum);
  }
}
static void collect(hls::stream<int> &b, int *y) {
  collect_loop: for (int i = 0; i < 25; i++) {
#pragma HLS pipeline II=1 style=flp
    y[i] = b.read();
  }
}
extern "C" void top(const int *, int *y) {
#pragma HLS dataflow
  hls::stream<int, 800> a("a");
  hls::stream<int, 2> b("b");
  numbers(a);
  sums(a, b);
  collect(b, y);
}
"""

FAN = """
static void fan(hls::stream<int> s[8]) {
  fan_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=frp
    for (int j = 0; j < 8; j++) s[j].write(i);
  }
}
static void gather(hls::stream<int> s[8], int *y) {
  gather_loop: for (int i = 0; i < 100; i++) {
#pragma HLS pipeline II=1 style=frp
    for (int j = 0; j < 8; j++) y[i] += s[j].read();
  }
}
extern "C" void top(const int *, int *y) {
#pragma HLS dataflow
  hls::stream<int> s[8];
  fan(s);
  gather(s, y);
}
"""


def _pairs_manifest(interval: int, depth: int = 3) -> Manifest:
    numbers = loop("numbers", "numbers_loop", TOKENS, 3, ii=interval)
    return manifest((), [numbers, loop("pairs", "pairs_loop", TOKENS // 2, depth, ii=2)])


def _ring(blocks: int, folder: Path, headers: Path) -> Handmade:
    loops = [loop("fill", "fill_loop", BLOCKS, FILL_DEPTH), loop("drain", "drain_loop", DRAIN, 2)]
    text = RING.replace("BLOCKS_", str(blocks))
    return Handmade(text, manifest((), loops), folder, headers, "check(y.data())")


def _task(result: SimulationResult, name: str) -> TaskTime:
    assert result.values.outcome == "finished", result.values.explanation
    return next(task for task in result.tasks if task.name == name)


@pytest.mark.parametrize("depth", [2, 3, 7])
def test_the_second_read_of_an_iteration_is_one_cycle_after_the_first(depth: int, tmp_path: Path, headers: Path) -> None:
    """The first read is in stage 1, so that less than 3 stages cannot be."""
    design = Handmade(PAIRS, _pairs_manifest(1), tmp_path, headers).design
    for style in ("flp", "stp", "frp"):
        for interval in (1, 2, 3, 7):
            timed = replace(design, manifest=_pairs_manifest(interval, depth))
            pairs = _task(timed.run(SimulationOptions(style=style), 20), "pairs")
            last_read = interval * (TOKENS - 1) + (3 - 1) + 1
            assert pairs.end == last_read - 2 + max(depth, 3) + 1, (style, interval)
            if interval == 1:
                assert pairs.stalled_reading == 2 and pairs.busy == pairs.end - 2


@pytest.mark.parametrize("style", ["flp", "stp", "frp"])
def test_the_depth_contains_accesses_that_follow_each_other(style: str, tmp_path: Path, headers: Path) -> None:
    """As the vendor's formula has it for II 32, depth 34 and 25 iterations of 32 reads: 24 * 32 + 34 + 1."""
    sums = loop("sums", "sums_loop", 25, 34, ii=32)
    loops = [loop("numbers", "numbers_loop", 800, 2), sums, loop("collect", "collect_loop", 25, 2)]
    check = "top(x.data(), y.data()); if (y[24] != 32 * 768 + 31 * 16) throw std::runtime_error(\"wrong sum\")"
    design = Handmade(SEQUENTIAL, manifest((), loops), tmp_path, headers, check)
    result = design.run({}, style=style)
    assert _task(result, "sums").busy == 24 * 32 + 34 + 1 == 803
    first_read = 1 + 2                       # the first number is written in stage 1, and the FIFO is in RAM
    assert _task(result, "sums").end == first_read - 1 + 803
    last_write = first_read - 1 + 24 * 32 + 33
    assert _task(result, "collect").end == last_write + 1 + 2


def test_what_has_left_a_pipeline_is_not_delayed_by_later_reads(tmp_path: Path, headers: Path) -> None:
    """A pipeline that stops as a whole, 8 reads an iteration: its sum leaves in stage 9, with the first read of the next one."""
    slow = SEQUENTIAL.replace("< 25", "< 5").replace("j < 32", "j < 8").replace("< 800", "< 40")
    numbers = loop("numbers", "numbers_loop", 40, 2, ii=11)
    loops = [numbers, loop("sums", "sums_loop", 5, 10, ii=8), loop("collect", "collect_loop", 5, 2)]
    result = Handmade(slow, manifest((), loops), tmp_path, headers).run({}, style="stp")
    written = [1 + 11 * k for k in range(40)]
    reads = [at + 2 for at in written]
    (sums,) = (fifo for fifo in result.fifos if fifo.name == "b")
    assert [at for at, _ in sums.produced] == [*(reads[8 * i] for i in range(1, 5)), reads[39] + 1]


def test_all_streams_of_an_iteration_are_written_at_once(tmp_path: Path, headers: Path) -> None:
    loops = [loop("fan", "fan_loop", 100, 7), loop("gather", "gather_loop", 100, 2)]
    design = Handmade(FAN, manifest((), loops), tmp_path, headers)
    for style in ("frp", "flp", "stp"):
        assert _task(design.run({}, style=style), "fan").end == 99 + 7 + 1 == 107


@pytest.mark.parametrize("blocks", [1, 2])
def test_an_iteration_that_fills_a_block_issues_when_one_is_free(blocks: int, tmp_path: Path, headers: Path) -> None:
    free, given_back, now = [1], list[int](), 0   # when each block is taken to be filled, in stage 1, and given back
    for k in range(BLOCKS):
        if k > 0:
            free.append(max(free[-1] + 1, given_back[k - blocks] + 1 if k >= blocks else 0))
        now = max(now, free[k] + FILL_DEPTH - 2 + 1) + 1       # the lock takes a cycle
        now += DRAIN - 1 + 2 + 1
        given_back.append(now)
    result = _ring(blocks, tmp_path, headers).run({})
    fill = _task(result, "fill")
    assert fill.end == free[-1] - 1 + FILL_DEPTH + 1
    assert fill.busy == BLOCKS - 1 + FILL_DEPTH + 1
    assert fill.stalled_writing == free[-1] - BLOCKS == result.stalled_writers["rows"]
    assert _task(result, "drain").end == now
    assert [fifo.highest_occupancy for fifo in result.fifos] == [blocks]


@pytest.mark.parametrize("blocks", [FILL_DEPTH - 2, FILL_DEPTH - 1])
def test_a_pipeline_that_stops_as_a_whole_keeps_a_block_per_stage_between_acquire_and_release(
    blocks: int, tmp_path: Path, headers: Path
) -> None:
    result = _ring(blocks, tmp_path, headers).run({}, style="stp")
    assert result.values.outcome == ("deadlock" if blocks == FILL_DEPTH - 2 else "finished"), result.values.explanation
