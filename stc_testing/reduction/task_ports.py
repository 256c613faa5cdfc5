"""Drop ports of tasks whose values nobody uses inside, with the read that takes them."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import DenseArrayBase, ModuleOp, i32
from xdsl.ir import BlockArgument, Operation
from xdsl.irdl import AttrSizedOperandSegments

from stc.dialects import itensor, stream
from stc.dialects.dataflow import TaskOp
from stc_testing.reduction.engine import item_wise


def _unused(module: ModuleOp) -> list[Callable[[], bool]]:
    tasks = [op for op in module.walk() if isinstance(op, TaskOp)]
    return [_dropping(task, port) for task in tasks for port in task.body.block.args if _may_go(task, port)]


def _may_go(task: TaskOp, port: BlockArgument) -> bool:
    return port not in task.carried_ports and all(_is_idle(use.operation) for use in port.uses)


def _is_idle(op: Operation) -> bool:
    """Whether an operation takes a token that nobody uses."""
    return isinstance(op, itensor.ReadOp | stream.ReadOp) and all(result.first_use is None for result in op.results)


def _dropping(task: TaskOp, port: BlockArgument) -> Callable[[], bool]:
    def drop() -> bool:
        for use in list(port.uses):
            use.operation.detach()
            use.operation.erase()
        counts = [len(task.ins), len(task.outs)]
        counts[port.index >= len(task.ins)] -= 1
        task.operands = [value for index, value in enumerate(task.operands) if index != port.index]
        task.properties[AttrSizedOperandSegments.attribute_name] = DenseArrayBase.from_list(i32, counts)
        task.body.block.erase_arg(port)
        return True

    return drop


DROP_TASK_PORTS = item_wise("drop unused ports of tasks", _unused)
