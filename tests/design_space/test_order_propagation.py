"""Order propagation through a few computations: what later ones do decides the order of earlier ones, and what sums are of their
tiles."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.design_space.order_propagation import LEAST_CYCLES, Propagation, ReshapeOf, TiledOp, TilingNode, tiles_of_lanes
from stc.design_space.orders import Computation, Operand, TileSizes
from stc.design_space.tiling import LEAST_INTEGER_SUMS, LEAST_SUMS
from stc.iteration.layout_orders import row_major

SIZES = TileSizes(columns=16, rows=128)
LANES = 16


def products(groups: int, size: int, rows: int) -> Computation:
    """s[g, r, l] = x[g, i] w[g, i, r, l] over loops g, r, l, i: one row, sums within groups, rows of lanes."""
    x = Operand("x", (0, 3), 1, row_major((groups, size), (1, size)))
    w = Operand("w", (0, 3, 1, 2), 1, is_parameter=True)
    return Computation((groups, rows, LANES, size), (3,), (x, w), (Operand("s", (0, 1, 2), 4),), of_integers=True)


def layer(computation: Computation) -> list[TilingNode]:
    """The products, their sums made floats, and added over groups."""
    groups, rows, lanes, _ = computation.extents
    floats = Computation((groups, rows, lanes), (), (Operand("s", (0, 1, 2), 4),), (Operand("f", (0, 1, 2), 4),))
    sums = Computation((groups, rows, lanes), (0,), (Operand("f", (0, 1, 2), 4),), (Operand("y", (1, 2), 4),))
    return [TiledOp("products", computation, LANES), TiledOp("floats", floats), TiledOp("sums", sums)]


def outermost(nodes: list[TilingNode]) -> int:
    computation = products(1, 1, 1).inputs[0]
    assert isinstance(nodes[0], TiledOp)
    x = nodes[0].computation.inputs[0]
    orders = {x.tensor: x.order} if x.order is not None else {}
    assert computation.tensor in orders
    return Propagation(nodes, SIZES, orders=dict(orders)).plans["products"].order[0]


@pytest.mark.parametrize(("groups", "size", "rows", "expected"), [(6, 16, 48, 1), (5, 7, 36, 1), (48, 16, 6, 0), (35, 5, 3, 0)])
def test_the_shorter_of_inputs_and_results_waits(groups: int, size: int, rows: int, expected: int) -> None:
    """Where there are more results than inputs, rows are outermost, and whoever reads the results may begin with the first ones;
    where there are fewer, groups are, and it begins itself with the first inputs."""
    assert outermost(layer(products(groups, size, rows))) == expected


@pytest.mark.parametrize(("groups", "size", "rows", "expected"), [(6, 16, 48, 1), (5, 7, 36, 1), (48, 16, 6, 0)])
def test_sums_are_over_before_others_add_them_up(groups: int, size: int, rows: int, expected: int) -> None:
    """Whoever adds up all rows of the results in the end spares none of the sums over groups."""
    largest = Computation((rows, LANES), (0, 1), (Operand("y", (0, 1), 4),), (Operand("m", (), 4),))
    assert outermost([*layer(products(groups, size, rows)), TiledOp("largest", largest)]) == expected


def test_groups_that_nobody_sums_are_no_sums() -> None:
    """Who moves the results keeps every group: no order makes anybody wait for sums."""
    computation = products(6, 16, 48)
    moved = ReshapeOf("m", (6 * 48, LANES), "s", (6, 48, LANES))
    assert outermost([*layer(computation)[:1], moved]) == 0
    assert outermost([*layer(computation), moved]) == 0


def test_integers_have_short_tiles() -> None:
    """As many sums as loading and storing one takes, in as many cycles as make up for filling the pipeline; floats as many as the
    adder takes, whatever the number of terms."""
    computation = products(1, 64, 24)
    assert tiles_of_lanes(computation, LANES)[1] == LEAST_INTEGER_SUMS == 4
    assert tiles_of_lanes(products(6, 64, 24), LANES)[1] == 4, "a tile of x has one group"
    assert tiles_of_lanes(replace(computation, of_integers=False), LANES)[1] == LEAST_SUMS
    few = products(1, 4, 192)
    assert tiles_of_lanes(few, LANES)[1] * 4 == LEAST_CYCLES
    whole = replace(products(6, 64, 24), inputs=(Operand("x", (0, 3), 1, row_major((6, 64), (6, 64))), few.inputs[1]))
    assert tiles_of_lanes(whole, LANES)[1] == 1, "six groups, one after the other, fill the pipeline seldom enough"


@pytest.mark.parametrize(
    ("groups", "terms", "rows", "expected"),
    [
        (2, 128, 16, 1),  # not two: a row's sum would come up again two cycles later, through memory
        (3, 128, 21, 1),
        (2, 64, 16, 4),  # too few cycles for one row
        (2, 8, 96, 16),
        (3, 5, 34, 34),
        (2, 64, 3, 1),  # no divisor
    ],
)
def test_rows_of_several_groups_take_turns_enough(groups: int, terms: int, rows: int, expected: int) -> None:
    """Where a tile of x has several groups, their sums come one after the other, whatever their number."""
    given = products(2 * groups, terms, rows)
    x = replace(given.inputs[0], order=row_major((2 * groups, terms), (groups, terms)))
    assert tiles_of_lanes(replace(given, inputs=(x, given.inputs[1])), LANES).get(1, 1) == expected
    inside = Operand("w", (3, 0, 1, 2), 1, is_parameter=True)
    tile = tiles_of_lanes(replace(given, inputs=(x, inside)), LANES).get(1, 1)
    assert groups * tile >= LEAST_INTEGER_SUMS, "groups inside of the terms take turns as well"


def test_lanes_of_several_groups_take_turns_as_well() -> None:
    """Two groups of lanes in a row: its sums would come up again two cycles later, but those of two rows four."""
    given = products(4, 128, 16)
    x = replace(given.inputs[0], order=row_major((4, 128), (2, 128)))
    computation = replace(given, inputs=(x, given.inputs[1]))
    assert tiles_of_lanes(computation, LANES).get(1, 1) == 1
    half = tiles_of_lanes(computation, LANES // 2)
    assert (half[1], half[2]) == (2, LANES)


@pytest.mark.parametrize(("columns", "expected"), [(2, LANES), (3, LANES), (4, 4 * LANES), (8, 8 * LANES)])
def test_too_few_groups_of_lanes_come_one_by_one(columns: int, expected: int) -> None:
    """Of one row a tile has two or three groups of lanes: each sum would come up again too soon, so each stays in a register until
    it is over, and the next begins then. Groups of terms outside of the tile are no sums of it."""
    given = products(8, 128, 1)
    computation = replace(given, extents=(8, 1, columns * LANES, 128))
    assert tiles_of_lanes(computation, LANES)[2] == expected
