"""The graph of tasks and streams of a kernel, and what one loop iteration of a task moves."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue

from stc.analysis.task_traces import task_trace
from stc.diagnostics import CompileError
from stc.dialects.dataflow import TaskOp
from stc.iteration.trace import most_per_iteration


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
    return most_per_iteration(task_trace(task, {value: ""}), "", value in task.outs)
