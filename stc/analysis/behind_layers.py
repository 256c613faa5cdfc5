"""What follows the last layer: what is computed of a value that says that layers end with it (`stc.ends_layers`)."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue

from stc.analysis.task_graph import tasks_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import ENDS_LAYERS


def operations_behind_layers(function: func.FuncOp) -> set[Operation]:
    """The operations on tensors of `function`, or kernels, that wait for what the layers end with, and those that work for these
    alone, as what makes a parameter of another."""
    return operations_behind_ends(function.body.block)


def operations_behind_ends(block: Block) -> set[Operation]:
    """The same of the operations of a `block`, of a function or of a kernel on itensors."""
    ends = [op for op in block.ops if ENDS_LAYERS.on(op)]
    found: set[Operation] = set()
    waiting = [result for end in ends for result in end.results]
    while waiting:
        users = {use.operation for use in waiting.pop().uses if use.operation is not block.last_op} - found
        found |= users
        waiting.extend(result for user in users for result in user.results)
    for op in reversed([*block.ops] if ends else []):
        if op not in ends and op.results and all(is_read_behind_layers(result, found) for result in op.results):
            found.add(op)
    return found


def is_read_behind_layers(value: SSAValue, behind: Collection[Operation]) -> bool:
    """Whether nothing but operations `behind` the layers use a tensor."""
    return bool(value.uses) and all(use.operation in behind for use in value.uses)


def end_of_layers(kernel: KernelOp) -> TaskOp | None:
    """The task that hands on what the layers end with, if there is one; CompileError where there are several."""
    ends = [task for task in tasks_of(kernel) if ENDS_LAYERS.on(task)]
    if len(ends) > 1:
        names = ", ".join(f"@{task.sym_name.data}" for task in ends)
        raise CompileError(f"{len(ends)} tasks end layers: {names}", where=f"@{kernel.sym_name.data}", accepted="one")
    return ends[0] if ends else None
