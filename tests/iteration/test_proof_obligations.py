"""Obligations put to z3, against enumeration and against the proofs in closed form: three answers that share no code."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import (
    LARGEST,
    any_exact_order,
    any_orders,
    entries,
    exact_orders,
    is_small,
    perturbed,
    respelled,
    shapes,
    symbolic,
)
from test_converter_proofs import converters, run
from test_line_buffer_proofs import line_buffers
from test_line_buffer_proofs import run as run_lines

from stc.iteration.converter import ConverterPlan
from stc.iteration.converter_obligations import Conversion
from stc.iteration.converter_proofs import ConverterFault, Proved, prove_converter
from stc.iteration.flattening import flattened
from stc.iteration.line_buffer import LineSchedule, LineStep, line_schedule
from stc.iteration.normal_form import normal_form, same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.proof_obligations import (
    Cover,
    Holds,
    Obligation,
    Refuted,
    SameEntries,
    Slice,
    SplitPart,
    Undecided,
    answer,
    same_positions,
    same_tokens,
    stacked,
)
from stc.iteration.proofs import Equal, compare_sequences
from stc.iteration.restriction import restricted
from stc.iteration.round_robin import round_robin_parts, without_constants
from stc.iteration.size import Size, Symbol, ceildiv, static
from stc.iteration.vectorize import vectorized
from stc_testing.drawn import examples

orders = any_orders() | any_exact_order


def agree(obligation: Obligation, expected: bool) -> None:
    """z3 decides `obligation`, and so does enumeration."""
    assert isinstance(answer(obligation), Holds if expected else Refuted), answer(obligation)
    assert isinstance(obligation.counted(), Holds if expected else Refuted), obligation.counted()


def tokens_of(order: StreamOrder) -> list[tuple[int, ...]]:
    return [tuple(token) for token in order.enumerate().tolist()]


@examples(8)
@given(st.data())
def test_equal_by_construction(data: st.DataObject):
    order = data.draw(orders)
    assume(is_small(order))
    agree(same_tokens(data.draw(respelled(order)), data.draw(respelled(order))), True)


@examples(8)
@given(st.data())
def test_nearly_equal(data: st.DataObject):
    source = data.draw(orders)
    assume(source.token_count <= 600)
    target = data.draw(respelled(data.draw(perturbed(source))))
    expected = tokens_of(source) == tokens_of(target)
    assert same_sequence(source, target) == expected
    agree(same_tokens(source, target), expected)


def test_the_witness_of_a_difference():
    rows = StreamOrder((1, 4), (Loop(2, 1), Loop(3, 4)), (Coordinate((0,)), Coordinate((1,))))
    assert answer(same_tokens(rows, StreamOrder((1, 4), (Loop(2, 1), Loop(2, 4)), rows.coordinates))) == Refuted(
        "token 4 is at [1, 4] in the source but at no coordinate in the target"
    )
    found = answer(same_tokens(rows, StreamOrder((1, 4), (Loop(6, 1),), (Coordinate((0,)), Coordinate()))))
    assert isinstance(found, Refuted) and "in the source but at" in found.witness
    cut = StreamOrder((1, 2), (Loop(2, 1), Loop(3, 4)), rows.coordinates)
    assert answer(same_tokens(rows, cut)) == Refuted("tokens are of shape [1, 4] in the source but of [1, 2] in the target")


def test_fifty_million_tokens():
    trips = Loop(7, 1000), Loop(1000, 1), Loop(7000, 8)
    source = StreamOrder((1, 8), trips, (Coordinate((0, 1)), Coordinate((2,))))
    split = StreamOrder((1, 8), (Loop(7000, 1), Loop(100, 560), Loop(70, 8)), (Coordinate((0,)), Coordinate((1, 2))))
    assert answer(same_tokens(source, split)) == Holds()
    late = StreamOrder((1, 8), (Loop(7, 1001), *trips[1:]), source.coordinates)
    assert isinstance(answer(same_tokens(source, late)), Refuted)
    assert isinstance(same_tokens(source, late).counted(), Undecided)


@pytest.mark.parametrize("size", [Symbol("seq", 64), ceildiv(Symbol("seq", 64), 8)])
def test_sizes_that_are_symbols(size: Size):
    rows = StreamOrder((1, 4), (Loop(size, 1), Loop(6, 4)), (Coordinate((0,)), Coordinate((1,))))
    split = StreamOrder((1, 4), (Loop(size, 1), Loop(2, 12), Loop(3, 4)), (Coordinate((0,)), Coordinate((1, 2))))
    assert answer(same_tokens(rows, split)) == Holds()
    found = answer(same_tokens(rows, StreamOrder((1, 4), (Loop(size, 2), Loop(6, 4)), rows.coordinates)))
    assert isinstance(found, Refuted) and "where seq = " in found.witness


@examples(8)
@given(st.data())
def test_symbolic_orders(data: st.DataObject):
    """z3 may give up on products of symbols, but never contradicts the values."""
    source = data.draw(symbolic(any_orders(most_loops=3)))
    target = data.draw(respelled(source)) if data.draw(st.booleans()) else data.draw(symbolic(any_orders(source.element, 3)))
    assume(source.at(LARGEST).token_count <= 200 and target.at(LARGEST).token_count <= 200)
    found = answer(same_tokens(source, target))
    values = [{"m": m, "n": n} for m in range(1, LARGEST["m"] + 1) for n in range(1, LARGEST["n"] + 1)]
    expected = all(tokens_of(source.at(at)) == tokens_of(target.at(at)) for at in values)
    assert isinstance(found, Undecided) or isinstance(found, Holds) == expected


@examples(8)
@given(st.data())
def test_reshapes(data: st.DataObject):
    shapes_ = st.sampled_from([(4, 6), (24,), (2, 3, 4)])
    source, target = (vectorized(data.draw(exact_orders(data.draw(shapes_))), 1) for _ in range(2))
    agree(same_positions(source, target), tokens_of(flattened(source)) == tokens_of(flattened(target)))


def test_a_reshape_of_tiles():
    """Pairs of rows become a dimension of their own."""
    tiles = StreamOrder((2, 4), (Loop(2, 2), Loop(3, 4)), (Coordinate((0,)), Coordinate((1,))))
    split = StreamOrder((1, 2, 4), (Loop(2, 1), Loop(3, 4)), (Coordinate((0,)), Coordinate(), Coordinate((1,))))
    agree(same_positions(tiles, split), True)
    turned = StreamOrder((1, 2, 4), (Loop(3, 4), Loop(2, 1)), (Coordinate((1,)), Coordinate(), Coordinate((0,))))
    agree(same_positions(tiles, turned), False)


@examples(8)
@given(st.data())
def test_slices(data: st.DataObject):
    shape = data.draw(shapes)
    whole = data.draw(exact_orders(shape))
    assume(is_small(whole))
    offset, extents = [], []
    for extent, element in zip(shape, whole.element, strict=True):
        start = data.draw(st.integers(0, extent // element - 1))
        offset.append(start * element)
        extents.append(data.draw(st.integers(1, extent // element - start)) * element)
    part = restricted(whole, offset, extents)
    part = data.draw(exact_orders(tuple(extents))) if part is None or data.draw(st.booleans()) else data.draw(respelled(part))
    if data.draw(st.integers(0, 3)) == 0:
        part = data.draw(perturbed(part))
    assume(part.element == whole.element and is_small(part))
    inside = [tuple(c - o for c, o in zip(token, offset, strict=True)) for token in tokens_of(whole)]
    inside = [token for token in inside if all(0 <= entry < extent for entry, extent in zip(token, part.static_shape, strict=True))]
    fits = all(o + extent <= whole_ for o, extent, whole_ in zip(offset, part.static_shape, shape, strict=True))
    agree(Slice(whole, part, tuple(offset)), fits and inside == tokens_of(part))


@examples(8)
@given(st.data())
def test_packed_entries(data: st.DataObject):
    """Memory holds each token once, in words of any width."""
    shape = data.draw(st.sampled_from([(12,), (4, 6), (2, 3, 4)]))
    source = data.draw(exact_orders(shape))
    target = data.draw(respelled(source)) if data.draw(st.booleans()) else data.draw(exact_orders(shape))
    expected = entries(source.without_reuse()).tolist() == entries(target.without_reuse()).tolist()
    agree(SameEntries(source, target, False), expected)


def test_a_slice_that_became_a_tensor():
    """Coordinates count from 0 on one side: only where it visits all of a tensor."""
    slice_ = StreamOrder((4,), (Loop(2, 8),), (Coordinate((0,), 4),))
    own = StreamOrder((4,), (Loop(2, 4),), (Coordinate((0,)),))
    assert isinstance(answer(SameEntries(slice_, own, True)), Refuted)
    rows = StreamOrder((4,), (Loop(2, 4),), (Coordinate((0,), 8),))
    assert answer(SameEntries(rows, own, True)) == Holds()
    assert isinstance(answer(SameEntries(rows, own, False)), Refuted)
    assert answer(SameEntries(rows, rows, True)) == Refuted("coordinates count from 0 on neither side")


@examples(8)
@given(st.data())
def test_splits(data: st.DataObject):
    whole = normal_form(data.draw(orders))
    parts = data.draw(st.integers(1, 4))
    number = data.draw(st.integers(0, parts - 1))
    assume(is_small(whole) and whole.loops and static(whole.loops[-1].trip) % parts == 0)
    right = round_robin_parts(whole, parts)[number]
    part = data.draw(respelled(right))
    part = without_constants(part) if data.draw(st.booleans()) else part
    part = data.draw(perturbed(part)) if data.draw(st.integers(0, 2)) == 0 else part
    assume(is_small(part))
    expected = tokens_of(without_constants(right) if part.is_exact else right) == tokens_of(part)
    assert isinstance(answer(SplitPart(whole, part, number, parts)), Holds if expected else Refuted)


def slices(*boxes: tuple[tuple[int, int], tuple[int, int]]) -> Cover:
    return Cover((6, 8), boxes)


@pytest.mark.parametrize(
    ("obligation", "expected"),
    [
        (slices(((0, 0), (6, 8))), True),
        (slices(((0, 0), (6, 3)), ((0, 3), (2, 5)), ((2, 3), (4, 5))), True),
        (slices(((0, 0), (6, 3)), ((0, 3), (2, 5))), False),  # a hole
        (slices(((0, 0), (6, 5)), ((0, 4), (6, 4))), False),  # an overlap
        (slices(((0, 0), (3, 8)), ((3, 0), (4, 8))), False),  # beyond the end
        (slices(((0, 0), (6, 8)), ((-1, 0), (1, 8))), False),
        (Cover((), (((), ()),)), True),
        (Cover((), ()), False),
    ],
)
def test_slices_that_cover_a_tensor(obligation: Cover, expected: bool):
    agree(obligation, expected)


def test_a_merge_of_tensors_counts_tokens():
    part = StreamOrder((2,), (Loop(3, 2),), (Coordinate((0,)),))
    assert answer(stacked(part, 2, StreamOrder((2,), (Loop(6, 2),), (Coordinate((0,)),)))) == Holds()
    assert isinstance(answer(stacked(part, 2, StreamOrder((2,), (Loop(5, 2),), (Coordinate((0,)),)))), Refuted)


@examples(8)
@given(converters(most_entries=1500))
def test_converters(parts: tuple[StreamOrder, StreamOrder, int, tuple[int, ...]]):
    source, target, shared, needed = parts
    agree(Conversion(source, target, shared, needed, 2), run(source, target, shared, needed) is None)


def conversion(plan: ConverterPlan, lines: int, schedule: LineSchedule) -> Conversion:
    assert plan.window is not None
    shape = (*plan.buffer_shape[: plan.window], lines, *plan.buffer_shape[plan.window + 1 :])
    return Conversion(plan.source, plan.target, plan.shared_loops, shape, 1, plan.window, schedule)


@examples(8)
@given(line_buffers(), st.data())
def test_line_buffers(plan: ConverterPlan, data: st.DataObject):
    assert plan.window is not None and plan.tiles is not None
    lines = data.draw(st.integers(max(tile.span for tile in plan.tiles), plan.buffer_shape[plan.window]))
    if (schedule := line_schedule(*plan.tiles, lines)) is not None:
        agree(conversion(plan, lines, schedule), run_lines(plan, lines, schedule) is None)


@examples(8)
@given(line_buffers(), st.data())
def test_schedules_of_line_buffers(plan: ConverterPlan, data: st.DataObject):
    """Steps left out, exchanged, or at another line."""
    assert plan.window is not None and plan.line_schedule is not None
    steps, lines = list(plan.line_schedule), plan.buffer_shape[plan.window]
    assume(len(steps) <= 40)
    at, other = data.draw(st.integers(0, len(steps) - 1)), data.draw(st.integers(0, len(steps) - 1))
    match data.draw(st.sampled_from(["exchange", "omit", "line"])):
        case "exchange":
            steps[at], steps[other] = steps[other], steps[at]
        case "omit":
            del steps[at]
        case _:
            steps[at] = LineStep(steps[at].receives, data.draw(st.integers(0, lines - 1)))
    obligation = conversion(plan, lines, LineSchedule(tuple(steps), (), 0, ()))
    proof = prove_converter(
        obligation.source, obligation.target, obligation.shared, obligation.buffer_shape, 1, obligation.window, obligation.schedule
    )
    assert isinstance(answer(obligation), Holds if isinstance(proof, Proved) else Refuted)
    assert isinstance(proof, Proved | ConverterFault)


def test_the_witness_of_a_converter():
    source = StreamOrder((1, 4), (Loop(2, 1), Loop(3, 4)), (Coordinate((0,)), Coordinate((1,))))
    target = StreamOrder((1, 4), (Loop(3, 4), Loop(2, 1)), (Coordinate((1,)), Coordinate((0,))))
    found = answer(Conversion(source, target, 0, (2, 8), 1))
    assert isinstance(found, Refuted) and found.witness.endswith("outside of the buffer")
    longer = StreamOrder((1, 4), (Loop(4, 4), Loop(2, 1)), target.coordinates)
    found = answer(Conversion(source, longer, 0, (2, 12), 1))
    assert isinstance(found, Refuted) and "which was not received" in found.witness


@pytest.mark.parametrize("trip", [Symbol("seq", 40), ceildiv(Symbol("seq", 40), 4)])
def test_converters_under_loops_of_any_length(trip: Size):
    source = StreamOrder((4, 8), (Loop(3, 1), Loop(trip, 4), Loop(2, 8)), (Coordinate((1,)), Coordinate((2,))))
    target = StreamOrder((2, 16), (Loop(3, 7), Loop(trip, 4), Loop(2, 2)), (Coordinate((1, 2)), Coordinate()))
    assert answer(Conversion(source, target, 2, (4, 16), 2)) == Holds()
    other = StreamOrder((2, 16), (Loop(3, 7), Loop(trip, 5), Loop(2, 2)), target.coordinates)
    assert isinstance(answer(Conversion(source, other, 2, (4, 16), 2)), Refuted)


def test_a_revisit_that_may_not_run():
    """Nothing is stored where the source's reuse loop has no iteration."""
    seq = Symbol("seq", 3)
    source = StreamOrder((1,), (Loop(2, 4), Loop(seq, 1), Loop(4, 1)), (Coordinate((0, 2)),))
    target = StreamOrder((1,), (Loop(2, 4), Loop(4, 1)), (Coordinate((0, 1)),))
    found = answer(Conversion(source, target, 1, (4,), 2))
    assert isinstance(found, Refuted) and "is sent where nothing is stored" in found.witness
    assert answer(Conversion(source, source, 1, (4,), 2)) == Holds()


