"""Questions to z3 about steps of loop nests (`stc.iteration.nests`), in integers.

A step is one counter per loop, from 0 to its trip count, and its number the counters in mixed radix: no division, and linear
wherever no trip count but the outermost is symbolic. Where two such sums are equal, z3 is told that their quotients are (quotient
and remainder are unique), for which it would search at length.

A question asks for a counterexample: `Query.model` is None where there is none. Each has a context of its own and a limit in z3's
own count of work, not in seconds, so that the answer depends neither on the questions before nor on the load of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import z3

from stc.iteration.index_expressions import Computed, IndexExpression, Operator
from stc.iteration.nests import Nest
from stc.iteration.size import CeilDiv, Entry, Largest, Least, Product, Size, Symbol, is_static, operands_of, static
from stc.iteration.size import Sum as SizeSum

RESOURCES = 20_000_000
"""Work that z3 may spend on one question, in its own count (some 5 million a second)."""


class GaveUp(Exception):
    """z3 found no answer within its limit; the text says why."""


@dataclass(frozen=True)
class Sum:
    """`constant` plus counters times weights. `terms`: (weight, counter, its largest value or None where that is symbolic).

    `value` is the sum as z3 has it; `terms` is None where a weight is symbolic, so that only `value` is known.
    """

    value: Any
    constant: int = 0
    terms: tuple[tuple[int, Any, int | None], ...] | None = None

    def times(self, factor: int, plus: int = 0) -> Sum:
        """The product with a positive constant, plus a constant."""
        terms = None if self.terms is None else tuple((weight * factor, counter, most) for weight, counter, most in self.terms)
        return Sum(self.value * factor + plus, self.constant * factor + plus, terms)

    def quotient(self, divisor: int) -> Any | None:
        """The sum divided by `divisor`, rounded down, where that needs no division: its terms are multiples, or add up to less."""
        if self.terms is None:
            return None
        rest, quotient = self.constant % divisor, self.constant // divisor
        for weight, counter, most in self.terms:
            if weight % divisor == 0:
                quotient = quotient + weight // divisor * counter
            elif most is None:
                return None
            else:
                rest += weight * most
        return quotient if rest < divisor else None


@dataclass(frozen=True)
class Step:
    """Any one step of a nest: the counter of each loop, the number of the step, its values."""

    counters: tuple[Any, ...]
    number: Sum
    values: tuple[Sum, ...]


class Model:
    """Values of a counterexample."""

    def __init__(self, model: Any):
        self._model = model

    def of(self, expression: Any) -> int:
        """The value of an integer expression or sum."""
        return self._model.eval(value_of(expression), model_completion=True).as_long()

    def holds(self, formula: Any) -> bool:
        return z3.is_true(self._model.eval(formula, model_completion=True))


class Query:
    """One question: variables, and what must hold of them. (z3's operators have no types, hence `Any`.)"""

    def __init__(self, symbols: Iterable[Symbol] = (), resources: int = RESOURCES):
        self._context = z3.Context()
        self._solver = z3.Solver(ctx=self._context)
        self._solver.set("rlimit", resources)
        self._resources = resources
        self._quotients: dict[CeilDiv, Any] = {}
        self.symbols: dict[str, Any] = {}
        for symbol in symbols:
            self.symbols[symbol.name] = variable = z3.Int(symbol.name, self._context)
            self.require(variable >= 0, variable <= symbol.maximum)

    def require(self, *formulas: Any) -> None:
        """What holds of a counterexample."""
        self._solver.add(*formulas)

    def anything(self, name: str) -> Any:
        """A new variable of any value."""
        return z3.Int(name, self._context)

    def below(self, name: str, bound: Any) -> Any:
        """A new variable in 0..`bound` - 1."""
        variable = self.anything(name)
        self.require(variable >= 0, variable < bound)
        return variable

    def integer(self, value: int) -> Any:
        return z3.IntVal(value, self._context)

    def size(self, size: Size) -> Any:
        """The value of a trip count or constant."""
        match size:
            case int():
                return self.integer(size)
            case Symbol():
                return self.symbols[size.name]
            case CeilDiv():
                return self._quotient(size)
            case Entry():
                return self._entry(size)
            case Product():
                return self.product([self.size(factor) for factor in size.factors])
            case SizeSum():
                return self.sum([self.size(term) for term in size.terms])
            case Least() | Largest():
                return self._best(size)

    def _entry(self, size: Entry) -> Any:
        found: Any = self.integer(size.entries[-1])
        for index, entry in enumerate(size.entries[:-1]):
            found = self.choose(self.symbols[size.index.name] == index, self.integer(entry), found)
        return found

    def _best(self, size: Least | Largest) -> Any:
        best, *others = (self.size(operand) for operand in operands_of(size))
        for other in others:
            best = self.choose(other < best if isinstance(size, Least) else other > best, other, best)
        return best

    def _quotient(self, size: CeilDiv) -> Any:
        if size not in self._quotients:
            quotient, dividend = self.anything(f"quotient_{len(self._quotients)}"), self.size(size.size)
            self.require(size.divisor * quotient >= dividend, size.divisor * (quotient - 1) < dividend)
            self._quotients[size] = quotient
        return self._quotients[size]

    def index(self, expression: IndexExpression[Any], values: Mapping[Any, Any]) -> Any:
        """An index, or a condition, where its variables have `values`.

        An operator that has no value for its operands, or that z3 does not know, may have any: nothing is proved with it.
        """
        total: Any = self.integer(expression.constant)
        for term, factor in expression.terms:
            total = total + (self._operator(term, values) if isinstance(term, Computed) else values[term]) * factor
        return total

    def _operator(self, term: Computed[Any], values: Mapping[Any, Any]) -> Any:
        operands = [self.index(operand, values) for operand in term.operands]
        if term.kind is Operator.SELECT:
            return self.choose(operands[0] != 0, operands[1], operands[2])
        a, b = operands
        known = None if term.operands[1].terms else term.operands[1].constant
        anything = z3.FreshInt(ctx=self._context)
        match term.kind:
            case Operator.MUL:
                return a * b
            case Operator.MIN:
                return self.choose(a < b, a, b)
            case Operator.MAX:
                return self.choose(a < b, b, a)
            case Operator.LESS:
                return self.choose(a < b, self.integer(1), self.integer(0))
            case Operator.EQUAL:
                return self.choose(a == b, self.integer(1), self.integer(0))
            case Operator.DIV:
                return self.choose(self.all(a >= 0, b > 0), a / b, anything)
            case Operator.REM:
                return self.choose(self.all(a >= 0, b > 0), a % b, anything)
            case Operator.SHR if known is not None and 0 <= known < 32:
                return self.choose(a >= 0, a / (1 << known), anything)
            case Operator.AND if known is not None and known >= 0 and known & (known + 1) == 0:  # the lowest bits
                return a % (known + 1)
            case _:
                return anything

    def count(self, nest: Nest) -> Any:
        """The steps of `nest`, perhaps none."""
        return self.product([self.size(size) for size in nest.trips])

    def step(self, name: str, nest: Nest) -> Step:
        """Any one step of `nest`, which then has one; `name` sets its variables apart."""
        trips = [self.size(size) for size in nest.trips]
        counters = tuple(self.below(f"{name}_{position}", trip) for position, trip in enumerate(trips))
        return Step(counters, self.number(counters, nest.trips), self.values(nest, counters))

    def number(self, counters: Sequence[Any], trips: Sequence[Size]) -> Sum:
        """Counters of nested loops, outermost first, as one number."""
        value = self.integer(0)
        for counter, trip in zip(counters, trips, strict=True):
            value = value * self.size(trip) + counter
        if not all(is_static(trip) for trip in trips[1:]):
            return Sum(value)
        weights = [prod(static(trip) for trip in trips[position + 1 :]) for position in range(len(trips))]
        return Sum(value, 0, _terms(weights, counters, trips))

    def values(self, nest: Nest, counters: Sequence[Any]) -> tuple[Sum, ...]:
        """The values of `nest` where its loops have made `counters` iterations."""
        return tuple(self._value(nest, counters, value) for value in range(len(nest.start)))

    def _value(self, nest: Nest, counters: Sequence[Any], position: int) -> Sum:
        start, weights = nest.start[position], [strides[position] for strides in nest.strides]
        products = (counter * weight for counter, weight in zip(counters, weights, strict=True) if weight)
        value = self.sum([self.size(start), *products])
        return Sum(value, start, _terms(weights, counters, nest.trips)) if isinstance(start, int) else Sum(value)

    def product(self, factors: Sequence[Any]) -> Any:
        result = self.integer(1)
        for factor in factors:
            result = result * factor
        return result

    def sum(self, terms: Sequence[Any]) -> Any:
        return z3.Sum([self.integer(0), *terms])

    def values_in(self, model: Model) -> dict[str, int]:
        """The values of the symbols in a counterexample."""
        return {name: model.of(variable) for name, variable in self.symbols.items()}

    def any(self, *formulas: Any) -> Any:
        return z3.Or(*formulas, z3.BoolVal(False, self._context))

    def all(self, *formulas: Any) -> Any:
        return z3.And(*formulas, z3.BoolVal(True, self._context))

    def negated(self, formula: Any) -> Any:
        return z3.Not(formula)

    def choose(self, condition: Any, first: Any, second: Any) -> Any:
        return z3.If(condition, first, second)

    def precedes(self, first: Step, second: Step) -> Any:
        """Whether one step of a nest comes before another of the same nest: in the outermost loop in which they differ."""
        alike: list[Any] = []
        earlier: list[Any] = []
        for one, other in zip(first.counters, second.counters, strict=True):
            earlier.append(self.all(*alike, one < other))
            alike.append(one == other)
        return self.any(*earlier)

    def differ(self, first: Sequence[Any], second: Sequence[Any]) -> Any:
        """Whether two vectors of sums or expressions differ in an entry."""
        return self.any(*(value_of(a) != value_of(b) for a, b in zip(first, second, strict=True)))

    def equal(self, first: Sequence[Any], second: Sequence[Any]) -> Any:
        """Whether two vectors of sums or expressions are equal; then so are the quotients of sums, which z3 need not find out."""
        return self.all(*(formula for a, b in zip(first, second, strict=True) for formula in _equations(a, b)))

    def model(self) -> Model | None:
        """A counterexample, None where there is none; GaveUp where z3 does not decide."""
        match self._solver.check():
            case z3.unsat:
                return None
            case z3.sat:
                return Model(self._solver.model())
            case _:
                raise GaveUp(f"z3 gave up within a limit of {self._resources} units of work")


def _terms(weights: Sequence[int], counters: Sequence[Any], trips: Sequence[Size]) -> tuple[tuple[int, Any, int | None], ...]:
    most = [trip - 1 if isinstance(trip, int) else None for trip in trips]
    return tuple(term for term in zip(weights, counters, most, strict=True) if term[0])


def value_of(expression: Any) -> Any:
    """A sum as z3 has it; any other expression as it is."""
    return expression.value if isinstance(expression, Sum) else expression


def _equations(first: Any, second: Any) -> Iterator[Any]:
    """That two sums are equal, and what follows: where both can be divided by a weight, their quotients are equal."""
    yield value_of(first) == value_of(second)
    if not (isinstance(first, Sum) and isinstance(second, Sum)):
        return
    for divisor in sorted({weight for side in (first, second) for weight, _, _ in side.terms or ()} - {1}):
        quotients = first.quotient(divisor), second.quotient(divisor)
        if quotients[0] is not None and quotients[1] is not None:
            yield quotients[0] == quotients[1]
