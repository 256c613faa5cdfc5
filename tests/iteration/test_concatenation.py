"""Concatenations of sizes known at run time: the argument about loops, z3 and enumeration agree."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from stc.iteration.concatenation import concatenation_mismatch, joined
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proof_obligations import Concatenation, Holds, Refuted
from stc.iteration.size import Size, Symbol, least_of, sum_of

POS, ROWS = Symbol("pos", 4), Symbol("rows", 3)
HEADS = (Coordinate((0,)), Coordinate((1,)), Coordinate())


def cache(trip: Size) -> StreamOrder:
    """[heads, positions, entries], a token a row."""
    return StreamOrder((1, 1, 4), (Loop(2, 1), Loop(trip, 1)), HEADS)


ONE_ROW = StreamOrder((1, 1, 4), (Loop(2, 1),), (Coordinate((0,)), Coordinate(), Coordinate()))
ALL = cache(sum_of(POS, 1))
STARTS = ((0, 0, 0), (0, POS, 0))


def test_a_cache_and_a_row() -> None:
    assert joined([cache(POS), ONE_ROW], cache(5), 1) == ALL
    assert concatenation_mismatch(ALL, [cache(POS), ONE_ROW], STARTS) is None
    obligation = Concatenation(ALL, (cache(POS), ONE_ROW), STARTS)
    assert obligation.put() == Holds() and obligation.counted() == Holds()


@pytest.mark.parametrize(
    ("full", "parts", "starts", "message"),
    [
        (ALL, (cache(POS), ONE_ROW), ((0, 0, 0), (0, 4, 0)), "part 1 begins at 4 of dimension 1, expected pos<=4"),
        (cache(POS), (cache(POS), ONE_ROW), STARTS, "the whole has pos<=4 entries along dimension 1, expected sum(pos<=4, 1)"),
        (
            ALL,
            (StreamOrder((1, 1, 4), (Loop(POS, 1), Loop(2, 1)), (Coordinate((1,)), Coordinate((0,)), Coordinate())), ONE_ROW),
            STARTS,
            "part 0 has another order than the whole",
        ),
    ],
)
def test_what_is_none(
    full: StreamOrder, parts: tuple[StreamOrder, ...], starts: tuple[tuple[Size, ...], ...], message: str
) -> None:
    found = concatenation_mismatch(full, parts, starts)
    assert found is not None and message in found
    obligation = Concatenation(full, parts, starts)
    assert isinstance(obligation.put(), Refuted) and isinstance(obligation.counted(), Refuted)


sizes = st.sampled_from([0, 1, 2, POS, ROWS, sum_of(POS, 2), least_of(POS, 2), sum_of(POS, ROWS)])


@st.composite
def nests(draw: st.DrawFn) -> StreamOrder:
    """Up to three loops over three dimensions, temporal reuse among them, with one over entries of the last dimension."""
    trips = draw(st.lists(st.integers(1, 3), min_size=0, max_size=2))
    place = draw(st.integers(0, len(trips)))
    driven = draw(st.permutations([0, 1, None]))[: len(trips)]
    loops = [*trips[:place], 1, *trips[place:]]
    dims = [*driven[:place], 2, *driven[place:]]
    coordinates = tuple(Coordinate(tuple(index for index, d in enumerate(dims) if d == dimension)) for dimension in range(3))
    return StreamOrder((1, 1, 1), tuple(Loop(trip, 1) for trip in loops), coordinates)


def with_size(order: StreamOrder, size: Size) -> StreamOrder:
    loop = order.loops_of(2)[0]
    return replace(order, loops=(*order.loops[:loop], Loop(size, 1), *order.loops[loop + 1 :]))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.data())
def test_random_ones(data: st.DataObject) -> None:
    nest = data.draw(nests())
    extents = data.draw(st.lists(sizes, min_size=2, max_size=3))
    parts = [with_size(nest, extent) for extent in extents]
    full = joined(parts, nest, 2)
    starts = [(0, 0, sum_of(*extents[:index])) for index in range(len(parts))]
    if data.draw(st.booleans()):
        wrong = data.draw(st.integers(0, len(parts) - 1))
        starts[wrong] = (0, 0, data.draw(sizes))
    assume(any(start[2] != 0 for start in starts))
    obligation = Concatenation(full, tuple(parts), tuple(starts))
    counted = obligation.counted()
    argued = concatenation_mismatch(full, parts, starts)
    assert argued is not None or counted == Holds(), "the argument about loops is sound"
    assert isinstance(obligation.put(), Holds) == isinstance(counted, Holds)
