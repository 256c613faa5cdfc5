"""Slices of streams: their tokens are those of the whole that lie in the slice, before a reshape as behind it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.iteration.layout_orders import in_order
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol
from stc.iteration.slices import cut, slice_before

EXTENTS = st.lists(st.integers(1, 6), min_size=1, max_size=3)


@given(st.data(), EXTENTS)
def test_a_slice_has_the_tokens_of_the_whole_that_lie_in_it(data: st.DataObject, extents: list[int]) -> None:
    nest = data.draw(st.permutations(range(len(extents))))
    sizes = [data.draw(st.integers(1, extent)) for extent in extents]
    offset = [data.draw(st.integers(0, extent - size)) for extent, size in zip(extents, sizes, strict=True)]
    whole = in_order(extents, [1] * len(extents), nest).enumerate()
    inside = np.all((whole >= offset) & (whole < np.add(offset, sizes)), axis=1)
    assert np.array_equal(cut(in_order(extents, [1] * len(extents), nest), sizes).enumerate(), whole[inside] - offset)


@given(st.data(), st.integers(1, 4), st.integers(1, 4), st.integers(1, 4))
def test_a_slice_of_a_reshape_is_one_before(data: st.DataObject, outer: int, middle: int, inner: int) -> None:
    shapes = [(outer * middle, inner), (outer, middle, inner), (outer, middle * inner)]
    before, after = data.draw(st.permutations(shapes))[:2]
    source, result = (in_order(shape, [1] * len(shape), range(len(shape))) for shape in (before, after))
    count = data.draw(st.integers(1, after[0]))
    begin = data.draw(st.integers(0, after[0] - count))
    try:
        offset, extents = slice_before(source, result, (begin, *[0] * (len(after) - 1)), (count, *after[1:]))
    except ValueError:
        rest = after[0] // before[0] if after[0] > before[0] else 1
        assert count == after[0] or 1 in (before[0], after[0]) or begin % rest or count % rest or outer == 1
        return
    each = outer * middle * inner // after[0]
    taken = cut(source, extents).enumerate() + offset
    assert np.array_equal(taken, source.enumerate()[begin * each : (begin + count) * each])


def test_what_has_no_slice() -> None:
    rows = Symbol("rows", 4)
    by_two = in_order((4, 4), (2, 1), (0, 1))
    with pytest.raises(ValueError, match="not one loop over single entries"):
        cut(by_two, (2, 4))
    with pytest.raises(ValueError, match="symbolic"):
        cut(StreamOrder((1,), (Loop(rows, 1),), (Coordinate((0,)),)), (2,))
    repeated = StreamOrder((1,), (Loop(3, 1), Loop(4, 1)), (Coordinate((1,)),))
    with pytest.raises(ValueError, match="outermost loops of both"):
        slice_before(repeated, in_order((3, 4), (1, 1), (0, 1)), (0, 0), (1, 4))
    with pytest.raises(ValueError, match="ends inside an iteration"):
        slice_before(in_order((2, 9), (1, 1), (0, 1)), in_order((6, 3), (1, 1), (0, 1)), (2, 0), (4, 3))
