"""Which converter is chosen where: the smallest whose cost in time is known to be small."""

from __future__ import annotations

import pytest

from stc.design_space.converter_choice import NEST_CYCLES, SHARE, Serial, Surroundings, loop_nests, smallest_plan
from stc.iteration.converter import ConverterPlan, infer_converter
from stc.iteration.order import Coordinate, Loop, StreamOrder


def rows_to_columns(bands: int) -> ConverterPlan:
    """Bands of 4 rows by 4 columns, row by row to column by column, one entry at a time."""
    loops = (Loop(bands, 4), Loop(4, 1), Loop(4, 1))
    source = StreamOrder((1, 1), loops, (Coordinate((0, 1)), Coordinate((2,))))
    target = StreamOrder((1, 1), loops, (Coordinate((0, 2)), Coordinate((1,))))
    return infer_converter(source, target)


def windows(columns: int) -> ConverterPlan:
    """Columns of three rows of a tensor of 30 rows, sliding down row by row."""
    source = StreamOrder((1, 1), (Loop(30, 1), Loop(columns, 1)), (Coordinate((0,)), Coordinate((1,))))
    target = StreamOrder((1, 1), (Loop(28, 1), Loop(columns, 1), Loop(3, 1)), (Coordinate((0, 2)), Coordinate((1,))))
    return infer_converter(source, target)


@pytest.mark.parametrize("serial", ["never", "free"])
def test_two_blocks_stay_where_times_are_unknown(serial: Serial):
    plan = rows_to_columns(5)
    assert smallest_plan(plan, Surroundings(10**9), serial) is plan
    assert plan.blocks == 2


@pytest.mark.parametrize("around", [{"from_memory": True}, {"to_memory": True}])
def test_one_block_where_a_side_in_memory_is_small(around: dict[str, bool]):
    plan = rows_to_columns(5)
    cost = plan.source.token_count + 2 * 5 * NEST_CYCLES
    assert smallest_plan(plan, Surroundings(SHARE * cost, **around), "free").buffer_entries == 16
    assert smallest_plan(plan, Surroundings(SHARE * cost - 1, **around), "free") is plan
    assert smallest_plan(plan, Surroundings(SHARE * cost, **around), "never") is plan


def test_always_takes_the_least_memory():
    plan = smallest_plan(rows_to_columns(5), Surroundings(0), "always")
    assert (plan.blocks, plan.buffer_entries) == (1, 16)


def test_line_buffer_where_starting_its_loop_nests_takes_no_time_worth_mentioning():
    plan = windows(4096)
    nests = 30 + 28
    assert plan.blocks == 1 and plan.window is None
    lines = smallest_plan(plan, Surroundings(SHARE * NEST_CYCLES * nests), "free")
    assert (lines.window, lines.buffer_shape, loop_nests(lines)) == (0, (3, 4096), nests)
    assert smallest_plan(plan, Surroundings(SHARE * NEST_CYCLES * nests - 1), "free") is plan


def test_what_is_smaller_already_is_kept():
    lines = infer_converter(windows(16).source, windows(16).target, line_buffers=True)
    assert smallest_plan(lines, Surroundings(0), "never") is lines
