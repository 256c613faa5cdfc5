"""What an access has to satisfy: the loops and guards around it, as they stand, run through the loops of its type, put to z3.

An *execution* of an access is one iteration of each loop around it at which its guards hold. Its loop values are those of the
induction variables that it names. They enumerate the type's loops if, for each execution, they are values of these loops, if a
later execution is always a later token, and if no token is left out. That a token has an execution is shown by naming it: the loops
that are named at the token's values, each other loop at one fixed iteration.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product, zip_longest
from math import prod
from typing import Any

import numpy as np

from stc.iteration.index_expressions import IndexExpression
from stc.iteration.nests import Nest
from stc.iteration.order import Loop
from stc.iteration.proof_obligations import CROSS_CHECK_RESOURCES, MOST_COUNTED, Answer, Holds, Refuted, Undecided
from stc.iteration.proofs import spelled
from stc.iteration.size import Size, is_static, static, symbols_in
from stc.iteration.solver import Query, Step


@dataclass(frozen=True)
class LoopAround:
    """A loop around an access: its variable takes `trips` values, from `first` on by `step`."""

    first: int
    step: int
    trips: Size


@dataclass(frozen=True)
class Enumeration:
    """The executions of an access inside `around` (outermost loop first) under `guards` enumerate `loops`, its type's.

    Loops around the access go by their position. `guards`: comparisons of sums of their variables. `named`: for each loop of the
    type the loop around the access whose induction variable it names.
    """

    around: tuple[LoopAround, ...]
    guards: tuple[IndexExpression[int], ...]
    named: tuple[int, ...]
    loops: tuple[Loop, ...]

    def put(self) -> Answer:
        if len(self.named) != len(self.loops):
            return Refuted(f"{len(self.named)} loops are named, but the type has {len(self.loops)}")
        return next((found for found in (self._strays(), self._order(), self._gaps()) if not isinstance(found, Holds)), Holds())

    def counted(self) -> Answer:
        if not all(map(is_static, self._sizes)) or prod(static(loop.trips) for loop in self.around) > MOST_COUNTED:
            return Undecided("too many to count out")
        tokens = product(*(range(0, static(loop.trip) * loop.step, loop.step) for loop in self.loops))
        for token, (expected, found) in enumerate(zip_longest(tokens, self._executions())):
            if expected != found:
                there = f"token {token} of the type is at loop values {spelled(expected)}"
                return Refuted(f"{there}, but access {token} at {spelled(found)}")
        return Holds()

    def _executions(self) -> Iterator[tuple[int, ...]]:
        """The loop values of each, in order."""
        trips = [static(loop.trips) for loop in self.around]
        grid = np.indices(trips)
        values = dict(enumerate(self._values([at.ravel() for at in grid])))
        held = np.ones(prod(trips), dtype=bool)
        for guard in self.guards:
            value = guard.evaluate(values)
            assert value is not None, "comparisons of sums have a value"
            held &= np.broadcast_to(np.not_equal(value, 0), held.shape)
        taken = np.flatnonzero(held)
        columns = [values[position][taken].tolist() for position in self.named]
        return zip(*columns, strict=True) if columns else iter([()] * len(taken))

    # Questions ------------------------------------------------------------------------------------------------------------

    @property
    def _sizes(self) -> list[Size]:
        return [*(loop.trips for loop in self.around), *(loop.trip for loop in self.loops)]

    def _query(self) -> Query:
        return Query(symbols_in(self._sizes), CROSS_CHECK_RESOURCES)

    def _execution(self, query: Query, mark: str = "") -> tuple[Step, list[Any]]:
        """Any one execution, and its loop values."""
        nest = Nest(tuple(loop.trips for loop in self.around), ((),) * len(self.around), ())
        step = query.step(f"iteration{mark}", nest)
        values = self._values(step.counters)
        query.require(*self._guards(query, values))
        return step, [values[position] for position in self.named]

    def _values(self, counters: Sequence[Any]) -> list[Any]:
        return [loop.first + counter * loop.step for loop, counter in zip(self.around, counters, strict=True)]

    def _guards(self, query: Query, values: Sequence[Any]) -> list[Any]:
        return [query.index(guard, dict(enumerate(values))) != 0 for guard in self.guards]

    def _token(self, query: Query, mark: str = "") -> tuple[Step, list[Any]]:
        """Any one token of the type, and its loop values."""
        step = query.step(f"token{mark}", Nest(tuple(loop.trip for loop in self.loops), ((),) * len(self.loops), ()))
        return step, [counter * loop.step for counter, loop in zip(step.counters, self.loops, strict=True)]

    def _strays(self) -> Answer:
        """Executions at values that the type's loops do not take."""
        query = self._query()
        _, values = self._execution(query)
        strays: list[Any] = []
        for value, loop in zip(values, self.loops, strict=True):
            strays += [value < 0, value >= query.size(loop.trip) * loop.step, value % loop.step != 0]
        query.require(query.any(*strays))
        model = query.model()
        if model is None:
            return Holds()
        at = spelled(tuple(map(model.of, values)))
        return Refuted(f"there is an access at loop values {at}, which the type's loops do not take")

    def _order(self) -> Answer:
        """Executions of which the later one is at the same or an earlier token."""
        query = self._query()
        (first, values), (second, later) = (self._execution(query, mark) for mark in ("", "_later"))
        (token, there), (other, then) = (self._token(query, mark) for mark in ("", "_later"))
        query.require(query.equal(values, there), query.equal(later, then))
        query.require(query.precedes(first, second), query.negated(query.precedes(token, other)))
        model = query.model()
        if model is None:
            return Holds()
        told = f"token {model.of(token.number)}, at loop values {spelled(tuple(map(model.of, values)))}"
        return Refuted(f"{told}, is accessed before token {model.of(other.number)}, at {spelled(tuple(map(model.of, later)))}")

    def _gaps(self) -> Answer:
        """Tokens without an execution."""
        query = self._query()
        query.require(query.equal(self._execution(query)[1], [query.integer(0)] * len(self.loops)))
        fixed = self._fixed_loops(query)
        if fixed is None:
            return Refuted(f"token 0, at loop values {spelled((0,) * len(self.loops))}, is never accessed")
        query = self._query()
        token, values = self._token(query)
        counters: list[Any] = [query.integer(count) for count in fixed]
        for position, value in zip(self.named, values, strict=True):
            counters[position] = (value - self.around[position].first) / self.around[position].step
        taken = self._values(counters)
        bounds = [query.size(loop.trips) for loop in self.around]
        inside = [query.all(counter >= 0, counter < bound) for counter, bound in zip(counters, bounds, strict=True)]
        exact = query.equal([taken[position] for position in self.named], values)
        query.require(query.negated(query.all(exact, *inside, *self._guards(query, taken))))
        model = query.model()
        if model is None:
            return Holds()
        missing, symbols = tuple(map(model.of, values)), {name: model.of(variable) for name, variable in query.symbols.items()}
        return self._never(model.of(token.number), missing, symbols)

    def _fixed_loops(self, query: Query) -> list[int] | None:
        """The iteration of each loop at one execution of the first token, None where there is none."""
        model = query.model()
        return None if model is None else [model.of(query.anything(f"iteration_{n}")) for n in range(len(self.around))]

    def _never(self, number: int, missing: tuple[int, ...], symbols: dict[str, int]) -> Answer:
        """Whether one token is without an execution, for the loops that are not named at any iteration."""
        query = self._query()
        query.require(*(query.symbols[name] == value for name, value in symbols.items()))
        query.require(query.equal(self._execution(query)[1], missing))
        if query.model() is None:
            return Refuted(f"token {number}, at loop values {spelled(missing)}, is never accessed")
        return Undecided("the iterations at which guards let an access happen differ from token to token")
