"""Reshapes of streams with sizes known at run time: what is proved of the largest sizes holds for each value."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Size, Symbol, substituted
from stc.iteration.sized_reshapes import at_largest, dealt, gathered, resized, sliced

POS = Symbol("pos", 6)


def order(element: tuple[int, ...], trips: tuple[Size, ...], steps: tuple[int, ...], *coordinates: tuple[int, ...]) -> StreamOrder:
    loops = tuple(Loop(trip, step) for trip, step in zip(trips, steps, strict=True))
    return StreamOrder(element, loops, tuple(Coordinate(loops) for loops in coordinates))


def flat(order: StreamOrder, shape: tuple[int, ...]) -> list[list[int]]:
    """The row-major positions of the entries of each token, of a tensor of `shape`."""
    found: list[list[int]] = []

    def tokens(index: tuple[int, ...]) -> None:
        if len(index) < len(order.loops):
            for value in range(int(str(order.loops[len(index)].trip))):
                tokens((*index, value))
            return
        begins = [sum(index[loop] * order.loops[loop].step for loop in each.loops) for each in order.coordinates]
        entries = [0]
        for begin, extent, size in zip(begins, order.element, shape, strict=True):
            entries = [entry * size + begin + offset for entry in entries for offset in range(extent)]
        found.append(entries)

    tokens(())
    return found


def at(value: int, order: StreamOrder) -> StreamOrder:
    """`order` where POS has this value."""
    return replace(order, loops=tuple(Loop(substituted(loop.trip, {POS: value}), loop.step) for loop in order.loops))


def test_the_size_stays_with_its_dimension_at_every_value() -> None:
    """[2, pos, 8] by halves of rows is [2, pos, 2, 4] by rows of four; entries keep their places among those that are there."""
    source = order((1, 1, 4), (2, POS, 2), (1, 1, 4), (0,), (1,), (2,))
    found = resized(source, order((1, 1, 1, 4), (2, 6, 2), (1, 1, 1), (0,), (1,), (2,), ()))
    assert [loop.trip for loop in found.loops] == [2, POS, 2]
    for value in range(7):
        assert flat(at(value, source), (2, value, 8)) == flat(at(value, found), (2, value, 2, 4))


@pytest.mark.parametrize(
    ("source", "target"),
    [
        (order((1, 4), (POS,), (1,), (0,), ()), order((1, 1, 4), (3, 2), (1, 1), (0,), (1,), ())),
        (order((1, 4), (POS,), (1,), (0,), ()), order((2, 4), (3,), (2,), (0,), ())),
        (order((2, 4), (POS,), (2,), (0,), ()), order((2, 2, 2), (6,), (2,), (0,), (), ())),
        (order((1, 4), (POS, 6), (1, 1), (1,), ()), order((1, 2, 2), (6, 6), (1, 1), (1,), (), ())),
    ],
    ids=["split", "two entries at a time", "steps of two", "repeated"],
)
def test_what_is_not_kept_is_refused(source: StreamOrder, target: StreamOrder) -> None:
    with pytest.raises(ValueError, match=r"dimension|repeats"):
        resized(source, target)


def test_largest() -> None:
    assert at_largest(order((1,), (POS,), (1,), (0,))) == order((1,), (6,), (1,), (0,))


HEADS = order((1, 1, 2), (4, POS, 2), (1, 1, 2), (0,), (1,), (2,))


def test_a_slice_of_heads_keeps_the_rows_at_every_value() -> None:
    """Of 4 heads the last two: the tokens of the whole that lie there, in its order, however many rows there are."""
    found = sliced(HEADS, order((1, 1, 2), (2, 6, 2), (1, 1, 2), (0,), (1,), (2,)), (2, 0, 0))
    assert [loop.trip for loop in found.loops] == [2, POS, 2]
    for value in range(7):
        whole = [tuple(token) for token in at(value, HEADS).enumerate() if token[0] >= 2]
        assert [(head + 2, row, column) for head, row, column in at(value, found).enumerate()] == whole


def test_heads_behind_one_another_keep_the_rows_at_every_value() -> None:
    """One head, and three more: the tokens of each, in turn, are those of the whole."""
    one, three = (order((1, 1, 2), (heads, POS, 2), (1, 1, 2), (0,), (1,), (2,)) for heads in (1, 3))
    found = gathered([one, three], at_largest(HEADS), [(0, 0, 0), (1, 0, 0)])
    assert found == HEADS
    for value in range(7):
        tokens = [(begin, token) for begin, part in ((0, one), (1, three)) for token in at(value, part).enumerate()]
        expected = [(begin + head, row, column) for begin, (head, row, column) in tokens]
        assert [tuple(token) for token in at(value, found).enumerate()] == expected


def test_parts_of_other_sizes_are_none_of_one_tensor() -> None:
    one = order((1, 1, 2), (2, POS, 2), (1, 1, 2), (0,), (1,), (2,))
    other = order((1, 1, 2), (2, Symbol("rows", 6), 2), (1, 1, 2), (0,), (1,), (2,))
    for parts in ([one, other], [one, at_largest(one)], [at_largest(one), one]):
        with pytest.raises(ValueError, match="has other sizes than the whole"):
            gathered(parts, at_largest(HEADS), [(0, 0, 0), (2, 0, 0)])
    with pytest.raises(ValueError, match="of dimension 1, of run-time size, are cut out"):
        gathered([one, one], order((1, 1, 2), (2, 12, 2), (1, 1, 2), (0,), (1,), (2,)), [(0, 0, 0), (0, 6, 0)])


def test_what_is_dealt_inside_the_rows_keeps_them_at_every_value() -> None:
    """Each second token of a row."""
    part = order((1, 1, 2), (4, 6), (1, 1), (0,), (1,), ())
    for number in range(2):
        found = dealt(HEADS, part, 2)
        assert [loop.trip for loop in found.loops] == [4, POS]
        for value in range(7):
            whole = [tuple(token) for token in at(value, HEADS).enumerate()][number::2]
            assert [(head, row, column + 2 * number) for head, row, column in at(value, found).enumerate()] == whole


@pytest.mark.parametrize("offset", [(0, 0, 0), (0, 3, 0)])
def test_a_slice_of_rows_is_none(offset: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="of dimension 1, of run-time size, are cut out"):
        sliced(HEADS, order((1, 1, 2), (4, 3, 2), (1, 1, 2), (0,), (1,), (2,)), offset)


def test_rows_in_turn_are_no_parts() -> None:
    """How many rows the first part gets depends on whether there is an odd number of them."""
    rows = order((1, 4), (POS,), (1,), (0,), ())
    with pytest.raises(ValueError, match="does not have as many tokens for each of 2 parts"):
        dealt(rows, order((1, 4), (3,), (2,), (0,), ()), 2)
