"""Orders of slices side by side."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.iteration.interleaving import Slices
from stc.iteration.layout_orders import in_order
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Symbol

POSITIONS = Symbol("pos", 7)


def cache(heads: int, step: int, width: int, trip: Symbol | int = POSITIONS) -> StreamOrder:
    """Of as many positions of each `step` heads, in tokens of `width` entries."""
    coordinates = (Coordinate((0,)), Coordinate((1,)), Coordinate((2,)))
    return StreamOrder((step, 1, width), (Loop(heads // step, step), Loop(trip, 1), Loop(12 // width, width)), coordinates)


@pytest.mark.parametrize("heads, step, width", [(4, 1, 12), (5, 1, 4), (6, 2, 3), (3, 3, 12)])
@pytest.mark.parametrize("positions", [0, 1, 7])
def test_slices_side_by_side_are_the_same_tokens_entry_by_entry(heads: int, step: int, width: int, positions: int):
    slices = Slices.of(cache(heads, step, width))
    assert slices is not None and (slices.dimension, slices.count, slices.step) == (0, heads // step, step)
    before, after = (order.at({"pos": positions}).enumerate() for order in (slices.order, slices.side_by_side))
    assert [tuple(token) for token in after] == sorted((tuple(token) for token in before), key=lambda token: (token[1], token[0]))


def test_one_slice_after_the_other_is_the_order():
    slices = Slices.of(cache(6, 2, 4))
    assert slices is not None
    one = slices.one.at({"pos": 5}).enumerate()
    whole = [tuple(token + begin) for begin in map(slices.begin, range(3)) for token in one]
    assert whole == [tuple(token) for token in slices.order.at({"pos": 5}).enumerate()]


def test_slices_of_what_begins_at_run_time_begin_there():
    begun = replace(cache(4, 1, 12), coordinates=(Coordinate((0,)), Coordinate((1,), POSITIONS), Coordinate((2,))))
    slices = Slices.of(begun)
    assert slices is not None
    assert slices.side_by_side.begins == begun.begins
    assert not slices.one.begins_at_run_time


def test_which_slices_a_part_has():
    slices = Slices.of(cache(6, 2, 4))
    assert slices is not None
    assert slices.part(cache(4, 2, 4), (2, 0, 0)) == range(1, 3)
    assert slices.part(cache(6, 2, 4), (0, 0, 0)) == range(3)
    assert slices.part(in_order((2, 7, 8), (2, 1, 4), (0, 1, 2)), (0, 0, 4)) is None  # a part of each position


@pytest.mark.parametrize("order", [
    cache(4, 1, 12, 7),  # as many in each launch
    in_order((4, 7, 12), (1, 1, 12), (1, 0, 2)),  # side by side already
    replace(cache(4, 1, 12), coordinates=(Coordinate((0,), 1), Coordinate((1,)), Coordinate((2,)))),  # not from the first slice on
    StreamOrder((1, 1), (Loop(3, 1), Loop(POSITIONS, 1)), (Coordinate(), Coordinate((1,)))),  # passed three times
])  # fmt: skip
def test_what_is_none(order: StreamOrder):
    assert Slices.of(order) is None
