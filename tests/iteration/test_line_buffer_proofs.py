"""`prove_converter` on line buffers, against a line buffer that is run token by token."""

from __future__ import annotations

from math import prod

from hypothesis import assume, given
from hypothesis import strategies as st
from random_orders import Nest, assembled, exact_orders, nest_of, shapes

from stc.iteration.converter import ConverterPlan, infer_converter
from stc.iteration.converter_proofs import ConverterFault, Proved, prove_converter
from stc.iteration.line_buffer import LineSchedule, LineStep, line_schedule
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import static
from stc_testing.drawn import examples


def run(plan: ConverterPlan, lines: int, schedule: LineSchedule) -> tuple[int, tuple[int, ...]] | None:
    """The oracle: the first token of the target that is not what its coordinate says, None where all are."""
    assert plan.window is not None and plan.tiles is not None
    arriving, leaving = plan.source.enumerate().tolist(), plan.target.enumerate().tolist()
    insides = [tile.inside.enumerate().tolist() for tile in plan.tiles]
    received = sent = 0
    for _ in range(prod(static(loop.trip) for loop in plan.source.loops[: plan.shared_loops])):
        held: dict[tuple[int, ...], tuple[int, ...]] = {}
        for step in schedule:
            for inside in insides[0 if step.receives else 1]:
                order = plan.source if step.receives else plan.target
                start = arriving[received] if step.receives else leaving[sent]
                for entry in _entries(order.element):
                    place = [a + e for a, e in zip(inside, entry, strict=True)]
                    place[plan.window] = (place[plan.window] + step.line) % lines
                    coordinate = tuple(c + e for c, e in zip(start, entry, strict=True))
                    if step.receives:
                        held[tuple(place)] = coordinate
                    elif held.get(tuple(place)) != coordinate:
                        return sent, tuple(start)
                received, sent = (received + 1, sent) if step.receives else (received, sent + 1)
    assert sent == len(leaving)
    return None


def _entries(element: tuple[int, ...]) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for extent in element:
        found = [(*before, entry) for before in found for entry in range(extent)]
    return found


