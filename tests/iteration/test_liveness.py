"""The lower bound of a converter's buffer against a converter that receives as late and forgets as early as it can."""

from __future__ import annotations

from itertools import product
from math import prod

from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import covering_orders, exact_orders, is_small

from stc.iteration.converter import infer_converter
from stc.iteration.layout_orders import row_major
from stc.iteration.liveness import least_live_entries
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.vectorize import vectorized
from stc_testing.drawn import examples

shapes = st.lists(st.integers(1, 6), min_size=1, max_size=2)


def entries_of_tokens(order: StreamOrder) -> list[set[tuple[int, ...]]]:
    extents = order.element
    return [
        {tuple(int(a) + b for a, b in zip(start, offset, strict=True)) for offset in product(*map(range, extents))}
        for start in order.enumerate()
    ]


def lazily(source: StreamOrder, target: StreamOrder) -> int:
    """Entries held at most: receive only when the next token to send needs it, drop what nobody needs any more."""
    arriving = iter(entries_of_tokens(source))
    sending = entries_of_tokens(target)
    held: set[tuple[int, ...]] = set()
    received: set[tuple[int, ...]] = set()
    most = 0
    for index, token in enumerate(sending):
        while not token <= received:
            new = next(arriving) - received
            received |= new
            held |= new
        most = max(most, len(held))
        still_needed = set().union(*sending[index + 1 :])
        held &= still_needed
    return most


@examples(62)
@given(shapes, st.data())
def test_is_what_the_laziest_converter_holds(shape: list[int], data: st.DataObject):
    source = data.draw(exact_orders(tuple(shape), most_reuse_loops=0))
    target = data.draw(exact_orders(tuple(shape), most_reuse_loops=1))
    assume(is_small(source) and is_small(target))
    bound = least_live_entries(source, target)
    assert bound == lazily(source, target)
    plan = infer_converter(source, target)
    assert bound is not None and bound <= plan.buffer_entries


@examples(37)
@given(st.data())
def test_windows_that_overlap(data: st.DataObject):
    target = data.draw(covering_orders())
    assume(is_small(target) and prod(target.static_shape) <= 200 and target.token_count <= 300)
    source = data.draw(exact_orders(target.static_shape, most_reuse_loops=0))
    assert least_live_entries(source, target) == lazily(source, target)


def test_repetitions_that_both_share_inside_other_loops():
    """For each row: the row in halves, twice, on both sides; the order of the halves differs."""
    loops = (Loop(3, 1), Loop(2, 1), Loop(2, 4))
    source = StreamOrder((1, 4), loops, (Coordinate((0,)), Coordinate((2,))))
    target = StreamOrder((1, 1), (*loops[:2], Loop(8, 1)), (Coordinate((0,)), Coordinate((2,))))
    assert least_live_entries(source, target) == 4
    twice_inside = StreamOrder((1, 4), (loops[0], loops[2], loops[1]), (Coordinate((0,)), Coordinate((1,))))
    assert least_live_entries(twice_inside, target) is None


def test_what_both_repeat_counts_once_and_other_repetition_is_not_counted():
    once = row_major([4, 6], [2, 3])
    again = StreamOrder(once.element, (Loop(3, 1), *once.loops), (Coordinate((1,)), Coordinate((2,))))
    assert least_live_entries(again, again) == 6
    assert least_live_entries(once, again) == 24
    assert least_live_entries(again, once) is None


def test_published_sizes():
    """16x16 to 16x32 tiles in vectors of 8: 248 entries (docs/design/method.md section 5)."""
    narrow, wide = (vectorized(row_major([32, 64], [16, width]), 8) for width in (16, 32))
    assert least_live_entries(narrow, wide) == 248
    assert least_live_entries(narrow, narrow) == 8
