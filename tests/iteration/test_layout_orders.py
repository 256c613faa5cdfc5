"""Orders of slices, concatenations and reshapes, by enumeration."""

from __future__ import annotations

from math import prod

import numpy as np
import pytest
from hypothesis import assume, event, given
from hypothesis import strategies as st
from random_orders import entries, exact_orders, is_small

from stc.iteration.layout_orders import concat_orders, in_order, reshape_orders, row_major, slice_orders
from stc.iteration.order import StreamOrder
from stc.iteration.vectorize import largest_divisor
from stc_testing.drawn import examples

some = examples(50)
extents_lists = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8]), min_size=1, max_size=3)


def check_parts(whole: StreamOrder, parts: list[StreamOrder], offsets: list[list[int]], sizes: list[list[int]]) -> None:
    """Each part is the tokens of the whole that lie in its slice, in order, none cut."""
    assert whole.is_exact
    for part, offset, size in zip(parts, offsets, sizes, strict=True):
        assert part.is_exact and part.static_shape == tuple(size) and part.element == whole.element
        first = whole.enumerate() - offset
        inside = ((first >= 0) & (first < size)).all(axis=1)
        assert np.array_equal(first[inside], part.enumerate())


@some
@given(st.data())
def test_slices_are_cut_from_the_order_of_the_source(data: st.DataObject):
    extents = data.draw(extents_lists)
    source = data.draw(st.none() | exact_orders(tuple(extents), most_reuse_loops=1))
    assume(source is None or is_small(source))
    offsets, sizes = [], []
    for _ in range(data.draw(st.integers(1, 3))):
        sizes.append([data.draw(st.integers(1, extent)) for extent in extents])
        offsets.append([data.draw(st.integers(0, extent - size)) for extent, size in zip(extents, sizes[-1], strict=True)])
    whole, parts = slice_orders(source, extents, offsets, sizes, data.draw(st.integers(1, 4)))
    event("source kept" if source is not None and whole.element == source.element else "cut or row-major")
    assert whole.static_shape == tuple(extents)
    check_parts(whole, parts, offsets, sizes)


def test_columns_are_joined_of_rows_of_run_time_size():
    whole, parts = concat_orders([None, None], [16, 8], [[16, 6], [16, 2]], 16, [0])
    assert whole == row_major([16, 8], [1, 2])
    assert parts == [row_major([16, 6], [1, 2]), row_major([16, 2], [1, 2])]


def test_slices_keep_the_nesting_of_the_source():
    source = in_order([4, 6], [2, 3], [1, 0])
    whole, (left, right) = slice_orders(source, [4, 6], [[0, 0], [0, 3]], [[4, 3], [4, 3]], 16)
    assert whole == source
    assert left == right == in_order([4, 3], [2, 3], [1, 0])


@some
@given(extents_lists, st.lists(st.integers(1, 6), min_size=1, max_size=3), st.integers(0, 2), st.integers(1, 4), st.data())
def test_concatenation_is_made_of_its_inputs(
    extents: list[int], lengths: list[int], dimension: int, largest: int, data: st.DataObject
):
    dimension %= len(extents)
    extents = [*extents[:dimension], sum(lengths), *extents[dimension + 1 :]]
    sizes = [[*extents[:dimension], length, *extents[dimension + 1 :]] for length in lengths]
    starts = [sum(lengths[:index]) for index in range(len(lengths))]
    offsets = [[start if dim == dimension else 0 for dim in range(len(extents))] for start in starts]
    sources = [data.draw(st.none() | exact_orders(tuple(size), most_reuse_loops=1)) for size in sizes]
    assume(all(source is None or is_small(source) for source in sources))
    whole, parts = concat_orders(sources, extents, sizes, largest)
    assert whole.static_shape == tuple(extents)
    check_parts(whole, parts, offsets, sizes)
    whole, parts = concat_orders(sources, extents, sizes, largest, [dimension])
    row = 1 if dimension == len(extents) - 1 else largest_divisor(extents[-1], largest)
    rows = row_major(extents, [*([1] * (len(extents) - 1)), row])
    assert whole == rows, "how memory lies is no choice of an input"
    check_parts(whole, parts, offsets, sizes)


def test_copies_come_one_behind_the_other():
    """Of attention each copy has two heads of 64: without being told, one head of all came after the other of all."""
    sources, sizes = [in_order([1, 2, 64], [1, 1, 8], [0, 1, 2])] * 4, [[1, 2, 64]] * 4
    assert concat_orders(sources, [4, 2, 64], sizes, 16)[0] == in_order([4, 2, 64], [1, 1, 8], [1, 2, 0])
    whole, parts = concat_orders(sources, [4, 2, 64], sizes, 16, successive=0)
    assert whole == in_order([4, 2, 64], [1, 1, 8], [0, 1, 2])
    assert parts == sources


def test_a_cache_lies_alike_for_all_that_append_to_it():
    """12 heads, 7 positions and a new one, or 6 and two: in tiles of heads, and by turns, as different stages make them."""
    one, two = in_order([12, 1, 8], [6, 1, 8], [0, 1, 2]), in_order([12, 2, 8], [4, 1, 8], [1, 0, 2])
    whole, parts = concat_orders([None, one], [12, 8, 8], [[12, 7, 8], [12, 1, 8]], 16, [1])
    assert whole == row_major([12, 8, 8], [1, 1, 8]) and parts[1] == row_major([12, 1, 8], [1, 1, 8])
    assert concat_orders([None, two], [12, 8, 8], [[12, 6, 8], [12, 2, 8]], 16, [1])[0] == whole
    wide, _ = concat_orders([None, in_order([2, 1, 24], [1, 1, 24], [0, 1, 2])], [2, 8, 24], [[2, 7, 24], [2, 1, 24]], 16, [1])
    assert wide == row_major([2, 8, 24], [1, 1, 12]), "parts of rows are the default tile's, not the source's"


