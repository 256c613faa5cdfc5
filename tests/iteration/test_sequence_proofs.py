"""`compare_sequences` against brute force: the verdict, the first token that differs, both coordinates."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from random_orders import any_exact_order, any_orders, exact_orders, is_small, perturbed, respelled, shapes

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proofs import Differs, Equal, compare_sequences, coordinate_of
from stc.iteration.size import CeilDiv, Symbol
from stc.iteration.vectorize import vectorized

orders = any_orders() | any_exact_order
SEQ = Symbol("seq", 128)


def first_difference(source: StreamOrder, target: StreamOrder) -> Differs | None:
    """The oracle."""
    left, right = ([tuple(token) for token in order.enumerate().tolist()] for order in (source, target))
    for token in range(max(len(left), len(right))):
        pair = tuple(side[token] if token < len(side) else None for side in (left, right))
        if pair[0] != pair[1]:
            return Differs(token, *pair)
    return None


def check(source: StreamOrder, target: StreamOrder) -> None:
    expected = first_difference(source, target)
    assert same_sequence(source, target) == (expected is None), "the normal form decides static orders"
    found = compare_sequences(source, target)
    assert isinstance(found, Equal) if expected is None else found == expected


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_equal_by_construction(data: st.DataObject):
    order = data.draw(orders)
    assume(is_small(order))
    check(data.draw(respelled(order)), data.draw(respelled(order)))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_nearly_equal(data: st.DataObject):
    order = data.draw(orders)
    assume(order.token_count <= 600)
    check(order, data.draw(respelled(data.draw(perturbed(order)))))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.data())
def test_unrelated(data: st.DataObject):
    shape = data.draw(shapes)
    scalars = exact_orders(shape).map(lambda order: vectorized(order, 1))
    alike = data.draw(st.sampled_from([scalars, any_orders((2, 1))]))
    first, second = data.draw(alike), data.draw(alike)
    assume(first.token_count <= 3000 and second.token_count <= 3000)
    check(first, second)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(orders)
def test_coordinate_of_every_token(order: StreamOrder):
    assume(order.token_count <= 300)
    tokens = [tuple(token) for token in order.enumerate().tolist()]
    assert [coordinate_of(order, token) for token in range(len(tokens))] == tokens
    assert coordinate_of(order, len(tokens)) is None


def test_one_ends_before_the_other():
    long = StreamOrder((4,), (Loop(2, 1), Loop(3, 4)), (Coordinate((1,)),))
    short = StreamOrder((4,), (Loop(3, 4),), (Coordinate((0,)),))
    assert compare_sequences(long, short) == Differs(3, (0,), None)
    assert compare_sequences(short, long) == Differs(3, None, (0,))
    assert str(compare_sequences(long, short)) == "token 3 is at [0] in the source but at no coordinate in the target"


def test_elements_of_other_shapes():
    tiles = StreamOrder((4,), (Loop(2, 4),), (Coordinate((0,)),))
    scalars = StreamOrder((1,), (Loop(8, 1),), (Coordinate((0,)),))
    found = compare_sequences(tiles, scalars)
    assert found == Differs(0, (0,), (0,), ((4,), (1,)))
    assert str(found) == "tokens are of shape [4] in the source but of [1] in the target"


def test_a_late_difference_in_a_long_stream():
    """Fifty million tokens, not enumerated."""
    source = StreamOrder((1, 8), (Loop(7, 1000), Loop(1000, 1), Loop(7000, 8)), (Coordinate((0, 1)), Coordinate((2,))))
    target = StreamOrder((1, 8), (Loop(7, 1001), Loop(1000, 1), Loop(7000, 8)), (Coordinate((0, 1)), Coordinate((2,))))
    assert compare_sequences(source, target) == Differs(7_000_000, (1000, 0), (1001, 0))


def test_symbolic_sizes():
    rows = StreamOrder((1, 8), (Loop(SEQ, 1), Loop(4, 8)), (Coordinate((0,)), Coordinate((1,))))
    split = StreamOrder((1, 8), (Loop(SEQ, 1), Loop(2, 16), Loop(2, 8)), (Coordinate((0,)), Coordinate((1, 2))))
    assert compare_sequences(rows, split) == Equal("normal form")
    columns = StreamOrder((1, 8), (Loop(4, 8), Loop(CeilDiv(SEQ, 16), 1)), (Coordinate((1,)), Coordinate((0,))))
    with pytest.raises(ValueError, match="is symbolic, expected an integer"):
        compare_sequences(rows, columns)
