"""Loop-carried dependences: how soon an iteration may start after the one whose result it continues.

A sum that stays in one place while the pipelined loop runs is kept in a register, and an iteration waits for the operators on
the way only (the adder: 7 stages at 3.33 ns, 5 at 5 ns; the operator table says). Through memory it waits for the load and the
store as well, as many iterations later as the entry comes up again.

Where the tool may reassociate (`fastmath<reassoc>`), it builds the adder of a sum in a register without DSPs and with few stages,
and the sum is added to again one cycle before it leaves the last of them: all 8 such loops among the published ones
(benchmarks/data/vitis_loops.csv) have the 5-stage adder and II 4.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, prod

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import Pure

from stc.analysis.loop_schedules import MEMORY_CYCLES, ChainLink, Entry, IterationSchedule, iteration_schedule, links
from stc.analysis.loops import constant_bounds, enclosing_loops, is_kept_apart, is_unrolled, largest_bounds, most_trips, passes_on
from stc.analysis.operator_library import head_start, may_reassociate
from stc.dialects import stream
from stc.dialects.facts import DRAINS, PARTITION

MOST_ITERATIONS = 1 << 18
"""Iterations in which a return to an entry is looked for: beyond, one step of the loop outside is taken for all."""


@dataclass(frozen=True)
class Recurrence:
    """What is computed from an entry of `buffer` (None: from a carried value) takes `cycles` until an iteration `distance` later
    continues it; `memory_cycles` where it is kept in memory. `operators` are on the way."""

    buffer: SSAValue | None
    operators: tuple[ChainLink, ...]
    cycles: int
    memory_cycles: int
    distance: int

    @property
    def what(self) -> str:
        """What is accumulated over, in words."""
        return f"%{self.buffer.name_hint or 'buffer'}" if self.buffer is not None else "a carried value"

    @property
    def interval(self) -> int:
        """Cycles that iterations have to be apart."""
        return ceil(self.cycles / self.distance)


def accumulation_interval(loop: scf.ForOp, clock_ns: float) -> int:
    """Cycles of `clock_ns` between iterations so that a sum is finished before it is added to again."""
    return _accumulation_interval(loop, pipeline_schedule(loop, clock_ns))


def _accumulation_interval(loop: scf.ForOp, schedule: IterationSchedule) -> int:
    worst = slowest_recurrence(loop, schedule)
    return worst.interval if worst is not None else 1


def issue_interval(loop: scf.ForOp, clock_ns: float) -> int:
    """Cycles of `clock_ns` between iterations, for sums and for the tokens of one stream."""
    return _issue_interval(loop, pipeline_schedule(loop, clock_ns))


def _issue_interval(loop: scf.ForOp, schedule: IterationSchedule) -> int:
    moved = Counter(op.stream for op in loop.body.walk() if isinstance(op, stream.ReadOp | stream.WriteOp))
    return max(_accumulation_interval(loop, schedule), *moved.values(), 1)


def nest_cycles(loop: scf.ForOp, iterations: int, clock_ns: float) -> Fraction:
    """Cycles of `clock_ns` of so many iterations of `loop`, and their part of the drain of its pipeline behind all those of its
    flattened nest, where the loops around that repeat it."""
    schedule, nest = pipeline_schedule(loop, clock_ns), flattened_nest(loop)
    drains = any(most_trips(around) > 1 for around in enclosing_loops(nest[0]))
    together = max(iterations, prod(most_trips(each) for each in nest))
    return iterations * _issue_interval(loop, schedule) + drains * Fraction(schedule.depth * iterations, together)


def pipeline_schedule(loop: scf.ForOp, clock_ns: float) -> IterationSchedule:
    """The schedule of one iteration of `loop`, with adders of few stages where the tool takes them for sums that stay in place."""
    schedule = iteration_schedule(loop, clock_ns)
    short = {op for found in recurrences(loop, schedule) if found.interval > 1 for op in _reassociated(found)}
    return iteration_schedule(loop, clock_ns, short) if short else schedule


def _reassociated(recurrence: Recurrence) -> set[Operation]:
    """The additions on the way of a sum in a register that the tool may reassociate."""
    if recurrence.buffer is not None and recurrence.cycles == recurrence.memory_cycles:
        return set()
    return {link.op for link in recurrence.operators if link.op is not None and may_reassociate(link.op)}


def slowest_recurrence(loop: scf.ForOp, schedule: IterationSchedule) -> Recurrence | None:
    """The recurrence with the longest interval, None where none holds up the next iteration."""
    slow = [recurrence for recurrence in recurrences(loop, schedule) if recurrence.interval > 1]
    return max(slow, key=lambda recurrence: recurrence.interval, default=None)


def recurrences(loop: scf.ForOp, schedule: IterationSchedule) -> Iterator[Recurrence]:
    """What iterations of `loop` carry to later ones before the pipeline drains."""
    if all(most_trips(around) == 1 for around in flattened_nest(loop)):
        return
    for circuit in schedule.circuits:
        operators = tuple(links(circuit.path.chain))
        if not isinstance(circuit.source, Entry) or not isinstance(circuit.target, Entry):
            cycles = circuit.path.cycles - _head_start(operators)
            yield Recurrence(None, operators, cycles, cycles, 1)
            continue
        cycles, inside = circuit.path.cycles, operators
        if in_registers(circuit.source.buffer) or _stays(circuit.source, circuit.target, loop):
            cycles, inside = cycles - MEMORY_CYCLES - _head_start(operators), operators[1:-1]
        distance = reuse_distance(flattened_nest(loop), circuit.target, circuit.source, cycles)
        if distance is not None:
            yield Recurrence(circuit.source.buffer, inside, cycles, circuit.path.cycles, distance)


def _head_start(operators: Sequence[ChainLink]) -> int:
    return max((head_start(link.op) for link in operators if link.op is not None), default=0)


def reuse_distance(
    nest: list[scf.ForOp], stored: Entry, loaded: Entry, limit: int, shape: Sequence[int] | None = None
) -> int | None:
    """The least number of iterations of `nest`, below `limit`, after which what one stored is loaded; None: there is none.

    Exact for sums, products, remainders and quotients of induction variables; 1 where an index is anything else: computed from
    data, or from values that only one of the two depends on. `shape`: of the buffer, where it is not to be the one it has.
    """
    if not is_computed_from(nest, stored, loaded):
        return 1
    values, count = iterations(nest, MOST_ITERATIONS)
    assert isinstance(stored.buffer.type, MemRefType)
    shape = shape or stored.buffer.type.get_shape()
    writes, reads = _addresses(stored, shape, values, count), _addresses(loaded, shape, values, count)
    if writes is None or reads is None:
        return 1
    for distance in range(1, min(limit, count)):
        if bool(np.any(reads[distance:] == writes[:-distance])):
            return distance
    return None


def flattened_nest(loop: scf.ForOp) -> list[scf.ForOp]:
    """`loop` and the loops around it that HLS merges with it, outermost first: each holds nothing but the next, which runs a
    constant number of times, and need not drain."""
    nest = [loop]
    while isinstance(parent := nest[0].parent_op(), scf.ForOp) and not is_unrolled(parent) and passes_on(parent, nest[0]):
        if constant_bounds(nest[0]) is None or DRAINS.on(nest[0]) or is_kept_apart(parent):
            break
        others = [op for op in parent.body.block.ops if op is not nest[0] and not op.has_trait(Pure)]
        if any(not isinstance(op, scf.YieldOp) for op in others):
            break
        nest.insert(0, parent)
    return nest


def is_computed_from(nest: Sequence[scf.ForOp], stored: Entry, loaded: Entry) -> bool:
    """Whether both entries depend on the induction variables of `nest` and, alike, on values from before it."""
    own: set[SSAValue] = {loop.body.block.args[0] for loop in nest}
    before = [tuple(index.without(own) for index in entry.indices) for entry in (stored, loaded)]
    others = {value for entry in (stored, loaded) for index in entry.indices for value in index.variables() - own}
    return before[0] == before[1] and not any(_is_data(value, nest[0]) for value in others)


def _is_data(value: SSAValue, root: Operation) -> bool:
    """Whether `value` comes into being inside `root` and is no induction variable (of an unrolled loop: one value per copy)."""
    owner = value.owner
    if isinstance(owner, Block) and isinstance(owner.parent_op(), scf.ForOp) and value is owner.args[0]:
        return False
    return root.is_ancestor(owner)


def iterations(nest: list[scf.ForOp], most: int) -> tuple[dict[SSAValue, np.ndarray], int]:
    """The induction variables in each iteration of the nest, and how many iterations these are: some `most`, the first ones."""
    retained: list[tuple[scf.ForOp, int]] = []
    for loop in reversed(nest):
        inside = prod(trip for _, trip in retained)
        trip = most_trips(loop)
        if inside * trip > most and retained:
            retained.append((loop, min(2, trip)))
            break
        retained.append((loop, min(trip, most)))
    count = prod(trip for _, trip in retained)
    time, inside = np.arange(count), 1
    values: dict[SSAValue, np.ndarray] = {}
    for loop, trip in retained:
        bounds = largest_bounds(loop)
        assert bounds is not None
        values[loop.body.block.args[0]] = bounds.lower + bounds.step * (time // inside % trip)
        inside *= trip
    return values, count


def _addresses(entry: Entry, shape: Sequence[int], values: dict[SSAValue, np.ndarray], count: int) -> np.ndarray | None:
    address: np.ndarray = np.zeros(count, dtype=np.int64)
    for index, extent in zip(entry.indices, shape, strict=True):
        value = index.evaluate(values)
        if value is None:
            return None
        address = address * extent + value
    return address


def _stays(loaded: Entry, stored: Entry, loop: scf.ForOp) -> bool:
    """Whether the entry is the same in all iterations of the loop, so that its value is kept in a register."""
    variables = {value for index in loaded.indices for value in index.variables()}
    fixed = not any(value is loop.body.block.args[0] or _is_data(value, loop) for value in variables)
    return loaded == stored and most_trips(loop) > 1 and fixed


def in_registers(buffer: SSAValue) -> bool:
    """Whether every entry is a bank of its own."""
    if not isinstance(buffer.type, MemRefType) or prod(buffer.type.get_shape()) == 1:
        return True
    partition = PARTITION.of(buffer.owner) or () if isinstance(buffer.owner, Operation) else ()
    complete = {dimension for dimension, factor in partition if factor == 0}
    return all(extent == 1 or dimension in complete for dimension, extent in enumerate(buffer.type.get_shape()))
