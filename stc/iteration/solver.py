"""Questions to z3 about steps of loop nests (`stc.iteration.nests`), in integers.

A step is one counter per loop, from 0 to its trip count, and its number the counters in mixed radix: no division, and linear
wherever no trip count but the outermost is symbolic. A question asks for a counterexample: `Query.model` is None where there is
none. Each has a context of its own and a limit in z3's own count of work, not in seconds, so that the answer depends neither on
the questions before nor on the load of the machine.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import z3

from stc.iteration.nests import Nest
from stc.iteration.size import CeilDiv, Size, Symbol

RESOURCES = 20_000_000
"""Work that z3 may spend on one question, in its own count (some 5 million a second)."""


class GaveUp(Exception):
    """z3 found no answer within its limit; the text says why."""


@dataclass(frozen=True)
class Step:
    """Any one step of a nest: the counter of each loop, the number of the step, its values; how many steps there are."""

    counters: tuple[Any, ...]
    number: Any
    values: tuple[Any, ...]
    count: Any


class Model:
    """Values of a counterexample."""

    def __init__(self, model: Any):
        self._model = model

    def of(self, expression: Any) -> int:
        """The value of an integer expression."""
        return self._model.eval(expression, model_completion=True).as_long()

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
            self.require(variable >= 1, variable <= symbol.maximum)

    def require(self, *formulas: Any) -> None:
        """What holds of a counterexample."""
        self._solver.add(*formulas)

    def below(self, name: str, bound: Any) -> Any:
        """A new variable in 0..`bound` - 1."""
        variable: Any = z3.Int(name, self._context)
        self.require(variable >= 0, variable < bound)
        return variable

    def variable(self, name: str) -> Any:
        """The variable of a name that `below` has introduced."""
        return z3.Int(name, self._context)

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

    def _quotient(self, size: CeilDiv) -> Any:
        if size not in self._quotients:
            quotient: Any = z3.Int(f"{size.symbol.name}_by_{size.divisor}", self._context)
            symbol = self.symbols[size.symbol.name]
            self.require(size.divisor * quotient >= symbol, size.divisor * (quotient - 1) < symbol)
            self._quotients[size] = quotient
        return self._quotients[size]

    def step(self, name: str, nest: Nest) -> Step:
        """Any one step of `nest`; `name` sets its variables apart."""
        trips = [self.size(size) for size in nest.trips]
        counters = tuple(self.below(f"{name}_{position}", trip) for position, trip in enumerate(trips))
        return Step(counters, self.number(counters, nest.trips), self.values(nest, counters), self.product(trips))

    def number(self, counters: Sequence[Any], trips: Sequence[Size]) -> Any:
        """Counters of nested loops, outermost first, as one number."""
        number = self.integer(0)
        for counter, trip in zip(counters, trips, strict=True):
            number = number * self.size(trip) + counter
        return number

    def values(self, nest: Nest, counters: Sequence[Any]) -> tuple[Any, ...]:
        """The values of `nest` where its loops have made `counters` iterations."""
        return tuple(
            self.sum([self.size(start), *(c * s[value] for c, s in zip(counters, nest.strides, strict=True) if s[value])])
            for value, start in enumerate(nest.start)
        )

    def product(self, factors: Sequence[Any]) -> Any:
        result = self.integer(1)
        for factor in factors:
            result = result * factor
        return result

    def sum(self, terms: Sequence[Any]) -> Any:
        return z3.Sum([self.integer(0), *terms])

    def any(self, *formulas: Any) -> Any:
        return z3.Or(*formulas, z3.BoolVal(False, self._context))

    def all(self, *formulas: Any) -> Any:
        return z3.And(*formulas, z3.BoolVal(True, self._context))

    def negated(self, formula: Any) -> Any:
        return z3.Not(formula)

    def choose(self, condition: Any, first: Any, second: Any) -> Any:
        return z3.If(condition, first, second)

    def differ(self, first: Sequence[Any], second: Sequence[Any]) -> Any:
        """Whether two vectors differ in an entry."""
        return self.any(*(a != b for a, b in zip(first, second, strict=True)))

    def equal(self, first: Sequence[Any], second: Sequence[Any]) -> Any:
        return self.all(*(a == b for a, b in zip(first, second, strict=True)))

    def model(self) -> Model | None:
        """A counterexample, None where there is none; GaveUp where z3 does not decide."""
        match self._solver.check():
            case z3.unsat:
                return None
            case z3.sat:
                return Model(self._solver.model())
            case _:
                raise GaveUp(f"z3 gave up within a limit of {self._resources} units of work")
