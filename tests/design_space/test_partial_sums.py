"""The number of partial sums: never slower than one, by the cycles it is chosen by; and what a few cases come to."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace

from stc.design_space.partial_sums import SumShape, cheapest_count, cycles_besides, most_terms_at_once

LATENCY = 10


def interval_of(distance: int) -> Callable[[int], int]:
    return lambda count: -(-LATENCY // (distance * count))


def test_long_sums_are_split_until_the_pipeline_never_waits() -> None:
    shape = SumShape(iterations=1024, interval=7, fills=1, combines=1, combined=1, stages=7, terms=1024)
    assert cheapest_count(shape, interval_of(1)) == 16


def test_no_more_partial_sums_than_terms() -> None:
    shape = SumShape(iterations=900, interval=7, fills=1, combines=1, combined=1, stages=7, terms=3)
    assert cheapest_count(shape, interval_of(1)) == 4   # the power of two that holds them


def test_short_sums_are_left_alone() -> None:
    shape = SumShape(iterations=4, interval=7, fills=1, combines=1, combined=1, stages=7, terms=4)
    assert cheapest_count(shape, interval_of(1)) == 1


def test_never_slower_than_one() -> None:
    source = random.Random(0)
    for _ in range(200):
        distance = source.choice([1, 2, 3, 5, 7])
        shape = SumShape(source.randint(1, 500), -(-LATENCY // distance), source.randint(1, 40), source.randint(1, 9),
                         source.randint(1, 60), source.choice([2, 7]), source.choice([1, 2, 7, 13, 64]))
        count = cheapest_count(shape, interval_of(distance))
        besides = cycles_besides(shape, count) if count > 1 else 0
        assert shape.iterations * (interval_of(distance)(count) if count > 1 else shape.interval) + besides <= (
            shape.iterations * shape.interval)


def test_one_sum_in_registers_is_set_and_read_at_once() -> None:
    """In memory 16 partial sums are set in 15 cycles more, and read in 8."""
    memory = SumShape(iterations=1024, interval=7, fills=1, combines=1, combined=1, stages=7, terms=1024)
    registers = replace(memory, single=True)
    assert cycles_besides(memory, 16) - cycles_besides(registers, 16) == 15 + 7
    assert cycles_besides(memory, 32) == cycles_besides(registers, 32)   # too many to choose from in a cycle


def test_terms_at_once_are_told_apart_by_bits() -> None:
    assert [most_terms_at_once(extent) for extent in (1, 7, 96, 448, 1024)] == [1, 1, 32, 64, 1024]
