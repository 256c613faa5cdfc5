"""Facts about `scf.for` loops with constant bounds."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from stc.analysis.contraction import name_of
from stc.diagnostics import CompileError


def constant_of(value: SSAValue) -> int:
    """The integer behind an index constant; CompileError where it is none."""
    if isinstance(constant := value.owner, arith.ConstantOp) and isinstance(constant.value, IntegerAttr):
        return constant.value.value.data
    raise CompileError("loop bound is not a constant", where=name_of(value.owner), accepted="arith.constant bounds")


def trip_count(loop: scf.ForOp) -> int:
    """Iterations of a loop with constant bounds."""
    lower, upper, step = (constant_of(value) for value in (loop.lb, loop.ub, loop.step))
    return max(0, -(-(upper - lower) // step))


def loops_between(op: Operation, root: Operation) -> list[scf.ForOp]:
    """The `scf.for` ops around `op`, from `root` (included) inwards."""
    loops: list[scf.ForOp] = []
    current: Operation | None = op
    while current is not root:
        assert current is not None
        current = current.parent_op()
        if isinstance(current, scf.ForOp):
            loops.append(current)
    return loops[::-1]
