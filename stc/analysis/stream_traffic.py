"""Which task writes and reads each stream or block buffer of a kernel, and how many tokens."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from stc.analysis.task_traces import task_trace
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.stream import BufferOp, CreateOp


@dataclass(frozen=True)
class Traffic:
    """Tasks at both ends of a channel and the tokens (or blocks) each passes per launch."""

    writers: tuple[TaskOp, ...]
    readers: tuple[TaskOp, ...]
    written: int
    read: int


def channels(kernel: KernelOp) -> list[SSAValue]:
    """The streams and block buffers of a kernel."""
    return [operation.result for operation in kernel.body.block.ops if isinstance(operation, (CreateOp, BufferOp))]


def tasks_of(kernel: KernelOp) -> list[TaskOp]:
    return [operation for operation in kernel.body.block.ops if isinstance(operation, TaskOp)]


def traffic(kernel: KernelOp) -> dict[SSAValue, Traffic]:
    """Traffic of every channel; CompileError where a count depends on data."""
    tasks = tasks_of(kernel)
    return {channel: _traffic(channel, tasks) for channel in channels(kernel)}


def _traffic(channel: SSAValue, tasks: list[TaskOp]) -> Traffic:
    writers = tuple(task for task in tasks if channel in task.outs)
    readers = tuple(task for task in tasks if channel in task.ins)
    return Traffic(
        writers,
        readers,
        sum(tokens_through(task, channel, writes=True) for task in writers),
        sum(tokens_through(task, channel, writes=False) for task in readers),
    )


def tokens_through(task: TaskOp, channel: SSAValue, writes: bool) -> int:
    """Tokens (or blocks) that `task` passes to or from a channel per run."""
    return task_trace(task, {channel: ""}).tokens("", writes)
