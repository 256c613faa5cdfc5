"""Which task writes and reads each stream or block buffer of a kernel, and how many tokens."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from stc.analysis.executions import executions
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.stream import AcquireOp, BufferOp, CreateOp, ReadOp, WriteOp


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
        sum(tokens_through(task, port_for(task, channel)) for task in writers),
        sum(tokens_through(task, port_for(task, channel)) for task in readers),
    )


def port_for(task: TaskOp, value: SSAValue) -> SSAValue:
    """The block argument of `task` that stands for `value`."""
    return task.body.block.args[[*task.ins, *task.outs].index(value)]


def tokens_through(task: TaskOp, port: SSAValue) -> int:
    """Tokens (or blocks) that cross a port per run of the task."""
    accesses = [use.operation for use in port.uses if isinstance(use.operation, (ReadOp, WriteOp, AcquireOp))]
    return sum(executions(access, task) for access in accesses)
