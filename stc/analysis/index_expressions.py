"""Indices and conditions of the IR as expressions of the values they are computed from (`stc.iteration.index_expressions`).

Two indices are equal where their expressions are, whatever operations compute them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, Operation, SSAValue

from stc.analysis.loops import integer_constant
from stc.iteration import index_expressions as expressions
from stc.iteration.index_expressions import Operator, computed, variable, variables_of

IndexExpression: TypeAlias = expressions.IndexExpression[SSAValue]
Term: TypeAlias = SSAValue | expressions.Computed[SSAValue]

__all__ = ["IndexExpression", "Term", "index_expression", "variables_of"]

_OPERATORS: dict[type[Operation], Operator] = {
    arith.DivUIOp: Operator.DIV,
    arith.RemUIOp: Operator.REM,
    arith.ShRUIOp: Operator.SHR,
    arith.DivSIOp: Operator.DIV,   # of what is never negative: the operators have no value for anything else
    arith.RemSIOp: Operator.REM,
    arith.ShRSIOp: Operator.SHR,
    arith.MinSIOp: Operator.MIN,
    arith.MaxSIOp: Operator.MAX,
    arith.SelectOp: Operator.SELECT,
}
_MOST_SHIFTED = 31


def index_expression(value: SSAValue, known: Mapping[SSAValue, int]) -> IndexExpression:
    """The expression of an index, or of a condition; `known` are variables with one value (copies of unrolled loops).

    What no such operation computes (a loop variable, a value that was loaded) is a variable.
    """
    if value in known:
        return IndexExpression(known[value])
    if (constant := integer_constant(value)) is not None:
        return IndexExpression(constant & 1 if value.type == i1 else constant)
    owner = value.owner
    found = _computed(owner, known) if isinstance(owner, Operation) and _is_wide(value.type) else None
    return variable(value) if found is None else found


def _is_wide(kind: Attribute) -> bool:
    """Whether sums do not wrap around where indices are sensible, or the value is a condition."""
    return isinstance(kind, IndexType) or (isinstance(kind, IntegerType) and (kind == i1 or kind.width.data >= 32))


def _computed(op: Operation, known: Mapping[SSAValue, int]) -> IndexExpression | None:
    if type(op) in _OPERATORS:
        return computed(_OPERATORS[type(op)], *(index_expression(operand, known) for operand in op.operands))
    match op:
        case arith.IndexCastOp() | arith.ExtSIOp() if _is_wide(op.operands[0].type):
            return index_expression(op.operands[0], known)
        case arith.CmpiOp():
            return _comparison(op, *(index_expression(operand, known) for operand in op.operands))
        case arith.AddiOp() | arith.SubiOp() | arith.MuliOp() | arith.AndIOp() | arith.OrIOp() | arith.XOrIOp() | arith.ShLIOp():
            left, right = (index_expression(operand, known) for operand in op.operands)
            return _of_conditions(op, left, right) if op.result.type == i1 else _of_numbers(op, left, right)
        case _:
            return None


def _of_conditions(op: Operation, left: IndexExpression, right: IndexExpression) -> IndexExpression | None:
    match op:
        case arith.AndIOp() | arith.MuliOp():
            return computed(Operator.MIN, left, right)
        case arith.OrIOp():
            return computed(Operator.MAX, left, right)
        case arith.XOrIOp():
            return left.negated() if right == IndexExpression(1) else computed(Operator.EQUAL, left, right).negated()
        case _:
            return None


def _of_numbers(op: Operation, left: IndexExpression, right: IndexExpression) -> IndexExpression | None:
    match op:
        case arith.AddiOp():
            return left.plus(right)
        case arith.SubiOp():
            return left.minus(right)
        case arith.MuliOp():
            return left.product(right)
        case arith.AndIOp():
            return computed(Operator.AND, left, right)
        case arith.ShLIOp() if not right.terms and 0 <= right.constant <= _MOST_SHIFTED:
            return left.times(1 << right.constant)
        case _:
            return None


def _comparison(op: arith.CmpiOp, left: IndexExpression, right: IndexExpression) -> IndexExpression | None:
    predicate = arith.CMPI_COMPARISON_OPERATIONS[op.predicate.value.data]
    match predicate:
        case "eq" | "ne":
            equal = computed(Operator.EQUAL, left, right)
            return equal if predicate == "eq" else equal.negated()
        case "slt" | "sge":
            return left.less(right) if predicate == "slt" else left.less(right).negated()
        case "sgt" | "sle":
            return right.less(left) if predicate == "sgt" else right.less(left).negated()
        case "ult" | "uge" if _is_natural(right):
            return _below(left, right) if predicate == "ult" else _below(left, right).negated()
        case "ule" | "ugt" if _is_natural(right):
            below = _below(left, right.plus(IndexExpression(1)))
            return below if predicate == "ule" else below.negated()
        case _:
            return None


def _is_natural(index: IndexExpression) -> bool:
    """Whether it is a constant that is the same number unsigned."""
    return not index.terms and index.constant >= 0


def _below(index: IndexExpression, bound: IndexExpression) -> IndexExpression:
    """Whether `index`, as an unsigned number, is less than `bound`, a constant."""
    return computed(Operator.MIN, IndexExpression(-1).less(index), index.less(bound))
