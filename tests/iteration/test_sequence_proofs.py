"""`compare_sequences` against brute force: the verdict, the first token that differs, both coordinates."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import (
    LARGEST,
    Nest,
    any_exact_order,
    any_orders,
    assembled,
    exact_orders,
    is_small,
    perturbed,
    respelled,
    shapes,
    symbolic,
)

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proofs import Differs, Equal, Unproved, compare_sequences, coordinate_of
from stc.iteration.size import Symbol, ceildiv, symbols_in
from stc.iteration.vectorize import vectorized
from stc_testing.drawn import examples

pytestmark = pytest.mark.heavy

orders = any_orders() | any_exact_order
SEQ = Symbol("seq", 128)


def first_difference(source: StreamOrder, target: StreamOrder) -> Differs | None:
    """The oracle."""
    left, right = ([tuple(token) for token in order.enumerate().tolist()] for order in (source, target))
    for token in range(max(len(left), len(right))):
        pair = tuple(side[token] if token < len(side) else None for side in (left, right))
        if pair[0] != pair[1]:
            return Differs(token, pair[0], pair[1])
    return None


def check(source: StreamOrder, target: StreamOrder) -> None:
    expected = first_difference(source, target)
    assert same_sequence(source, target) == (expected is None), "the normal form decides static orders"
    found = compare_sequences(source, target)
    assert isinstance(found, Equal) if expected is None else found == expected


@examples(250)
@given(st.data())
def test_equal_by_construction(data: st.DataObject):
    order = data.draw(orders)
    assume(is_small(order))
    check(data.draw(respelled(order)), data.draw(respelled(order)))


@examples(250)
@given(st.data())
def test_nearly_equal(data: st.DataObject):
    order = data.draw(orders)
    assume(order.token_count <= 600)
    check(order, data.draw(respelled(data.draw(perturbed(order)))))


@examples(250)
@given(st.data())
def test_unrelated(data: st.DataObject):
    shape = data.draw(shapes)
    scalars = exact_orders(shape).map(lambda order: vectorized(order, 1))
    alike = data.draw(st.sampled_from([scalars, any_orders((2, 1))]))
    first, second = data.draw(alike), data.draw(alike)
    assume(first.token_count <= 3000 and second.token_count <= 3000)
    check(first, second)


@examples(250)
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
    columns = StreamOrder((1, 8), (Loop(4, 8), Loop(ceildiv(SEQ, 16), 1)), (Coordinate((1,)), Coordinate((0,))))
    found = compare_sequences(rows, columns)
    assert found == Differs(1, (0, 8), (1, 0), symbols=(("seq", 128),))
    assert str(found) == "token 1 is at [0, 8] in the source but at [1, 0] in the target where seq = 128"


def test_tiles_of_a_symbol_differ_at_the_value_z3_finds():
    """At the maximum and at every multiple of two the outer loop goes on where the inner one ends; elsewhere not."""
    pairs = StreamOrder((1,), (Loop(ceildiv(SEQ, 2), 2), Loop(2, 1)), (Coordinate((0, 1)),))
    singles = StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),))
    found = compare_sequences(pairs, singles)
    assert isinstance(found, Differs)
    [(name, value)] = found.symbols
    assert name == "seq" and value % 2 == 1, "an odd length has a token too many"
    assert found == Differs(value, (value,), None, symbols=(("seq", value),))


def test_types_that_only_z3_equates():
    """Two overlapping loops commute as long as the symbol is at most two."""
    two = Symbol("seq", 2)
    outside = StreamOrder((1,), (Loop(7, 5), Loop(two, 1), Loop(2, 1), Loop(3, 9)), (Coordinate((1, 2)),))
    inside = StreamOrder((1,), (Loop(7, 5), Loop(2, 1), Loop(two, 1), Loop(3, 9)), (Coordinate((1, 2)),))
    assert not same_sequence(outside, inside)
    assert compare_sequences(outside, inside) == Equal("z3")
    three = Symbol("seq", 3)
    outside, inside = (
        StreamOrder((1,), tuple(Loop(trip, 1) for trip in trips), (Coordinate((0, 1)),)) for trips in ((three, 2), (2, three))
    )
    assert compare_sequences(outside, inside) == Differs(2, (1,), (2,), symbols=(("seq", 3),))


def test_symbols_of_one_name_are_one_scalar():
    short = StreamOrder((1,), (Loop(Symbol("seq", 64), 1),), (Coordinate((0,)),))
    long = StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),))
    assert compare_sequences(short, long) == Unproved("symbol 'seq' has maximum 64 and also 128")


def at_every_value(source: StreamOrder, target: StreamOrder) -> dict[tuple[tuple[str, int], ...], Differs | None]:
    """The oracle for symbolic orders: the first difference at every value of the symbols."""
    symbols = symbols_in((*source.sizes, *target.sizes))
    found = {}
    for values in product(*(range(symbol.maximum + 1) for symbol in symbols)):
        where = tuple(zip((symbol.name for symbol in symbols), values, strict=True))
        found[where] = first_difference(source.at(dict(where)), target.at(dict(where)))
    return found


def check_symbolic(source: StreamOrder, target: StreamOrder) -> None:
    expected = at_every_value(source, target)
    found = compare_sequences(source, target)
    if isinstance(found, Differs):
        at_fault = expected[found.symbols]
        assert at_fault is not None and found == replace(at_fault, symbols=found.symbols)
    else:
        assert isinstance(found, Equal) and not any(expected.values())
    if same_sequence(source, target):
        assert isinstance(found, Equal)


@examples(100)
@given(st.data())
def test_symbolic_equal_by_construction(data: st.DataObject):
    order = data.draw(symbolic(any_orders(most_loops=3)))
    assume(order.at(LARGEST).token_count <= 300)
    check_symbolic(data.draw(respelled(order)), data.draw(respelled(order)))


@st.composite
def commuting(draw: st.DrawFn) -> tuple[StreamOrder, StreamOrder]:
    """Two orders with overlapping loops in another order: mostly alike for all values of a symbol of at most two."""
    step = draw(st.integers(1, 3))
    symbol = Symbol("s", draw(st.sampled_from([2, 2, 2, 3])))
    overlapping = [Nest(Loop(symbol, step), 0), *draw(st.lists(st.just(Nest(Loop(2, step), 0)), min_size=1, max_size=2))]
    loops = st.builds(Loop, st.integers(2, 3), st.integers(1, 4))
    around = st.lists(st.builds(Nest, loops, st.sampled_from([None, 0, 1])), max_size=1)
    outer, inner = draw(around), draw(around)
    nests = ([*outer, *draw(st.permutations(overlapping)), *inner] for _ in range(2))
    return assembled((1, 1), next(nests)), assembled((1, 1), next(nests))


@examples(50)
@given(commuting())
def test_coincidences_are_left_to_the_solver(pair: tuple[StreamOrder, StreamOrder]):
    check_symbolic(*pair)


@examples(100)
@given(st.data())
def test_symbolic_nearly_equal(data: st.DataObject):
    order = data.draw(symbolic(any_orders(most_loops=3)))
    assume(order.at(LARGEST).token_count <= 300)
    other = data.draw(st.one_of(symbolic(st.just(order)), st.just(data.draw(perturbed(order)))))
    assume(other.at(LARGEST).token_count <= 300)
    check_symbolic(order, data.draw(respelled(other)))
