"""How deep the pipeline of a loop is: the longest way through one iteration, in cycles (an estimate, no vendor tool is asked).

An operation starts when its operands are there. What is stored to an entry of local memory is there for a later load of the
same entry. Copies of unrolled loops run side by side, unless one hands a value to the next. External memory answers at once
here: its latency belongs to the port.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from xdsl.dialects import memref, scf, vector
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.loops import is_unrolled, trip_count
from stc.analysis.operator_library import hardware_cost
from stc.analysis.task_programs import values_behind

Entry: TypeAlias = tuple[SSAValue, tuple[SSAValue, ...], tuple[int, ...]]
"""An entry of local memory: the buffer, its indices, and which copies of unrolled loops move these."""


def pipeline_depth(loop: scf.ForOp, clock_ns: float) -> int:
    """Cycles from the first operation of an iteration of `loop` to its last, at least 1."""
    schedule = _Schedule(clock_ns)
    schedule.run(loop.body.block, [])
    return max(1, schedule.last)


@dataclass
class _Schedule:
    """As soon as possible, without limits on resources: the initiation interval accounts for those."""

    clock_ns: float
    ready: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    stored: dict[Entry, int] = field(default_factory=dict[Entry, int])
    last: int = 0

    def run(self, block: Block, copies: list[tuple[SSAValue, int]]) -> None:
        """Schedule the operations of `block`; `copies` are the induction variables of unrolled loops around, with their copy."""
        for op in block.ops:
            match op:
                case scf.ForOp():
                    self._unrolled(op, copies)
                case scf.IfOp():
                    self._guarded(op, copies)
                case scf.YieldOp():
                    pass
                case _:
                    self._operation(op, copies)

    def _operation(self, op: Operation, copies: list[tuple[SSAValue, int]]) -> None:
        start = max((self.ready.get(value, 0) for value in op.operands), default=0)
        entry = _entry(op, copies)
        if entry is not None:
            start = max(start, self.stored.get(entry, 0))
        end = start + hardware_cost(op, self.clock_ns).stages
        for result in op.results:
            self.ready[result] = end
        if entry is not None and isinstance(op, memref.StoreOp | vector.StoreOp):
            self.stored[entry] = end
        self.last = max(self.last, end)

    def _unrolled(self, loop: scf.ForOp, copies: list[tuple[SSAValue, int]]) -> None:
        """All copies; the values carried from one to the next make a chain."""
        body = loop.body.block
        carried = [self.ready.get(value, 0) for value in loop.iter_args]
        for copy in range(trip_count(loop) if is_unrolled(loop) else 1):
            for argument, time in zip(body.args[1:], carried, strict=True):
                self.ready[argument] = time
            self.run(body, [*copies, (body.args[0], copy)])
            terminator = body.last_op
            assert terminator is not None
            carried = [self.ready.get(value, 0) for value in terminator.operands]
        for result, time in zip(loop.results, carried, strict=True):
            self.ready[result] = time

    def _guarded(self, op: scf.IfOp, copies: list[tuple[SSAValue, int]]) -> None:
        """Both branches are there; results are chosen by the condition."""
        times = [self.ready.get(op.cond, 0)] * len(op.results)
        for region in op.regions:
            for block in region.blocks:
                self.run(block, copies)
                if isinstance(block.last_op, scf.YieldOp):
                    yields = [self.ready.get(value, 0) for value in block.last_op.operands]
                    times = [max(pair) for pair in zip(times, yields, strict=True)]
        for result, time in zip(op.results, times, strict=True):
            self.ready[result] = time


def _entry(op: Operation, copies: list[tuple[SSAValue, int]]) -> Entry | None:
    match op:
        case memref.LoadOp() | memref.StoreOp():
            buffer, indices = op.memref, tuple(op.indices)
        case vector.LoadOp() | vector.StoreOp():
            buffer, indices = op.base, tuple(op.indices)
        case _:
            return None
    moving = values_behind(indices)
    return buffer, indices, tuple(copy for variable, copy in copies if variable in moving)
