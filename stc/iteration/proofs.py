"""Proofs about stream orders with z3 (method.md section 7): normal form first, the solver only for the rest."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import z3

from stc.iteration.normal_form import same_sequence
from stc.iteration.order import StreamOrder
from stc.iteration.size import static

TIMEOUT_MS = 10_000


@dataclass(frozen=True)
class Equal:
    """Both orders are the same sequence of (coordinate, element); `method` says how that was shown."""

    method: str


@dataclass(frozen=True)
class Differs:
    """The first token at which the sequences part, with the coordinate on either side; None past the end of one.

    `elements`: the shapes of a token on either side where these already differ, else None.
    """

    token: int
    source: tuple[int, ...] | None
    target: tuple[int, ...] | None
    elements: tuple[tuple[int, ...], tuple[int, ...]] | None = None

    def __str__(self) -> str:
        if self.elements is not None:
            return f"tokens are of shape {list(self.elements[0])} in the source but of {list(self.elements[1])} in the target"
        return f"token {self.token} is at {_spelled(self.source)} in the source but at {_spelled(self.target)} in the target"


@dataclass(frozen=True)
class Unproved:
    """The solver gave up: neither equal nor different was shown."""

    reason: str


def compare_sequences(source: StreamOrder, target: StreamOrder) -> Equal | Differs | Unproved:
    """Decide whether two static orders are the same token sequence, element by element.

    Elements must have one shape: a token is not cut here. z3 looks for the *first* differing token, so that a mismatch is
    reported where a person would see it first. ValueError where a size is symbolic, unless the normal forms agree.
    """
    if source.element != target.element:
        elements = (source.element, target.element)
        return Differs(0, coordinate_of(source, 0), coordinate_of(target, 0), elements)
    if same_sequence(source, target):
        return Equal("normal form")
    token = z3.Int("token")
    shorter = min(source.token_count, target.token_count)
    differs = z3.Or(
        *(_coordinate(source, dimension, token) != _coordinate(target, dimension, token) for dimension in range(source.rank))
    )
    optimizer = z3.Optimize()
    optimizer.set("timeout", TIMEOUT_MS)
    optimizer.add(token >= 0, token < shorter, differs)
    optimizer.minimize(token)
    outcome = optimizer.check()
    if outcome == z3.unknown:
        return Unproved(optimizer.reason_unknown())
    if outcome == z3.sat:
        first = optimizer.model()[token].as_long()  # pyright: ignore[reportAttributeAccessIssue, reportOptionalMemberAccess]
        return Differs(first, coordinate_of(source, first), coordinate_of(target, first))
    if source.token_count != target.token_count:
        return Differs(shorter, coordinate_of(source, shorter), coordinate_of(target, shorter))
    return Equal("z3")


def coordinate_of(order: StreamOrder, token: int) -> tuple[int, ...] | None:
    """The coordinate of one token, None past the end."""
    if token >= order.token_count:
        return None
    return tuple(_at(order, dimension, token) for dimension in range(order.rank))


def _at(order: StreamOrder, dimension: int, token: int) -> int:
    value = static(order.coordinates[dimension].constant)
    for loop in order.coordinates[dimension].loops:
        value += (token // _inner_tokens(order, loop)) % static(order.loops[loop].trip) * order.loops[loop].step
    return value


def _coordinate(order: StreamOrder, dimension: int, token: Any) -> Any:
    """The coordinate along `dimension` as a function of the linearised token index."""
    value: Any = z3.IntVal(static(order.coordinates[dimension].constant))  # z3 overloads its operators without types
    for loop in order.coordinates[dimension].loops:
        iteration = (token / _inner_tokens(order, loop)) % static(order.loops[loop].trip)
        value = value + iteration * order.loops[loop].step
    return value


def _inner_tokens(order: StreamOrder, loop: int) -> int:
    """Tokens that cross during one iteration of `loop`."""
    return prod(static(inner.trip) for inner in order.loops[loop + 1 :])


def _spelled(coordinate: tuple[int, ...] | None) -> str:
    return "no coordinate" if coordinate is None else "[" + ", ".join(str(entry) for entry in coordinate) + "]"
