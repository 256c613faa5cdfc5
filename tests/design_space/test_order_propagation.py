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
    assert tiles_of_lanes(whole, LANES)[1] == 1, "six groups are sums enough"
