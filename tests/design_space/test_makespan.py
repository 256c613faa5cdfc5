"""When computations begin and end whose loops have orders: closed forms, against a count token by token."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import permutations, product

import pytest

from stc.design_space.makespan import Dependence, Makespan
from stc.design_space.order_propagation import Propagation, SliceOf, TiledOp
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes
from stc.design_space.overlap import Arrival, dependences, result_of
from stc.iteration.order import Coordinate, Loop, StreamOrder

SIZES = TileSizes(columns=4, rows=4)


def test_a_chain_overlaps_as_far_as_it_may():
    after = {"a": (), "b": (Dependence("a", 0.25, 1.0, 0.5),), "c": (Dependence("b", 1.0, 1.0, 1.0),)}
    makespan = Makespan({"a": 100, "b": 40, "c": 10}, after)
    assert {name: span[:2] for name, span in makespan.spans.items()} == {"a": (0, 100), "b": (25, 120), "c": (120, 130)}
    assert makespan.total == 130 and makespan.critical == ["c", "b", "a"]


def test_the_slower_of_two_operands_counts():
    after = {"a": (), "b": (), "c": (Dependence("a", 1.0, 1.0, 1.0), Dependence("b", 0.5, 1.0, 0.0))}
    makespan = Makespan({"a": 10, "b": 50, "c": 30}, after)
    assert makespan.spans["c"][:2] == (25, 55) and makespan.critical == ["c", "b"]


@pytest.mark.parametrize(("copies", "outer", "end"), [(1, 1, 110), (4, 1, 130), (4, 2, 115), (4, 0, 110)])
def test_what_copies_make_is_taken_one_after_the_other(copies: int, outer: int, end: float):
    """Four copies end at once: three quarters of what they made are left to a reader that goes through it copy by copy, or of the
    last of two rounds, three eighths."""
    after = {"a": (), "b": (Dependence("a", 0.0, 1.0, 0.25, outer),)}
    makespan = Makespan({"a": 100, "b": 40}, after, {"a": copies})
    assert makespan.spans["b"][:2] == (0, end)
    assert Makespan({"a": 100, "b": 40}, after).changed({}, {"a": copies}).spans == makespan.spans


@pytest.mark.parametrize(("copies", "fed", "end"), [(1, 1, 102), (4, 1, 115), (4, 2, 107.5), (4, 0, 102)])
def test_copies_are_fed_one_after_the_other(copies: int, fed: int, end: float):
    """The last of four copies has its first operand when three quarters of all are made, and then all of its own time left; of the
    last of two rounds when seven eighths are made, and half of it."""
    after = {"a": (), "b": (Dependence("a", 0.0, 1.0, 0.05, 0, fed),)}
    makespan = Makespan({"a": 100, "b": 40}, after, {"b": copies})
    assert makespan.spans["b"].end == end and makespan.critical == ["b", "a"]
    assert Makespan({"a": 100, "b": 40}, after).changed({}, {"b": copies}).spans == makespan.spans


@pytest.mark.parametrize(("first", "rest", "end"), [(0.0, 0.0, 160), (0.0, 0.25, 165), (1.0, 1.0, 210)])
def test_what_is_handed_on_late_is_taken_late(first: float, rest: float, end: float):
    """From cycle 100 on the reader of copies has three quarters of its time left, and so has whoever takes what it makes as it
    comes; who needs all of that first begins when the reader has ended, in cycle 130."""
    after = {"a": (), "b": (Dependence("a", 0.0, 1.0, 0.25, 1),), "c": (Dependence("b", first, 1.0, rest),)}
    makespan = Makespan({"a": 100, "b": 40, "c": 80}, after, {"a": 4})
    assert makespan.spans["c"].end == end and makespan.critical == ["c", "b", "a"]


def test_what_a_change_delays_is_as_if_computed_whole():
    draws = random.Random(7)
    for _ in range(50):
        names = [f"n{at}" for at in range(draws.randrange(1, 12))]
        producers = {name: draws.sample(names[:at], draws.randint(0, at)) for at, name in enumerate(names)}
        after = {
            name: tuple(
                Dependence(each, *draws.choices((0.0, 0.25, 1.0), k=3), outer=draws.randrange(3), fed=draws.randrange(3))
                for each in some
            )
            for name, some in producers.items()
        }
        makespan = Makespan({name: draws.randrange(50) for name in names}, after)
        for _ in range(5):
            cycles, copies = [draws.sample(names, draws.randint(0, len(names))) for _ in range(2)]
            makespan = makespan.changed(
                {name: draws.randrange(50) for name in cycles}, {name: draws.randrange(1, 5) for name in copies}
            )
            whole = Makespan(makespan.cycles, after, makespan.copies)
            assert makespan.spans == whole.spans and makespan.critical == whole.critical and makespan.total == whole.total


def test_it_is_over_when_ports_have_brought_all():
    assert Makespan({"a": 7}, {"a": ()}, at_ports=9).total == 9
    assert Makespan({"a": 7}, {"a": ()}, at_ports=9).changed({"a": 8}, at_ports=3).total == 8


def test_nothing_takes_no_time():
    assert Makespan({}, {}).total == 0 and Makespan({}, {}).critical == []


@pytest.mark.parametrize("trips", [(2, 3, 5), (1, 4, 3), (3, 1, 1)])
@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_parts_of_time_are_those_of_the_trace(trips: tuple[int, int, int], order: tuple[int, ...]):
    """y[i, j] = sum over k of x[i, k] w[k, j], tiles of one point: every iteration in turn, results once their sum is complete,
    tiles of x when they are read for the first time."""
    computation = Computation(trips, (2,), (Operand("x", (0, 2), 4),), (Operand("y", (0, 1), 4),))
    plan = LoopPlan((1, 1, 1), order)
    steps = [dict(zip(order, values, strict=True)) for values in product(*(range(trips[loop]) for loop in order))]
    complete = [number for number, step in enumerate(steps) if step[2] == trips[2] - 1]
    assert result_of("m", computation, plan).first == pytest.approx((complete[0] + 1) / len(steps))
    first_reads: dict[tuple[int, int], int] = {}
    for number, step in enumerate(steps):
        first_reads.setdefault((step[0], step[2]), number)
    x = Operand("x", (0, 2), 4, StreamOrder((1, 1), (Loop(trips[0], 1), Loop(trips[2], 1)), (Coordinate((0,)), Coordinate((1,)))))
    known = Computation(trips, (2,), (x,), computation.outputs)
    (found,) = dependences(known, plan, {"x": [Arrival("p", 0.0, 1.0)]})
    assert found.rest == pytest.approx(1 - max(first_reads.values()) / len(steps))


def test_slices_of_the_outer_loop_arrive_one_after_the_other():
    order = StreamOrder((2, 4), (Loop(6, 2),), (Coordinate((0,)), Coordinate()))
    whole = Arrival("p", 0.0, 1.0)
    parts = [whole.of_slice(order, (12, 4), (4 * number, 0), (4, 4)) for number in range(3)]
    assert [(round(part.first, 3), round(part.last, 3)) for part in parts] == [(0, 0.333), (0.333, 0.667), (0.667, 1)]


def test_slices_of_the_inner_loop_arrive_together():
    order = StreamOrder((1, 2), (Loop(10, 1), Loop(2, 2)), (Coordinate((0,)), Coordinate((1,))))
    left, right = (Arrival("p", 0.0, 1.0).of_slice(order, (10, 4), (0, 2 * number), (10, 2)) for number in range(2))
    assert left.first == 0 and right.last == 1 and right.first == pytest.approx(0.05) and left.last == pytest.approx(0.95)


def chain(rows: int, depth: int, middle: int, columns: int) -> list[TiledOp]:
    """b = a u, c = b v, both with lanes along their columns."""
    a, b, c = Operand("a", (0, 2), 4), Operand("b", (0, 1), 4), Operand("c", (0, 1), 4)
    u, v = (Operand(name, (2, 1), 4, is_parameter=True) for name in "uv")
    first = Computation((rows, middle, depth), (2,), (a, u), (b,))
    second = Computation((rows, columns, middle), (2,), (replace(b, dims=(0, 2)), v), (c,))
    return [TiledOp("first", first, lanes=4), TiledOp("second", second, lanes=4)]


def test_two_products_in_a_row_take_turns_in_their_orders():
    """The first sends columns as they are complete, the second adds them up as they come: they overlap but for a tile each."""
    found = Propagation(chain(8, 256, 1024, 256), SIZES)
    assert found.plans["first"].order.index(1) < found.plans["first"].order.index(2)
    assert found.plans["second"].order.index(2) < found.plans["second"].order.index(1)
    (waits,) = found.after["second"]
    assert waits.first < 0.2 and waits.rest < 0.2


def test_a_slice_that_comes_last_is_waited_for():
    """The second half of the columns of a result that leaves column by column."""
    first = chain(8, 64, 256, 4)[0]
    half = SliceOf("h", (8, 128), "b", (8, 256), ((0, 0), (0, 128)), ((8, 128), (8, 128)), 1)
    reader = TiledOp("reader", Computation((8, 128), (), (Operand("h", (0, 1), 4),), (Operand("r", (0, 1), 4),)))
    found = Propagation([first, half, reader], SIZES)
    (waits,) = found.after["reader"]
    assert waits.producer == "first" and waits.first > 0.4
