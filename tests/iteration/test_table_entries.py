"""Entries of tables as sizes: the trips of a phase, the window of a layer."""

import pytest

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proofs import Differs, Equal, compare_sequences
from stc.iteration.size import (
    Size,
    Symbol,
    ceildiv,
    entry_of,
    least_of,
    maximum,
    minimum,
    read_size,
    substituted,
    sum_of,
    symbols_in,
    value_at,
)

PHASE, POS = Symbol("phase", 2), Symbol("pos", 6)
TRIPS = entry_of(PHASE, 4, 0, 9)
WINDOW = least_of(TRIPS, sum_of(POS, 1))


def test_what_they_are():
    assert str(TRIPS) == "entry(phase<=2, 4, 0, 9)" and read_size(str(WINDOW)) == WINDOW
    assert entry_of(PHASE, 5, 5, 5) == 5, "what can take one value only is an integer"
    assert (minimum(WINDOW), maximum(WINDOW)) == (0, 7) and symbols_in([WINDOW]) == (PHASE, POS)
    for phase, trips in enumerate((4, 0, 9)):
        assert substituted(WINDOW, {PHASE: phase}) == least_of(trips, sum_of(POS, 1))
        for pos in range(7):
            assert value_at(WINDOW, {"phase": phase, "pos": pos}) == min(trips, pos + 1)
    wrong: list[tuple[Size, list[int]]] = [(PHASE, [1, 2]), (3, [1, 2, 3]), (PHASE, [1, -1, 2])]
    for index, entries in wrong:
        with pytest.raises(ValueError, match="is none, expected a symbol, and for each value of it an entry from 0 on"):
            entry_of(index, *entries)


def test_z3_knows_them():
    """Rows in pairs are the rows of a table only because its entries are even: the solver alone finds that."""
    rows = entry_of(PHASE, 4, 0, 10)
    pairs = (Loop(ceildiv(rows, 2), 2), Loop(2, 1)), (Coordinate((0, 1)),)
    single = (Loop(rows, 1),), (Coordinate((0,)),)
    assert compare_sequences(StreamOrder((1,), *pairs), StreamOrder((1,), *single)) == Equal("z3")
    odd = StreamOrder((1,), (Loop(entry_of(PHASE, 4, 0, 9), 1),), (Coordinate((0,)),))
    found = compare_sequences(StreamOrder((1,), *pairs), odd)
    assert isinstance(found, Differs), found
