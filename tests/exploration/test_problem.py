"""Points, objectives and fronts, and what parallelism and loop orders make of points."""

from __future__ import annotations

import random
from dataclasses import replace
from itertools import product

import pytest

from stc.design_space.order_propagation import TiledOp
from stc.design_space.orders import Computation, LoopPlan, Operand
from stc.design_space.parallelism import Parallelism, Work, may_be
from stc.diagnostics import CompileError
from stc.exploration.loop_space import PROPAGATED, LoopSpace
from stc.exploration.parallel_space import ParallelSpace
from stc.exploration.problem import Choice, Objectives, front, point_of
from stc.platforms.budget import Counts
from stc.strategies.parallelism import ParallelismProblem, check_parallelism
from stc_testing.drawn import seeds

CHOICES = [Choice("lanes", (1, 2, 4), 2, "lanes"), Choice("style", ("a", "b"), "a", "style")]


def estimated(*values: int, beyond: int = 0) -> Objectives:
    cycles, on_chip, dsp, moved = values
    return Objectives(cycles, on_chip, dsp, moved, "estimated", {"dsp": beyond} if beyond else {})


def test_a_point_is_completed_by_defaults() -> None:
    assert point_of(CHOICES, {"lanes": 4}) == {"lanes": 4, "style": "a"}


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        ({"lane": 4}, "there is no choice 'lane'; accepted: lanes, style"),
        ({"lanes": 3}, "lanes is 3; accepted: 1, 2, 4"),
        ({"lanes": True}, "lanes is True; accepted: 1, 2, 4"),
        ({"style": None}, "style is None; accepted: a, b"),
    ],
)
def test_a_wrong_point(given: dict[str, object], complaint: str) -> None:
    with pytest.raises(CompileError, match=f"^{complaint}$"):
        point_of(CHOICES, given)


def test_the_front_is_what_none_dominates() -> None:
    designs = {
        "fast": estimated(1, 9, 9, 9), "small": estimated(9, 1, 9, 9), "both": estimated(1, 8, 9, 9),
        "again": estimated(9, 1, 9, 9), "too large": estimated(0, 0, 0, 0, beyond=1),
    }  # fmt: skip
    assert [name for name, _ in front(designs.items())] == ["both", "small"]


def test_the_front_by_hand_of_many() -> None:
    drawn = random.Random(5)
    designs = [(number, estimated(*(drawn.randrange(4) for _ in range(4)))) for number in range(60)]
    kept = {found.values for _, found in front(designs)}
    assert kept == {one.values for _, one in designs if not any(other.dominates(one) for _, other in designs)}


def test_figures_of_two_origins_are_never_compared() -> None:
    with pytest.raises(CompileError, match="simulated figures are compared with estimated ones"):
        Objectives(1, 1, 1, 1, "simulated").dominates(estimated(2, 2, 2, 2))


# Lanes, rows, copies ------------------------------------------------------------------------------------------------------


def work(name: str, lanes: int, divided: int, rows: int, *, divides_lanes: bool = False, divides_rows: bool = False) -> Work:
    points = lanes * max(divided, 1) * rows * 8
    taken, less = Counts(dsp=5, lut=200), Counts(dsp=-2, lut=300)
    return Work(
        name, points, points // 8, taken, lanes, divided, divides_lanes, family=0,
        row_extent=rows, divides_rows=divides_rows, adders_in_luts=less,
    )  # fmt: skip


WORKS = [
    work("a", 48, 6, 1),
    work("b", 6, 6, 9, divides_lanes=True),
    work("c", 32, 6, 6, divides_rows=True),
    work("d", 1, 6, 1, divides_lanes=True),
]


def test_every_point_is_a_plan() -> None:
    """At odd sizes, copies of the loop that lanes or rows run along included."""
    space = ParallelSpace(WORKS, {each.name: Parallelism(1, 1) for each in WORKS})
    for seed in seeds(60):
        drawn = random.Random(seed)
        plan = space.parallelism({choice.name: drawn.choice(choice.values) for choice in space.choices})
        check_parallelism(ParallelismProblem(WORKS, Counts()), plan)
        assert all(chosen.lanes * chosen.rows <= 128 for chosen in plan.values())


def test_a_plan_comes_back_from_its_point() -> None:
    space = ParallelSpace(WORKS, {each.name: Parallelism(1, 1) for each in WORKS})
    for copies, lanes, rows, luts in product((1, 2, 3, 6), (1, 2), (1, 3), (False, True)):
        wanted = {
            "a": Parallelism(lanes, copies, 1, luts),
            "b": Parallelism(1, copies, rows),
            "c": Parallelism(lanes, copies, 1),
            "d": Parallelism(1, copies),
        }
        assert all(may_be(each, wanted[each.name]) or each.name == "d" for each in WORKS)
        assert space.parallelism(space.point(wanted)) == wanted


def test_parts_are_a_choice_where_there_are_any() -> None:
    one, other = replace(work("a", 4, 6, 1), dealt_extent=6), work("d", 1, 6, 1)
    wanted = {"a": Parallelism(4, 2, parts=3), "d": Parallelism(1, 2)}
    space = ParallelSpace([one, other], {"a": Parallelism(1, 1), "d": Parallelism(1, 1)})
    assert space.parallelism(space.point(wanted)) == wanted
    assert [choice.values for choice in space.choices if choice.name.endswith(".parts")] == [(1, 2, 3, 6)]


def test_what_cannot_be_said_is_next_to_it() -> None:
    """More copies than are explored become as many as are."""
    (one,) = [work("a", 4, 64, 1)]
    space = ParallelSpace([one], {"a": Parallelism(1, 1)})
    assert space.parallelism(space.point({"a": Parallelism(4, 32)})) == {"a": Parallelism(4, 16)}


# Loops --------------------------------------------------------------------------------------------------------------------


def test_loops_of_copies_are_changed_as_the_computation_says() -> None:
    inputs = (Operand("x", (0, 2), 4), Operand("w", (2, 1), 4, is_parameter=True))
    op = TiledOp("mm", Computation((6, 10, 24), (2,), inputs, (Operand("y", (0, 1), 4),)))
    space = LoopSpace([op])
    assert {choice.name: choice.values for choice in space.choices} == {
        "mm.outermost": (PROPAGATED, "0", "1", "2"), "mm.terms": (PROPAGATED, "8", "12", "24"),
    }  # fmt: skip
    plans = {name: LoopPlan((3, 10, 24), (0, 1, 2)) for name in ("mm_0", "mm_1")}
    names = dict.fromkeys(plans, "mm")
    assert space.changed(plans, {}, names) == plans
    changed = space.changed(plans, {"mm.outermost": "1", "mm.terms": "12"}, names)
    assert set(changed.values()) == {LoopPlan((3, 10, 12), (1, 0, 2))}
