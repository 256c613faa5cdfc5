"""Bytes that DMAs move to and from external memory per run, words as they are (padding and temporal reuse included)."""

from __future__ import annotations

from xdsl.dialects.builtin import MemRefType, ModuleOp
from xdsl.utils.hints import isa

from stc.analysis.task_traces import task_trace
from stc.dialects.dataflow import TaskOp
from stc.iteration.trace import TaskTrace


def external_traffic(module: ModuleOp) -> dict[str, int]:
    """Bytes `read` and `written` by the tasks of all kernels at the stream level, where symbols are at their maxima. What the host
    packs is not in it."""
    traces = [_memories(op) for op in module.walk() if isinstance(op, TaskOp)]
    return {side: sum(trace.bytes(writes) for trace in traces) for side, writes in (("read", False), ("written", True))}


def bytes_read(task: TaskOp) -> int:
    """Bytes of the words that `task` loads from its memory ports per run."""
    return _memories(task).bytes(writes=False)


def _memories(task: TaskOp) -> TaskTrace:
    return task_trace(task, {value: "memory" for value in task.operands if isa(value.type, MemRefType)}).largest
