"""Counters against nested loops that are run."""

from __future__ import annotations

from itertools import product
from math import prod
from random import Random

import pytest

from stc.iteration.counters import Counter, count_as_said
from stc.iteration.index_expressions import IndexExpression, Operator, computed, variable


def odometer(trips: list[int], steps: list[int], turns: int, most: int) -> tuple[dict[str, Counter], list[IndexExpression[str]]]:
    """Counters of loops, outermost first, that advance in the first `turns` of `most` iterations; and what they are next."""
    names = [f"c{number}" for number in range(len(trips))]
    counters = {name: Counter(turns, prod(trips[number + 1 :]), trips[number], steps[number]) for number, name in enumerate(names)}
    moves = variable("t").less(IndexExpression[str](turns))
    following: list[IndexExpression[str]] = []
    for name, counter in reversed(counters.items()):
        value = variable(name)
        ends = computed(Operator.EQUAL, value, IndexExpression[str]((counter.trip - 1) * counter.step))
        advanced = computed(Operator.SELECT, ends, IndexExpression[str](0), value.plus(IndexExpression(counter.step)))
        following.insert(0, computed(Operator.SELECT, moves, advanced, value))
        moves = computed(Operator.MIN, moves, ends)
    return counters, following


@pytest.mark.parametrize("seed", range(40))
def test_counters_are_the_loops_variables(seed: int) -> None:
    random = Random(seed)
    trips = [random.choice([1, 2, 3, 5]) for _ in range(random.choice([1, 2, 3]))]
    steps = [random.choice([1, 2, 7]) for _ in trips]
    turns = prod(trips)
    most = turns + random.choice([0, 0, 1, 4])
    counters, following = odometer(trips, steps, turns, most)
    assert count_as_said(counters, following, "t", most)
    turn = IndexExpression[str](0)
    for number, values in enumerate(product(*(range(0, trip * step, step) for trip, step in zip(trips, steps, strict=True)))):
        turn = IndexExpression(number)
        assert [counter.value(turn, most).constant for counter in counters.values()] == list(values)
    assert turn.constant == turns - 1
    for number in range(turns, most):
        assert all(counter.value(IndexExpression[str](number), most) == IndexExpression(0) for counter in counters.values())


@pytest.mark.parametrize("wrong", [{"turns": 5}, {"turns": 2}, {"stride": 1}, {"stride": 4}, {"step": 1}, {"trip": 1}])
def test_whoever_says_another_number_is_not_believed(wrong: dict[str, int]) -> None:
    counters, following = odometer([2, 3], [4, 2], 6, 8)
    first = counters["c0"]
    assert count_as_said(counters, following, "t", 8)
    lies = {**vars(first), **wrong}
    assert not count_as_said({**counters, "c0": Counter(**lies)}, following, "t", 8)


def test_what_depends_on_anything_else_is_not_believed() -> None:
    counters, following = odometer([4], [1], 4, 4)
    assert count_as_said(counters, following, "t", 4)
    assert not count_as_said(counters, [following[0].plus(variable("other"))], "t", 4)
    without_guard = computed(Operator.REM, variable("c0").plus(IndexExpression(1)), IndexExpression[str](4))
    assert count_as_said(counters, [without_guard], "t", 4)
    assert not count_as_said(counters, [without_guard], "t", 5), "the next round would begin with 1"
