"""Which values an index can take, as far as constants and loop bounds tell: saves the bounds check of each access."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, BlockArgument, SSAValue

Range = tuple[int, int]
"""Smallest and largest value, both included."""


def range_of(value: SSAValue) -> Range | None:
    """The range of an index; None where it does not follow from constants."""
    if isinstance(value, BlockArgument):
        return _induction_range(value)
    match value.owner:
        case arith.ConstantOp(value=IntegerAttr(value=constant)):
            return constant.data, constant.data
        case arith.AddiOp(lhs=left, rhs=right):
            first, second = range_of(left), range_of(right)
            return None if first is None or second is None else (first[0] + second[0], first[1] + second[1])
        case arith.MuliOp(lhs=left, rhs=right):
            first, second = range_of(left), range_of(right)
            if first is None or second is None:
                return None
            corners = [a * b for a in first for b in second]
            return min(corners), max(corners)
        case _:
            return None


def _induction_range(argument: BlockArgument) -> Range | None:
    loop = argument.owner.parent_op() if isinstance(argument.owner, Block) else None
    if not isinstance(loop, scf.ForOp) or argument.index != 0:
        return None
    lower, upper, step = range_of(loop.lb), range_of(loop.ub), range_of(loop.step)
    if lower is None or upper is None or step is None or step[0] != step[1] or step[0] < 1:
        return None
    if lower[0] != lower[1] or upper[0] != upper[1]:
        return lower[0], upper[1] - 1
    trips = max(1, -(-(upper[0] - lower[0]) // step[0]))
    return lower[0], lower[0] + (trips - 1) * step[0]
