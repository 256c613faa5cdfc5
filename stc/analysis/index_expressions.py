"""Indices as values one can compare and compute: sums of induction variables, and what else is computed from them.

Two indices are equal where their expressions are, whatever operations compute them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from stc.analysis.loops import integer_constant

Integers: TypeAlias = np.ndarray | int


@dataclass(frozen=True)
class Computed:
    """What is no sum: the result of an operation on indices."""

    kind: type[Operation]
    operands: tuple[IndexExpression, ...]


Term: TypeAlias = SSAValue | Computed


@dataclass(frozen=True)
class IndexExpression:
    """`constant` plus each term times its factor; no factor is 0."""

    constant: int
    terms: frozenset[tuple[Term, int]] = frozenset()

    def variables(self) -> set[SSAValue]:
        """The values it is computed from."""
        return set[SSAValue]().union(*(variables_of(term) for term, _ in self.terms))

    def without(self, moving: set[SSAValue]) -> frozenset[tuple[Term, int]]:
        """The terms that none of `moving` is in."""
        return frozenset((term, factor) for term, factor in self.terms if not variables_of(term) & moving)

    def evaluate(self, values: Mapping[SSAValue, np.ndarray]) -> Integers | None:
        """Its value for each entry of `values`; a variable that is missing counts as 0. None where an operation is unknown."""
        total: Integers = self.constant
        for term, factor in self.terms:
            value = _compute(term, values) if isinstance(term, Computed) else values.get(term, 0)
            if value is None:
                return None
            total = total + value * factor
        return total

    def plus(self, other: IndexExpression) -> IndexExpression:
        """The sum of both."""
        factors = dict(self.terms)
        for term, factor in other.terms:
            factors[term] = factors.get(term, 0) + factor
        kept = frozenset((term, factor) for term, factor in factors.items() if factor)
        return IndexExpression(self.constant + other.constant, kept)

    def times(self, factor: int) -> IndexExpression:
        """The product with a constant."""
        if factor == 0:
            return IndexExpression(0)
        return IndexExpression(self.constant * factor, frozenset((term, own * factor) for term, own in self.terms))

    def divided(self, by: int) -> IndexExpression:
        """The quotient by a positive constant, rounded down."""
        return self if by == 1 else IndexExpression(0, frozenset({(Computed(arith.DivUIOp, (self, IndexExpression(by))), 1)}))

    def masked(self, mask: int) -> IndexExpression:
        """The bits of `mask` in it."""
        return IndexExpression(0, frozenset({(Computed(arith.AndIOp, (self, IndexExpression(mask))), 1)}))


def variables_of(term: Term) -> set[SSAValue]:
    """The values a term is computed from."""
    return set[SSAValue]().union(*(o.variables() for o in term.operands)) if isinstance(term, Computed) else {term}


def index_expression(value: SSAValue, known: Mapping[SSAValue, int]) -> IndexExpression:
    """The expression of an index; `known` are variables with one value (copies of unrolled loops)."""
    if value in known:
        return IndexExpression(known[value])
    if (constant := integer_constant(value)) is not None:
        return IndexExpression(constant)
    op = value.owner
    if isinstance(op, arith.AddiOp):
        return index_expression(op.lhs, known).plus(index_expression(op.rhs, known))
    if isinstance(op, arith.MuliOp):
        left, right = index_expression(op.lhs, known), index_expression(op.rhs, known)
        if not left.terms or not right.terms:
            return left.times(right.constant) if not right.terms else right.times(left.constant)
        return IndexExpression(0, frozenset({(Computed(arith.MuliOp, (left, right)), 1)}))
    if isinstance(op, Operation) and type(op) in _OPERATIONS:
        operands = tuple(index_expression(operand, known) for operand in op.operands)
        if all(not operand.terms for operand in operands):
            return IndexExpression(int(_OPERATIONS[type(op)](*(operand.constant for operand in operands))))
        return IndexExpression(0, frozenset({(Computed(type(op), operands), 1)}))
    return IndexExpression(0, frozenset({(value, 1)}))


_OPERATIONS: dict[type[Operation], Callable[[Integers, Integers], Integers]] = {
    arith.MuliOp: lambda a, b: a * b,
    arith.AndIOp: lambda a, b: a & b,
    arith.RemUIOp: lambda a, b: a % b,
    arith.DivUIOp: lambda a, b: a // b,
    arith.ShRUIOp: lambda a, b: a >> b,
    arith.SubiOp: lambda a, b: a - b,
}
"""On induction variables, which are never negative."""


def _compute(term: Computed, values: Mapping[SSAValue, np.ndarray]) -> Integers | None:
    operands = [operand.evaluate(values) for operand in term.operands]
    if len(operands) != 2 or operands[0] is None or operands[1] is None:
        return None
    return _OPERATIONS[term.kind](operands[0], operands[1])
