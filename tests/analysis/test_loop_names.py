"""Loops are called after the dimensions they run along."""

from __future__ import annotations

import pytest

from stc.analysis.loop_names import dimension_names, order_loop_names
from stc.iteration.order import Coordinate, Loop, StreamOrder


@pytest.mark.parametrize(
    ("shape", "names"),
    [
        ((), ()),
        ((7,), ("entry",)),
        ((5, 3), ("row", "column")),
        ((2, 5, 3), ("plane", "row", "column")),
        ((6, 2, 5, 3), ("batch", "plane", "row", "column")),
        ((2, 2, 2, 2, 2, 2), ("batch3", "batch2", "batch", "plane", "row", "column")),
    ],
)
def test_a_matrix_lies_in_the_last_two_dimensions(shape: tuple[int, ...], names: tuple[str, ...]) -> None:
    assert dimension_names(shape) == names


def test_a_matrix_is_called_the_same_wherever_unit_dimensions_stand() -> None:
    for shape in ((1, 8, 16), (8, 1, 16), (8, 16, 1)):
        named = dict(zip(shape, dimension_names(shape), strict=True))
        assert (named[8], named[16]) == ("row", "column") and len(set(dimension_names(shape))) == 3
    assert dimension_names((1, 8))[1] == dimension_names((8, 1))[0] == "entry"


def test_names_of_an_order_say_what_is_a_tile_and_what_comes_again() -> None:
    order = StreamOrder((1, 4), (Loop(3, 1), Loop(2, 8), Loop(5, 1), Loop(2, 4)), (Coordinate((2,)), Coordinate((1, 3))))
    assert order_loop_names(order) == ("visit", "first_column", "row", "column")