@pytest.mark.parametrize("heads, block, width, largest", [(12, 6, 64, 64), (15, 5, 7, 16), (4, 2, 1, 16)])
def test_rows_are_joined_behind_those_of_the_same_head(heads: int, block: int, width: int, largest: int):
    """Rows of several heads come at once and in row-major order: that is head by head, and so are the joined ones."""
    new = in_order((heads, 1, width), (block, 1, width), (0, 1, 2))
    whole, parts = concat_orders([None, new], (heads, 5, width), [(heads, 4, width), (heads, 1, width)], largest)
    assert whole == row_major((heads, 5, width), (1, 1, width))
    assert parts[1] == row_major((heads, 1, width), (1, 1, width))


def test_rows_in_another_order_keep_their_elements():
    """Of six heads first halves of the rows come, then second ones: elements of one head would be another sequence."""
    new = in_order((12, 1, 8), (6, 1, 4), (0, 1, 2))
    whole, _ = concat_orders([None, new], (12, 5, 8), [(12, 4, 8), (12, 1, 8)], 8)
    assert whole.element == (6, 1, 4)


@some
@given(st.lists(st.integers(1, 4), min_size=1, max_size=5), st.data())
def test_reshapes_move_one_sequence(factors: list[int], data: st.DataObject):
    old, new = (_merged(factors, data.draw(st.lists(st.booleans(), min_size=5, max_size=5))) for _ in range(2))
    before, after = reshape_orders(None, old, new, data.draw(st.integers(1, 16)))
    for order, shape in ((before, old), (after, new)):
        assert order.is_exact and order.static_shape == tuple(shape)
        linear = np.ravel_multi_index(tuple(entries(order).T), shape)
        assert linear.tolist() == list(range(prod(shape)))
    assert before.element_count == after.element_count and before.token_count == after.token_count


@some
@given(st.lists(st.lists(st.integers(2, 4), min_size=1, max_size=3), min_size=1, max_size=3), st.data())
def test_splits_and_merges_keep_the_nesting_of_the_source(groups: list[list[int]], data: st.DataObject):
    coarse, fine = [prod(group) for group in groups], [extent for group in groups for extent in group]
    old, new = (coarse, fine) if data.draw(st.booleans()) else (fine, coarse)
    for shape in (old, new):
        shape.insert(data.draw(st.integers(0, len(shape))), 1)
    element = [data.draw(st.sampled_from([size for size in range(1, extent + 1) if extent % size == 0])) for extent in old]
    nest = data.draw(st.permutations(range(len(old))))
    before, after = reshape_orders(in_order(old, element, nest), old, new, 16)
    assert before.element_count == after.element_count and before.token_count == after.token_count
    found, expected = (np.ravel_multi_index(tuple(entries(order).T), shape) for order, shape in ((after, new), (before, old)))
    event("nesting kept" if (np.diff(found) != 1).any() else "row-major")
    assert np.array_equal(found, expected) and np.array_equal(np.sort(found), np.arange(prod(old)))


def test_a_merge_keeps_rows():
    """What pairs of columns are packed into, and read as rows of one dimension again."""
    source = in_order([2, 4, 3, 2], [1, 4, 3, 2], [0, 1, 2, 3])
    assert reshape_orders(source, [2, 4, 3, 2], [2, 4, 6], 16) == (source, in_order([2, 4, 6], [1, 4, 6], [0, 1, 2]))
    apart = in_order([4, 3, 2], [4, 1, 1], [2, 0, 1])  # the loops of a merged dimension the wrong way round
    assert reshape_orders(apart, [4, 3, 2], [4, 6], 16) == (row_major([4, 3, 2], [1, 1, 2]), row_major([4, 6], [1, 2]))
    within = in_order([4, 3, 2], [4, 3, 1], [2, 0, 1])
    assert reshape_orders(within, [4, 3, 2], [4, 6], 1) == (row_major([4, 3, 2], [1, 1, 1]), row_major([4, 6], [1, 1]))


def test_a_split_cuts_elements_where_a_new_dimension_ends():
    source = in_order([4, 40], [4, 20], [1, 0])
    before, after = reshape_orders(source, [4, 40], [4, 5, 8], 16)
    assert (before, after) == (in_order([4, 40], [4, 4], [1, 0]), in_order([4, 5, 8], [4, 1, 4], [1, 2, 0]))
    row = in_order([24], [3], [0])
    assert reshape_orders(row, [24], [3, 8], 4) == (row_major([24], [4]), row_major([3, 8], [1, 4]))  # one entry else
    whole = in_order([4, 40], [4, 8], [1, 0])
    assert reshape_orders(whole, [4, 40], [4, 5, 8], 16) == (whole, in_order([4, 5, 8], [4, 1, 8], [1, 2, 0]))


def test_reshape_from_and_to_a_scalar():
    before, after = reshape_orders(None, [], [1, 1], 8)
    assert (before.static_shape, after.static_shape) == ((), (1, 1))
    assert before.token_count == after.token_count == 1


def test_row_major_without_loops():
    order = row_major([4, 6], [4, 6])
    assert order.loops == () and order.static_shape == (4, 6)


def _merged(factors: list[int], cuts: list[bool]) -> list[int]:
    shape = [factors[0]]
    for factor, cut in zip(factors[1:], cuts, strict=False):
        if cut:
            shape.append(factor)
        else:
            shape[-1] *= factor
    return shape
