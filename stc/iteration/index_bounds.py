"""Proof that an index stays within an extent: for every iteration of its loops in which its guards hold. Free of IR.

An index, and each guard, is an `IndexExpression` of loop variables; a guard holds where it is not 0. What is tried, in order:

| method | how |
|---|---|
| range | the smallest and the largest value of the sum lie inside |
| guard | so they do once what a guard says of the same variables is added |
| counted | every iteration was looked at, of the loops that the index, or a guard on the same loops, depends on |
| z3 | the solver found no iteration in which it lies outside |

Only the last two look at an index that seems to lie outside, and then they name an iteration in which it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, Generic

import numpy as np

from stc.iteration.index_expressions import Computed, IndexExpression, Range, V, never_negative

MOST_ITERATIONS_COUNTED = 1 << 20
MOST_WORK = 50_000_000
"""Of z3, in its own count: some ten seconds."""
INT = 2**31
"""Loop variables and indices are `int` in C++: no part of one may reach this."""


@dataclass(frozen=True)
class LoopValues:
    """The values of a loop variable: `first`, then by `step` (positive) up to `last`; none where `last` is less than `first`."""

    first: int
    last: int
    step: int

    @staticmethod
    def of(lower: int, upper: int, step: int) -> LoopValues:
        """Of a loop from `lower` (included) to `upper` (excluded)."""
        return LoopValues(lower, lower + (-(-(upper - lower) // step) - 1) * step, step)

    @property
    def range(self) -> Range:
        return self.first, self.last

    @property
    def count(self) -> int:
        return max(0, (self.last - self.first) // self.step + 1)


@dataclass(frozen=True)
class Access(Generic[V]):
    """`length` entries from `index` on are touched, of `extent`, in each iteration of `loops` in which all `guards` hold."""

    index: IndexExpression[V]
    length: int
    extent: int
    loops: Mapping[V, LoopValues]
    guards: Sequence[IndexExpression[V]] = ()

    @property
    def ranges(self) -> dict[V, Range]:
        return {name: values.range for name, values in self.loops.items()}

    def inside(self, range: Range | None) -> bool:
        """Whether an index of this range stays within the extent."""
        return range is not None and range[0] >= 0 and range[1] + self.length <= self.extent


@dataclass(frozen=True)
class Inside:
    """The index was proved to stay within its extent, by `method`."""

    method: str


@dataclass(frozen=True)
class Outside(Generic[V]):
    """The index is `value` where the loop variables are `iteration`; `range`: of all its values, None where not known."""

    value: int
    iteration: Mapping[V, int]
    range: Range | None


@dataclass(frozen=True)
class Undecided:
    """Neither was shown; `reason` is a clause."""

    reason: str


def prove_index(access: Access[V]) -> Inside | Outside[V] | Undecided:
    """Decide whether the index stays within its extent."""
    if any(values.count == 0 for values in access.loops.values()):
        return Inside("range")   # the access never runs
    ranges = access.ranges
    if not all(_fits(expression, ranges) for expression in (access.index, *access.guards)):
        return Undecided("a part of it exceeds 32 bits, the width of an index in C++")
    found = access.index.range(ranges)
    if access.inside(found):
        return Inside("range")
    facts = [fact for guard in access.guards for fact in never_negative(guard)]
    if found is not None and access.inside(_tightened(access.index, found, facts, ranges)):
        return Inside("guard")
    counted = _counted(access)
    if counted is None or (isinstance(counted, Outside) and len(_related(access)[1]) < len(access.guards)):
        solved = _solved(access)   # other guards may keep the access from running at all
        return counted if counted is not None and isinstance(solved, Undecided) else solved
    return counted


def _fits(index: IndexExpression[V], ranges: Mapping[V, Range]) -> bool:
    found = index.range(ranges)
    parts = (operand for term, _ in index.terms if isinstance(term, Computed) for operand in term.operands)
    return (found is None or (found[0] >= -INT and found[1] < INT)) and all(_fits(part, ranges) for part in parts)


def _tightened(
    index: IndexExpression[V], found: Range, facts: Sequence[IndexExpression[V]], ranges: Mapping[V, Range]
) -> Range:
    """`found`, the range of `index`, narrowed: whatever is added to it that is never negative, the sum is no less."""
    low, high = found
    for fact in facts:
        for factor in _cancelling(index, fact):
            larger = index.plus(fact.times(factor)).range(ranges)
            high = high if larger is None else min(high, larger[1])
        for factor in _cancelling(index.times(-1), fact):
            smaller = index.minus(fact.times(factor)).range(ranges)
            low = low if smaller is None else max(low, smaller[0])
    return low, high


def _cancelling(index: IndexExpression[V], fact: IndexExpression[V]) -> Iterator[int]:
    """Positive factors with which `fact` takes a term out of `index` when it is added."""
    own = dict(index.terms)
    for term, factor in fact.terms:
        if term in own and own[term] % factor == 0 and own[term] // factor < 0:
            yield -(own[term] // factor)


# Looking at every iteration ---------------------------------------------------------------------------------------------


def _counted(access: Access[V]) -> Inside | Outside[V] | None:
    """The verdict of all iterations; None where there are too many, or an operator has no value in one."""
    variables, guards = _related(access)
    loops = {name: values for name, values in access.loops.items() if name in variables}
    if prod(values.count for values in loops.values()) > MOST_ITERATIONS_COUNTED:
        return None
    axes = [np.arange(values.first, values.last + 1, values.step) for values in loops.values()]
    grid = {name: axis.ravel() for name, axis in zip(loops, np.meshgrid(*axes, indexing="ij") if axes else [], strict=True)}
    for guard in guards:
        holds = guard.evaluate(grid)
        if holds is None:
            return None
        holds = np.broadcast_to(np.asarray(holds) != 0, np.shape(next(iter(grid.values()))) if grid else (1,))
        grid = {name: axis[holds] for name, axis in grid.items()}
        if not holds.any():
            return Inside("counted")
    values = access.index.evaluate(grid)
    if values is None:
        return None
    return _first_outside(access, np.atleast_1d(np.asarray(values)), grid)


def _first_outside(access: Access[V], values: np.ndarray, grid: Mapping[V, np.ndarray]) -> Inside | Outside[V]:
    wrong = np.flatnonzero((values < 0) | (values + access.length > access.extent))
    if not len(wrong):
        return Inside("counted")
    at = int(wrong[0])
    iteration = {name: int(axis[at]) for name, axis in grid.items()}
    return Outside(int(values[at]), iteration, (int(values.min()), int(values.max())))


def _related(access: Access[V]) -> tuple[set[V], list[IndexExpression[V]]]:
    """The variables of the index and of the guards that share some with it, directly or through others; and those guards."""
    variables, guards, rest = access.index.variables(), list[IndexExpression[V]](), list(access.guards)
    while sharing := [guard for guard in rest if not guard.terms or guard.variables() & variables]:
        guards += sharing
        rest = [guard for guard in rest if guard not in sharing]
        variables = variables.union(*(guard.variables() for guard in sharing))
    return variables, guards


# Asking the solver ------------------------------------------------------------------------------------------------------


def _solved(access: Access[V]) -> Inside | Outside[V] | Undecided:
    """The verdict of z3."""
    from stc.iteration.solver import GaveUp, Query  # loads z3

    query = Query(resources=MOST_WORK)
    names: dict[V, Any] = {}
    for number, (name, values) in enumerate(access.loops.items()):
        names[name] = values.first + values.step * query.below(f"turn_{number}", values.count)
    query.require(*(query.index(guard, names) != 0 for guard in access.guards))
    index = query.index(access.index, names)
    query.require(query.any(index < 0, index + access.length > access.extent))
    try:
        model = query.model()
    except GaveUp as reason:
        return Undecided(str(reason))
    return Inside("z3") if model is None else _at(access, {name: model.of(value) for name, value in names.items()})


def _at(access: Access[V], iteration: dict[V, int]) -> Outside[V] | Undecided:
    """The iteration that the solver found, computed again."""
    point = {name: np.array([number]) for name, number in iteration.items()}
    value, *holds = (expression.evaluate(point) for expression in (access.index, *access.guards))
    if value is None or any(held is None for held in holds):
        return Undecided("an operand of an unsigned division, remainder or shift is negative, or a divisor is 0")
    number = int(np.atleast_1d(value)[0])
    if access.inside((number, number)) or not all(np.all(held) for held in holds):
        return Undecided("an operator is none that the solver knows")
    return Outside(number, iteration, access.index.range(access.ranges))
