"""Restricted and flattened orders against enumeration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import any_exact_order, entries, exact_orders, is_small, shapes

from stc.iteration.flattening import flattened
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proofs import Equal, compare_sequences
from stc.iteration.restriction import restricted
from stc.iteration.size import Symbol
from stc_testing.drawn import examples


@st.composite
def slices(draw: st.DrawFn, order: StreamOrder) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Offsets and extents of a slice of whole elements."""
    offsets, extents = [], []
    for extent, element in zip(order.static_shape, order.element, strict=True):
        first = draw(st.integers(0, extent // element - 1))
        last = draw(st.integers(first + 1, extent // element))
        offsets.append(first * element)
        extents.append((last - first) * element)
    return tuple(offsets), tuple(extents)


def tokens_in(order: StreamOrder, offsets: tuple[int, ...], extents: tuple[int, ...]) -> np.ndarray:
    tokens = order.enumerate() - np.array(offsets, dtype=np.int64).reshape(1, -1)
    return tokens[((tokens >= 0) & (tokens < np.array(extents, dtype=np.int64).reshape(1, -1))).all(axis=1)]


@examples(50)
@given(st.data())
def test_restricted_orders_are_the_tokens_in_the_slice(data: st.DataObject):
    order = data.draw(any_exact_order)
    assume(is_small(order))
    offsets, extents = data.draw(slices(order))
    found = restricted(order, offsets, extents)
    if found is not None:
        assert np.array_equal(found.enumerate(), tokens_in(order, offsets, extents))
    elif all(len(coordinate.loops) <= 1 for coordinate in order.coordinates):
        raise AssertionError("one loop per dimension is always restricted to an interval")


def test_a_slice_that_is_no_interval_of_loops():
    tiles = StreamOrder((1,), (Loop(3, 4), Loop(4, 1)), (Coordinate((0, 1)),))
    assert restricted(tiles, [0], [6]) is None
    assert restricted(tiles, [4], [8]) == StreamOrder((1,), (Loop(2, 4), Loop(4, 1)), (Coordinate((0, 1)),))
    assert restricted(tiles, [5], [2]) == StreamOrder((1,), (Loop(1, 4), Loop(2, 1)), (Coordinate((0, 1)),))
    assert restricted(StreamOrder((4,), (Loop(3, 4),), (Coordinate((0,)),)), [2], [4]) is None, "cuts tokens"


@examples(40)
@given(st.data())
def test_flattened_orders_are_row_major_positions(data: st.DataObject):
    order = data.draw(any_exact_order)
    assume(is_small(order) and order.rank > 0)
    positions = np.ravel_multi_index(tuple(entries(order).T), order.static_shape)
    assert np.array_equal(flattened(order).enumerate()[:, 0], positions)


@examples(40)
@given(st.data())
def test_reshapes_are_decided(data: st.DataObject):
    shape = data.draw(shapes.filter(lambda shape: len(shape) > 1))
    merged = (shape[0] * shape[1], *shape[2:])
    first, second = data.draw(exact_orders(shape)), data.draw(exact_orders(merged))
    assume(is_small(first) and is_small(second))
    left, right = (np.ravel_multi_index(tuple(entries(order).T), order.static_shape) for order in (first, second))
    verdict = compare_sequences(flattened(first), flattened(second))
    assert isinstance(verdict, Equal) == np.array_equal(left, right)


def test_symbolic_rows_are_flattened():
    seq = Symbol("seq", 9)
    rows = StreamOrder((1, 8), (Loop(seq, 1), Loop(2, 8)), (Coordinate((0,)), Coordinate((1,))))
    heads = StreamOrder((1, 1, 8), (Loop(seq, 1), Loop(2, 1)), (Coordinate((0,)), Coordinate((1,)), Coordinate()))
    assert compare_sequences(flattened(rows), flattened(heads)) == Equal("normal form")
    columns = StreamOrder((8, 1), (Loop(seq, 1),), (Coordinate(), Coordinate((0,))))
    with pytest.raises(ValueError, match="is symbolic"):
        flattened(columns)
