"""What the control of a task takes: its loops, what runs between them, the handshakes of its ports, and arithmetic on indices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from stc.analysis.index_ranges import bits_of_index
from stc.analysis.loop_estimates import loop_estimate
from stc.analysis.loops import constant_bounds, is_unrolled, pipeline_ii
from stc.analysis.operator_library import hardware_cost
from stc.analysis.recurrences import flattened_nest
from stc.dialects.dataflow import TaskOp
from stc.dialects.stream import ReadOp, WriteOp
from stc.platforms.control import (
    INT_BITS,
    READ_CHANNELS,
    START,
    STREAM_CHANNELS,
    WRITE_CHANNELS,
    ControlCost,
    CountedLoop,
    arithmetic,
    pipeline,
    sequence,
)

_ARITHMETIC = (arith.AddiOp, arith.SubiOp, arith.CmpiOp)
_Channel = tuple[SSAValue, int]
"""A port, and the handshakes of one way of using it."""


def task_control(task: TaskOp, clock_ns: float) -> ControlCost:
    """Of a task whose loops have directives, in cycles of `clock_ns`, as Vivado builds it."""
    return _listed(task, clock_ns).built.plus(START)


def _listed(task: TaskOp, clock_ns: float) -> ControlCost:
    """The same as a report lists it."""
    nests = [flattened_nest(op) for op in task.walk() if isinstance(op, scf.ForOp) and pipeline_ii(op) is not None]
    roots = {nest[0] for nest in nests}
    own = list(_outside(task.body.block, roots))
    used = [_channels(root.walk()) for root in roots]
    total = ControlCost(lut=sum(arithmetic(_bits(op)) for op in task.walk() if _is_counted(op)))
    for nest, channels in zip(nests, used, strict=True):
        estimate = loop_estimate(nest[-1], task, clock_ns)
        counted, interval = [_counted(loop) for loop in nest], pipeline_ii(nest[-1]) or 1
        total = total.plus(pipeline(counted, estimate.depth, interval, sum(count for _, count in channels)))
    between = [op for op in own if not isinstance(op, scf.ForOp)]
    loops = [op for op in own if isinstance(op, scf.ForOp)]
    cycles = sum(hardware_cost(op, clock_ns).stages for op in between)
    places = Counter(channel for channels in (*used, _channels(between)) for channel in channels)
    if len(nests) == 1 and not (loops or cycles or _channels(between)):
        return total
    handshakes, shared = sum(count for _, count in places), sum(uses > 1 for uses in places.values())
    return total.plus(sequence([_counted(loop) for loop in loops], len(nests), cycles, handshakes, shared))


def _outside(block: Block, roots: set[scf.ForOp]) -> Iterator[Operation]:
    """What runs outside of `roots`: loops, and operations that no loop but unrolled ones makes several times."""
    for op in block.ops:
        if op in roots:
            continue
        if not (isinstance(op, scf.ForOp) and is_unrolled(op)):
            yield op
        for region in op.regions:
            for inner in region.blocks:
                yield from _outside(inner, roots)


def _channels(operations: Iterator[Operation] | Sequence[Operation]) -> set[_Channel]:
    """The ports that operations read and write, with their handshakes."""
    found: set[_Channel] = set()
    for op in operations:
        match op:
            case ReadOp() | WriteOp():
                found.add((op.stream, STREAM_CHANNELS))
            case memref.LoadOp() if isinstance(op.memref, BlockArgument):
                found.add((op.memref, READ_CHANNELS))
            case memref.StoreOp() if isinstance(op.memref, BlockArgument):
                found.add((op.memref, WRITE_CHANNELS))
            case _:
                pass
    return found


def _counted(loop: scf.ForOp) -> CountedLoop:
    bounds, is_used = constant_bounds(loop), bool(loop.body.block.args[0].uses)
    return CountedLoop(None, None, is_used) if bounds is None else CountedLoop(bounds.trip, bounds.upper, is_used)


def _is_counted(op: Operation) -> bool:
    """Whether hardware computes this on indices: not where each copy that unrolled loops make of it has constants alone."""
    return isinstance(op, _ARITHMETIC) and isinstance(op.operands[0].type, IndexType) and not all(map(_is_known, op.operands))


def _is_known(index: SSAValue) -> bool:
    around = index.owner.parent_op() if isinstance(index.owner, Block) else None
    return isinstance(index.owner, arith.ConstantOp) or (isinstance(around, scf.ForOp) and is_unrolled(around))


def _bits(op: Operation) -> int:
    """Of an addition or a comparison: its widest number, which no launch makes wider than an int."""
    numbers = [value for value in (*op.operands, *op.results) if isinstance(value.type, IndexType)]
    return max(bits_of_index(value) or INT_BITS for value in numbers)
