"""Constants and induction variables, by their SSA values."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import BlockArgument, OpResult, SSAValue


def constant_value(value: SSAValue) -> int | None:
    """The integer that an `arith.constant` defines, None for any other value."""
    if isinstance(value, OpResult) and isinstance(value.op, arith.ConstantOp):
        attribute = value.op.value
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None
    return None


def loop_of_induction_variable(value: SSAValue) -> scf.ForOp | None:
    """The `scf.for` whose induction variable is `value`, None for any other value."""
    if not isinstance(value, BlockArgument) or value.index != 0:
        return None
    loop = value.owner.parent_op()
    return loop if isinstance(loop, scf.ForOp) else None
