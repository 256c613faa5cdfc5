"""Buffers lie alike where each entry is at the same place, whatever the words it is read in."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod

from hypothesis import given
from hypothesis import strategies as st

from stc.iteration.bus_words import slot
from stc.iteration.layout_orders import in_order
from stc.iteration.order import StreamOrder
from stc.manifest.layouts import differing, of_entries, order_of, static_order
from stc.manifest.model_schema import BufferLayout
from stc.manifest.schema import OrderLoop

EXTENTS = (2, 3, 12)


def layout(order: StreamOrder, lanes: int) -> BufferLayout:
    entries = slot(order.element_count, lanes)
    assert entries is not None
    return BufferLayout(1, EXTENTS, "f32", lanes, 4 * entries * order.token_count, None, order_of(order))


def places(order: StreamOrder, lanes: int) -> dict[tuple[int, ...], int]:
    """Where each entry of the tensor lies, counted one by one."""
    found: dict[tuple[int, ...], int] = {}
    room = slot(order.element_count, lanes)
    assert room is not None
    for index, token in enumerate(order.enumerate().tolist()):
        for inside, offsets in enumerate(product(*(range(extent) for extent in order.element))):
            found[tuple(start + offset for start, offset in zip(token, offsets, strict=True))] = index * room + inside
    return found


@st.composite
def layouts(draw: st.DrawFn) -> tuple[StreamOrder, int]:
    element = [draw(st.sampled_from([size for size in range(1, extent + 1) if extent % size == 0])) for extent in EXTENTS]
    order = in_order(EXTENTS, element, draw(st.permutations(range(len(EXTENTS)))))
    fitting = [lanes for lanes in (1, 2, 3, 4, 8, 12, 16) if slot(prod(element), lanes) is not None]
    return order, draw(st.sampled_from(fitting))


@given(layouts(), layouts())
def test_alike_is_where_each_entry_lies(one: tuple[StreamOrder, int], other: tuple[StreamOrder, int]):
    is_alike = not differing(layout(*one), layout(*other))
    is_same = places(*one) == places(*other)
    assert is_same or not is_alike
    padded = any(slot(order.element_count, lanes) != order.element_count for order, lanes in (one, other))
    assert is_alike or padded or not is_same


def rows(lanes: int, dimensions: Sequence[int] = (0, 1, 2)) -> BufferLayout:
    return layout(in_order(EXTENTS, (1, 1, lanes), dimensions), lanes)


def test_words_of_a_row_are_alike_and_rows_in_another_order_are_not():
    assert not differing(rows(4), rows(12))
    assert differing(rows(4), rows(4, (1, 0, 2))) == ["order"]


def test_padded_words_are_alike_only_if_they_are_the_same():
    order = in_order(EXTENTS, (1, 1, 3), (0, 1, 2))
    padded, whole = layout(order, 4), layout(order, 3)
    assert not differing(padded, padded)
    assert "lanes" in differing(padded, whole)


def test_a_layout_of_run_time_size_stays_as_it_is():
    known = rows(4)
    first, *others = known.order.loops
    order = type(known.order)(known.order.element, (OrderLoop("seq<=9", first.step), *others), known.order.coordinates)
    unknown = BufferLayout(1, EXTENTS, "f32", 4, known.bytes, None, order)
    assert static_order(order) is None and of_entries(unknown) == unknown
    assert differing(unknown, known) == ["order"]
