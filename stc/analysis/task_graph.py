"""The graph of tasks and streams of a kernel, and what one loop iteration of a task moves."""

from __future__ import annotations

from math import prod

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, Operation, SSAValue

from stc.analysis.loops import is_unrolled, trip_count, unroll_factor
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp


def ends_of(value: SSAValue) -> tuple[TaskOp, TaskOp]:
    """The task that writes a stream (or ring of buffers) and the one that reads it; CompileError unless there is one each."""
    tasks = [(use.operation, use.index) for use in value.uses]
    writers = [task for task, index in tasks if isinstance(task, TaskOp) and index >= len(task.ins)]
    readers = [task for task, index in tasks if isinstance(task, TaskOp) and index < len(task.ins)]
    if len(writers) != 1 or len(readers) != 1:
        raise CompileError(
            f"has {len(writers)} writers and {len(readers)} readers",
            where=f"stream %{value.name_hint or '?'}",
            accepted="one of each (insert-forks duplicates a stream)",
        )
    return writers[0], readers[0]


def port_of(task: TaskOp, value: SSAValue) -> BlockArgument:
    """The block argument by which `task` sees `value`."""
    index = list(task.operands).index(value)
    return task.body.block.args[index]


def tokens_per_iteration(task: TaskOp, value: SSAValue) -> int:
    """The most tokens of `value` that one iteration of a loop of `task` moves, unrolled loops counted whole."""
    port = port_of(task, value)
    counts: dict[Operation | None, int] = {}
    for use in port.uses:
        if isinstance(use.operation, stream.ReadOp | stream.WriteOp):
            loop, copies = _iteration_around(use.operation)
            counts[loop] = counts.get(loop, 0) + copies
    return max(counts.values(), default=1)


def _iteration_around(op: Operation) -> tuple[Operation | None, int]:
    """The innermost loop around `op` that is not unrolled completely, and how often `op` happens in one of its iterations.

    A loop that is unrolled by a factor is a loop whose iterations do the work of that many.
    """
    unrolled: list[int] = []
    current = op.parent_op()
    while current is not None and not isinstance(current, TaskOp):
        if isinstance(current, scf.ForOp):
            if not is_unrolled(current):
                copies = min(unroll_factor(current) or 1, trip_count(current))
                return current, copies * prod(unrolled)
            unrolled.append(trip_count(current))
        current = current.parent_op()
    return None, prod(unrolled)
