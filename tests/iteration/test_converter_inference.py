"""Converters, run on coordinates: what the target reads was written, inside the buffer, in the same shared iteration."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given, settings
from hypothesis import strategies as st
from random_orders import exact_orders, is_small, shapes

from stc.iteration.converter import ConverterPlan, infer_converter
from stc.iteration.normal_form import normal_form, same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol, static
from stc.iteration.vectorize import vectorized


def blocks_of(order: StreamOrder, shared: int) -> np.ndarray:
    """Tokens by shared iteration: [iterations, tokens, rank]."""
    iterations = prod(static(loop.trip) for loop in order.loops[:shared])
    return order.enumerate().reshape(iterations, order.token_count // iterations, order.rank)


def bases_of(order: StreamOrder, shared: int) -> np.ndarray:
    """The coordinate at which the buffer lies in each shared iteration: [iterations, rank]."""
    outer = tuple(Coordinate(tuple(loop for loop in c.loops if loop < shared), c.constant) for c in order.coordinates)
    return StreamOrder(order.element, order.loops[:shared], outer).enumerate()


def places(tokens: np.ndarray, element: tuple[int, ...]) -> tuple[np.ndarray, ...]:
    inside = np.indices(element).reshape(len(element), -1).T
    return tuple((tokens[:, None, :] + inside[None]).reshape(-1, len(element)).T)


def run_converter(plan: ConverterPlan) -> None:
    """Fill and drain a fresh buffer per shared iteration; entries are known by their place in the tensor."""
    source, target, shared = plan.source, plan.target, plan.shared_loops
    assert source.loops[:shared] == target.loops[:shared]
    assert source.dimension_of_loop[:shared] == target.dimension_of_loop[:shared]
    names = np.arange(prod(source.static_shape)).reshape(source.static_shape)
    iterations = zip(bases_of(source, shared), blocks_of(source, shared), blocks_of(target, shared), strict=True)
    for base, written, read in iterations:
        buffer = np.full(plan.buffer_shape, -1)
        for tokens, element in ((written, source.element), (read, target.element)):
            assert (tokens >= base).all()
            assert (tokens - base + element <= plan.buffer_shape).all()
        buffer[places(written - base, source.element)] = names[places(written, source.element)]
        assert (buffer[places(read - base, target.element)] == names[places(read, target.element)]).all()


def without_refinement(source: StreamOrder, target: StreamOrder) -> int:
    """Entries of one block if loops are shared as they stand."""
    source, target = normal_form(source), normal_form(target)
    shared = 0
    while (
        shared < min(len(source.loops), len(target.loops))
        and source.loops[shared] == target.loops[shared]
        and source.dimension_of_loop[shared] == target.dimension_of_loop[shared]
    ):
        shared += 1
    return prod(source.span(dimension, shared) for dimension in range(source.rank))


@settings(max_examples=600, deadline=None, derandomize=True)
@given(st.data())
def test_any_two_orders_of_a_tensor_convert(data: st.DataObject):
    shape = data.draw(shapes.filter(bool))
    source, target = data.draw(exact_orders(shape, most_revisits=1)), data.draw(exact_orders(shape, most_revisits=1))
    assume(is_small(source) and is_small(target))
    plan = infer_converter(source, target)
    event(f"shared loops: {plan.shared_loops}")
    assert np.array_equal(plan.source.enumerate(), source.enumerate())
    assert np.array_equal(plan.target.enumerate(), target.enumerate())
    run_converter(plan)
    assert prod(plan.buffer_shape) <= without_refinement(source, target) <= prod(shape)
    assert plan.blocks == (2 if plan.shared_loops else 1)
    assert plan.buffer_entries == prod(plan.buffer_shape) * plan.blocks


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_common_outer_loops_are_shared(data: st.DataObject):
    """Below a common outer loop over tiles the buffer is one tile at most, however the loops are spelled."""
    tile = data.draw(shapes.filter(bool))
    trips = data.draw(st.integers(2, 4))
    inner = [data.draw(exact_orders(tile, most_revisits=1)) for _ in range(2)]
    assume(all(is_small(order) for order in inner))
    outer = [_inside_rows(order, trips, tile[0]) for order in inner]
    plan = infer_converter(*outer)
    run_converter(plan)
    assert plan.shared_loops >= 1
    assert all(extent <= most for extent, most in zip(plan.buffer_shape, tile, strict=True))
    assert plan.blocks == 2


def _inside_rows(order: StreamOrder, trips: int, step: int) -> StreamOrder:
    """`order` for each of `trips` slices of dimension 0 in turn."""
    moved = [Coordinate(tuple(loop + 1 for loop in c.loops), c.constant) for c in order.coordinates]
    moved[0] = Coordinate((0, *moved[0].loops), moved[0].constant)
    return StreamOrder(order.element, (Loop(trips, step), *order.loops), tuple(moved))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_equal_orders_buffer_one_token(data: st.DataObject):
    order = data.draw(exact_orders(data.draw(shapes), most_revisits=0))
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


def test_shared_revisits_are_the_same_loop_on_both_sides():
    source = StreamOrder((2, 8), (Loop(3, 8), Loop(4, 2)), (Coordinate((1,)), Coordinate()))
    target = StreamOrder((8, 2), (Loop(3, 1), Loop(4, 2)), (Coordinate(), Coordinate((1,))))
    plan = infer_converter(source, target)
    assert plan.shared_loops == 1 and plan.source.loops[0] == plan.target.loops[0]
    run_converter(plan)


@pytest.mark.parametrize("side", ["source", "target"])
def test_inexact_orders_are_refused(side: str):
    good = tiles((8, 8), (4, 4))
    gap = StreamOrder((2, 4), good.loops, good.coordinates)
    with pytest.raises(ValueError, match=f"converter {side} is not exact: it does not visit every coordinate once up to revisits"):
        infer_converter(*((gap, good) if side == "source" else (good, gap)))


def test_other_tensors_are_refused():
    with pytest.raises(ValueError, match=r"converter source is of shape \(8, 8\), its target of \(8, 16\)"):
        infer_converter(tiles((8, 8), (4, 4)), tiles((8, 16), (4, 4)))


def test_symbolic_orders_are_refused():
    rows = StreamOrder((1, 8), (Loop(Symbol("seq", 128), 1), Loop(4, 8)), (Coordinate((0,)), Coordinate((1,))))
    with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
        infer_converter(rows, rows)