def test_a_limit_of_work(monkeypatch: pytest.MonkeyPatch):
    """Giving up is an answer, and the same one each time: the limit is z3's own count of work."""
    order = StreamOrder((1,), tuple(Loop(7, step) for step in (3, 5, 2, 11)), (Coordinate((0, 1, 2, 3)),))
    other = StreamOrder((1,), tuple(Loop(7, step) for step in (3, 5, 11, 2)), (Coordinate((0, 1, 2, 3)),))
    assert isinstance(same_tokens(order, other).put(), Refuted)
    monkeypatch.setattr("stc.iteration.proof_obligations.CROSS_CHECK_RESOURCES", 100)
    answer.cache_clear()
    assert answer(same_tokens(order, other)) == Undecided("z3 gave up within a limit of 100 units of work")
    answer.cache_clear()


def test_equal_obligations_are_asked_once():
    answer.cache_clear()
    for _ in range(2):
        order = StreamOrder((1,), (Loop(3, 1), Loop(2, 1)), (Coordinate((0,)),))
        answer(same_tokens(order, order))
    assert (answer.cache_info().misses, answer.cache_info().hits) == (1, 1)


def test_normal_form_and_z3_agree_on_what_is_equal():
    source = StreamOrder((1,), (Loop(4, 2), Loop(2, 1)), (Coordinate((0, 1)),))
    target = StreamOrder((1,), (Loop(8, 1),), (Coordinate((0,)),))
    assert compare_sequences(source, target) == Equal("normal form")
    assert answer(same_tokens(source, target)) == Holds()
