"""What the control of a task takes: its loops, what runs between them, the handshakes of its ports, and arithmetic on indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from math import ceil

from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.index_ranges import bits_of_index
from stc.analysis.kernel_memory import entry_bits
from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loop_schedules import ACCESSES
from stc.analysis.loops import constant_bounds, enclosing_loops, is_unrolled, pipeline_ii
from stc.analysis.operator_library import hardware_cost
from stc.analysis.recurrences import flattened_nest
from stc.dialects.dataflow import TaskOp
from stc.dialects.stream import ReadOp, WriteOp
from stc.platforms.control import (
    BUILT,
    INT_BITS,
    READ_CHANNELS,
    START,
    STREAM_CHANNELS,
    WRITE_CHANNELS,
    ControlCost,
    CountedLoop,
    addition,
    comparison,
    pipeline,
    sequence,
)

_SUMS = (arith.AddiOp, arith.SubiOp)
_COMPUTED = (*_SUMS, arith.MuliOp, arith.DivUIOp, arith.RemUIOp, arith.AndIOp, arith.ShRUIOp, arith.ShLIOp)
_Channel = tuple[SSAValue | None, int]
"""A FIFO, or None for the memory port, and its handshakes."""


def task_control(task: TaskOp, clock_ns: float) -> ControlCost:
    """Of a task whose loops have directives, in cycles of `clock_ns`."""
    indices = sum(_index_arithmetic(op) for op in task.walk() if _is_counted(op))
    tokens = sum(entry_bits(op.results[0].type) for op in task.walk() if _is_kept(op))
    listed = _listed(task, clock_ns)
    return ControlCost(ceil(BUILT * listed.lut) + indices, listed.ff + tokens).plus(START)


def _listed(task: TaskOp, clock_ns: float) -> ControlCost:
    """What a report lists of its loops and of what runs between them."""
    nests = [flattened_nest(loop) for loop in _pipelined(task)]
    roots = dict.fromkeys(nest[0] for nest in nests)
    used = [_channels(root.walk()) for root in roots]
    total = ControlCost()
    for nest, channels in zip(nests, used, strict=True):
        estimate, interval = loop_estimate(nest[-1], task, clock_ns), pipeline_ii(nest[-1]) or 1
        counted, handshakes = [_counted(loop) for loop in nest], sum(count for _, count in channels)
        carried = [entry_bits(value.type) for value in nest[-1].iter_args]
        total = total.plus(pipeline(counted, estimate.depth, interval, handshakes, carried))
    own = list(_outside(task.body.block, roots))
    between = [op for op in own if not isinstance(op, scf.ForOp)]
    loops = [op for op in own if isinstance(op, scf.ForOp)]
    cycles = sum(hardware_cost(op, clock_ns).stages for op in between if not isinstance(op, (*ACCESSES, ReadOp, WriteOp)))
    places = Counter(channel for channels in (*used, _channels(between)) for channel in channels)
    if len(nests) == 1 and not (loops or cycles or _channels(between)):
        return total
    handshakes, shared = sum(count for _, count in places), sum(uses > 1 for uses in places.values())
    return total.plus(sequence([_counted(loop) for loop in loops], len(nests), cycles, handshakes, shared))


def _pipelined(task: TaskOp) -> list[scf.ForOp]:
    """The pipelined loops of a task; one in another is not by itself."""
    found = [op for op in task.walk() if isinstance(op, scf.ForOp) and pipeline_ii(op) is not None]
    return [loop for loop in found if not any(around in found for around in enclosing_loops(loop, task))]


def _outside(block: Block, roots: Iterable[Operation]) -> Iterator[Operation]:
    """What runs outside of `roots`: loops, and operations that no loop but unrolled ones makes several times."""
    for op in block.ops:
        if op in roots:
            continue
        if not (isinstance(op, scf.ForOp) and is_unrolled(op)):
            yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _outside(inner, roots)


def _channels(operations: Iterable[Operation]) -> set[_Channel]:
    """What operations read and write outside of the task, with the handshakes of each; all its memories come through one port."""
    found: set[_Channel] = set()
    for op in operations:
        match op:
            case ReadOp() | WriteOp():
                found.add((op.stream, STREAM_CHANNELS))
            case memref.LoadOp() if isinstance(op.memref, BlockArgument):
                found.add((None, READ_CHANNELS))
            case memref.StoreOp() if isinstance(op.memref, BlockArgument):
                found.add((None, WRITE_CHANNELS))
            case _:
                pass
    return found


def _is_kept(op: Operation) -> bool:
    """Whether it brings a token, or a word of memory, that is in no array of the task."""
    is_read = isinstance(op, ReadOp) or (isinstance(op, memref.LoadOp) and isinstance(op.memref, BlockArgument))
    return is_read and not all(isinstance(use.operation, memref.StoreOp | vector.StoreOp) for use in op.results[0].uses)


def _counted(loop: scf.ForOp) -> CountedLoop:
    bounds, is_used = constant_bounds(loop), bool(loop.body.block.args[0].uses)
    return CountedLoop(None, None, is_used) if bounds is None else CountedLoop(bounds.trip, bounds.upper, is_used)


# Indices --------------------------------------------------------------------------------------------------------------


def _is_counted(op: Operation) -> bool:
    """Whether hardware computes this on indices: not where each copy that unrolled loops make of it has constants alone."""
    is_arithmetic = isinstance(op, (*_SUMS, arith.CmpiOp)) and isinstance(op.operands[0].type, IndexType)
    return is_arithmetic and not all(map(_is_known, op.operands))


def _is_known(index: SSAValue) -> bool:
    if isinstance(index.owner, Block):
        around = index.owner.parent_op()
        return isinstance(around, scf.ForOp) and is_unrolled(around)
    is_computed = isinstance(index.owner, _COMPUTED) and isinstance(index.type, IndexType)
    return isinstance(index.owner, arith.ConstantOp) or (is_computed and all(map(_is_known, index.owner.operands)))


def _index_arithmetic(op: Operation) -> int:
    """Of the widest number; what a launch says is an int."""
    numbers = [value for value in (*op.operands, *op.results) if isinstance(value.type, IndexType)]
    bits = max(bits_of_index(value) or INT_BITS for value in numbers)
    return addition(bits) if isinstance(op, _SUMS) else comparison(bits)
