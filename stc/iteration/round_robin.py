"""Round-robin split of a stream: token t goes to part t mod n, so that n narrow ports carry what one cannot."""

from __future__ import annotations

from dataclasses import replace

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import static


def round_robin_parts(order: StreamOrder, parts: int) -> tuple[StreamOrder, ...]:
    """The orders of the `parts` streams into which the tokens of `order` are split round-robin, at the coordinates they have there.

    The innermost loop gives every part each `parts`-th of its tokens; a loop of one iteration that is left disappears.
    ValueError where there is no loop or `parts` does not divide its trip count.
    """
    if parts < 1:
        raise ValueError(f"splits into {parts} parts, expected at least 1")
    if parts == 1:
        return (order,)
    if not order.loops:
        raise ValueError(f"one token does not split into {parts} parts")
    inner = len(order.loops) - 1
    loop = order.loops[inner]
    trip = static(loop.trip)
    if trip % parts:
        raise ValueError(f"innermost loop of {trip} iterations does not split into {parts} parts")
    rest = (Loop(trip // parts, loop.step * parts),) if trip > parts else ()
    moved = order.dimension_of_loop[inner]

    def part(number: int) -> StreamOrder:
        coordinates = list(order.coordinates)
        if moved is not None:
            old = order.coordinates[moved]
            retained = old.loops if rest else tuple(index for index in old.loops if index != inner)
            coordinates[moved] = Coordinate(retained, static(old.constant) + number * loop.step)
        return StreamOrder(order.element, (*order.loops[:-1], *rest), tuple(coordinates))

    return tuple(part(number) for number in range(parts))


def interleaved(part: StreamOrder, parts: int, dimension: int) -> StreamOrder:
    """The order of a tensor made of `parts` slices along `dimension`, each in the order `part`, token by token in turn.

    The inverse of `round_robin_parts` up to constants: it moves the slices to where they lie in the whole. `part` is exact.
    """
    if parts == 1:
        return part
    inner = len(part.loops)
    step = part.static_shape[dimension]
    coordinates = list(part.coordinates)
    old = part.coordinates[dimension]
    coordinates[dimension] = Coordinate((*old.loops, inner), old.constant)
    return StreamOrder(part.element, (*part.loops, Loop(parts, step)), tuple(coordinates))


def without_constants(order: StreamOrder) -> StreamOrder:
    """The same tokens with all coordinates moved to the origin."""
    return replace(order, coordinates=tuple(Coordinate(coordinate.loops) for coordinate in order.coordinates))
