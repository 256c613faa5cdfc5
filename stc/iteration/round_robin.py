"""Round-robin split of a stream: token t goes to part t mod n, so that n narrow ports carry what one cannot."""

from __future__ import annotations

from dataclasses import replace

from stc.iteration.normal_form import split_loop
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
    return part if parts == 1 else _with_loop(part, len(part.loops), Loop(parts, part.static_shape[dimension]), dimension)


def taken_in_turn(part: StreamOrder, parts: int, extent: int, run: int) -> StreamOrder:
    """The order of a tensor made of `parts` tensors one after the other along the first dimension, of which each has this `extent`,
    and its tokens in the order `part`: `run` of each in turn. ValueError where the innermost loops of `part` make no runs of so
    many.
    """
    at, left = len(part.loops), run
    while left > 1:
        at -= 1
        trip = static(part.loops[at].trip) if at >= 0 else 0
        if left < trip and trip % left == 0:
            part, at = split_loop(part, at, left), at + 1
            break
        if not trip or left % trip:
            raise ValueError(f"runs of {run} tokens do not end with loops of {', '.join(str(loop.trip) for loop in part.loops)}")
        left //= trip
    return _with_loop(part, at, Loop(parts, extent), 0)


def _with_loop(order: StreamOrder, index: int, loop: Loop, dimension: int) -> StreamOrder:
    """With one more `loop`, as number `index`, along `dimension`."""

    def moved(coordinate: Coordinate, is_along: bool) -> Coordinate:
        places = [place + (place >= index) for place in coordinate.loops] + [index] * is_along
        return replace(coordinate, loops=tuple(sorted(places)))

    coordinates = tuple(moved(each, at == dimension) for at, each in enumerate(order.coordinates))
    return StreamOrder(order.element, (*order.loops[:index], loop, *order.loops[index:]), coordinates)


def without_constants(order: StreamOrder) -> StreamOrder:
    """The same tokens with all coordinates moved to the origin."""
    return replace(order, coordinates=tuple(Coordinate(coordinate.loops) for coordinate in order.coordinates))
