"""`prove_converter` against a converter that is run token by token."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, reject
from hypothesis import strategies as st
from random_orders import exact_orders, shapes

from stc.iteration.converter import block_order, infer_converter
from stc.iteration.converter_proofs import ConverterFault, Proved, prove_converter
from stc.iteration.normal_form import split_loop
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proofs import Unproved
from stc.iteration.size import Size, Symbol, ceildiv, static, sum_of
from stc_testing.drawn import examples


def run(
    source: StreamOrder, target: StreamOrder, shared: int, buffer_shape: tuple[int, ...]
) -> tuple[str, int, tuple[int, ...]] | None:
    """The oracle: fill and empty a block per shared iteration, as the two tasks do; the first token at fault."""
    filling, emptying = (block_order(order, shared) for order in (source, target))
    arriving, leaving = source.enumerate(), target.enumerate()
    blocks = [prod(static(loop.trip) for loop in order.loops[:shared]) for order in (source, target)]
    first: list[tuple[str, int, tuple[int, ...]]] = []
    for block in range(max(blocks)):
        held: dict[tuple[int, ...], tuple[int, ...]] = {}
        if block < blocks[0]:
            for token, address, start in _tokens(arriving, filling, block):
                for place, coordinate in _entries(address, start, source.element):
                    outside = any(a >= extent for a, extent in zip(place, buffer_shape, strict=True))
                    if not first and (outside or held.get(place, coordinate) != coordinate):
                        first.append(("source", token, tuple(start)))
                    held[place] = coordinate
        if block < blocks[1]:
            for token, address, start in _tokens(leaving, emptying, block):
                for place, coordinate in _entries(address, start, target.element):
                    if not first and held.get(place) != coordinate:
                        first.append(("target", token, tuple(start)))
    if not first and blocks[0] > blocks[1]:
        return "target", len(leaving), ()
    return first[0] if first else None


def _tokens(coordinates: np.ndarray, block: StreamOrder, number: int):
    start = number * block.token_count
    for offset, address in enumerate(block.enumerate().tolist()):
        yield start + offset, address, coordinates[start + offset].tolist()


def _entries(address: list[int], start: list[int], element: tuple[int, ...]):
    for entry in product(*(range(extent) for extent in element)):
        yield tuple(a + e for a, e in zip(address, entry, strict=True)), tuple(c + e for c, e in zip(start, entry, strict=True))


def is_small(order: StreamOrder) -> bool:
    return order.token_count * order.element_count <= 1500


@examples(75)
@given(st.data())
def test_inferred_converters_are_proved(data: st.DataObject):
    shape = data.draw(shapes)
    plan = infer_converter(data.draw(exact_orders(shape)), data.draw(exact_orders(shape)))
    assume(is_small(plan.source) and is_small(plan.target))
    if plan.window is not None:
        return
    shared = data.draw(st.integers(0, plan.shared_loops))
    needed = block_order(plan.source, shared).static_shape
    assert run(plan.source, plan.target, shared, needed) is None
    assert prove_converter(plan.source, plan.target, shared, needed, plan.blocks) == Proved("closed form")


@st.composite
def converters(draw: st.DrawFn, most_entries: int | None = None) -> tuple[StreamOrder, StreamOrder, int, tuple[int, ...]]:
    """Source, target, shared loops and buffer of a converter with too many shared loops, a buffer that is too small, sides that are
    not the same tensor, or nothing wrong; each side small, or of at most so many entries."""
    shape = draw(shapes)
    plan = infer_converter(draw(exact_orders(shape)), draw(exact_orders(shape)))
    source, target, shared = plan.source, plan.target, plan.shared_loops
    kind = draw(st.sampled_from(["sharing", "buffer", "tensor", "nothing"]))
    if kind == "sharing":
        shared = draw(st.integers(0, min(len(source.loops), len(target.loops))))
    if kind == "tensor":
        target = draw(exact_orders(draw(st.permutations(shape).map(tuple))))
        shared = min(shared, len(target.loops))
    for order in (source, target):
        assume(is_small(order) if most_entries is None else order.token_count * order.element_count <= most_entries)
    try:
        needed = block_order(source, shared).static_shape
        block_order(target, shared)
    except ValueError:
        reject()  # steps that leave no block without gaps: such loops were never the same
    if kind == "buffer":
        needed = tuple(max(1, extent - draw(st.integers(0, 1))) for extent in needed)
    return source, target, shared, needed


@examples(150)
@given(converters())
def test_what_is_wrong_is_found_where_it_first_goes_wrong(parts: tuple[StreamOrder, StreamOrder, int, tuple[int, ...]]):
    source, target, shared, needed = parts
    expected = run(source, target, shared, needed)
    found = prove_converter(source, target, shared, needed, 2)
    if expected is None:
        assert isinstance(found, Proved)
        return
    assert isinstance(found, ConverterFault)
    assert (found.side, found.token, found.coordinate or ()) == expected


def order(
    element: tuple[int, ...], trips: tuple[Size, ...], steps: tuple[int, ...], results: tuple[int | tuple[int, ...], ...]
) -> StreamOrder:
    return StreamOrder(
        element, tuple(map(Loop, trips, steps)), tuple(Coordinate((r,) if isinstance(r, int) else r) for r in results)
    )


ROWS = order((4, 8), (2, 2), (4, 8), (0, 1))
COLUMNS = order((8, 2), (8,), (2,), ((), 0))
BLOCK = order((4, 2), (2, 8), (4, 2), (0, 1))


def test_a_buffer_without_shared_loops():
    assert prove_converter(ROWS, COLUMNS, 0, (8, 16), 1) == Proved("closed form")
    assert prove_converter(ROWS, COLUMNS, 0, (8, 32), 1) == Proved("closed form"), "a larger buffer is no fault"


def test_a_buffer_that_is_too_small():
    found = prove_converter(ROWS, COLUMNS, 0, (8, 12), 1)
    assert isinstance(found, ConverterFault)
    assert str(found) == (
        "token 1 of the source, at [0, 8], is stored at 8 to 15 of dimension 1, outside of the buffer's 12 entries"
    )


def test_more_shared_loops_than_there_are():
    found = prove_converter(ROWS, BLOCK, 2, (4, 8), 2)
    assert isinstance(found, ConverterFault)
    assert (found.side, found.token, found.coordinate) == ("target", 1, (0, 2))
    assert str(found).endswith(
        "leaves in shared iteration 1, whose block starts at [0, 8] in the source but at [0, 2] in the target"
    )


def test_a_token_that_did_not_arrive():
    half = replace(ROWS, loops=(Loop(2, 4), Loop(1, 8)))
    found = prove_converter(half, BLOCK, 1, (4, 16), 2)
    assert isinstance(found, ConverterFault) and (found.side, found.token, found.coordinate) == ("target", 4, (0, 8))
    assert "needs coordinate 8 of dimension 1 at address 8 of it, which was not received" in found.reason


def test_an_entry_that_is_overwritten():
    """Not exact: the rows of a shared iteration overlap what its address leaves out."""
    source = order((1,), (3, 3, 2), (2, 3, 1), ((0, 1, 2),))
    found = prove_converter(source, source, 1, (4,), 2)
    assert run(source, source, 1, (4,)) == ("source", 2, (3,))
    assert str(found) == "token 2 of the source, at [3], overwrites coordinate 1 of dimension 0 by 3 at address 1 of it"


def test_blocks():
    assert prove_converter(ROWS, COLUMNS, 0, (8, 16), 0) == Unproved("there are 0 blocks to acquire, expected at least one")


@pytest.mark.parametrize("trip", [Symbol("seq", 40), ceildiv(Symbol("seq", 40), 4)])
def test_symbolic_shared_loops(trip: Size):
    """A converter under loops over a sequence of any length; instances are the oracle."""
    source = order((4, 8), (3, trip, 2), (1, 4, 8), ((1,), (2,)))
    target = order((2, 16), (3, trip, 2), (7, 4, 2), ((1, 2), ()))
    assert prove_converter(source, target, 2, (4, 16), 2) == Proved("closed form")
    for length in (0, 1, 2, 5, 8):
        values = {"seq": length}
        assert run(source.at(values), target.at(values), 2, (4, 16)) is None
    other = replace(target, loops=(Loop(3, 1), Loop(Symbol("seq", 40), 5), Loop(2, 2)))
    found = prove_converter(source, other, 2, (4, 16), 2)
    assert isinstance(found, ConverterFault) and found.symbols == (("seq", 40),)
    assert (found.token, found.coordinate) == (2, (5, 0))
    [(_, length)] = found.symbols
    failed = run(source.at({"seq": length}), other.at({"seq": length}), 2, (4, 16))
    assert failed is not None and failed[1] == found.token


def test_a_revisit_that_may_not_run():
    """A block that the source stores `seq` times is not filled where that is 0; the target would empty it all the same."""
    seq = Symbol("seq", 3)
    source, target = order((1,), (2, seq, 4), (4, 1, 1), ((0, 2),)), order((1,), (2, 4), (4, 1), ((0, 1),))
    assert run(source.at({"seq": 0}), target.at({"seq": 0}), 1, (4,)) is not None
    assert "may not fill a block" in str(prove_converter(source, target, 1, (4,), 2))
    sometimes = order((1,), (2, sum_of(seq, 1), 4), (4, 1, 1), ((0, 2),))
    assert prove_converter(sometimes, target, 1, (4,), 2) == Proved("closed form")
    assert prove_converter(source, source, 1, (4,), 2) == Proved("closed form")


def test_a_symbol_that_is_only_inside_the_shared_loops():
    """The part of the tensor is another one, whatever the symbol's value; the token counts those of its blocks."""
    inside = Symbol("seq", 5)
    source, target = (order((1, 1), (2, inside), (step, 1), (0, 1)) for step in (1, 2))
    found = prove_converter(source, target, 1, (1, 5), 2)
    assert isinstance(found, ConverterFault)
    assert (found.side, found.token, found.coordinate, found.symbols) == ("target", 5, (2, 0), (("seq", 5),))


def test_shared_loops_inside_a_tile():
    """The shared loop counts rows inside the tile, so that its block has gaps in the tensor and none in the buffer."""
    source = order((1, 8), (4, 3, 2), (1, 4, 8), ((0, 1), (2,)))
    target = order((1, 16), (4, 3), (1, 4), ((0, 1), ()))
    assert prove_converter(source, target, 1, (3, 16), 2) == Proved("closed form")
    split = split_loop(target, 1, 3)
    assert prove_converter(source, split, 1, (3, 16), 2) == Proved("closed form")
