"""Proofs that two stream orders are the same sequence (docs/design/method.md section 7): normal form first, z3 for the rest.

Static orders are decided by their normal forms alone, the first differing token included. Symbolic ones, for every value of the
symbols: equal normal forms are equal sequences; sequences that differ where every symbol is at its maximum differ; what is left
(orders that coincide by the smallness of their symbols) is matched from the outside, and z3 looks for symbol values and a token
at which the rest differs. What z3 cannot decide is `Unproved`: nothing is sampled.
That this is right is not taken for granted: `verify-streams` puts the types themselves to z3 as well
(`stc.iteration.proof_obligations`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import zip_longest
from math import prod

from stc.iteration.nests import tokens
from stc.iteration.normal_form import normal_form
from stc.iteration.order import StreamOrder
from stc.iteration.size import Symbol, static, symbols_in
from stc.iteration.solver import GaveUp, Query


@dataclass(frozen=True)
class Equal:
    """Both orders are the same sequence of (coordinate, element); `method` says how that was shown."""

    method: str


@dataclass(frozen=True)
class Differs:
    """The first token at which the sequences part, with the coordinate on either side; None past the end of one.

    `elements`: the shapes of a token on either side where these already differ, else None. `symbols`: name and value of each
    symbol for which this is the first difference; empty for static orders.
    """

    token: int
    source: tuple[int, ...] | None
    target: tuple[int, ...] | None
    elements: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    symbols: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        if self.elements is not None:
            return f"tokens are of shape {list(self.elements[0])} in the source but of {list(self.elements[1])} in the target"
        return f"token {self.token} is at {spelled(self.source)} in the source but at {spelled(self.target)} in the target" + (
            f" where {values_spelled(self.symbols)}" if self.symbols else ""
        )


@dataclass(frozen=True)
class Unproved:
    """The solver gave up: neither equal nor different was shown."""

    reason: str

    def __str__(self) -> str:
        return f"not proved: {self.reason}"


Verdict = Equal | Differs | Unproved


@lru_cache(maxsize=8192)
def compare_sequences(source: StreamOrder, target: StreamOrder) -> Verdict:
    """Decide whether two orders are the same token sequence, element by element, for all values (0 to maximum) of their symbols.

    Elements must have one shape: a token is not cut here. A mismatch names the first differing token; with symbols, at values
    for which there is one.
    """
    try:
        symbols = symbols_in((*source.sizes, *target.sizes))
    except ValueError as error:
        return Unproved(str(error))
    largest = {symbol.name: symbol.maximum for symbol in symbols}
    if source.element != target.element:
        starts = (coordinate_of(order.at(largest), 0) for order in (source, target))
        return Differs(0, *starts, elements=(source.element, target.element))
    first, second = normal_form(source), normal_form(target)
    if first == second:
        return Equal("normal form")
    if (difference := _difference_at(source, target, largest)) is not None:
        return difference
    return _coincidence(source, target, symbols)


def _difference_at(source: StreamOrder, target: StreamOrder, values: dict[str, int]) -> Differs | None:
    """The first difference where the symbols have `values`."""
    source, target = source.at(values), target.at(values)
    token = first_difference(normal_form(source), normal_form(target))
    if token is None:
        return None
    return Differs(token, coordinate_of(source, token), coordinate_of(target, token), symbols=tuple(sorted(values.items())))


def first_difference(source: StreamOrder, target: StreamOrder) -> int | None:
    """The first token at which two static normal forms over one element differ, None if they are equal.

    Loops that are equal from the inside on repeat the rest's tokens `inner` times. Of the rest, the innermost loops run for
    min(trips) tokens in step and then part (a normal form's run is as long as it can be), or part at once.
    """
    if source.is_empty or target.is_empty:
        return None if source.is_empty and target.is_empty else 0
    if any(first.constant != second.constant for first, second in zip(source.coordinates, target.coordinates, strict=True)):
        return 0
    inner = 1
    for left, right in zip_longest(*(reversed(list(zip(o.loops, o.dimension_of_loop, strict=True))) for o in (source, target))):
        if left == right:
            inner *= static(left[0].trip)
            continue
        if left is None or right is None or left[1] != right[1] or left[0].step != right[0].step:
            return inner
        return inner * min(static(left[0].trip), static(right[0].trip))
    return None


def coordinate_of(order: StreamOrder, token: int) -> tuple[int, ...] | None:
    """The coordinate of one token of a static order, None past the end."""
    if token >= order.token_count:
        return None
    return tuple(_at(order, dimension, token) for dimension in range(order.rank))


def _at(order: StreamOrder, dimension: int, token: int) -> int:
    value = static(order.coordinates[dimension].constant)
    for loop in order.coordinates[dimension].loops:
        inner = prod(static(later.trip) for later in order.loops[loop + 1 :])
        value += token // inner % static(order.loops[loop].trip) * order.loops[loop].step
    return value


# What is left of symbolic orders ------------------------------------------------------------------------------------------


def _coincidence(source: StreamOrder, target: StreamOrder, symbols: tuple[Symbol, ...]) -> Verdict:
    """The verdict of z3 on orders whose normal forms differ but that agree at the largest symbol values."""
    source, target = normal_form(source), normal_form(target)
    outer, inner = _equal_loops(source, target)
    first, second = (tokens(_retained(order, outer, len(order.loops) - inner)) for order in (source, target))
    shared = (*source.loops[:outer], *source.loops[len(source.loops) - inner :])

    def count_differs(query: Query) -> None:
        query.require(query.count(first) != query.count(second))

    def values_differ(query: Query) -> None:
        left, right = query.step("source", first), query.step("target", second)
        query.require(query.equal([left.number], [right.number]), query.differ(left.values, right.values))

    for differs in (count_differs, values_differ):
        query = Query(symbols)
        query.require(*(query.size(loop.trip) >= 1 for loop in shared))
        differs(query)
        try:
            model = query.model()
        except GaveUp as error:
            return Unproved(str(error))
        if model is not None:
            difference = _difference_at(source, target, query.values_in(model))
            assert difference is not None, "z3's symbol values tell the sequences apart"
            return difference
    return Equal("z3")


def _equal_loops(source: StreamOrder, target: StreamOrder) -> tuple[int, int]:
    """How many loops both orders share from the outside, and from the inside.

    Where these all run, the rest is the same sequence if and only if the whole is: as many tokens inside equal outer loops, and
    tokens at multiples of equal inner loops, decide it.
    """
    left, right = (list(zip(o.loops, o.dimension_of_loop, strict=True)) for o in (source, target))
    most = min(len(left), len(right))
    outer = next((count for count in range(most) if left[count] != right[count]), most)
    inner = next((count for count in range(most - outer) if left[-1 - count] != right[-1 - count]), most - outer)
    return outer, inner


def _retained(order: StreamOrder, start: int, stop: int) -> StreamOrder:
    coordinates = tuple(
        replace(coordinate, loops=tuple(loop - start for loop in coordinate.loops if start <= loop < stop))
        for coordinate in order.coordinates
    )
    return StreamOrder(order.element, order.loops[start:stop], coordinates)


def spelled(coordinate: tuple[int, ...] | None) -> str:
    """A coordinate as messages write it."""
    return "no coordinate" if coordinate is None else "[" + ", ".join(str(entry) for entry in coordinate) + "]"


def values_spelled(values: tuple[tuple[str, int], ...]) -> str:
    """Symbol values as messages write them: `seq = 3, pos = 1`."""
    return ", ".join(f"{name} = {value}" for name, value in values)
