"""Designs that stc did not write: arrays and blocks between tasks, dataflow in a loop, external memory, published cycles.

An array is released when its writer returns; it has two blocks unless a pragma says otherwise, so that the writer of call k
waits for the reader of call k - 2.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_runs import UNOPTIMISED, calls, copy_design, ends, loop, run_design

from stc.simulation.simulate import simulate

pytestmark = pytest.mark.heavy


def test_arrays_are_released_and_have_two_blocks() -> None:
    n, count = 40, 6
    fetch, smooth, emit = loop(n, 1, 3), loop(n, 2, 8), loop(n, 1, 2)
    assert ends("pipo") == [fetch + (k + 1) * smooth + emit for k in range(count)], "the slowest task sets the interval"
    smooth_ends = [fetch + (k + 1) * smooth for k in range(count)]
    fetch_begins = [0, fetch, *smooth_ends[: count - 2]]
    assert calls("pipo", "fetch") == [(begin, begin + fetch) for begin in fetch_begins]
    assert run_design("pipo").interval == smooth


def test_dataflow_in_a_loop_overlaps_its_iterations() -> None:
    size, tiles = 16, 9
    read, work, write = loop(size, 1, 4), loop(size, 3, 7), loop(size, 1, 5)
    assert ends("rounds") == [read + tiles * work + write]
    assert [begin for begin, _ in calls("rounds", "read_tile")][:4] == [0, read, read + work, read + 2 * work]


def test_blocks_filled_in_place() -> None:
    """Taking a filled block is an access of a cycle; the reader (II 2) is the slower side."""
    tiles, size = 4, 25
    fill, drain = loop(size, 1, 3), loop(size, 2, 4)
    first_readable = fill + 1
    assert ends("blocks") == [first_readable + tiles * (1 + drain)]


def test_external_memory_limits_loops_without_labels_or_braces() -> None:
    """A word of 64 bytes every 2 cycles at 32 bytes per cycle, the first after the read latency."""
    words, latency, cycles_per_beat = 64, 70, 64 // 32
    load, compute, store, hop = 3, 4, 2, 1
    last_word = latency + cycles_per_beat * (words - 1)
    assert ends("memory") == [last_word + (load - 2) + hop + (compute - 2) + hop + store]
    assert calls("memory", "load") == [(0, last_word + load)]


def test_loops_of_a_dataflow_body_are_tasks() -> None:
    """An array goes from loop to loop when it is full, a sum when it is known; the streams beside it go on."""
    n, first, second, scale, total, third = 40, 3, 5, 4, 6, 2
    filled = loop(n, 1, first)
    assert calls("direct", "Loop_first_proc") == [(0, filled)]
    assert calls("direct", "Loop_second_proc1") == [(0, filled + loop(n, 2, second))]
    assert calls("direct", "Loop_total_proc2") == [(0, filled + loop(n, 1, total))]
    last_write, ram = filled + 2 * (n - 1) + second - 1, 2
    assert ends("direct") == [last_write + ram + (scale - 2) + ram + third]


def test_within_a_tenth_of_a_percent_of_published_co_simulation() -> None:
    """The structure, loop figures and FIFO depths of Stream-HLS's atax (FPGA'25 artifact, 220 DSP, Vitis 2023.2).

    Published: RTL co-simulation 15,855 cycles; modules of 8,033, 8,001, 8,017 and 43 cycles in its synthesis report.
    """
    tasks = {task.name: task for task in run_design("reconvergent").tasks}
    reported = {"multiply": 8033, "reread": 8001, "project": 8017, "collect": 43}
    assert {name: task.busy for name, task in tasks.items()} == reported
    assert ends("reconvergent")[0] == pytest.approx(15855, rel=0.001)


def test_an_attention_block_within_a_twentieth_of_a_percent_of_published_co_simulation() -> None:
    """The structure, loop figures and FIFO depths of Stream-HLS's attention block (FPGA'25 artifact, transformers, opt5).

    Published: RTL co-simulation 35,143 cycles; these are the modules of its synthesis report, 26 in all. Loops of II 32 that push
    each other on, and tokens every 4 cycles, make it the design that tells laws of held writes apart.
    """
    tasks = {task.name: task for task in run_design("attention").tasks}
    reported = {
        "give_inputs": 1027, "give_weights": 515, "project_queries": 16416, "project": 16415, "add_query_bias": 522,
        "add_bias": 522, "split": 1027, "score": 4138, "scale": 1031, "row_maximum": 1060, "exponential": 1048, "row_sum": 1078,
        "quotient": 1039, "mix": 8214, "merge": 515, "give_rows": 515, "give_output_weights": 1027, "project_output": 8216,
        "add_output_bias": 138, "take_output": 130,
    }  # fmt: skip
    assert len(tasks) == 26 and {name: task.busy for name, task in tasks.items() if "#" not in name} == reported
    assert ends("attention")[0] == pytest.approx(35143, rel=0.0005)


def test_polling_within_a_fifth_of_a_percent_of_published_co_simulation(tmp_path: Path) -> None:
    """The structure and loop figures of OmniSim's benchmark 01 (Vitis HLS 2021.1): its log puts transaction 1 from 113 to 20,388 ns
    at 5 ns per cycle. The producer is told to stop after it has offered more, which is left over, in hardware too."""
    result = simulate(copy_design("handshake", tmp_path), optimisation=UNOPTIMISED)
    assert (result.values.outcome, result.passed) == ("leftover", False)
    assert "fifo 'data': 2 tokens never read" in str(result.values.explanation)
    (end,) = result.ends["until_done"]
    assert end == pytest.approx((20388 - 113) / 5, rel=0.002)
