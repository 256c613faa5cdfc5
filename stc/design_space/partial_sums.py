"""How many partial sums to keep where a pipeline would wait for one: fewest cycles, filling and combining them included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

MEMORY_PORTS = 2
"""Entries of one bank of local memory that a cycle can read."""

CYCLES_AROUND = 4
"""Of the pipeline that combines: load, store, and a cycle each to enter and leave the loop."""


MOST_REGISTERS = 16
"""Partial sums of one entry that are registers: a choice of more of them is wide, and takes long."""


@dataclass(frozen=True)
class SumShape:
    """A sum as a task computes it. Counts are per run of the task, copies of unrolled loops counted once.

    `iterations` of the pipelined loop, `interval` cycles apart with a single sum; `fills` entries set; `combines` times the sums
    are needed, `combined` entries in all; `stages` of the operator that combines two; at most `terms` are added to an entry
    while the pipeline runs. `single`: there is one sum, whose partial sums can be registers.
    """

    iterations: int
    interval: int
    fills: int
    combines: int
    combined: int
    stages: int
    terms: int
    single: bool = False

    def in_registers(self, count: int) -> bool:
        """Whether `count` partial sums are: all are set at once, and read at once."""
        return self.single and count <= MOST_REGISTERS


def cheapest_count(shape: SumShape, interval: Callable[[int], int]) -> int:
    """The number of partial sums, a power of two, with the fewest cycles; 1 where several gain nothing.

    `interval`: of the pipelined loop for a number of partial sums.
    """
    best, least = 1, shape.iterations * shape.interval
    count = 2
    while count < 2 * shape.terms:
        cycles = shape.iterations * interval(count) + cycles_besides(shape, count)
        if cycles < least:
            best, least = count, cycles
        count *= 2
    return best


def most_terms_at_once(extent: int) -> int:
    """Of `extent` terms, in iterations that bits of their index tell apart (so that partial sums take turns): the largest power of
    two that divides it."""
    return extent & -extent


def cycles_besides(shape: SumShape, count: int) -> int:
    """What `count` partial sums cost more than one apart from the loop: to fill them, and to combine them in a tree."""
    levels = (count - 1).bit_length()
    tree = shape.combines * (levels * shape.stages + CYCLES_AROUND)
    if shape.in_registers(count):
        return shape.combined + tree
    return shape.fills * (count - 1) + shape.combined * -(-count // MEMORY_PORTS) + tree