@st.composite
def windows(draw: st.DrawFn) -> tuple[StreamOrder, StreamOrder]:
    """A source line by line, and a target that takes windows of several lines: a convolution's, with other dimensions inside."""
    lines, span, width = draw(st.integers(4, 12)), draw(st.integers(1, 4)), draw(st.sampled_from([1, 2, 4]))
    step = draw(st.sampled_from([step for step in range(1, span + 1) if (lines - span) % step == 0]))
    outer = draw(st.lists(st.builds(lambda trip: Nest(Loop(trip, 1), None), st.integers(1, 3)), max_size=1))
    source = assembled((1, width), [*outer, Nest(Loop(lines, 1), 0), Nest(Loop(2, width), 1)])
    inside = [Nest(Loop(span, 1), 0), Nest(Loop(2 * width, 1), 1)]
    target = assembled((1, 1), [*outer, Nest(Loop((lines - span) // step + 1, step), 0), *draw(st.permutations(inside))])
    return source, target


@st.composite
def line_buffers(draw: st.DrawFn) -> ConverterPlan:
    if draw(st.booleans()):
        source, target = draw(windows())
    else:
        shape = draw(shapes)
        source, target = draw(exact_orders(shape)), draw(exact_orders(shape))
        if shape:
            rows = [Nest(loop, dim) for loop, dim in nest_of(source) if dim == 0]
            source = assembled(source.element, [*rows, *(nest for nest in nest_of(source) if nest.dimension != 0)])
    plan = infer_converter(source, target, line_buffers=True)
    assume(plan.window is not None)
    assume(max(order.token_count * order.element_count for order in (plan.source, plan.target)) <= 1500)
    return plan


def prove(plan: ConverterPlan, lines: int, schedule: LineSchedule | None):
    assert plan.window is not None
    shape = (*plan.buffer_shape[: plan.window], lines, *plan.buffer_shape[plan.window + 1 :])
    return prove_converter(plan.source, plan.target, plan.shared_loops, shape, 1, plan.window, schedule)


@examples(37)
@given(line_buffers())
def test_inferred_line_buffers_are_proved(plan: ConverterPlan):
    assert plan.window is not None and plan.line_schedule is not None
    lines = plan.buffer_shape[plan.window]
    assert run(plan, lines, plan.line_schedule) is None
    assert isinstance(prove(plan, lines, plan.line_schedule), Proved)


@examples(37)
@given(line_buffers(), st.data())
def test_too_few_lines(plan: ConverterPlan, data: st.DataObject):
    assert plan.window is not None and plan.tiles is not None
    lines = data.draw(st.integers(1, plan.buffer_shape[plan.window]))
    schedule = line_schedule(*plan.tiles, lines)
    assume(lines >= max(tile.span for tile in plan.tiles))
    if schedule is None:
        return
    found, expected = prove(plan, lines, schedule), run(plan, lines, schedule)
    if expected is None:
        assert isinstance(found, Proved) or "does not fit" in str(found)
    else:
        assert not isinstance(found, Proved)
        if isinstance(found, ConverterFault):
            assert (found.token, found.coordinate) == expected


@examples(37)
@given(line_buffers(), st.data())
def test_wrong_schedules(plan: ConverterPlan, data: st.DataObject):
    """Steps left out, exchanged, or at another line: whatever the proof lets pass runs right."""
    assert plan.window is not None and plan.line_schedule is not None
    steps = list(plan.line_schedule)
    at, other = data.draw(st.integers(0, len(steps) - 1)), data.draw(st.integers(0, len(steps) - 1))
    lines = plan.buffer_shape[plan.window]
    match data.draw(st.sampled_from(["exchange", "omit", "line"])):
        case "exchange":
            steps[at], steps[other] = steps[other], steps[at]
        case "omit":
            del steps[at]
        case _:
            steps[at] = LineStep(steps[at].receives, (steps[at].line + 1) % lines)
    schedule = LineSchedule(tuple(steps), (), 0, ())
    found = prove(plan, lines, schedule)
    if isinstance(found, Proved):
        assert len(steps) == len(list(plan.line_schedule)) and run(plan, lines, schedule) is None


SOURCE = StreamOrder((1, 4), (Loop(6, 1), Loop(2, 4)), (Coordinate((0,)), Coordinate((1,))))
WINDOWS = StreamOrder((1, 8), (Loop(4, 1), Loop(3, 1)), (Coordinate((0, 1)), Coordinate()))


def test_a_window_of_three_lines():
    plan = infer_converter(SOURCE, WINDOWS, line_buffers=True)
    assert (plan.window, plan.buffer_shape) == (0, (3, 8))
    assert prove(plan, 3, plan.line_schedule) == Proved("closed form")


def test_a_line_that_is_overwritten_too_early():
    """All three lines of a window and the next line arrive before the window leaves."""
    plan = infer_converter(SOURCE, WINDOWS, line_buffers=True)
    late = LineSchedule((*(LineStep(True, line % 3) for line in range(4)), LineStep(False, 0)), (), 0, ())
    assert str(prove(plan, 3, late)) == "token 0 of the target, at [0, 0], needs line 0 of dimension 0, overwritten by line 3"
    early = LineSchedule((LineStep(True, 0), LineStep(True, 1), LineStep(False, 0)), (), 0, ())
    assert str(prove(plan, 3, early)) == (
        "token 0 of the target, at [0, 0], needs line 2 of dimension 0, of which 2 lines were received"
    )
    assert plan.line_schedule is not None
    short = LineSchedule(tuple(plan.line_schedule)[:-1], (), 0, ())
    assert str(prove(plan, 3, short)) == "token 9 of the target, at [3, 0], is left out by the schedule"
