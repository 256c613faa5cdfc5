"""What one iteration of a pipelined loop does with channels, in cycles that anyone can check by hand.

A token written in cycle c can be read from c + 1 on, and so can a block; a slot or a block given back in cycle c is free from c + 1
on. The end of a loop is one cycle after the last write of its last iteration would leave.
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
FILL_DEPTH = 5   # stages from taking a block to handing it over
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
  hls::stream_of_blocks<row, BLOCKS_> rows("rows");
  fill(rows);
  drain(rows, y);
}
static void check(int *y) {
  top(nullptr, y);
  for (int i = 0; i < 90; i++) if (y[i] != i / 10 * 3 + i % 10 % 3) throw std::runtime_error("block of another row");
}
"""


def _pairs_manifest(interval: int) -> Manifest:
    numbers = loop("numbers", "numbers_loop", TOKENS, 3, ii=interval)
    return manifest((), [numbers, loop("pairs", "pairs_loop", TOKENS // 2, 2, ii=2)])


def _ring(blocks: int, folder: Path, headers: Path) -> Handmade:
    loops = [loop("fill", "fill_loop", BLOCKS, FILL_DEPTH), loop("drain", "drain_loop", DRAIN, 2)]
    text = RING.replace("BLOCKS_", str(blocks))
    return Handmade(text, manifest((), loops), folder, headers, "check(y.data())")


def _task(result: SimulationResult, name: str) -> TaskTime:
    assert result.values.outcome == "finished", result.values.explanation
    return next(task for task in result.tasks if task.name == name)


def test_the_second_read_of_an_iteration_is_one_cycle_after_the_first(tmp_path: Path, timed_headers: Path) -> None:
    """The last token leaves its writer 3 cycles after its issue and is read a cycle later; what comes of it leaves 2 after that."""
    design = Handmade(PAIRS, _pairs_manifest(1), tmp_path, timed_headers).design
    for style in ("flp", "stp", "frp"):
        for interval in (1, 2, 3, 7):
            timed = replace(design, manifest=_pairs_manifest(interval))
            pairs = _task(timed.run(SimulationOptions(style=style), 20), "pairs")
            last_read = interval * (TOKENS - 1) + 3 + 1
            assert pairs.end == last_read + 2 + 1, (style, interval)
            if interval == 1:
                assert pairs.stalled_reading == 4 and pairs.busy == pairs.end - 4


@pytest.mark.parametrize("blocks", [1, 2])
def test_an_iteration_that_fills_a_block_issues_when_one_is_free(blocks: int, tmp_path: Path, timed_headers: Path) -> None:
    free, given_back, now = [0], list[int](), 0   # when each block is taken to be filled, and given back
    for k in range(BLOCKS):
        if k > 0:
            free.append(max(free[-1] + 1, given_back[k - blocks] + 1 if k >= blocks else 0))
        now = max(now, free[k] + FILL_DEPTH + 1) + 1       # the lock takes a cycle
        now += DRAIN - 1 + 2 + 1
        given_back.append(now)
    result = _ring(blocks, tmp_path, timed_headers).run({})
    fill = _task(result, "fill")
    assert fill.end == free[-1] + FILL_DEPTH + 1
    assert fill.busy == BLOCKS - 1 + FILL_DEPTH + 1
    assert fill.stalled_writing == free[-1] - (BLOCKS - 1) == result.stalled_writers["rows"]
    assert _task(result, "drain").end == now
    assert [fifo.highest_occupancy for fifo in result.fifos] == [blocks]


@pytest.mark.parametrize("blocks", [FILL_DEPTH, FILL_DEPTH + 1])
def test_a_pipeline_that_stops_as_a_whole_keeps_as_many_blocks_as_it_has_stages(
    blocks: int, tmp_path: Path, timed_headers: Path
) -> None:
    result = _ring(blocks, tmp_path, timed_headers).run({}, style="stp")
    assert result.values.outcome == ("deadlock" if blocks <= FILL_DEPTH else "finished"), result.values.explanation
