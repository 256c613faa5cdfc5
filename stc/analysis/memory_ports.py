"""Which memories of a kernel come through one port of the emitted code."""

from __future__ import annotations

from xdsl.ir import SSAValue

from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.itensor import SymbolType


def memories_of(kernel: KernelOp) -> list[SSAValue]:
    """What tasks call the external memory of operands, then that of results: one pointer each in the emitted code."""
    return [value for value in (*kernel.arguments, *kernel.terminator.arguments) if not isinstance(value.type, SymbolType)]


def memory_ports(kernel: KernelOp) -> list[list[SSAValue]]:
    """The memories behind each port, in order of the first. A task of kind `load` has one port for all that it reads, in turn; any
    other memory has a port of its own."""
    ports: dict[TaskOp | SSAValue, list[SSAValue]] = {}
    for memory in memories_of(kernel):
        ports.setdefault(_loading(memory) or memory, []).append(memory)
    return list(ports.values())


def _loading(memory: SSAValue) -> TaskOp | None:
    """The task of kind `load` that alone uses the memory."""
    users = {use.operation for use in memory.uses}
    task = next(iter(users)) if len(users) == 1 else None
    return task if isinstance(task, TaskOp) and task.kind == TaskKind.LOAD else None
