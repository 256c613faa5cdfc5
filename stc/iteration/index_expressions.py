"""Indices as values one can compare and compute: sums of variables, and what else is computed from them. Free of IR.

Conditions are expressions too: 1 where they hold, 0 where not. So their conjunction is the minimum, their disjunction the maximum.
`V` is whatever stands for a variable: the caller's.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import reduce
from typing import Generic, TypeAlias, TypeVar

import numpy as np

from stc.iteration.size import CeilDiv, Entry, Least, Product, Size, Sum, Symbol, operands_of

V = TypeVar("V", bound=Hashable)
W = TypeVar("W", bound=Hashable)
Integers: TypeAlias = np.ndarray | int
Range: TypeAlias = tuple[int, int]
"""Smallest and largest value, both included."""


class Operator(Enum):
    """What no sum is. DIV, REM and SHR are unsigned: they have no value here where an operand is negative."""

    MUL = "*"
    DIV = "/"
    REM = "mod"
    SHR = ">>"
    AND = "&"
    MIN = "min"
    MAX = "max"
    LESS = "<"
    EQUAL = "="
    SELECT = "?"


_UNSIGNED = (Operator.DIV, Operator.REM, Operator.SHR)


@dataclass(frozen=True)
class Computed(Generic[V]):
    """The result of an operator: of three operands for SELECT (condition, value if it holds, value if not), else of two."""

    kind: Operator
    operands: tuple[IndexExpression[V], ...]


@dataclass(frozen=True)
class IndexExpression(Generic[V]):
    """`constant` plus each term times its factor; no factor is 0."""

    constant: int
    terms: frozenset[tuple[V | Computed[V], int]] = frozenset()

    def variables(self) -> set[V]:
        """The values it is computed from."""
        return set[V]().union(*(variables_of(term) for term, _ in self.terms))

    def without(self, moving: set[V]) -> frozenset[tuple[V | Computed[V], int]]:
        """The terms that none of `moving` is in."""
        return frozenset((term, factor) for term, factor in self.terms if not variables_of(term) & moving)

    def evaluate(self, values: Mapping[V, np.ndarray]) -> Integers | None:
        """Its value for each entry of `values`; a variable that is missing counts as 0. None where an operator has none."""
        total: Integers = self.constant
        for term, factor in self.terms:
            value = _evaluated(term, values) if isinstance(term, Computed) else values.get(term, 0)
            if value is None:
                return None
            total = total + value * factor
        return total

    def at(self, values: Mapping[V, int]) -> IndexExpression[V]:
        """The same where each variable in `values` has its value."""
        if not values or not self.variables() & values.keys():
            return self
        total = IndexExpression[V](self.constant)
        for term, factor in self.terms:
            if isinstance(term, Computed):
                found = computed(term.kind, *(operand.at(values) for operand in term.operands))
            else:
                found = IndexExpression[V](values[term]) if term in values else variable(term)
            total = total.plus(found.times(factor))
        return total

    def renamed(self, names: Mapping[V, W]) -> IndexExpression[W]:
        """The same of other variables; KeyError where one has no name."""
        terms = (
            (Computed(term.kind, tuple(part.renamed(names) for part in term.operands)), factor)
            if isinstance(term, Computed)
            else (names[term], factor)
            for term, factor in self.terms
        )
        return IndexExpression(self.constant, frozenset(terms))

    def range(self, ranges: Mapping[V, Range]) -> Range | None:
        """Bounds of its values where each variable has the values of `ranges`; None where a variable has none, or an operator.

        Exact for sums of variables that are independent of each other, else both bounds may be too wide.
        """
        low = high = self.constant
        for term, factor in self.terms:
            found = _range_of(term, ranges) if isinstance(term, Computed) else ranges.get(term)
            if found is None:
                return None
            ends = (found[0] * factor, found[1] * factor)
            low, high = low + min(ends), high + max(ends)
        return low, high

    def plus(self, other: IndexExpression[V]) -> IndexExpression[V]:
        """The sum of both."""
        factors = dict(self.terms)
        for term, factor in other.terms:
            factors[term] = factors.get(term, 0) + factor
        retained = frozenset((term, factor) for term, factor in factors.items() if factor)
        return IndexExpression(self.constant + other.constant, retained)

    def minus(self, other: IndexExpression[V]) -> IndexExpression[V]:
        """The difference."""
        return self.plus(other.times(-1))

    def times(self, factor: int) -> IndexExpression[V]:
        """The product with a constant."""
        if factor == 0:
            return IndexExpression(0)
        return IndexExpression(self.constant * factor, frozenset((term, own * factor) for term, own in self.terms))

    def product(self, other: IndexExpression[V]) -> IndexExpression[V]:
        """The product of both."""
        if not other.terms:
            return self.times(other.constant)
        return other.times(self.constant) if not self.terms else computed(Operator.MUL, self, other)

    def divided(self, by: int) -> IndexExpression[V]:
        """The quotient by a positive constant, rounded down."""
        return self if by == 1 else computed(Operator.DIV, self, IndexExpression(by))

    def masked(self, mask: int) -> IndexExpression[V]:
        """The bits of `mask` in it."""
        return computed(Operator.AND, self, IndexExpression(mask))

    def less(self, other: IndexExpression[V]) -> IndexExpression[V]:
        """Whether it is less than the other."""
        return computed(Operator.LESS, self, other)

    def negated(self) -> IndexExpression[V]:
        """The condition that holds where this one does not."""
        return IndexExpression[V](1).minus(self)


def variable(value: V) -> IndexExpression[V]:
    """An expression that is a variable and nothing else."""
    return IndexExpression(0, frozenset({(value, 1)}))


def computed(kind: Operator, *operands: IndexExpression[V]) -> IndexExpression[V]:
    """The expression of an operator on `operands`: a constant where these are."""
    if all(not operand.terms for operand in operands):
        value = _apply(kind, [operand.constant for operand in operands])
        if value is not None:
            return IndexExpression(int(value))
    return IndexExpression(0, frozenset({(Computed(kind, operands), 1)}))


def expression_of(size: Size, symbols: Mapping[Symbol, IndexExpression[V]]) -> IndexExpression[V]:
    """A size, of the scalars behind its symbols."""
    if isinstance(size, int | Symbol):
        return IndexExpression[V](size) if isinstance(size, int) else symbols[size]
    first, *others = (expression_of(operand, symbols) for operand in operands_of(size))
    match size:
        case Entry():
            found = IndexExpression[V](size.entries[-1])
            for index, entry in enumerate(size.entries[:-1]):
                is_it = computed(Operator.EQUAL, first, IndexExpression[V](index))
                found = computed(Operator.SELECT, is_it, IndexExpression[V](entry), found)
            return found
        case Sum():
            return reduce(IndexExpression.plus, others, first)
        case Product():
            return reduce(IndexExpression.product, others, first)
        case CeilDiv():
            return computed(Operator.DIV, first.plus(IndexExpression(size.divisor - 1)), IndexExpression(size.divisor))
        case _:
            kind = Operator.MIN if isinstance(size, Least) else Operator.MAX
            return reduce(lambda a, b: computed(kind, a, b), others, first)


def variables_of(term: V | Computed[V]) -> set[V]:
    """The variables a term is computed from."""
    if isinstance(term, Computed):
        return set[V]().union(*(operand.variables() for operand in term.operands))
    return {term}


# Values -----------------------------------------------------------------------------------------------------------------


def _evaluated(term: Computed[V], values: Mapping[V, np.ndarray]) -> Integers | None:
    operands: list[Integers] = []
    for operand in term.operands:
        value = operand.evaluate(values)
        if value is None:
            return None
        operands.append(value)
    return _apply(term.kind, operands)


def _apply(kind: Operator, operands: list[Integers]) -> Integers | None:
    if kind is Operator.SELECT:
        condition, chosen, other = operands
        return np.where(condition, chosen, other)
    a, b = operands
    if kind in _UNSIGNED and (np.any(np.less(a, 0)) or np.any(np.less(b, 0))):
        return None
    match kind:
        case Operator.MUL:
            return a * b
        case Operator.AND:
            return a & b
        case Operator.SHR:
            return None if np.any(np.greater(b, 62)) else a >> b
        case Operator.DIV | Operator.REM:
            if np.any(np.equal(b, 0)):
                return None
            return a // b if kind is Operator.DIV else a % b
        case Operator.MIN:
            return np.minimum(a, b)
        case Operator.MAX:
            return np.maximum(a, b)
        case Operator.LESS:
            return np.less(a, b).astype(np.int64)
        case Operator.EQUAL:
            return np.equal(a, b).astype(np.int64)


# Ranges -----------------------------------------------------------------------------------------------------------------


def _range_of(term: Computed[V], ranges: Mapping[V, Range]) -> Range | None:
    operands: list[Range] = []
    for operand in term.operands:
        found = operand.range(ranges)
        if found is None:
            return None
        operands.append(found)
    if term.kind is Operator.SELECT:
        _, chosen, other = operands
        return min(chosen[0], other[0]), max(chosen[1], other[1])
    return _range_of_two(term.kind, *operands)


def _range_of_two(kind: Operator, a: Range, b: Range) -> Range | None:
    if kind in _UNSIGNED and (a[0] < 0 or b[0] < 0):
        return None
    match kind:
        case Operator.MUL:
            corners = [x * y for x in a for y in b]
            return min(corners), max(corners)
        case Operator.AND:
            return _range_of_mask(a, b)
        case Operator.SHR:
            return a[0] >> b[1], a[1] >> b[0]
        case Operator.DIV:
            return None if b[0] < 1 else (a[0] // b[1], a[1] // b[0])
        case Operator.REM:
            return None if b[0] < 1 else (a if a[1] < b[0] else (0, min(a[1], b[1] - 1)))
        case Operator.MIN | Operator.MAX:
            choose = min if kind is Operator.MIN else max
            return choose(a[0], b[0]), choose(a[1], b[1])
        case Operator.LESS:
            return int(a[1] < b[0]), int(a[0] < b[1])
        case Operator.EQUAL:
            return int(a == b and a[0] == a[1]), int(a[0] <= b[1] and b[0] <= a[1])
        case _:
            return None


def _range_of_mask(a: Range, b: Range) -> Range | None:
    """Of the common bits of two numbers: between 0 and either that is never negative."""
    highest = [found[1] for found in (a, b) if found[0] >= 0]
    return (0, min(highest)) if highest else None


# Conditions -------------------------------------------------------------------------------------------------------------


def never_negative(condition: IndexExpression[V]) -> Iterator[IndexExpression[V]]:
    """Expressions that are 0 or more wherever `condition` holds: what it says about sums, other parts left out."""
    if len(condition.terms) != 1:
        return
    ((term, factor),) = condition.terms
    if not isinstance(term, Computed) or (condition.constant, factor) not in ((0, 1), (1, -1)):
        return
    holds = factor == 1
    if term.kind is (Operator.MIN if holds else Operator.MAX):
        for operand in term.operands:
            yield from never_negative(operand if holds else operand.negated())
    elif term.kind is Operator.LESS:
        a, b = term.operands
        yield b.minus(a).plus(IndexExpression(-1)) if holds else a.minus(b)
    elif term.kind is Operator.EQUAL and holds:
        a, b = term.operands
        yield from (a.minus(b), b.minus(a))
