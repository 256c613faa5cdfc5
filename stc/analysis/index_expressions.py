"""Indices and conditions of the IR as expressions of the values they are computed from (`stc.iteration.index_expressions`).

Two indices are equal where their expressions are, whatever operations compute them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeAlias

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerType, i1
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue

from stc.analysis.loops import constant_bounds, integer_constant, passes_on
from stc.dialects.facts import COUNTERS
from stc.dialects.itensor import IndexSymbolOp, SizeOp
from stc.dialects.use_def import operations_behind
from stc.iteration import index_expressions as expressions
from stc.iteration.counters import Counter, count_as_said
from stc.iteration.index_expressions import Operator, computed, expression_of, variable, variables_of
from stc.iteration.size import symbols_in

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
_OF_TWO = (arith.AddiOp, arith.SubiOp, arith.MuliOp, arith.ShLIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp)
_ARITHMETIC = frozenset({*_OPERATORS, *_OF_TWO, arith.CmpiOp})
_SAME_NUMBER = frozenset({arith.IndexCastOp, arith.ExtSIOp, IndexSymbolOp})
_MOST_SHIFTED = 31


def index_expression(value: SSAValue, known: Mapping[SSAValue, int]) -> IndexExpression:
    """The expression of an index, or of a condition; `known` are variables with one value (copies of unrolled loops).

    A counter that a loop carries is a digit of the loop's variable, where that is proved (`COUNTERS`). What no such operation
    computes (a loop variable, a value that was loaded) is a variable.
    """
    return _Reader(known).expression(value)


@dataclass(frozen=True)
class _Reader:
    """`known`: as above. `opens_counters`: counters are what they count, not variables."""

    known: Mapping[SSAValue, int]
    opens_counters: bool = True

    def expression(self, value: SSAValue) -> IndexExpression:
        found: dict[SSAValue, IndexExpression] = {}
        for op in operations_behind(value, self.known, _terms_of):
            terms = [found.get(term) or self._leaf(term) for term in _terms_of(op)]
            if terms and (expression := _computed(op, terms)) is not None:
                found[op.results[0]] = expression
        return found.get(value) or self._leaf(value)

    def _leaf(self, value: SSAValue) -> IndexExpression:
        """Of what no operation of `_terms_of` computes."""
        if value in self.known:
            return IndexExpression(self.known[value])
        if (constant := integer_constant(value)) is not None:
            return IndexExpression(constant & 1 if value.type == i1 else constant)
        counted = _counted(value) if self.opens_counters and isinstance(value, BlockArgument) else None
        return variable(value) if counted is None else counted


def _terms_of(op: Operation) -> Sequence[SSAValue]:
    """The operands of an operation that index arithmetic knows; nothing where it does not."""
    kind = type(op)
    is_arithmetic = kind in _ARITHMETIC
    if not (is_arithmetic or kind in _SAME_NUMBER or kind is SizeOp) or not _is_wide(op.results[0].type):
        return ()
    if isinstance(op, SizeOp):
        return op.symbols
    return op.operands if is_arithmetic or _is_wide(op.operands[0].type) else ()


def _computed(op: Operation, terms: Sequence[IndexExpression]) -> IndexExpression | None:
    """What an operation of `_terms_of` makes of its terms."""
    match op:
        case SizeOp():
            return expression_of(op.size, dict(zip(symbols_in([op.size]), terms, strict=True)))
        case arith.IndexCastOp() | arith.ExtSIOp() | IndexSymbolOp():
            return terms[0]
        case arith.CmpiOp():
            return _comparison(op, *terms)
        case _ if type(op) in _OPERATORS:
            return computed(_OPERATORS[type(op)], *terms)
        case _:
            return _of_conditions(op, *terms) if op.results[0].type == i1 else _of_numbers(op, *terms)


def _counted(argument: BlockArgument) -> IndexExpression | None:
    """A value that a loop carries, computed from the loop's variable; None where it is no counter, or not proved to be one."""
    loop = argument.block.parent_op()
    if not isinstance(loop, scf.ForOp) or argument.index == 0 or (counters := _counters(loop)) is None:
        return None
    bounds, last, turn = constant_bounds(loop), loop.body.block.last_op, loop.body.block.args[0]
    if bounds is None or (bounds.lower, bounds.step) != (0, 1) or last is None or any(map(_begins_elsewhere, loop.iter_args)):
        return None
    plain = _Reader({}, opens_counters=False)
    carried: dict[SSAValue, Counter] = dict(zip(loop.body.block.args[1:], counters, strict=True))
    if not count_as_said(carried, [plain.expression(value) for value in last.operands], turn, bounds.trip):
        return None
    return carried[argument].value(variable(turn), bounds.trip)


def _counters(loop: scf.ForOp) -> list[Counter] | None:
    """What the loop says that it counts."""
    rows = COUNTERS.of(loop)
    if rows is None or len(rows) != len(loop.iter_args):
        return None
    is_whole = all(len(row) == len(fields(Counter)) and min(row) > 0 for row in rows)
    return [Counter(*row) for row in rows] if is_whole else None


def _begins_elsewhere(initial: SSAValue) -> bool:
    """Whether a loop that begins with `initial` does not begin with 0, nor goes on with what it carried before."""
    if isinstance(initial, BlockArgument) and isinstance(outer := initial.block.parent_op(), scf.ForOp) and initial.index > 0:
        (use,) = initial.uses if initial.has_one_use() else (None,)
        inner = use.operation if use is not None else None
        if isinstance(inner, scf.ForOp) and passes_on(outer, inner):
            return _begins_elsewhere(outer.iter_args[initial.index - 1])
    return integer_constant(initial) != 0


def _is_wide(kind: Attribute) -> bool:
    """Whether sums do not wrap around where indices are sensible, or the value is a condition."""
    return isinstance(kind, IndexType) or (isinstance(kind, IntegerType) and (kind == i1 or kind.width.data >= 32))


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
