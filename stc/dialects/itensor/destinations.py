"""Following a destination-carried itensor back to the value it started from."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import BlockArgument, OpResult, SSAValue

from stc.dialects.ports import HasPorts


def root_of(value: SSAValue) -> SSAValue:
    """The value whose contents `value` extends: a task port, an `itensor.empty`, an `itensor.instance`, ...

    Follows writes, loop-carried values, both results of a guard (through its then branch) and results of tasks; stops at
    anything else.
    """
    previous = _destination(value)
    while previous is not None:
        value = previous
        previous = _destination(value)
    return value


def _destination(value: SSAValue) -> SSAValue | None:
    if isinstance(value, BlockArgument):
        return _initial_value(value)
    if not isinstance(value, OpResult):
        return None
    match value.op:
        case scf.ForOp(iter_args=initial):
            return initial[value.index]
        case scf.IfOp(true_region=region) if region.blocks and isinstance(region.block.last_op, scf.YieldOp):
            return region.block.last_op.arguments[value.index]
        case op if op.name == "itensor.write":
            return op.operands[1]
        case op if op.name == "dataflow.own_kernel":
            return op.operands[len(op.operands) - len(op.results) + value.index]
        case op:
            return op.destination_of_result(value.index) if isinstance(op, HasPorts) else None


def _initial_value(argument: BlockArgument) -> SSAValue | None:
    loop = argument.owner.parent_op()
    if isinstance(loop, scf.ForOp) and 0 < argument.index <= len(loop.iter_args):
        return loop.iter_args[argument.index - 1]
    return None
