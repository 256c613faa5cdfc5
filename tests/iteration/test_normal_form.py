"""Normal forms and splits: the sequence stays, and one sequence has one normal form."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import any_exact_order, any_orders, entries, is_small, respelled

from stc.iteration.normal_form import normal_form, same_sequence, split_loop
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol, ceildiv
from stc.iteration.vectorize import largest_divisor, smallest_divisor, vectorized
from stc_testing.drawn import examples

many = examples(75)
SEQ = Symbol("seq", 128)
orders = any_orders() | any_exact_order


@many
@given(orders)
def test_normal_form_keeps_the_sequence_and_is_idempotent(order: StreamOrder):
    assume(is_small(order))
    normal = normal_form(order)
    assert np.array_equal(normal.enumerate(), order.enumerate())
    assert normal_form(normal) == normal
    assert len(normal.loops) <= len(order.loops)


@many
@given(st.data())
def test_other_spellings_have_the_same_normal_form(data: st.DataObject):
    order = data.draw(orders)
    assume(is_small(order))
    other = data.draw(respelled(order))
    assert np.array_equal(other.enumerate(), order.enumerate())  # the strategy itself
    assert normal_form(other) == normal_form(order)
    assert same_sequence(other, order)


@many
@given(st.data())
def test_split_keeps_the_sequence(data: st.DataObject):
    order = data.draw(orders)
    assume(is_small(order) and order.loops)
    position = data.draw(st.integers(0, len(order.loops) - 1))
    inner = data.draw(st.integers(1, 4))
    trip = order.loops[position].trip
    assert isinstance(trip, int)
    if trip % inner:
        with pytest.raises(ValueError, match=f"loop of {trip} iterations does not split into inner loops of {inner}"):
            split_loop(order, position, inner)
        return
    split = split_loop(order, position, inner)
    assert [loop.trip for loop in split.loops[position : position + 2]] == [trip // inner, inner]
    assert np.array_equal(split.enumerate(), order.enumerate())


def test_split_into_nothing_is_refused():
    with pytest.raises(ValueError, match="inner loop of 0 iterations, expected at least 1"):
        split_loop(StreamOrder((1,), (Loop(4, 1),), (Coordinate((0,)),)), 0, 0)


def test_steps_of_reuse_and_order_of_sums_do_not_matter():
    first = StreamOrder((4,), (Loop(3, 12), Loop(2, 4), Loop(2, 8)), (Coordinate((1, 2)),))
    second = StreamOrder((4,), (Loop(3, 7), Loop(2, 4), Loop(2, 8)), (Coordinate((2, 1)),))
    assert first != second and same_sequence(first, second)


def test_symbolic_loops_stay_apart_and_unit_loops_go():
    order = StreamOrder((1,), (Loop(1, 5), Loop(ceildiv(SEQ, 4), 4), Loop(2, 2), Loop(2, 1)), (Coordinate((0, 1, 2, 3)),))
    assert normal_form(order) == StreamOrder((1,), (Loop(ceildiv(SEQ, 4), 4), Loop(4, 1)), (Coordinate((0, 1)),))
    assert same_sequence(order, normal_form(order))
    assert not same_sequence(order, StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),)))
    with pytest.raises(ValueError, match=r"size ceildiv\(seq<=128, 4\) is symbolic, expected an integer"):
        split_loop(order, 1, 2)


@many
@given(orders, st.integers(1, 6))
def test_vectorized_moves_the_same_scalars(order: StreamOrder, lanes: int):
    assume(order.token_count * order.element_count < 4000)
    vectors = vectorized(order, lanes)
    assert np.array_equal(entries(vectors), entries(order))
    if order.rank:
        assert vectors.element == (1,) * (order.rank - 1) + (largest_divisor(order.element[-1], lanes),)
        assert vectors.shape == order.shape and vectors.is_exact == order.is_exact


def test_vectorized_as_in_the_method():
    tiles = StreamOrder((16, 16), (Loop(2, 16), Loop(4, 16)), (Coordinate((0,)), Coordinate((1,))))
    loops = (Loop(2, 16), Loop(4, 16), Loop(16, 1), Loop(2, 8))
    assert vectorized(tiles, 8) == StreamOrder((1, 8), loops, (Coordinate((0, 2)), Coordinate((1, 3))))


@given(st.integers(1, 300), st.integers(1, 300))
@examples(50)
def test_largest_divisor(extent: int, limit: int):
    assert largest_divisor(extent, limit) == max(d for d in range(1, extent + 1) if extent % d == 0 and d <= limit)


@given(st.integers(1, 300), st.integers(0, 400))
@examples(50)
def test_smallest_divisor(extent: int, least: int):
    possible = [d for d in range(1, extent + 1) if extent % d == 0 and d >= least]
    assert smallest_divisor(extent, least) == min(possible, default=extent)


def test_largest_divisor_needs_a_limit():
    with pytest.raises(ValueError, match="divisor limit is 0, expected at least 1"):
        largest_divisor(8, 0)
