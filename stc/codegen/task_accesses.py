"""What the loops of the manifest's schedule do not say of a task: accesses outside all loops, and those under a condition."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.codegen.design import TaskDesign
from stc.codegen.schedule import accesses_per_iteration
from stc.dialects.stream import AcquireOp, ReadOp, WriteOp


def accesses_outside_loops(task: TaskDesign) -> dict[str, int]:
    """Tokens per launch that a task moves outside the loops that are left in hardware, by stream or ring of blocks."""
    names = dict(zip(task.op.body.block.args, task.arguments, strict=True))
    counts: dict[str, int] = {}
    for access in accesses_per_iteration(task.op):
        name = names.get(access.port)  # pyright: ignore[reportArgumentType]
        if name is not None and not access.bytes:
            counts[name] = counts.get(name, 0) + access.times
    return counts


def guarded_streams(task: TaskDesign) -> tuple[str, ...]:
    """The streams and rings of blocks that a task touches under a condition, in source order."""
    names = dict(zip(task.op.body.block.args, task.arguments, strict=True))
    found: list[str] = []
    for operation in task.op.walk():
        match operation:
            case ReadOp() | WriteOp():
                port = operation.stream
            case AcquireOp():
                port = operation.block
            case _:
                continue
        name = names.get(port)  # pyright: ignore[reportArgumentType]
        if name is not None and _is_guarded(operation, task.op):
            found.append(name)
    return tuple(dict.fromkeys(found))


def _is_guarded(operation: Operation, task: Operation) -> bool:
    parent = operation.parent_op()
    while parent is not None and parent is not task:
        if isinstance(parent, scf.IfOp):
            return True
        parent = parent.parent_op()
    return False
