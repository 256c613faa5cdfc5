"""`expand-partial-sums`: a sum that the pipeline would wait for becomes several partial sums, taken in turn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.analysis.accumulators import Accumulator, Reading, accumulators, fill_nest, loops_inside, reading
from stc.analysis.executions import executions
from stc.analysis.index_expressions import IndexExpression
from stc.analysis.loop_estimates import innermost_loops
from stc.analysis.loop_schedules import Entry, entry_of
from stc.analysis.loops import constant_of, is_unrolled, largest_bounds, most_trips, trip_count
from stc.analysis.operator_library import hardware_cost
from stc.analysis.recurrences import Recurrence, flattened_nest, pipeline_schedule, recurrences, reuse_distance
from stc.design_space.partial_sums import SumShape, cheapest_count
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, UNROLL
from stc.dialects.use_def import operations_behind
from stc.platforms.platform import load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator


@dataclass(frozen=True)
class ExpandPartialSums(ModulePass):
    """Keep several partial sums where a pipeline would wait for one.

    A sum that comes up again sooner than its operators, load and store take (10 cycles for a float sum at 3.33 ns) would make the
    loop wait: a row sum, a matrix-vector product, a tile of few rows. Such an accumulator becomes 2, 4, 8, ... of them, the
    remainder of the reduction index deciding which is added to: then as many iterations more lie in between. All are filled where
    the one was, and before a read they are combined in a tree, the lanes of a row at once (of several rows, adders would stand
    still while the products are computed). A single sum becomes at most 16 registers, which are filled at once, read at once, and
    added to again as soon as the operator is done. The number is what takes the fewest cycles, filling and combining
    included; where none is faster, nothing changes. Point loops need no other order: their parallel loops are innermost already.

    Partial sums round differently from one sum (no worse: fewer terms each), in an order that is fixed: of P partial sums, number
    n mod P takes iteration n of the reduction (numbered through its loops in the pipelined nest, from 0 in each run of the nest);
    neighbours are then added, (s0 + s1) + (s2 + s3) and so on. Maxima and minima are the same in any order. Sums of integers
    stay as they are: their adders take no cycle to wait for.

    Options: `platform` (default u55c), whose cycle operators are scheduled for; `reassociate` (default true), without which sums
    and products of floats keep their order, and their interval.

        scf.for %k = %c0 to %c64 step %c1 { ... %s = memref.load %sum[]  %t = arith.addf %s, %v  memref.store %t, %sum[] }
        %r = memref.load %sum[]
      becomes
        scf.for %k = ... { ... %p = arith.andi %k, %c7  %s = memref.load %sum_partial[%p] ... memref.store %t, %sum_partial[%p] }
        scf.for %z = %c0 to %c1 step %c1 { ... memref.store %total, %sum[] } {stc.label = "..._combine"}
        %r = memref.load %sum[]
    """

    name = "expand-partial-sums"

    platform: str = "u55c"
    reassociate: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        clock_ns = load_platform(self.platform).cycle_ns
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            for sums in list(accumulators(task)):
                if _has_stages(sums) and (self.reassociate or not sums.rounds):
                    _expand(sums, clock_ns)


def _has_stages(sums: Accumulator) -> bool:
    """Whether a sum waits for its adder: one of integers is done in its cycle, and few sums are registers (`hls-directives`)."""
    return not isinstance(sums.combiner, arith.AddiOp)


def _expand(sums: Accumulator, clock_ns: float) -> None:
    loop = next((loop for loop in innermost_loops(sums.task) if loop in loops_inside(sums.task, sums.store)), None)
    if loop is None or largest_bounds(loop) is None:
        return
    readings: list[Reading] = []
    for reader in sums.readers:
        found = reading(sums, reader)
        if found is None or loop in loops_inside(sums.task, found.place):
            return
        readings.append(found)
    reductions = _reductions(sums, flattened_nest(loop))
    shape = _shape(sums, loop, reductions, readings, clock_ns)
    count = 1 if shape is None else cheapest_count(shape, _intervals(sums, loop, reductions, shape, clock_ns))
    if shape is not None and count > 1:
        _split(sums, reductions, count, readings, in_registers=shape.in_registers(count))


def _reductions(sums: Accumulator, nest: Sequence[scf.ForOp]) -> list[scf.ForOp]:
    """The loops of a pipelined nest, innermost first, whose iterations add to the same entries; from 0 by powers of two only."""
    variables = entry_of(sums.store, {}).variables
    found: list[scf.ForOp] = []
    for loop in reversed(nest):
        bounds = largest_bounds(loop)
        counted = bounds is not None and bounds.lower == 0 and bounds.step & (bounds.step - 1) == 0
        if counted and loop.body.block.args[0] not in variables:
            found.append(loop)
    return found


# Deciding ---------------------------------------------------------------------------------------------------------------


def _shape(
    sums: Accumulator, loop: scf.ForOp, reductions: Sequence[scf.ForOp], readings: Sequence[Reading], clock_ns: float
) -> SumShape | None:
    """What decides how many partial sums there are; None where iterations need not wait for one."""
    interval = max((found.interval for found in _own_recurrences(sums, loop, clock_ns)), default=1)
    if interval == 1:
        return None
    places = {found.place: found.nest for found in readings}
    return SumShape(
        iterations=_cycles(sums.store, sums.task),
        interval=interval,
        fills=sum(_cycles(fill, sums.task) for fill in sums.fills),
        combines=sum(executions(place, sums.task) for place in places),
        combined=sum(executions(place, sums.task) * _points(sums, nest) for place, nest in places.items()),
        stages=hardware_cost(sums.combiner, clock_ns).stages,
        terms=prod(most_trips(reduction) for reduction in reductions),
        single=prod(sums.type.get_shape()) == 1,
    )


def _own_recurrences(sums: Accumulator, loop: scf.ForOp, clock_ns: float) -> list[Recurrence]:
    return [found for found in recurrences(loop, pipeline_schedule(loop, clock_ns)) if found.buffer is sums.buffer.memref]


def _intervals(
    sums: Accumulator, loop: scf.ForOp, reductions: Sequence[scf.ForOp], shape: SumShape, clock_ns: float
) -> Callable[[int], int]:
    """The interval of `loop` for each number of partial sums: those in registers are there when the operator has them."""
    own, nest, stored = _own_recurrences(sums, loop, clock_ns), flattened_nest(loop), entry_of(sums.store, {})

    def interval(count: int) -> int:
        cycles = max(found.cycles if shape.in_registers(count) else found.memory_cycles for found in own)
        partial = Entry(stored.buffer, (_number(reductions, count), *stored.indices))
        distance = reuse_distance(nest, partial, partial, cycles, (count, *sums.type.get_shape()))
        return ceil(cycles / distance) if distance is not None else 1

    return interval


def _cycles(op: Operation, task: TaskOp) -> int:
    """How often `op` runs, copies of unrolled loops counted once."""
    return executions(op, task) // prod(trip_count(loop) for loop in loops_inside(task, op) if is_unrolled(loop))


def _points(sums: Accumulator, nest: Operation) -> int:
    """Iterations of the loop that combines what one run of `nest` adds to."""
    loops = _moving(sums, nest)
    return prod(most_trips(loop) for loop in loops if not (loop is loops[-1] and is_unrolled(loop)))


def _moving(sums: Accumulator, nest: Operation) -> list[scf.ForOp]:
    """The loops inside `nest` that the entry depends on, outermost first."""
    variables = entry_of(sums.store, {}).variables
    return [loop for loop in loops_inside(nest, sums.store) if loop.body.block.args[0] in variables]


def _number(reductions: Sequence[scf.ForOp], count: int) -> IndexExpression:
    """Which of `count` partial sums an iteration adds to: its number, in the loops that reduce, modulo `count`."""
    total, stride = IndexExpression(0), 1
    for loop in reductions:
        if stride % count == 0:
            break
        step = constant_of(loop.step)
        total = total.plus(IndexExpression(0, frozenset({(loop.body.block.args[0], 1)})).divided(step).times(stride))
        stride *= most_trips(loop)
    return total.masked(count - 1)


# Rewriting --------------------------------------------------------------------------------------------------------------


def _split(
    sums: Accumulator, reductions: Sequence[scf.ForOp], count: int, readings: Sequence[Reading], *, in_registers: bool
) -> None:
    partial = _allocate(sums, count)
    for fill in sums.fills:
        _fill_all(fill, partial, count, at_once=in_registers)
    for place, nest in {found.place: found.nest for found in readings}.items():
        _combine(sums, partial, count, place, nest)
    _add_to_partial(sums, partial, reductions, count)


def _allocate(sums: Accumulator, count: int) -> SSAValue:
    kind = sums.type
    builder = Builder(InsertPoint.after(sums.buffer))
    partial = builder.insert(memref.AllocOp([], [], MemRefType(kind.element_type, (count, *kind.get_shape())))).memref
    partial.name_hint = f"{sums.buffer.memref.name_hint or 'sum'}_partial"
    return partial


def _fill_all(fill: memref.StoreOp, partial: SSAValue, count: int, *, at_once: bool) -> None:
    """All partial sums are set where the one was; those that are set at once are registers (`hls-directives`)."""
    nest = fill_nest(fill)
    builder = Builder(InsertPoint.before(nest))
    loop, inner = _loop(builder, count, _stem(nest, "sum_init"), "partial")
    if at_once:
        UNROLL.put(loop, 0)
    nest.detach()
    inner.insert(nest)
    fill.operands = [fill.value, partial, loop.body.block.args[0], *fill.indices]


def _add_to_partial(sums: Accumulator, partial: SSAValue, reductions: Sequence[scf.ForOp], count: int) -> None:
    builder = Builder(InsertPoint.before(sums.load))
    total, stride = None, 1
    for loop in reductions:
        if stride % count == 0:
            break
        term: SSAValue = loop.body.block.args[0]
        if (step := constant_of(loop.step)) > 1:
            term = builder.insert(arith.ShRUIOp(term, index_constant(_top(sums.task), step.bit_length() - 1))).result
        if stride > 1:
            term = builder.insert(arith.MuliOp(term, index_constant(_top(sums.task), stride))).result
        total = term if total is None else builder.insert(arith.AddiOp(total, term)).result
        stride *= most_trips(loop)
    assert total is not None
    number = total
    if stride > count:
        number = builder.insert(arith.AndIOp(total, index_constant(_top(sums.task), count - 1))).result
    sums.load.operands = [partial, number, *sums.load.indices]
    sums.store.operands = [sums.store.value, partial, number, *sums.store.indices]


def _combine(sums: Accumulator, partial: SSAValue, count: int, place: Operation, nest: Operation) -> None:
    """Before `place`, each entry that `nest` adds to is what its partial sums come to, added in a tree."""
    builder = Builder(InsertPoint.before(place))
    new: dict[SSAValue, SSAValue] = {}
    loops = _moving(sums, nest)
    stem = f"{_stem(sums.store.parent_op(), 'sum')}_combine"
    if len(loops) < 2 and all(is_unrolled(loop) for loop in loops):
        _, builder = _loop(builder, 1, stem, "once")
    for loop in loops:
        copy, builder = _loop(builder, most_trips(loop), stem, "once", like=loop, nest=nest, unrolls=loop is loops[-1])
        new[loop.body.block.args[0]] = copy.body.block.args[0]
    indices = [_cloned(index, new, builder, nest) for index in sums.store.indices]
    numbers = [index_constant(_top(sums.task), number) for number in range(count)]
    level = [builder.insert(memref.LoadOp.get(partial, [number, *indices])).res for number in numbers]
    while len(level) > 1:
        level = [_combined(sums, level[i], level[i + 1], builder) for i in range(0, len(level), 2)]
    builder.insert(memref.StoreOp.get(level[0], sums.buffer.memref, indices))


def _combined(sums: Accumulator, left: SSAValue, right: SSAValue, builder: Builder) -> SSAValue:
    operator = sums.combiner.clone()
    operator.operands = [left, right]
    return builder.insert(operator).result


def _cloned(value: SSAValue, new: dict[SSAValue, SSAValue], builder: Builder, nest: Operation) -> SSAValue:
    """`value` where `nest` has ended: computed again, from `new` induction variables, if it is defined in there."""
    for op in operations_behind(value, new, lambda op: op.operands if nest.is_ancestor(op) else ()):
        if nest.is_ancestor(op):
            copy = op.clone()
            copy.operands = [new.get(operand, operand) for operand in op.operands]
            new[op.results[0]] = builder.insert(copy).results[0]
    return new.get(value, value)


def _loop(
    builder: Builder,
    trip: int,
    label: str,
    hint: str,
    like: scf.ForOp | None = None,
    nest: Operation | None = None,
    *,
    unrolls: bool = False,
) -> tuple[scf.ForOp, Builder]:
    """A loop of `trip` iterations, with the bounds of `like`, a loop of `nest`, and unrolled as that is, where it `unrolls`; and a
    builder for its body."""
    block = Block([scf.YieldOp()], arg_types=[IndexType()])
    if like is not None and nest is not None:
        lower, upper, step = (_cloned(bound, {}, builder, nest) for bound in (like.lb, like.ub, like.step))
        loop = builder.insert(scf.ForOp(lower, upper, step, [], block))
        loop.attributes |= UNROLL.retained(like) if unrolls else {}
    else:
        lower, upper, step = (index_constant(builder, value) for value in (0, trip, 1))
        loop = builder.insert(scf.ForOp(lower, upper, step, [], block))
    block.args[0].name_hint = hint if like is None else like.body.block.args[0].name_hint
    LABEL.put(loop, f"{label}_{block.args[0].name_hint}")
    return loop, before_terminator(block)


def _top(task: TaskOp) -> Builder:
    return Builder(InsertPoint.at_start(task.body.block))


def _stem(op: Operation | None, otherwise: str) -> str:
    """The label of a loop without its induction variable."""
    label = LABEL.of(op) if isinstance(op, scf.ForOp) else None
    return otherwise if label is None else label.rpartition("_")[0]
