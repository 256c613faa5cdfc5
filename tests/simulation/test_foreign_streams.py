"""Designs that stc did not write, over streams: cycles that follow by hand from intervals, depths and FIFO latencies.

Laws used: iteration i of a loop issues II cycles after the one before; of `depth` stages, counted from 0, stage 1 reads and the
last writes. What is written can be read 1 cycle later (2 where the FIFO is deeper than 2, a RAM). A loop ends depth + 1 cycles
after its last iteration issued, which is `depth` after that has read.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from foreign_runs import UNOPTIMISED, calls, copy_design, ends, loop, run_design

from stc.simulation.simulate import simulate
from stc.simulation.timing_table import SimulationOptions

pytestmark = pytest.mark.heavy

SHALLOW, DEEP = 1, 2   # cycles from write to readable


def test_fork_and_join_over_fifos() -> None:
    """The slowest branch sets the issue rate, and the way through it the start: load, split, offset (II 2), join."""
    rows, columns = 6, 10
    n = rows * columns
    load, split, offset, join = 5, 2, 3, 4
    first_offset = (load - 1) + DEEP + (split - 2) + DEEP
    last_join = first_offset + 2 * (n - 1) + (offset - 2) + DEEP
    assert ends("diamond") == [last_join + join]
    # The last token needs the slot of the 16th before it, which split, with one stage for both, passes on into that of its 16th.
    last_slot = first_offset + 2 * (n - 1 - 2 * 16) + 1 + 1
    assert calls("diamond", "load") == [(0, max(last_slot, n - 1 + load - 1) + 2)], "rows and columns run as one loop"
    fifos = {fifo.name: fifo for fifo in run_design("diamond").fifos}
    assert {name: fifo.depth for name, fifo in fifos.items()} == dict.fromkeys(("loaded", "a", "b", "scaled", "moved"), 16)
    assert {fifo.tokens for fifo in fifos.values()} == {n}


def test_the_design_file_wins_over_pragmas_and_says_so() -> None:
    notes = run_design("diamond").notes
    assert any("diamond.cpp:38: loop offset_loop of offset has II=1 in its pragma, 2 in the design file" in note for note in notes)
    assert any("loop scale_loop of scale has no II" in note for note in notes)
    assert len(notes) == 2


def test_nested_regions_of_templates_overlap_over_calls() -> None:
    """Six loops in a row through two levels of regions; a task takes the next call when it has ended its own."""
    n, source, passing, sink = 37, 2, 6, 3
    latency = (source - 1) + SHALLOW + 4 * (passing - 2 + SHALLOW)
    first = latency + (n - 1) + sink
    interval = loop(n, 1, passing)
    assert ends("nested") == [first + k * interval for k in range(3)]
    names = {task.name for task in run_design("nested").tasks}
    assert "lib::stage<int,COUNT>.detail::half<T,COUNT>#2.detail::pass<T,3,COUNT>" in names


def test_packets_end_with_a_flag() -> None:
    """The adder (II 2) begins when the parser's first token is there, or when it has ended the packet before."""
    lengths = [10 + p for p in range(5)]
    parse, add = 3, 4
    end, expected = (parse - 1) + DEEP - 1, list[int]()   # when the adder issues
    for length in lengths:
        end += loop(length, 2, add) + 1   # and a cycle for the sum's write
        expected.append(end)
    assert ends("packets") == expected


def test_polling_finds_what_is_there_in_that_cycle() -> None:
    """Lane l's token k can be read from cycle 4k + depth on; the arbiter, of one stage, looks at one lane per cycle."""
    lanes, count, interval, depth = 3, 8, 4, 2
    taken, at = [0] * lanes, 0
    while sum(taken) < lanes * count:
        lane = at % lanes
        there = taken[lane] < count and interval * taken[lane] + depth - 1 + SHALLOW <= at
        taken[lane] += there
        at += 1
    polls, arbiter_depth = at, 1
    assert ends("arbiter") == [loop(polls, 1, arbiter_depth)]


def test_values_that_are_times() -> None:
    """The testbench itself checks how many cycles the watch counted."""
    work, interval, depth = 30, 5, 6
    there = loop(work, interval, depth) + SHALLOW
    exit_iteration_leaves, read = there + 1 + 1, 1
    assert ends("timer") == [exit_iteration_leaves + read]


def test_pipelined_functions() -> None:
    """One called in a pipelined loop is part of that loop; one that is a task is an iteration of its own."""
    n, feed, slide, last = 50, 2, 11, 6
    written = (feed - 1) + SHALLOW + (n - 1) + (slide - 2)
    assert ends("window") == [written + SHALLOW + last]


def test_another_depth_for_a_run_changes_slots_only(tmp_path: Path) -> None:
    """A FIFO that the source makes of registers is read as early when a run gives it more slots."""
    short = run_design("window")
    deep = simulate(copy_design("window", tmp_path), SimulationOptions(depths={"fed": 64, "sums": 64}), optimisation=UNOPTIMISED)
    assert {fifo.depth for fifo in short.fifos} == {2} and {fifo.depth for fifo in deep.fifos} == {64}
    assert {fifo.latency for fifo in deep.fifos} == {SHALLOW} and deep.cycles == short.cycles
