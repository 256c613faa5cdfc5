"""Loop nests as raw numbers: what a stream order says of its tokens or entries, before anything is simplified.

A step of a nest is one iteration of all its loops; its values are sums of loop counters times strides. The obligations that
are put to z3 (`stc.iteration.proof_obligations`) are stated in these numbers, and share no code with normal forms and arguments
about loops.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import prod

from stc.iteration.order import StreamOrder
from stc.iteration.size import Size, static, value_at


@dataclass(frozen=True)
class Nest:
    """Loops, outermost first, and the values of a step: `start`, plus for each loop its counter times `strides` of the loop.

    `trips[k]` iterations of loop k; `strides[k]` has one entry per value.
    """

    trips: tuple[Size, ...]
    strides: tuple[tuple[int, ...], ...]
    start: tuple[Size, ...]

    def inside(self, trips: tuple[int, ...], strides: tuple[tuple[int, ...], ...]) -> Nest:
        """This nest with further loops inside."""
        return Nest((*self.trips, *trips), (*self.strides, *strides), self.start)

    def moved(self, by: tuple[int, ...]) -> Nest:
        """The same steps with `by` added to their values (static start)."""
        return Nest(self.trips, self.strides, tuple(static(start) + more for start, more in zip(self.start, by, strict=True)))

    def from_first(self) -> Nest:
        """The same steps, their values counted from those of the first."""
        return Nest(self.trips, self.strides, (0,) * len(self.start))

    def without_reuse(self) -> Nest:
        """The steps with every loop that changes no value made once: each value that memory holds."""
        retained = [loop for loop, strides in enumerate(self.strides) if any(strides)]
        return Nest(tuple(self.trips[loop] for loop in retained), tuple(self.strides[loop] for loop in retained), self.start)

    def without_values(self) -> Nest:
        """As many steps of no values."""
        return Nest(self.trips, ((),) * len(self.trips), ())

    def at(self, values: dict[str, int]) -> Nest:
        """The static nest that this is where each symbol has its value in `values`."""
        trips, start = (tuple(value_at(size, values) for size in sizes) for sizes in (self.trips, self.start))
        return Nest(trips, self.strides, start)

    def step(self, counters: tuple[int, ...]) -> tuple[int, ...]:
        """The values of the step at which the loops have made `counters` iterations (static start)."""
        return tuple(
            static(start) + sum(counter * strides[value] for counter, strides in zip(counters, self.strides, strict=True))
            for value, start in enumerate(self.start)
        )

    def numbered(self, number: int) -> tuple[int, ...] | None:
        """The values of step `number`, None past the end (static sizes)."""
        if number >= self.count:
            return None
        counters: list[int] = []
        for trip in reversed(self.trips):
            number, counter = divmod(number, static(trip))
            counters.append(counter)
        return self.step(tuple(reversed(counters)))

    def steps(self) -> Iterator[tuple[int, ...]]:
        """The values of every step, in order (static sizes)."""
        return map(self.step, product(*(range(static(trip)) for trip in self.trips)))

    @property
    def count(self) -> int:
        """Steps (static sizes)."""
        return prod(static(trip) for trip in self.trips)


def tokens(order: StreamOrder) -> Nest:
    """The coordinate of each token."""
    strides = tuple(
        tuple(loop.step if dimension == driven else 0 for dimension in range(order.rank))
        for loop, driven in zip(order.loops, order.dimension_of_loop, strict=True)
    )
    return Nest(tuple(loop.trip for loop in order.loops), strides, tuple(coordinate.constant for coordinate in order.coordinates))


def visits(order: StreamOrder) -> Nest:
    """The coordinate of each token, and behind it which visit of this coordinate it is, where each is visited once but for
    reuse loops (of static trips)."""
    nest = tokens(order)
    reuse = order.reuse_loops
    inner = {loop: prod(static(order.loops[other].trip) for other in reuse if other > loop) for loop in reuse}
    strides = tuple((*strides, inner.get(loop, 0)) for loop, strides in enumerate(nest.strides))
    return Nest(nest.trips, strides, (*nest.start, 0))


def entries(order: StreamOrder) -> Nest:
    """The coordinate of each entry, row-major within a token."""
    unit = tuple(tuple(int(row == column) for column in range(order.rank)) for row in range(order.rank))
    return tokens(order).inside(order.element, unit)


def positions(order: StreamOrder) -> Nest:
    """The row-major position of each entry in the tensor of `order`; ValueError where an extent but the first is symbolic."""
    nest = entries(order)
    weights = [prod(static(extent) for extent in order.shape[dimension + 1 :]) for dimension in range(order.rank)]
    strides = tuple((sum(w * s for w, s in zip(weights, entry, strict=True)),) for entry in nest.strides)
    if len(weights) == 1:
        return Nest(nest.trips, strides, nest.start)
    return Nest(nest.trips, strides, (sum(w * static(s) for w, s in zip(weights, nest.start, strict=True)),))


