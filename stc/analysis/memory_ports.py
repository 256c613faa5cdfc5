"""Which memories of a kernel come through one port of the emitted code."""

from __future__ import annotations

from xdsl.ir import SSAValue

from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.itensor import SymbolType


def memories_of(kernel: KernelOp) -> list[SSAValue]:
    """What tasks call the external memory of operands, then that of results: one pointer each in the emitted code."""
    return [value for value in (*kernel.arguments, *kernel.terminator.arguments) if not isinstance(value.type, SymbolType)]


def port_numbers(kernel: KernelOp) -> dict[SSAValue, int]:
    """By memory the number of its port, from 0 on. A task of kind `load` has one port for all that it reads, in turn; any other
    memory has a port of its own."""
    memories = memories_of(kernel)
    first: dict[TaskOp | SSAValue, SSAValue] = {}
    owner = {memory: first.setdefault(_loading(memory) or memory, memory) for memory in memories}
    numbers = {memory: number for number, memory in enumerate(dict.fromkeys(owner.values()))}
    return {memory: numbers[owner[memory]] for memory in memories}


def _loading(memory: SSAValue) -> TaskOp | None:
    """The task of kind `load` that alone uses the memory."""
    users = {use.operation for use in memory.uses}
    task = next(iter(users)) if len(users) == 1 else None
    return task if isinstance(task, TaskOp) and task.kind == TaskKind.LOAD else None
