"""Normal form of stream orders: the first and cheap half of deciding whether two streams are the same sequence.

Types that differ in spelling but not in order (unit loops, split or merged loops, the steps of reuse loops, the order in which a
sum is written) have the same normal form. For static sizes the converse holds too: the innermost loop of a normal form is the
longest run of equal differences at the start of the sequence, what remains is the sequence of the first tokens of the runs, and
so on outwards, so that the sequence determines every loop.

A sequence of no tokens is one loop of no iterations. With symbolic sizes the normal form keeps what holds for every value of the
symbols, 0 included: a size that can take one value only is that value, static loops merge, neighbouring reuse loops commute (the
static ones come first and are one loop). Equal normal forms are equal sequences for all values; unequal ones may coincide for all
values of small symbols, which is the solver's business (`stc.iteration.proofs`).
"""

from __future__ import annotations

from functools import lru_cache

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import is_static, simplified, static


@lru_cache(1 << 14)  # copies of a computation ask the same again and again
def normal_form(order: StreamOrder) -> StreamOrder:
    """`order` without unit loops, with neighbouring loops merged where one continues the other, and spelled in one way.

    Reuse loops get step 1 (their values drive nothing) and sums name their loops outermost first.
    """
    if order.is_empty:
        return StreamOrder(order.element, (Loop(0, 1),), (Coordinate(),) * order.rank)
    order = _one_spelling(order)
    for outer in range(len(order.loops) - 1):
        if _continues(order, outer):
            return normal_form(_merge(order, outer))
        if _reuse_out_of_order(order, outer):
            loops = (*order.loops[:outer], order.loops[outer + 1], order.loops[outer], *order.loops[outer + 2 :])
            return normal_form(StreamOrder(order.element, loops, order.coordinates))
    return order


def _one_spelling(order: StreamOrder) -> StreamOrder:
    driven = zip(order.loops, order.dimension_of_loop, strict=True)
    loops = tuple(Loop(simplified(loop.trip), 1 if dimension is None else loop.step) for loop, dimension in driven)
    coordinates = tuple(Coordinate(tuple(sorted(c.loops)), simplified(c.constant)) for c in order.coordinates)
    return StreamOrder(order.element, loops, coordinates).without_unit_loops()


def same_sequence(first: StreamOrder, second: StreamOrder) -> bool:
    """True if the normal forms agree: then the token sequences are equal. False decides nothing if sizes are symbolic."""
    return normal_form(first) == normal_form(second)


def _continues(order: StreamOrder, outer: int) -> bool:
    """Whether loop `outer` advances by exactly what loop `outer + 1` covers, along the same dimension."""
    first, second = order.loops[outer], order.loops[outer + 1]
    if order.dimension_of_loop[outer] != order.dimension_of_loop[outer + 1]:
        return False
    if not (is_static(first.trip) and is_static(second.trip)):
        return False
    if order.dimension_of_loop[outer] is None:
        return True
    return first.step == static(second.trip) * second.step


def _reuse_out_of_order(order: StreamOrder, outer: int) -> bool:
    """Whether loops `outer` and `outer + 1` are reuse loops whose symbolic trips do not stand in the order of their spelling."""
    if order.dimension_of_loop[outer] is not None or order.dimension_of_loop[outer + 1] is not None:
        return False
    first, second = order.loops[outer].trip, order.loops[outer + 1].trip
    return (not is_static(first), str(first)) > (not is_static(second), str(second))


def _merge(order: StreamOrder, outer: int) -> StreamOrder:
    first, second = order.loops[outer], order.loops[outer + 1]
    merged = Loop(static(first.trip) * static(second.trip), second.step)
    loops = (*order.loops[:outer], merged, *order.loops[outer + 2 :])

    def renumbered(coordinate: Coordinate) -> Coordinate:
        retained = {loop if loop <= outer else loop - 1 for loop in coordinate.loops}
        return Coordinate(tuple(sorted(retained)), coordinate.constant)

    return StreamOrder(order.element, loops, tuple(renumbered(c) for c in order.coordinates))


def split_loop(order: StreamOrder, position: int, inner_trip: int) -> StreamOrder:
    """`order` with loop `position` split in two: the inner one of `inner_trip` iterations at the old step.

    The sequence stays the same. ValueError where `inner_trip` does not divide the trip count.
    """
    if inner_trip < 1:
        raise ValueError(f"inner loop of {inner_trip} iterations, expected at least 1")
    loop = order.loops[position]
    trip = static(loop.trip)
    if trip % inner_trip:
        raise ValueError(f"loop of {trip} iterations does not split into inner loops of {inner_trip}")
    halves = (Loop(trip // inner_trip, loop.step * inner_trip), Loop(inner_trip, loop.step))
    loops = (*order.loops[:position], *halves, *order.loops[position + 1 :])

    def renumbered(coordinate: Coordinate) -> Coordinate:
        new: list[int] = []
        for index in coordinate.loops:
            new.append(index if index <= position else index + 1)
            if index == position:
                new.append(position + 1)
        return Coordinate(tuple(new), coordinate.constant)

    return StreamOrder(order.element, loops, tuple(renumbered(c) for c in order.coordinates))
