"""Converters on either side of element-wise computations: which side, and what keeps them where they are."""

from __future__ import annotations

from dataclasses import replace

from stc.design_space.converter_moves import MovingTask, Network, cheapest_plans, memory_cost
from stc.design_space.orders import Computation, LoopPlan, Operand
from stc.iteration.layout_orders import in_order

SHAPE = (8, 16)
ROWS = in_order(SHAPE, (1, 16), (0, 1))
COLUMNS = in_order(SHAPE, (8, 2), (0, 1))
BY_ROWS, BY_COLUMNS = LoopPlan((1, 16), (0, 1)), LoopPlan((8, 2), (1, 0))
BOTH, FIRST = (0, 1), (0,)


def task(inputs: str, output: str, plan: LoopPlan, widths: dict[str, int] | None = None, lanes: int = 1) -> MovingTask:
    """Inputs are matrices, a name in capitals is a vector along the first dimension; entries of 4 bytes unless `widths` says."""
    bytes_of = {name: (widths or {}).get(name, 4) for name in (*inputs, output)}
    operands = tuple(Operand(name, FIRST if name.isupper() else BOTH, bytes_of[name]) for name in inputs)
    return MovingTask(Computation(SHAPE, (), operands, (Operand(output, BOTH, bytes_of[output]),)), plan, lanes)


def network(tasks: dict[str, MovingTask], made: str, required: str, obliging: str = "") -> Network:
    """`made` come in rows, `required` are read in columns."""
    widths = {o.tensor: o.entry_bytes for t in tasks.values() for o in (*t.computation.inputs, *t.computation.outputs)}
    vectors = in_order((8,), (1,), (0,))
    orders = {name: vectors if name.isupper() else ROWS for name in made}
    return Network(tasks, orders, dict.fromkeys(required, (COLUMNS,)), widths, frozenset(obliging))


def test_two_inputs_become_one_output() -> None:
    found = network({"t": task("ab", "y", BY_COLUMNS)}, "ab", "y")
    assert memory_cost(found, {"t": BY_COLUMNS}).converters == 2 * 512
    assert cheapest_plans(found) == {"t": BY_ROWS}
    assert memory_cost(found, cheapest_plans(found)).converters == 512


def test_behind_a_truncation() -> None:
    found = network({"t": task("a", "y", BY_COLUMNS, {"y": 2})}, "a", "y")
    assert cheapest_plans(found) == {"t": BY_ROWS}


def test_in_front_of_an_extension() -> None:
    found = network({"t": task("a", "y", BY_ROWS, {"a": 2})}, "a", "y")
    assert cheapest_plans(found) == {"t": BY_COLUMNS}


def test_in_front_of_a_broadcast() -> None:
    """A vector is broadcast: as it comes the matrix is converted, otherwise nothing or the vector is."""
    found = network({"t": task("A", "y", BY_ROWS)}, "A", "y")
    assert memory_cost(found, {"t": BY_ROWS}).converters == 512
    assert memory_cost(found, cheapest_plans(found)).converters <= 32


def test_a_row_moves_together() -> None:
    """Between equal types nothing is gained by one step, but behind the truncation at the end of the row."""
    tasks = {"s": task("a", "h", BY_COLUMNS), "t": task("h", "y", BY_COLUMNS, {"y": 1})}
    found = network(tasks, "a", "y")
    assert cheapest_plans(found) == {"s": BY_ROWS, "t": BY_ROWS}
    assert memory_cost(found, cheapest_plans(found)).converters == 128


def test_nothing_to_gain() -> None:
    found = network({"t": task("a", "y", BY_ROWS)}, "a", "y")
    assert cheapest_plans(found) == {"t": BY_ROWS}


def test_smaller_tiles_alone_are_no_reason() -> None:
    whole = LoopPlan(SHAPE, (0, 1))
    found = network({"t": task("a", "y", whole)}, "", "", obliging="a")
    assert cheapest_plans(replace(found, made={"a": ROWS})) == {"t": whole}


def test_lanes_are_kept() -> None:
    """By columns of two only two points are computed at once."""
    wide = network({"t": task("a", "y", BY_ROWS, {"a": 2}, lanes=16)}, "a", "y")
    assert cheapest_plans(wide) == {"t": BY_ROWS}


def test_an_obliging_input_is_not_read_more_often() -> None:
    """The vector comes from memory and would be read again for every column block."""
    stays = network({"t": task("aB", "y", BY_ROWS, {"a": 2})}, "aB", "y")
    by_tiles = LoopPlan((4, 2), (1, 0))
    tiled = replace(stays, required={"y": (in_order(SHAPE, (4, 2), (1, 0)),)}, obliging=frozenset("B"))
    assert cheapest_plans(tiled)["t"] == BY_ROWS
    assert cheapest_plans(replace(tiled, obliging=frozenset()))["t"] == by_tiles
