"""Stream orders against enumeration, malformed and symbolic ones by example."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import any_exact_order, any_orders, entries, is_small

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import (
    Size,
    Symbol,
    are_equal,
    ceildiv,
    largest_of,
    least_of,
    maximum,
    minimum,
    product_of,
    read_size,
    simplified,
    static,
    sum_of,
    value_at,
)
from stc_testing.drawn import examples

many = examples(75)
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


def test_no_tokens():
    empty = StreamOrder((4, 2), (Loop(3, 1), Loop(0, 4), Loop(2, 2)), (Coordinate((1,)), Coordinate((2,))))
    assert empty.is_empty and empty.token_count == 0 and len(empty.enumerate()) == 0 and empty.static_shape == (0, 4)
    assert not StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),)).is_empty


@many
@given(any_orders())
def test_text_names_every_part(order: StreamOrder):
    text = str(order)
    assert f"iter_space: {[loop.trip for loop in order.loops]} * {[loop.step for loop in order.loops]}" in text
    assert text.count("d") == len(order.loops) * 2 - len(order.reuse_loops)


MALFORMED = [
    (lambda: Loop(-1, 1), "loop has trip count -1, expected at least 0"),
    (
        lambda: Loop(sum_of(SEQ, -1), 1),
        "loop has trip count sum(seq<=128, -1), which may be -1, expected at least 0",
    ),
    (lambda: Loop(2, 0), "loop has step 0, expected at least 1"),
    (lambda: Coordinate((), -1), "coordinate has constant -1, expected at least 0"),
    (
        lambda: Coordinate((), sum_of(SEQ, -3)),
        "coordinate has constant sum(seq<=128, -3), which may be -3, expected at least 0",
    ),
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
    (lambda: Symbol("min", 4), "symbol name 'min' is taken by sizes such as min(pos<=7, 4)"),
    (lambda: ceildiv(SEQ, 0), "ceildiv of seq<=128 by 0, expected a divisor of at least 1"),
    (lambda: ceildiv(7, -1), "ceildiv of 7 by -1, expected a divisor of at least 1"),
    (lambda: least_of(), "no sizes, expected at least one"),
]


@pytest.mark.parametrize(("make", "message"), MALFORMED, ids=[message[:30] for _, message in MALFORMED])
def test_malformed(make: Callable[[], object], message: str):
    with pytest.raises(ValueError) as raised:
        make()
    assert str(raised.value) == message


# Symbolic sizes -------------------------------------------------------------------------------------------------------


def test_sizes():
    assert [maximum(size) for size in (7, SEQ, ceildiv(SEQ, 16), ceildiv(Symbol("n", 33), 16))] == [7, 128, 8, 3]
    assert [str(size) for size in (SEQ, ceildiv(SEQ, 16))] == ["seq<=128", "ceildiv(seq<=128, 16)"]
    with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
        static(SEQ)


def test_sizes_of_a_decoder():
    """A position from 0 on, a window of 5 rows: rows to read, the first of them, tiles of 2."""
    pos = Symbol("pos", 9)
    rows, first = least_of(sum_of(pos, 1), 5), largest_of(sum_of(pos, -4), 0)
    tiles = ceildiv(rows, 2)
    assert [str(size) for size in (rows, first)] == ["min(sum(pos<=9, 1), 5)", "max(sum(pos<=9, -4), 0)"]
    assert str(tiles) == "ceildiv(min(sum(pos<=9, 1), 5), 2)"
    for at in range(10):
        found = [value_at(size, {"pos": at}) for size in (rows, first, tiles)]
        assert found == [min(at + 1, 5), max(at - 4, 0), -(-min(at + 1, 5) // 2)]
    assert [(minimum(size), maximum(size)) for size in (pos, rows, first, tiles)] == [(0, 9), (1, 5), (0, 5), (1, 3)]


def test_one_spelling():
    pos, seq = Symbol("pos", 9), Symbol("seq", 20)
    assert sum_of(sum_of(pos, 2), seq, -2) == sum_of(seq, pos) and sum_of(pos, 0) == pos and sum_of() == 0
    assert least_of(3, least_of(pos, 7), seq) == least_of(seq, pos, 3)
    assert least_of(pos, 9) == pos and least_of(pos, 0) == 0 and largest_of(pos, 9) == 9 and largest_of(seq, 0) == seq
    assert ceildiv(pos, 1) == pos and ceildiv(7, 2) == 4
    assert simplified(ceildiv(largest_of(pos, 1), 9)) == 1 and simplified(pos) == pos


operations = st.sampled_from([sum_of, least_of, largest_of])
some_sizes = st.recursive(
    st.integers(-3, 3) | st.sampled_from([Symbol("m", 3), Symbol("n", 4)]),
    lambda inner: st.builds(lambda make, some: (make, some), operations, st.lists(inner, min_size=1, max_size=3))
    | st.builds(lambda size, divisor: (lambda x: ceildiv(x, divisor), [size]), inner, st.integers(1, 3)),
)


@many
@given(some_sizes)
def test_sizes_keep_their_values(written: Any):
    """What is left out, folded and sorted changes no value, and ranges are met."""

    def made(written: Any) -> Size:
        return written[0](*map(made, written[1])) if isinstance(written, tuple) else written

    def meant(written: Any, values: dict[str, int]) -> int:
        if not isinstance(written, tuple):
            return value_at(written, values)
        make, operands = written
        found = [meant(operand, values) for operand in operands]
        return {sum_of: sum, least_of: min, largest_of: max}.get(make, lambda one: static(make(*one)))(found)

    size = made(written)
    found = {value_at(size, values) for values in EVERY}
    assert all(value_at(size, values) == meant(written, values) for values in EVERY)
    assert (min(found), max(found)) == (minimum(size), maximum(size))


EVERY = [{"m": m, "n": n} for m in range(4) for n in range(5)]


def test_symbolic_extents_with_a_closed_form():
    rows = StreamOrder((1, 8), (Loop(SEQ, 1), Loop(4, 8)), (Coordinate((0,)), Coordinate((1,))))
    assert rows.shape == (SEQ, 32) and rows.is_exact and not rows.is_static
    tiles = StreamOrder((16,), (Loop(ceildiv(SEQ, 16), 16),), (Coordinate((0,)),))
    assert tiles.shape == (SEQ,) and tiles.is_exact
    reused = StreamOrder((16,), (Loop(SEQ, 1), Loop(2, 16)), (Coordinate((1,)),))
    assert reused.shape == (32,) and reused.is_exact and reused.reuse_loops == (0,)


@pytest.mark.parametrize(
    ("order", "extent"),
    [
        (StreamOrder((2,), (Loop(SEQ, 2),), (Coordinate((0,)),)), "mul(seq<=128, 2)"),
        (StreamOrder((16,), (Loop(ceildiv(SEQ, 16), 16),), (Coordinate((0,)),)), "seq<=128"),
        (StreamOrder((16,), (Loop(ceildiv(SEQ, 8), 16),), (Coordinate((0,)),)), "mul(ceildiv(seq<=128, 8), 16)"),
        (StreamOrder((1,), (Loop(SEQ, 4), Loop(4, 1)), (Coordinate((0, 1)),)), "mul(seq<=128, 4)"),
    ],
)
def test_symbolic_extents_of_what_is_tiled(order: StreamOrder, extent: str):
    assert [str(size) for size in order.shape] == [extent]
    assert order.largest.static_shape == (maximum(order.shape[0]),)


def test_sizes_are_read_as_they_are_spelled():
    rows, pos = Symbol("rows", 7), Symbol("pos", 15)
    window = least_of(sum_of(pos, 1), 8)
    for size in (0, 12, pos, sum_of(pos, -3), product_of(window, rows, 4), largest_of(pos, ceildiv(window, 3), 2)):
        assert read_size(str(size)) == size
    for text, complaint in (
        ("pos", "'pos' is no size"),
        ("", "'' is no size"),
        ("sum(pos<=15, 1", "has no"),
        ("pos<=15 1", "goes on with '1'"),
        ("ceildiv(pos<=15, rows<=7)", "with an integer as divisor"),
    ):
        with pytest.raises(ValueError, match=complaint):
            read_size(text)


def test_products():
    pos = Symbol("pos", 15)
    assert product_of(pos, 0) == 0 and product_of(pos, 1) == pos and product_of(2, 3) == 6
    assert product_of(product_of(pos, 2), 3) == product_of(6, pos) and ceildiv(product_of(pos, 6), 3) == product_of(pos, 2)
    assert (minimum(product_of(sum_of(pos, 1), 4)), maximum(product_of(sum_of(pos, 1), 4))) == (4, 64)
    with pytest.raises(ValueError, match=r"product with sum\(pos<=15, -1\), which may be -1, expected at least 0"):
        product_of(sum_of(pos, -1), 2)


@many
@given(st.lists(st.tuples(st.integers(-2, 2), st.lists(st.sampled_from(["m", "n"]), max_size=2)), max_size=4), st.data())
def test_sizes_are_equal_multiplied_out(terms: list[tuple[int, list[str]]], data: st.DataObject):
    """Of more values than anybody looks at one by one; a sum of products, and the same with one of its products factored."""
    symbols = {"m": Symbol("m", 10**6), "n": Symbol("n", 10**5)}
    pos, rows = symbols["m"], symbols["n"]
    written = sum_of(*(product_of(max(0, factor), *(symbols[name] for name in names)) for factor, names in terms))
    factors = data.draw(st.tuples(st.integers(0, 3), st.integers(0, 3)))
    factored = product_of(sum_of(pos, factors[0]), sum_of(rows, factors[1]), 4)
    spread = sum_of(
        product_of(pos, rows, 4), product_of(pos, 4 * factors[1]), product_of(rows, 4 * factors[0]), 4 * factors[0] * factors[1]
    )
    assert are_equal(sum_of(factored, written), sum_of(written, spread))
    assert not are_equal(sum_of(factored, written), sum_of(written, spread, 1))
    assert not are_equal(factored, sum_of(spread, product_of(pos, 1)))


@pytest.mark.parametrize(
    "order",
    [
        StreamOrder((2,), (Loop(SEQ, 3),), (Coordinate((0,)),)),
        StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,), 3),)),
        StreamOrder((1,), (Loop(4, 2),), (Coordinate((0,), SEQ),)),
        StreamOrder((1,), (Loop(4, 4), Loop(SEQ, 1)), (Coordinate((0, 1)),)),
    ],
    ids=str,
)
def test_symbolic_extents_without_one(order: StreamOrder):
    with pytest.raises(ValueError, match="extent of dimension 0 is symbolic and has no closed form"):
        _ = order.shape


def test_what_lies_before_a_part_counts():
    assert StreamOrder((1,), (Loop(4, 1),), (Coordinate((0,), SEQ),)).shape == (sum_of(SEQ, 4),)


def test_symbolic_orders_are_not_enumerated():
    rows = StreamOrder((1,), (Loop(SEQ, 1),), (Coordinate((0,)),))
    for ask in (lambda: rows.token_count, rows.enumerate, lambda: rows.static_shape, lambda: rows.distinct_token_count):
        with pytest.raises(ValueError, match="size seq<=128 is symbolic, expected an integer"):
            ask()


def test_symbolic_gap_and_offset_are_not_exact():
    assert not StreamOrder((1,), (Loop(SEQ, 2),), (Coordinate((0,)),)).is_exact
    assert not StreamOrder((1,), (Loop(4, 1),), (Coordinate((0,), SEQ),)).is_exact
    assert not StreamOrder((1,), (Loop(2, 128), Loop(SEQ, 1)), (Coordinate((0, 1)),)).is_exact
