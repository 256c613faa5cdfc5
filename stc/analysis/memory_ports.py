"""Which memories of a kernel come through one port of the emitted code."""

from __future__ import annotations

from collections.abc import Container, Iterable
from math import inf, prod

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.loops import constant_bounds, enclosing_loops
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp
from stc.dialects.facts import STEPS
from stc.dialects.itensor import SymbolType


def memories_of(kernel: KernelOp) -> list[SSAValue]:
    """What tasks call the external memory of operands, then that of results: one pointer each in the emitted code."""
    return [value for value in (*kernel.arguments, *kernel.terminator.arguments) if not isinstance(value.type, SymbolType)]


def memory_ports(kernel: KernelOp) -> list[list[SSAValue]]:
    """The memories behind each port, in order of the first: those that one task of kind `load` reads in turn, and those that one of
    kind `store` writes in turn, for a port reads and writes at the same time (emission rules 19 and 20)."""
    written = kernel.terminator.arguments
    reading = _by_task([memory for memory in memories_of(kernel) if memory not in written], TaskKind.LOAD)
    joining = dict[int, list[SSAValue]]()
    alone = list[list[SSAValue]]()
    for port in _by_task(written, TaskKind.STORE):
        number = _joined(kernel, port, reading, joining)
        if number is None:
            alone.append(port)
        else:
            joining[number] = port
    return [*([*port, *joining.get(number, ())] for number, port in enumerate(reading)), *alone]


def _by_task(memories: Iterable[SSAValue], kind: TaskKind) -> list[list[SSAValue]]:
    """`memories` by the task of this kind that alone uses them; others each for itself."""
    ports: dict[TaskOp | SSAValue, list[SSAValue]] = {}
    for memory in memories:
        ports.setdefault(_only_user(memory, kind) or memory, []).append(memory)
    return list(ports.values())


def _joined(
    kernel: KernelOp, written: list[SSAValue], reading: list[list[SSAValue]], taken: Container[int]
) -> int | None:
    """The number of the reading port that `written` memories join, not `taken`, with words of their type: what is updated in place
    that of its own buffer; others the one that reads the least, and nothing that is updated, if some third port moves more than
    both do together, since they share the bandwidth of a channel. None where there is none."""
    places = dict(zip(kernel.terminator.arguments, kernel.places, strict=True))
    own = [kernel.arguments[place.operand] for memory in written if (place := places[memory]) is not None]
    wanted = _word(written[0]), _units(written)
    fitting = [number for number, port in enumerate(reading) if number not in taken and (_word(port[0]), _units(port)) == wanted]
    if own:
        return next((number for number in fitting if reading[number] == own), None)
    most = max(_bytes([memory]) for memory in memories_of(kernel))
    updated = {kernel.arguments[index] for index in kernel.updated}
    free = [number for number in fitting if not updated & {*reading[number]}]
    little = [number for number in free if _bytes([*reading[number], *written]) <= most]
    return min(little, key=lambda number: _bytes(reading[number]), default=None)


def _units(port: Iterable[SSAValue]) -> set[str | None]:
    """The compute units of the tasks that use it: each is a kernel of the vendor's tool, with ports of its own."""
    tasks = (use.operation for memory in port for use in memory.uses)
    return {task.unit for task in tasks if isinstance(task, TaskOp)}


def _bytes(port: list[SSAValue]) -> int:
    """What is moved through a port: of a table that is looked up no more than a step reads of it."""
    return sum(_moved(memory) for memory in port)


def _moved(memory: SSAValue) -> int:
    whole = tensor_bytes(memory.type)
    users = [use.operation.body.block.args[use.index] for use in memory.uses if isinstance(use.operation, TaskOp)]
    reads = [[use.operation for use in port.uses] for port in users]
    in_steps = [isinstance(read, memref.LoadOp) and STEPS.on(_outermost(read)) for each in reads for read in each]
    if len(reads) != 1 or not in_steps or not all(in_steps):
        return whole
    words = memory.type.get_shape()[0] if isa(memory.type, MemRefType) else 1
    return int(min(whole, sum(map(_times, reads[0])) * whole / words))


def _outermost(op: Operation) -> Operation:
    return next(iter(enclosing_loops(op)), op)


def _times(op: Operation) -> float:
    """How often it runs in a step; often, where that is known in a launch."""
    trips = [1 if STEPS.on(loop) else bounds.trip if (bounds := constant_bounds(loop)) else inf for loop in enclosing_loops(op)]
    return prod(trips)


def _word(memory: SSAValue) -> object:
    return memory.type.element_type if isa(memory.type, MemRefType) else None


def _only_user(memory: SSAValue, kind: TaskKind) -> TaskOp | None:
    """The task of this kind that alone uses the memory."""
    users = {use.operation for use in memory.uses if isinstance(use.operation, TaskOp)}
    task = next(iter(users)) if len(users) == 1 else None
    return task if task is not None and task.kind == kind else None
