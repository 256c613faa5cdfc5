"""Hypothesis strategies for stream orders, small enough to be enumerated."""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from stc.iteration.normal_form import split_loop
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import Size, Symbol, ceildiv, largest_of, least_of, sum_of

MOST_TOKENS = 3000
LARGEST = {"m": 3, "n": 4}
"""The maxima of the symbols in random orders."""


class Nest(NamedTuple):
    """A loop and the dimension it drives, None for a reuse loop."""

    loop: Loop
    dimension: int | None


def assembled(element: tuple[int, ...], nest: list[Nest], constants: tuple[Size, ...] | None = None) -> StreamOrder:
    """The order of a nest, outermost loop first."""
    rank = len(element)
    constants = (0,) * rank if constants is None else constants
    driving = [tuple(index for index, entry in enumerate(nest) if entry.dimension == dim) for dim in range(rank)]
    coordinates = tuple(Coordinate(loops, constant) for loops, constant in zip(driving, constants, strict=True))
    return StreamOrder(element, tuple(entry.loop for entry in nest), coordinates)


def nest_of(order: StreamOrder) -> list[Nest]:
    return [Nest(loop, dim) for loop, dim in zip(order.loops, order.dimension_of_loop, strict=True)]


@st.composite
def tilings(draw: st.DrawFn, extent: int, dimension: int) -> tuple[int, list[Nest]]:
    """An element extent and loops that visit `extent` entries without gap or overlap."""
    element = draw(st.sampled_from(_divisors(extent)))
    nest: list[Nest] = []
    step = element
    while step < extent:
        trip = draw(st.sampled_from(_divisors(extent // step)[1:]))
        nest.append(Nest(Loop(trip, step), dimension))
        step *= trip
    return element, nest


reuse_loops = st.builds(lambda trip, step: Nest(Loop(trip, step), None), st.integers(1, 3), st.integers(1, 9))


@st.composite
def exact_orders(draw: st.DrawFn, shape: tuple[int, ...], most_reuse_loops: int = 2) -> StreamOrder:
    """An order that visits all of `shape`, its loops in any order, with reuse loops anywhere."""
    element: list[int] = []
    nest = draw(st.lists(reuse_loops, max_size=most_reuse_loops))
    for dimension, extent in enumerate(shape):
        size, loops = draw(tilings(extent, dimension))
        element.append(size)
        nest += loops
    return assembled(tuple(element), draw(st.permutations(nest)))


@st.composite
def coverings(draw: st.DrawFn, dimension: int) -> tuple[int, list[Nest]]:
    """An element extent and loops that visit what they span without gap, often several times: windows that slide."""
    element = span = draw(st.integers(1, 4))
    nest: list[Nest] = []
    for _ in range(draw(st.integers(0, 2))):
        trip, step = draw(st.integers(1, 5)), draw(st.integers(1, span))
        nest.append(Nest(Loop(trip, step), dimension))
        span += (trip - 1) * step
    return element, nest


@st.composite
def covering_orders(draw: st.DrawFn, most_reuse_loops: int = 1) -> StreamOrder:
    """An order that visits all of some tensor of one to three dimensions, perhaps several times, its loops in any order."""
    element: list[int] = []
    nest = draw(st.lists(reuse_loops, max_size=most_reuse_loops))
    for dimension in range(draw(st.integers(1, 3))):
        size, loops = draw(coverings(dimension))
        element.append(size)
        nest += loops
    return assembled(tuple(element), draw(st.permutations(nest)))


shapes = st.lists(st.sampled_from([1, 2, 3, 4, 6, 8, 12]), max_size=3).map(tuple)
any_exact_order = shapes.flatmap(exact_orders)


@st.composite
def any_orders(draw: st.DrawFn, element: tuple[int, ...] | None = None, most_loops: int = 4) -> StreamOrder:
    """Any well-formed static order: mostly with gaps, overlaps and offsets."""
    if element is None:
        element = tuple(draw(st.lists(st.integers(1, 3), max_size=2)))
    rank = len(element)
    constants = tuple(draw(st.lists(st.sampled_from([0, 0, 0, 1, 2]), min_size=rank, max_size=rank)))
    dimensions = st.sampled_from([None, *range(rank)])
    loops = st.builds(Loop, st.integers(1, 4), st.integers(1, 6))
    return assembled(element, draw(st.lists(st.builds(Nest, loops, dimensions), max_size=most_loops)), constants)


@st.composite
def respelled(draw: st.DrawFn, order: StreamOrder) -> StreamOrder:
    """The same sequence in other words: loops split, unit loops put in, steps of reuse loops and order of sums changed."""
    for _ in range(draw(st.integers(0, 3))):
        divisible = {index: loop.trip for index, loop in enumerate(order.loops) if isinstance(loop.trip, int) and loop.trip > 1}
        if divisible:
            position = draw(st.sampled_from(sorted(divisible)))
            order = split_loop(order, position, draw(st.sampled_from(_divisors(divisible[position]))))
    nest = [
        entry if entry.dimension is not None else Nest(Loop(entry.loop.trip, draw(st.integers(1, 9))), None)
        for entry in nest_of(order)
    ]
    for _ in range(draw(st.integers(0, 2))):
        unit = Nest(Loop(1, draw(st.integers(1, 20))), draw(st.sampled_from([None, *range(order.rank)])))
        nest.insert(draw(st.integers(0, len(nest))), unit)
    constants = tuple(coordinate.constant for coordinate in order.coordinates)
    order = assembled(order.element, nest, constants)
    coordinates = tuple(replace(c, loops=tuple(draw(st.permutations(c.loops)))) for c in order.coordinates)
    return StreamOrder(order.element, order.loops, coordinates)


@st.composite
def perturbed(draw: st.DrawFn, order: StreamOrder) -> StreamOrder:
    """Nearly the same order: one trip, step, dimension or constant differs, or two loops are exchanged."""
    nest = nest_of(order)
    constants = [coordinate.constant for coordinate in order.coordinates]
    kind = draw(st.sampled_from(["trip", "step", "dimension", "constant", "exchange"]))
    if kind == "constant" and constants:
        at = draw(st.integers(0, len(constants) - 1))
        constant = constants[at]
        constants[at] = constant + 1 if isinstance(constant, int) else 0
    elif nest:
        at = draw(st.integers(0, len(nest) - 1))
        loop, dimension = nest[at]
        if kind == "trip":
            nest[at] = Nest(Loop(loop.trip + 1 if isinstance(loop.trip, int) else 2, loop.step), dimension)
        elif kind == "step":
            nest[at] = Nest(Loop(loop.trip, loop.step + 1), dimension)
        elif kind == "dimension":
            nest[at] = Nest(loop, draw(st.sampled_from([None, *range(order.rank)])))
        elif kind == "exchange":
            other = draw(st.integers(0, len(nest) - 1))
            nest[at], nest[other] = nest[other], nest[at]
    return assembled(order.element, nest, tuple(constants))


symbols = st.sampled_from([Symbol(name, largest) for name, largest in LARGEST.items()])
sizes = (
    symbols
    | st.builds(ceildiv, symbols, st.integers(2, 4))
    | st.builds(sum_of, symbols, st.integers(1, 2))
    | st.builds(least_of, st.builds(sum_of, symbols, st.integers(0, 1)), st.integers(1, 3) | symbols)
    | st.builds(largest_of, st.builds(sum_of, symbols, st.integers(-2, -1)), st.just(0) | symbols)
)
"""Trip counts and constants as decoding has them: tiles, `pos + 1`, `min(pos + 1, window)`, `max(pos - window, 0)`."""


@st.composite
def symbolic(draw: st.DrawFn, orders: st.SearchStrategy[StreamOrder]) -> StreamOrder:
    """An order with some trips and constants replaced by sizes of symbols of small maxima (`LARGEST`)."""
    order = draw(orders)
    nest = [Nest(Loop(draw(sizes), loop.step), dim) if draw(st.booleans()) else Nest(loop, dim) for loop, dim in nest_of(order)]
    constants = tuple(draw(sizes) if draw(st.integers(0, 3)) == 0 else c.constant for c in order.coordinates)
    return assembled(order.element, nest, constants)


def is_small(order: StreamOrder) -> bool:
    return order.token_count <= MOST_TOKENS


def entries(order: StreamOrder) -> np.ndarray:
    """The coordinates of all scalars in the order in which they cross, row-major within a token: [scalars, rank]."""
    inside = np.indices(order.element).reshape(order.rank, -1).T if order.rank else np.zeros((1, 0), dtype=np.int64)
    tokens = order.enumerate()
    return (tokens[:, None, :] + inside[None, :, :]).reshape(len(tokens) * prod(order.element), order.rank)


def _divisors(number: int) -> list[int]:
    return [divisor for divisor in range(1, number + 1) if number % divisor == 0]
