"""Orders of slices one after the other, each entry by entry, and of the same with what all slices have at an entry side by side."""

from __future__ import annotations

from dataclasses import dataclass, replace

from stc.iteration.order import Coordinate, StreamOrder
from stc.iteration.size import is_static, static


@dataclass(frozen=True)
class Slices:
    """An order whose outermost loop counts `count` slices of one `dimension`, of `step` indices each, and whose next one counts
    entries, as many as a launch says."""

    order: StreamOrder
    dimension: int
    count: int
    step: int

    @classmethod
    def of(cls, order: StreamOrder) -> Slices | None:
        """`order` as such; None where it is none, or passes anything twice."""
        if len(order.loops) < 2 or order.reuse_loops or is_static(order.loops[1].trip) or not is_static(order.loops[0].trip):
            return None
        (outer, *_), dimension = order.loops, order.dimension_of_loop[0]
        if dimension is None or order.coordinates[dimension] != Coordinate((0,)) or outer.step != order.element[dimension]:
            return None
        return cls(order, dimension, static(outer.trip), outer.step)

    @property
    def side_by_side(self) -> StreamOrder:
        """Entry by entry, all slices of each."""
        slices, entries, *others = self.order.loops
        exchanged = (1, 0, *range(2, len(self.order.loops)))
        coordinates = [replace(each, loops=tuple(exchanged[loop] for loop in each.loops)) for each in self.order.coordinates]
        return StreamOrder(self.order.element, (entries, slices, *others), tuple(coordinates))

    @property
    def one(self) -> StreamOrder:
        """Of one slice alone, from where it begins."""
        begun = self.order.from_its_begin.coordinates
        coordinates = [replace(each, loops=tuple(loop - 1 for loop in each.loops if loop)) for each in begun]
        return StreamOrder(self.order.element, self.order.loops[1:], tuple(coordinates))

    def begin(self, number: int) -> list[int]:
        """Where a slice begins."""
        return [number * self.step if dimension == self.dimension else 0 for dimension in range(self.order.rank)]

    def part(self, part: StreamOrder, begin: tuple[int, ...]) -> range | None:
        """Which slices a `part` has that begins at `begin`; None where it has less of each."""
        whole = self.order.from_its_begin.largest
        if any(start or part.largest.span(dim) != whole.span(dim) for dim, start in enumerate(begin) if dim != self.dimension):
            return None
        first, extent = begin[self.dimension], part.largest.span(self.dimension)
        return range(first // self.step, (first + extent) // self.step)
