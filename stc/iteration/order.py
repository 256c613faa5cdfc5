"""Stream orders: in which order the slices of a tensor cross a stream (docs/design/method.md section 2).

A `StreamOrder` is an itensor type without its scalar type: the element's shape, the iteration space (loops, outermost first)
and for each data dimension the coordinate of an element's first entry, a sum of loop values plus a constant. Loop k takes the
values 0, step, ..., (trip - 1) * step. A loop that is in no coordinate is a *reuse loop* (temporal reuse): everything inside it
crosses again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING

from stc.iteration.size import CeilDiv, Size, is_static, minimum, product_of, static, sum_of, symbols_in, value_at

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Loop:
    """One loop of an iteration space: `trip` iterations, perhaps none, the value advancing by `step`."""

    trip: Size
    step: int

    def __post_init__(self) -> None:
        if minimum(self.trip) < 0:
            raise ValueError(f"loop has trip count {_least(self.trip)}, expected at least 0")
        if self.step < 1:
            raise ValueError(f"loop has step {self.step}, expected at least 1")


@dataclass(frozen=True)
class Coordinate:
    """The first entry of an element along one data dimension: the sum of the values of `loops`, plus `constant`."""

    loops: tuple[int, ...] = ()
    constant: Size = 0

    def __post_init__(self) -> None:
        if minimum(self.constant) < 0:
            raise ValueError(f"coordinate has constant {_least(self.constant)}, expected at least 0")


def _least(size: Size) -> str:
    return str(size) if isinstance(size, int) else f"{size}, which may be {minimum(size)}"


@dataclass(frozen=True)
class StreamOrder:
    """The order in which the elements (tokens) of a tensor cross a stream.

    `element`: shape of one token, one entry per data dimension. `loops`: outermost first. `coordinates`: one per data
    dimension. Raises ValueError, with a sentence fit for a user, where they do not fit together.
    """

    element: tuple[int, ...]
    loops: tuple[Loop, ...]
    coordinates: tuple[Coordinate, ...]

    def __post_init__(self) -> None:
        if len(self.coordinates) != len(self.element):
            raise ValueError(f"map has {len(self.coordinates)} results but the element has rank {len(self.element)}")
        for dimension, extent in enumerate(self.element):
            if extent < 1:
                raise ValueError(f"element dimension {dimension} has extent {extent}, expected at least 1")
        uses = Counter(loop for coordinate in self.coordinates for loop in coordinate.loops)
        for loop, count in uses.items():
            if not 0 <= loop < len(self.loops):
                raise ValueError(f"map uses d{loop} but the iteration space has {len(self.loops)} loops")
            if count > 1:
                raise ValueError(f"map uses d{loop} {count} times, expected at most once")

    # Which loop drives what -------------------------------------------------------------------------------------------

    @cached_property
    def dimension_of_loop(self) -> tuple[int | None, ...]:
        """For each loop the data dimension it drives, None for a reuse loop."""
        driven = {loop: dim for dim, coordinate in enumerate(self.coordinates) for loop in coordinate.loops}
        return tuple(driven.get(loop) for loop in range(len(self.loops)))

    @property
    def reuse_loops(self) -> tuple[int, ...]:
        """The loops that drive no data dimension."""
        return tuple(loop for loop, dim in enumerate(self.dimension_of_loop) if dim is None)

    def loops_of(self, dimension: int, start: int = 0) -> tuple[int, ...]:
        """The loops from position `start` on that drive `dimension`, outermost first."""
        return tuple(loop for loop in sorted(self.coordinates[dimension].loops) if loop >= start)

    # Sizes ------------------------------------------------------------------------------------------------------------

    @property
    def rank(self) -> int:
        return len(self.element)

    @property
    def sizes(self) -> tuple[Size, ...]:
        """Trip counts and constants: all that may be symbolic."""
        return (*(loop.trip for loop in self.loops), *(coordinate.constant for coordinate in self.coordinates))

    @property
    def is_static(self) -> bool:
        return all(is_static(size) for size in self.sizes)

    @property
    def is_empty(self) -> bool:
        """Whether no token crosses, whatever the symbols are."""
        return any(loop.trip == 0 for loop in self.loops)

    def span(self, dimension: int, start: int = 0) -> int:
        """Entries of `dimension` touched by the loops from position `start` on, elements included (static sizes)."""
        loops = [self.loops[loop] for loop in self.loops_of(dimension, start)]
        if any(loop.trip == 0 for loop in loops):
            return 0
        return sum((static(loop.trip) - 1) * loop.step for loop in loops) + self.element[dimension]

    @cached_property
    def shape(self) -> tuple[Size, ...]:
        """The extents of the tensor this order enumerates, constants included.

        A dimension with a symbolic loop that its elements tile has as many entries as they have; of a loop over tiles, ceildiv(n,
        t), it is n; of a part that begins at run time, what lies before it counts. Other symbolic combinations have no closed form
        and raise ValueError.
        """
        return tuple(self._extent(dimension) for dimension in range(self.rank))

    def _extent(self, dimension: int) -> Size:
        coordinate = self.coordinates[dimension]
        trips = [self.loops[loop].trip for loop in coordinate.loops]
        if all(is_static(size) for size in (*trips, coordinate.constant)):
            return static(coordinate.constant) + self.span(dimension)
        if len(coordinate.loops) == 1 and coordinate.constant == 0:
            loop = self.loops[coordinate.loops[0]]
            if isinstance(loop.trip, CeilDiv) and loop.trip.divisor == loop.step == self.element[dimension]:
                return loop.trip.size
        if not is_static(coordinate.constant) and self.from_its_begin.is_tiled(dimension):
            return sum_of(coordinate.constant, product_of(*trips, self.element[dimension]))
        if self.is_tiled(dimension):
            return product_of(*trips, self.element[dimension])
        raise ValueError(f"extent of dimension {dimension} is symbolic and has no closed form")

    @cached_property
    def static_shape(self) -> tuple[int, ...]:
        return tuple(static(extent) for extent in self.shape)

    @property
    def element_count(self) -> int:
        """Entries of one token."""
        return prod(self.element)

    @cached_property
    def tokens(self) -> Size:
        """Tokens that cross the stream, temporal reuse included."""
        return product_of(1, *(loop.trip for loop in self.loops))

    @property
    def token_count(self) -> int:
        """`tokens` as an integer; RunTimeSizeError where it is known at run time only."""
        return static(self.tokens)

    @cached_property
    def distinct_token_count(self) -> int:
        """Distinct tokens: the count with every reuse loop taken once."""
        return prod(static(loop.trip) for loop, dim in zip(self.loops, self.dimension_of_loop, strict=True) if dim is not None)

    # Meaning ----------------------------------------------------------------------------------------------------------

    def enumerate(self) -> np.ndarray:
        """The coordinate of every token in order: an integer array [token_count, rank]. The oracle of all proofs."""
        import numpy as np  # a tenth of a second, which reading IR does without

        trips = tuple(static(loop.trip) for loop in self.loops)
        indices = np.indices(trips).reshape(len(trips), -1) if trips else np.zeros((0, 1), dtype=np.int64)
        tokens = np.empty((self.token_count, self.rank), dtype=np.int64)
        for dimension, coordinate in enumerate(self.coordinates):
            tokens[:, dimension] = static(coordinate.constant)
            for loop in coordinate.loops:
                tokens[:, dimension] += indices[loop] * self.loops[loop].step
        return tokens

    @cached_property
    def is_exact(self) -> bool:
        """True if every coordinate of the tensor is visited, by elements that are disjoint up to temporal reuse.

        Along each dimension the loops (by descending step) must tile the extent: the innermost advances by the element,
        each other by the whole span of those below it; the constant is 0. Symbolic trips count only for a single loop.
        """
        return all(self.is_tiled(dimension) for dimension in range(self.rank))

    def is_tiled(self, dimension: int) -> bool:
        """Whether the elements tile `dimension` without gap or overlap: exactness, one dimension at a time."""
        coordinate = self.coordinates[dimension]
        if coordinate.constant != 0:
            return False
        span: Size = self.element[dimension]
        for loop in sorted((self.loops[index] for index in coordinate.loops), key=lambda loop: loop.step):
            if loop.trip == 1:
                continue
            if span != loop.step:
                return False
            span = loop.step * loop.trip if isinstance(loop.trip, int) else loop.trip
        return True

    @cached_property
    def is_disjoint(self) -> bool:
        """True if elements are disjoint up to temporal reuse, whether or not they cover the tensor.

        Along each dimension every loop (by ascending step) advances by at least the span of the element and the loops below.
        """
        return all(self._is_spaced(dimension) for dimension in range(self.rank))

    def _is_spaced(self, dimension: int) -> bool:
        span = self.element[dimension]
        for loop in sorted((self.loops[index] for index in self.coordinates[dimension].loops), key=lambda loop: loop.step):
            if loop.trip == 1:
                continue
            if not is_static(loop.trip) or loop.step < span:
                return False
            span += (static(loop.trip) - 1) * loop.step
        return True

    @cached_property
    def is_covering(self) -> bool:
        """True if every coordinate of the tensor is visited, perhaps several times by elements that overlap (sliding windows).

        Along each dimension, by ascending step, no loop advances beyond what those below it cover; the constant is 0. An exact
        order is covering; symbolic trips count only where the order is exact.
        """
        return all(self._is_covered(dimension) for dimension in range(self.rank))

    def _is_covered(self, dimension: int) -> bool:
        if self.is_tiled(dimension):
            return True
        coordinate = self.coordinates[dimension]
        loops = [self.loops[index] for index in coordinate.loops]
        if coordinate.constant != 0 or not all(is_static(loop.trip) for loop in loops):
            return False
        span = self.element[dimension]
        for loop in sorted(loops, key=lambda loop: loop.step):
            if loop.trip != 1 and loop.step > span:
                return False
            span += (static(loop.trip) - 1) * loop.step
        return True

    # Derived orders ---------------------------------------------------------------------------------------------------

    def at(self, values: Mapping[str, int]) -> StreamOrder:
        """The static order that this is where each symbol has its value in `values`."""
        loops = tuple(Loop(value_at(loop.trip, values), loop.step) for loop in self.loops)
        coordinates = tuple(Coordinate(c.loops, value_at(c.constant, values)) for c in self.coordinates)
        return StreamOrder(self.element, loops, coordinates)

    @cached_property
    def largest(self) -> StreamOrder:
        """As memory is laid out that holds this one at every value: the static order where all symbols are at their maxima.

        A part that begins at an entry known at run time is one of all entries up to where it ends at most. ValueError where it has
        not one loop over single entries there.
        """
        if self.is_static:
            return self
        largest = self.at({symbol.name: symbol.maximum for symbol in symbols_in(self.sizes)})
        loops, coordinates = list(largest.loops), list(largest.coordinates)
        for dimension, coordinate in enumerate(self.coordinates):
            if is_static(coordinate.constant):
                continue
            if len(coordinate.loops) != 1 or loops[coordinate.loops[0]].step != 1 or self.element[dimension] != 1:
                raise ValueError(f"dimension {dimension} begins at {coordinate.constant} and has not one loop over single entries")
            loops[coordinate.loops[0]] = Loop(largest.span(dimension) + static(coordinates[dimension].constant), 1)
            coordinates[dimension] = Coordinate(coordinate.loops)
        return StreamOrder(self.element, tuple(loops), tuple(coordinates))

    @cached_property
    def begins(self) -> tuple[Size, ...]:
        """Where a part begins along each dimension of what memory has as `largest`: at 0, or at an entry known at run time."""
        return tuple(0 if is_static(coordinate.constant) else coordinate.constant for coordinate in self.coordinates)

    @property
    def from_its_begin(self) -> StreamOrder:
        """The same tokens, numbered from where the part begins (`begins`)."""
        kept = tuple(Coordinate(c.loops, c.constant if is_static(c.constant) else 0) for c in self.coordinates)
        return StreamOrder(self.element, self.loops, kept)

    @property
    def begins_at_run_time(self) -> bool:
        return any(begin != 0 for begin in self.begins)

    def without_reuse(self) -> StreamOrder:
        """The same order with every reuse loop dropped."""
        return self._keep([loop for loop, dim in enumerate(self.dimension_of_loop) if dim is not None])

    def _keep(self, retained: list[int]) -> StreamOrder:
        position = {loop: index for index, loop in enumerate(retained)}
        return StreamOrder(
            self.element,
            tuple(self.loops[loop] for loop in retained),
            tuple(
                Coordinate(tuple(position[loop] for loop in coordinate.loops if loop in position), coordinate.constant)
                for coordinate in self.coordinates
            ),
        )

    def without_unit_loops(self) -> StreamOrder:
        """The same order without loops of one iteration."""
        return self._keep([index for index, loop in enumerate(self.loops) if loop.trip != 1])

    def __str__(self) -> str:
        names = [f"d{loop}" for loop in range(len(self.loops))]
        results: list[str] = []
        for coordinate in self.coordinates:
            terms = [names[loop] for loop in coordinate.loops]
            if coordinate.constant != 0 or not terms:
                terms.append(str(coordinate.constant))
            results.append(" + ".join(terms))
        element = "x".join(str(extent) for extent in self.element)
        trips = ", ".join(str(loop.trip) for loop in self.loops)
        steps = ", ".join(str(loop.step) for loop in self.loops)
        return f"{element}, iter_space: [{trips}] * [{steps}], iter_map: ({', '.join(names)}) -> ({', '.join(results)})"
