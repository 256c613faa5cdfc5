"""What the loops of the manifest's schedule do not say of a task: accesses outside all loops, and those under a condition."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.analysis.executions import executions
from stc.codegen.design import TaskDesign
from stc.codegen.schedule import accesses_per_iteration
from stc.diagnostics import CompileError
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


def guarded_streams(task: TaskDesign) -> dict[str, int | None]:
    """Of the streams and rings of blocks that a task touches under a condition: how many tokens it moves there per launch.

    None where data decides, or loops too long to be looked at (`stc.analysis.executions`).
    """
    names = dict(zip(task.op.body.block.args, task.arguments, strict=True))
    accesses: dict[str, list[Operation]] = {}
    for operation in task.op.walk():
        port = operation.stream if isinstance(operation, ReadOp | WriteOp) else None
        port = operation.block if isinstance(operation, AcquireOp) else port
        if port is not None and (name := names.get(port)) is not None:  # pyright: ignore[reportArgumentType, reportCallIssue]
            accesses.setdefault(name, []).append(operation)
    return {name: _executed(found, task) for name, found in accesses.items() if any(_is_guarded(op, task.op) for op in found)}


def _executed(operations: Sequence[Operation], task: TaskDesign) -> int | None:
    try:
        return sum(executions(operation, task.op) for operation in operations)
    except CompileError:
        return None


def _is_guarded(operation: Operation, task: Operation) -> bool:
    parent = operation.parent_op()
    while parent is not None and parent is not task:
        if isinstance(parent, scf.IfOp):
            return True
        parent = parent.parent_op()
    return False
