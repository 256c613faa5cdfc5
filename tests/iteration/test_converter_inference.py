"""Converters, run on coordinates: what the target reads was written, inside the buffer, in the same shared iteration."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from random_orders import Nest, assembled, covering_orders, exact_orders, is_small, shapes

from stc.iteration.converter import ConverterPlan, block_order, common_prefix, infer_converter, line_buffer_of, single_block_of
from stc.iteration.layout_orders import row_major
from stc.iteration.line_buffer import MOST_STEPS
from stc.iteration.liveness import least_live_entries
from stc.iteration.normal_form import normal_form, same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol, static
from stc.iteration.vectorize import vectorized
from stc_testing.drawn import examples

pytestmark = pytest.mark.heavy


def blocks_of(order: StreamOrder, shared: int) -> np.ndarray:
    """Tokens by shared iteration: [iterations, tokens, rank]."""
    iterations = prod(static(loop.trip) for loop in order.loops[:shared])
    return order.enumerate().reshape(iterations, order.token_count // iterations, order.rank)


class Buffer:
    """The buffer of one shared iteration, entries known by their place in the tensor."""

    def __init__(self, plan: ConverterPlan):
        self.plan = plan
        self.held: dict[tuple[int, ...], tuple[int, ...]] = {}

    def _places(self, token: np.ndarray, element: tuple[int, ...]) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        inside = product(*(range(int(first), int(first) + extent) for first, extent in zip(token, element, strict=True)))
        places = [(self.plan.address(entry), entry) for entry in inside]
        for address, _ in places:
            assert all(0 <= at < extent for at, extent in zip(address, self.plan.buffer_shape, strict=True))
        assert len({address for address, _ in places}) == len(places)
        return places

    def store(self, token: np.ndarray) -> None:
        self.held |= dict(self._places(token, self.plan.source.element))

    def load(self, token: np.ndarray) -> None:
        assert all(self.held[address] == entry for address, entry in self._places(token, self.plan.target.element))


def run_converter(plan: ConverterPlan) -> None:
    """Fill and drain a fresh buffer per shared iteration, or receive and send tiles in turn: every token that leaves is right."""
    source, target, shared = plan.source, plan.target, plan.shared_loops
    for written, read in zip(blocks_of(source, shared), blocks_of(target, shared), strict=True):
        buffer = Buffer(plan)
        if plan.window is None:
            arriving, leaving = [written], [read]
            steps = [True, False]
        else:
            assert plan.tiles is not None and plan.line_schedule is not None
            arriving, leaving = (np.split(part, side.trip) for part, side in zip((written, read), plan.tiles, strict=True))
            steps = [step.receives for step in plan.line_schedule]
            assert plan.line_schedule.length <= MOST_STEPS
        received, sent = iter(arriving), iter(leaving)
        for receives in steps:
            for token in next(received if receives else sent):
                (buffer.store if receives else buffer.load)(token)
        assert next(received, None) is next(sent, None) is None


def loops_state_the_address(plan: ConverterPlan) -> None:
    """The loops of a block, and the lines of a schedule, give the addresses that `ConverterPlan.address` states."""
    for order, block in ((plan.source, plan.source_block), (plan.target, plan.target_block)):
        places = block.enumerate()
        if plan.window is not None:
            places[:, plan.window] %= plan.buffer_shape[plan.window]
        for tokens in blocks_of(order, plan.shared_loops):
            assert [plan.address(token) for token in tokens.tolist()] == [tuple(place) for place in places.tolist()]
    if plan.window is None or plan.tiles is None or plan.line_schedule is None:
        return
    for receives, side, block in zip((True, False), plan.tiles, (plan.source_block, plan.target_block), strict=True):
        starts = [step.line for step in plan.line_schedule if step.receives == receives]
        lines = side.inside.enumerate()[:, plan.window]
        placed = [(start + int(line)) % plan.buffer_shape[plan.window] for start in starts for line in lines]
        assert placed == (block.enumerate()[:, plan.window] % plan.buffer_shape[plan.window]).tolist()


def entries_before(source: StreamOrder, target: StreamOrder) -> int:
    """What inference took before gaps were left out: spans of the loops inside, doubled as soon as any loop is shared."""
    plan = infer_converter(source, target)
    block = prod(plan.source.span(dimension, plan.shared_loops) for dimension in range(source.rank))
    return block * (2 if plan.iterations > 1 else 1)


def without_refinement(source: StreamOrder, target: StreamOrder) -> int:
    """Entries of one block if loops are shared as they stand."""
    source, target = normal_form(source), normal_form(target)
    shared = common_prefix(source, target)
    return prod(source.span(dimension, shared) for dimension in range(source.rank))


def check(source: StreamOrder, target: StreamOrder) -> ConverterPlan | None:
    """All that holds for any pair of orders; the line buffer, where there is one."""
    bound = least_live_entries(source, target)
    plan = infer_converter(source, target)
    lines = line_buffer_of(plan)
    event(f"shared loops: {plan.shared_loops}, blocks: {plan.blocks}, line buffer: {lines is not None}")
    for one in (plan, single_block_of(plan)) if lines is None else (plan, single_block_of(plan), lines):
        assert same_sequence(one.source, source) and same_sequence(one.target, target)
        run_converter(one)
        loops_state_the_address(one)
        assert one.buffer_entries == prod(one.buffer_shape) * one.blocks <= prod(source.static_shape)
        assert bound is None or bound <= one.buffer_entries
    assert plan.buffer_entries <= entries_before(source, target)
    for shared, blocks in product(range(plan.shared_loops + 1), (1, 2)):
        assert plan.buffer_entries <= _entries_of(plan, shared, blocks)
    assert lines is None or lines.buffer_entries < plan.buffer_entries
    return lines


def _entries_of(plan: ConverterPlan, shared: int, blocks: int) -> int:
    """Entries of the same converter with fewer shared loops; a single block counts only where it takes all of the tensor."""
    shape = block_order(plan.source, shared).static_shape
    if blocks == 1 and shape != plan.source.static_shape:
        return prod(plan.source.static_shape)
    return ConverterPlan(plan.source, plan.target, shared, shape, blocks).buffer_entries


@examples(150)
@given(st.data())
def test_any_two_orders_of_a_tensor_convert(data: st.DataObject):
    shape = data.draw(shapes.filter(bool))
    source, target = data.draw(exact_orders(shape, most_reuse_loops=1)), data.draw(exact_orders(shape, most_reuse_loops=1))
    assume(is_small(source) and is_small(target))
    check(source, target)


@examples(100)
@given(st.data())
def test_targets_with_overlapping_windows(data: st.DataObject):
    target = data.draw(covering_orders())
    assume(is_small(target) and prod(target.static_shape) <= 2000)
    source = data.draw(exact_orders(target.static_shape, most_reuse_loops=1))
    assume(is_small(source))
    event(f"target exact: {target.is_exact}")
    check(source, target)


def lines_alive(source: StreamOrder, target: StreamOrder) -> Iterator[set[int]]:
    """Which rows are there or arriving whenever a tile of the source arrives, if tiles leave as early as they can."""
    arriving = [set(rows[:, 0].tolist()) for rows in blocks_of(source, 1)]
    leaving = [set(rows[:, 0].tolist()) for rows in blocks_of(target, 1)]
    there: set[int] = set()
    for tile in arriving:
        there |= tile
        yield there & set[int]().union(*leaving)
        while leaving and leaving[0] <= there:
            leaving.pop(0)


@examples(75)
@given(st.integers(1, 4), st.integers(1, 4), st.integers(0, 4), st.integers(1, 12), st.data())
def test_line_buffers_hold_what_is_alive(tile: int, step: int, overlap: int, sent: int, data: st.DataObject):
    """Rows in tiles to rows in other tiles: a line buffer holds the fewest lines its alternation allows."""
    rows = (sent - 1) * step + step + overlap
    assume(rows % tile == 0)
    columns = data.draw(st.integers(1, 3))
    source = assembled((1, columns), [Nest(Loop(rows // tile, tile), 0), Nest(Loop(tile, 1), 0)])
    target = assembled((1, columns), [Nest(Loop(sent, step), 0), Nest(Loop(step + overlap, 1), 0)])
    lines = check(source, target)
    if lines is not None and lines.shared_loops == 0:
        most = max(len(alive) for alive in lines_alive(lines.source, lines.target))
        assert lines.buffer_shape[0] >= most
        event(f"more lines than are alive: {lines.buffer_shape[0] > most}")


def test_sliding_windows_over_rows():
    """Columns of three rows, then of the three one row further down: three lines are held, not the image."""
    source = assembled((1, 8), [Nest(Loop(30, 1), 0)])
    target = assembled((1, 1), [Nest(Loop(28, 1), 0), Nest(Loop(8, 1), 1), Nest(Loop(3, 1), 0)])
    assert infer_converter(source, target).buffer_shape == (30, 8)
    plan = line_buffer_of(infer_converter(source, target))
    assert plan is not None and (plan.buffer_shape, plan.blocks, plan.window) == ((3, 8), 1, 0)
    assert (plan.buffer_entries, least_live_entries(source, target)) == (24, 23)
    schedule = plan.line_schedule
    assert schedule is not None and (len(schedule.before), len(schedule.body), schedule.repeats) == (2, 6, 9)
    run_converter(plan)


def test_rows_in_other_tiles():
    """Tiles of 4 rows to tiles of 6: the lines of one pair of tiles less what both have in common."""
    source, target = (vectorized(row_major([48, 8], [rows, 4]), 4) for rows in (4, 6))
    assert infer_converter(source, target).buffer_entries == 2 * 12 * 8
    plan = line_buffer_of(infer_converter(source, target))
    assert plan is not None and (plan.buffer_shape, plan.window) == ((8, 8), 0)
    run_converter(plan)


def test_shared_loops_leave_no_gaps_in_the_buffer():
    """Even rows, then odd rows, on both sides: half the rows are buffered, although they span nearly all."""
    halves = [Nest(Loop(2, 1), 0)]
    source = assembled((1, 4), [*halves, Nest(Loop(8, 2), 0), Nest(Loop(2, 4), 1)])
    target = assembled((1, 4), [*halves, Nest(Loop(2, 4), 1), Nest(Loop(8, 2), 0)])
    plan = infer_converter(source, target)
    assert (plan.shared_loops, plan.buffer_shape, plan.blocks) == (1, (8, 8), 2)
    assert [plan.address((row, 5)) for row in (0, 3, 15)] == [(0, 5), (1, 5), (7, 5)]
    run_converter(plan)


def test_sharing_a_repetition_alone_takes_no_second_block():
    source = assembled((2, 8), [Nest(Loop(3, 1), None), Nest(Loop(4, 2), 0)])
    target = assembled((8, 2), [Nest(Loop(3, 1), None), Nest(Loop(4, 2), 1)])
    plan = infer_converter(source, target)
    assert (plan.shared_loops, plan.buffer_shape, plan.blocks) == (1, (8, 8), 1)
    run_converter(plan)


@examples(50)
@given(st.data())
def test_common_outer_loops_are_shared(data: st.DataObject):
    """Below a common outer loop over tiles the buffer is one tile at most, however the loops are spelled."""
    tile = data.draw(shapes.filter(bool))
    trips = data.draw(st.integers(2, 4))
    inner = [data.draw(exact_orders(tile, most_reuse_loops=1)) for _ in range(2)]
    assume(all(is_small(order) for order in inner))
    source, target = (_inside_rows(order, trips, tile[0]) for order in inner)
    plan = infer_converter(source, target)
    run_converter(plan)
    assert plan.shared_loops >= 1
    assert all(extent <= most for extent, most in zip(plan.buffer_shape, tile, strict=True))
    assert plan.blocks == 2


def _inside_rows(order: StreamOrder, trips: int, step: int) -> StreamOrder:
    """`order` for each of `trips` slices of dimension 0 in turn."""
    moved = [Coordinate(tuple(loop + 1 for loop in c.loops), c.constant) for c in order.coordinates]
    moved[0] = Coordinate((0, *moved[0].loops), moved[0].constant)
    return StreamOrder(order.element, (Loop(trips, step), *order.loops), tuple(moved))


@examples(25)
@given(st.data())
def test_equal_orders_buffer_one_token(data: st.DataObject):
    order = data.draw(exact_orders(data.draw(shapes), most_reuse_loops=0))
    plan = infer_converter(order, order)
    assert plan.buffer_shape == order.element


def tiles(shape: tuple[int, int], tile: tuple[int, int]) -> StreamOrder:
    loops = tuple(Loop(extent // size, size) for extent, size in zip(shape, tile, strict=True))
    return StreamOrder(tile, loops, (Coordinate((0,)), Coordinate((1,))))


def test_b_to_c_of_the_method():
    b = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 4)), (Coordinate((1,)), Coordinate((0,))))
    c = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((0,))))
    plan = infer_converter(b, c)
    assert (plan.shared_loops, plan.buffer_shape, plan.blocks, plan.buffer_entries) == (1, (8, 2), 2, 32)
    assert (plan.source, plan.target) == (b, c)


def test_row_tiles_to_wider_tiles_of_the_method():
    source, target = (vectorized(tiles((32, 64), tile), 8) for tile in ((16, 16), (16, 32)))
    plan = infer_converter(source, target)
    assert (plan.shared_loops, plan.buffer_shape, plan.buffer_entries) == (2, (16, 32), 1024)
    assert plan.source.loops[:2] == (Loop(2, 16), Loop(2, 32))
    assert same_sequence(plan.source, source) and same_sequence(plan.target, target)
    assert without_refinement(source, target) == 16 * 64
    run_converter(plan)


def test_nothing_shared_takes_one_block():
    source = tiles((8, 8), (2, 2))
    target = StreamOrder((2, 2), (Loop(4, 2), Loop(4, 2)), (Coordinate((1,)), Coordinate((0,))))
    plan = infer_converter(source, target)
    assert (plan.shared_loops, plan.buffer_shape, plan.blocks) == (0, (8, 8), 1)


def test_shared_reuse_is_the_same_loop_on_both_sides():
    source = StreamOrder((2, 8), (Loop(3, 8), Loop(4, 2)), (Coordinate((1,)), Coordinate()))
    target = StreamOrder((8, 2), (Loop(3, 1), Loop(4, 2)), (Coordinate(), Coordinate((1,))))
    plan = infer_converter(source, target)
    assert plan.shared_loops == 1 and plan.source.loops[0] == plan.target.loops[0]
    run_converter(plan)


@pytest.mark.parametrize("side", ["source", "target"])
def test_inexact_orders_are_refused(side: str):
    good = tiles((8, 8), (4, 4))
    gap = StreamOrder((2, 4), good.loops, good.coordinates)
    with pytest.raises(ValueError, match=f"converter {side} .*does not visit every coordinate"):
        infer_converter(gap if side == "source" else good, good if side == "source" else gap)


def test_other_tensors_are_refused():
    with pytest.raises(ValueError, match=r"converter source is of shape \(8, 8\), its target of \(8, 16\)"):
        infer_converter(tiles((8, 8), (4, 4)), tiles((8, 16), (4, 4)))


def test_symbolic_orders_are_refused():
    rows = StreamOrder((1, 8), (Loop(Symbol("seq", 128), 1), Loop(4, 8)), (Coordinate((0,)), Coordinate((1,))))
    with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
        infer_converter(rows, rows)


@pytest.mark.parametrize("rows", [0, 1, 2, 5])
def test_at_a_run_time_size_as_much_of_the_buffer_is_used_as_is_there(rows: int) -> None:
    size = Symbol("pos", 5)
    columns = StreamOrder((1, 1), (Loop(3, 1), Loop(size, 1)), (Coordinate((1,)), Coordinate((0,))))
    by_rows = StreamOrder((1, 1), (Loop(size, 1), Loop(3, 1)), (Coordinate((0,)), Coordinate((1,))))
    there = ConverterPlan(columns, by_rows, 0, (5, 3), 1).at({"pos": rows})
    assert there.buffer_shape == (max(rows, 1), 3) and there.source.token_count == 3 * rows
