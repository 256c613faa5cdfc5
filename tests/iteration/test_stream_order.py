"""Stream orders against enumeration, malformed and symbolic ones by example."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given, settings
from random_orders import any_exact_order, any_orders, entries, is_small

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import CeilDiv, Symbol, maximum, static, static_product

many = settings(max_examples=300, deadline=None, derandomize=True)
SEQ = Symbol("seq", 128)


def test_enumerate_is_what_nested_loops_do():
    order = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((0,), 3)))
    expected = [[k, i + 3] for i, _, k in product(range(0, 8, 2), range(2), range(0, 8, 4))]
    assert order.enumerate().tolist() == expected


def test_figure_of_the_publication():
    b = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 4)), (Coordinate((1,)), Coordinate((0,))))
    c = StreamOrder((4, 2), (Loop(4, 2), Loop(2, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((0,))))
    assert b.enumerate()[:4].tolist() == [[0, 0], [4, 0], [0, 2], [4, 2]]
    assert c.enumerate()[:5].tolist() == [[0, 0], [4, 0], [0, 0], [4, 0], [0, 2]]
    assert b.static_shape == c.static_shape == (8, 8)
    assert b.is_exact and c.is_exact and c.reuse_loops == (1,)
    assert (c.token_count, c.distinct_token_count) == (16, 8)


def test_scalar_is_one_token():
    order = StreamOrder((), (), ())
    assert order.enumerate().shape == (1, 0)
    assert (order.token_count, order.element_count, order.shape, order.is_exact) == (1, 1, (), True)


@many
@given(any_orders())
def test_shape_is_the_largest_entry(order: StreamOrder):
    assert order.static_shape == tuple((order.enumerate().max(axis=0) + order.element).tolist())


@many
@given(any_orders() | any_exact_order)
def test_is_exact_counts_every_coordinate_once(order: StreamOrder):
    assume(is_small(order))
    visits = np.zeros(order.static_shape, dtype=int)
    np.add.at(visits, tuple(entries(order.without_reuse()).T), 1)
    assert order.is_exact == bool((visits == 1).all())


@many
@given(any_exact_order)
def test_without_reuse_keeps_first_visits(order: StreamOrder):
    assume(is_small(order))
    first_visits = list(dict.fromkeys(map(tuple, order.enumerate().tolist())))
    kept = order.without_reuse()
    assert list(map(tuple, kept.enumerate().tolist())) == first_visits
    assert kept.token_count == order.distinct_token_count
    assert kept.reuse_loops == ()


@many
@given(any_orders() | any_exact_order)
def test_without_unit_loops_changes_no_token(order: StreamOrder):
    assume(is_small(order))
    kept = order.without_unit_loops()
    assert all(loop.trip != 1 for loop in kept.loops)
    assert np.array_equal(kept.enumerate(), order.enumerate())


@many
@given(any_orders())
def test_text_names_every_part(order: StreamOrder):
    text = str(order)
    assert f"iter_space: {[loop.trip for loop in order.loops]} * {[loop.step for loop in order.loops]}" in text
    assert text.count("d") == len(order.loops) * 2 - len(order.reuse_loops)


MALFORMED = [
    (lambda: Loop(0, 1), "loop has trip count 0, expected at least 1"),
    (lambda: Loop(2, 0), "loop has step 0, expected at least 1"),
    (lambda: Coordinate((), -1), "coordinate has constant -1, expected at least 0"),
    (lambda: StreamOrder((4,), (), ()), "map has 0 results but the element has rank 1"),
    (lambda: StreamOrder((4, 0), (), (Coordinate(), Coordinate())), "element dimension 1 has extent 0, expected at least 1"),
    (lambda: StreamOrder((4,), (Loop(2, 4),), (Coordinate((1,)),)), "map uses d1 but the iteration space has 1 loops"),
    (lambda: StreamOrder((4,), (Loop(2, 4),), (Coordinate((-1,)),)), "map uses d-1 but the iteration space has 1 loops"),
    (lambda: StreamOrder((4,), (Loop(2, 4),), (Coordinate((0, 0)),)), "map uses d0 2 times, expected at most once"),
    (
        lambda: StreamOrder((4, 4), (Loop(2, 4),), (Coordinate((0,)), Coordinate((0,)))),
        "map uses d0 2 times, expected at most once",
    ),
    (lambda: Symbol("2x", 4), "symbol name '2x' is not an identifier"),
    (lambda: Symbol("seq", 0), "symbol 'seq' has maximum 0, expected at least 1"),
    (lambda: CeilDiv(SEQ, 1), "ceildiv of 'seq' by 1, expected a divisor of at least 2"),
]


@pytest.mark.parametrize(("make", "message"), MALFORMED, ids=[message[:30] for _, message in MALFORMED])
def test_malformed(make, message: str):
    with pytest.raises(ValueError) as raised:
        make()
    assert str(raised.value) == message


# Symbolic sizes -------------------------------------------------------------------------------------------------------


def test_sizes():
    assert [maximum(size) for size in (7, SEQ, CeilDiv(SEQ, 16), CeilDiv(Symbol("n", 33), 16))] == [7, 128, 8, 3]
    assert [str(size) for size in (SEQ, CeilDiv(SEQ, 16))] == ["seq<=128", "ceildiv(seq<=128, 16)"]
    assert static_product((2, 3)) == 6
    with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
        static(SEQ)


def test_symbolic_extents_with_a_closed_form():
    rows = StreamOrder((1, 8), (Loop(SEQ, 1), Loop(4, 8)), (Coordinate((0,)), Coordinate((1,))))
    assert rows.shape == (SEQ, 32) and rows.is_exact and not rows.is_static
    tiles = StreamOrder((16,), (Loop(CeilDiv(SEQ, 16), 16),), (Coordinate((0,)),))
    assert tiles.shape == (SEQ,) and tiles.is_exact
    reused = StreamOrder((16,), (Loop(SEQ, 1), Loop(2, 16)), (Coordinate((1,)),))
    assert reused.shape == (32,) and reused.is_exact and reused.reuse_loops == (0,)


@pytest.mark.parametrize(
    "order",
    [
        StreamOrder((2,), (Loop(SEQ, 2),), (Coordinate((0,)),)),
        StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,), 3),)),
        StreamOrder((1,), (Loop(4, 1),), (Coordinate((0,), SEQ),)),
        StreamOrder((16,), (Loop(CeilDiv(SEQ, 8), 16),), (Coordinate((0,)),)),
        StreamOrder((1,), (Loop(CeilDiv(SEQ, 4), 4), Loop(4, 1)), (Coordinate((0, 1)),)),
    ],
    ids=str,
)
def test_symbolic_extents_without_one(order: StreamOrder):
    with pytest.raises(ValueError, match="extent of dimension 0 is symbolic and has no closed form"):
        _ = order.shape


def test_symbolic_orders_are_not_enumerated():
    rows = StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),))
    for ask in (lambda: rows.token_count, rows.enumerate, lambda: rows.static_shape, lambda: rows.distinct_token_count):
        with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
            ask()


def test_symbolic_gap_and_offset_are_not_exact():
    assert not StreamOrder((1,), (Loop(SEQ, 2),), (Coordinate((0,)),)).is_exact
    assert not StreamOrder((1,), (Loop(4, 1),), (Coordinate((0,), SEQ),)).is_exact
    assert not StreamOrder((1,), (Loop(2, 128), Loop(SEQ, 1)), (Coordinate((0, 1)),)).is_exact
