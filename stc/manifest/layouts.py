"""Whether buffers lie alike: what two kernels that share a cache, or parameters, must agree about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from stc.iteration.bus_words import slot
from stc.iteration.normal_form import normal_form
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import read_size, value_at
from stc.iteration.vectorize import vectorized
from stc.manifest.codec import encode
from stc.manifest.model_schema import BufferLayout
from stc.manifest.schema import Order, OrderCoordinate, OrderLoop


def of_entries(layout: BufferLayout) -> BufferLayout:
    """`layout` as words of one entry each: the same for any two that have every entry at the same place.

    So rows in words of 16 and of 4 entries are alike; what each kernel reads at once is its own affair. Where tokens are padded in
    words, or a size is not known, a layout stays as it is.
    """
    order = static_order(layout.order)
    if order is None or slot(order.element_count, layout.lanes) != order.element_count:
        return layout
    return replace(layout, lanes=1, order=order_of(normal_form(vectorized(order.without_reuse(), 1))))


def differing(one: BufferLayout, other: BufferLayout) -> list[str]:
    """What of two layouts differs, so that their entries lie at other places; empty where they lie alike."""
    first, second = of_entries(one), of_entries(other)
    if first == second:
        return []
    return [key for key, value in vars(one).items() if getattr(other, key) != value and getattr(first, key) != getattr(second, key)]


def told(layout: BufferLayout, entries: Iterable[str]) -> str:
    """These entries of a layout, in words."""
    values = {key: getattr(layout, key) for key in entries}
    return ", ".join(f"{key} {encode(value) if isinstance(value, tuple | Order) else value}" for key, value in values.items())


def static_order(order: Order) -> StreamOrder | None:
    """The stream order that `order` says; None where a size in it is known at run time only."""
    loops = [Loop(loop.trip, loop.step) for loop in order.loops if isinstance(loop.trip, int)]
    coordinates = [Coordinate(it.loops, it.constant) for it in order.coordinates if isinstance(it.constant, int)]
    if (len(loops), len(coordinates)) != (len(order.loops), len(order.coordinates)):
        return None
    return StreamOrder(order.element, tuple(loops), tuple(coordinates))


def order_of(order: StreamOrder) -> Order:
    """`order` as data."""
    loops = tuple(OrderLoop(loop.trip if isinstance(loop.trip, int) else str(loop.trip), loop.step) for loop in order.loops)
    return Order(order.element, loops, tuple(map(_coordinate, order.coordinates)))


def _coordinate(coordinate: Coordinate) -> OrderCoordinate:
    constant = coordinate.constant
    return OrderCoordinate(coordinate.loops, constant if isinstance(constant, int) else str(constant))


def order_at(order: Order, values: Mapping[str, int]) -> StreamOrder:
    """The stream order that `order` says where each symbol has its value in `values`; ValueError for what is no order."""

    def size(text: int | str) -> int:
        return text if isinstance(text, int) else value_at(read_size(text), values)

    loops = tuple(Loop(size(loop.trip), loop.step) for loop in order.loops)
    return StreamOrder(order.element, loops, tuple(Coordinate(it.loops, size(it.constant)) for it in order.coordinates))
