"""Computations that have their operators in common: what they take together, what the search makes of them, how they are tiled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from stc.design_space.makespan import Dependence
from stc.design_space.order_propagation import Propagation, TiledOp, plans_of_shared
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes
from stc.design_space.parallelism import (
    MemoryOperand,
    Parallelism,
    Work,
    begun_with,
    counts_of,
    has_sums_enough,
    in_turns,
    operators_of,
    shared_operators,
)
from stc.design_space.parallelism_search import _State, balanced_parallelism, shortest_parallelism  # pyright: ignore[reportPrivateUsage]
from stc.design_space.turns import rows_of_tasks
from stc.iteration.layout_orders import row_major
from stc.platforms.budget import NOTHING, Counts

LANES = 8
TASK = 3 * LANES


def product(name: str, *after: str, columns: int = 64, shares: int = 1) -> Work:
    """A row times a matrix, in 8 lanes of 3 DSPs, whose weights come through a port of their own, or in turn."""
    waits = tuple(Dependence(other, 1.0, 1.0, 1.0) for other in after)
    weights = MemoryOperand(f"{name}.w", True, 64)
    made = Work(name, 32 * columns, columns, Counts(dsp=3), columns, columns, True, int(name[1:]), (weights,), after=waits)
    return replace(made, shares=shares, shared_lanes=LANES if shares else 0)


def turned(*works: Work) -> list[Work]:
    return in_turns(works, {f"{work.name}.w": "i4" for work in works})


def taken(works: Sequence[Work], **copies: int) -> int:
    return shared_operators(works, {name: Parallelism(LANES, count) for name, count in copies.items()}).dsp


IN_A_ROW = turned(product("a0"), product("b1", "a0"), product("c2", "b1"))
FIRST_THREE = turned(product("q0"), product("k1"), product("v2"), product("o3", "q0", "k1", "v2"))
"""Of which the last one waits for three that do not wait for one another."""


# What they take -------------------------------------------------------------------------------------------------------


def test_those_in_a_row_take_what_one_takes() -> None:
    assert taken(IN_A_ROW, a0=1, b1=1, c2=1) == TASK


def test_the_one_with_the_most_copies_says_how_many_tasks() -> None:
    assert taken(IN_A_ROW, a0=2, b1=4, c2=1) == 4 * TASK


@pytest.mark.parametrize(("copies", "tasks"), [(1, 3), (3, 3), (4, 4)])
def test_those_that_do_not_wait_for_one_another_have_a_task_each(copies: int, tasks: int) -> None:
    assert taken(FIRST_THREE, q0=1, k1=1, v2=1, o3=copies) == tasks * TASK


def test_with_ports_of_their_own_nothing_is_shared() -> None:
    assert taken([product("a0"), product("b1", "a0")], a0=1, b1=2) == 3 * TASK


def test_another_kind_is_another_task() -> None:
    """Also in between."""
    works = turned(product("a0"), product("b1", "a0", shares=2), product("c2", "b1"), product("d3", "c2", shares=2))
    assert taken(works, a0=1, b1=2, c2=1, d3=1) == (1 + 2) * TASK


def test_what_shares_nothing_is_counted_beside_it() -> None:
    works = turned(product("a0"), product("b1", "a0"), product("c2", "b1", shares=0))
    plan = {"a0": Parallelism(LANES, 1), "b1": Parallelism(LANES, 1), "c2": Parallelism(4, 2)}
    assert operators_of(works, plan).dsp == TASK + 3 * 4 * 2
    assert operators_of(works, plan) == shared_operators(works, plan).plus(works[2].taken(plan["c2"]))
    assert shared_operators(works[2:], plan) == NOTHING


def test_the_sums_of_a_shared_task_do_not_wait_for_its_adder() -> None:
    own = replace(product("a0", columns=8, shares=0), lane_extent=8)
    assert not has_sums_enough(own, Parallelism(LANES, 1)) and has_sums_enough(IN_A_ROW[0], Parallelism(LANES, 1))


# Those that take turns ------------------------------------------------------------------------------------------------


def adder(name: str, *behind: str) -> Work:
    """Of 2 DSPs a lane, with control of its own; it waits for those `behind` which it is."""
    made = Work(name, 64, 64, Counts(dsp=2), 64, 64, True, int(name[1:]), task=Counts(lut=7))
    return replace(made, turn=1, turn_behind=frozenset(behind))


def test_the_widest_of_a_row_says_what_it_takes() -> None:
    """Three of 16 lanes, then eight of 2, three of these behind those: 3 x 16 + 5 x 2 lanes, and control of all."""
    works = [adder("a0"), adder("b1", "a0")]
    plan = {"a0": Parallelism(16, 3), "b1": Parallelism(2, 8)}
    assert shared_operators(works, plan) == Counts(dsp=2 * (3 * 16 + 5 * 2), lut=7 * 11)
    assert operators_of(works, plan) == shared_operators(works, plan)


def test_a_task_goes_where_the_fewest_lanes_are_to_be_added() -> None:
    """Neither behind one of 2 lanes, where there is one of 8, nor beside that."""
    works = [adder("a0"), adder("b1"), adder("c2", "a0", "b1")]
    assert shared_operators(works, {"a0": Parallelism(2, 1), "b1": Parallelism(8, 1), "c2": Parallelism(6, 1)}).dsp == 2 * 10


def test_what_waits_for_none_of_them_has_operators_of_its_own() -> None:
    works = [adder("a0"), adder("b1")]
    assert shared_operators(works, {"a0": Parallelism(4, 1), "b1": Parallelism(4, 2)}).dsp == 2 * 4 * 3


@pytest.mark.parametrize("seed", range(20))
def test_rows_of_tasks_are_of_such_as_wait_for_one_another(seed: int) -> None:
    """All tasks once, in order; no more rows than tasks that no other one waits for at the same time."""
    draw = np.random.default_rng(seed)
    stage = {name: int(number) for name, number in enumerate(np.sort(draw.integers(0, 4, 12)))}
    lanes = {name: int(draw.integers(1, 9)) for name in stage}
    rows = rows_of_tasks(lanes, lambda later, before: stage[later] > stage[before])
    assert sorted(name for row in rows for name in row) == sorted(stage)
    assert all(stage[before] < stage[later] for row in rows for before, later in pairwise(row))
    assert len(rows) == max(Counter(stage.values()).values())


@pytest.mark.parametrize("seed", range(5))
def test_what_the_search_counts_is_what_there_is(seed: int) -> None:
    """Whatever is changed, in whatever order."""
    draw = np.random.default_rng(seed)
    works = [adder("a0"), product("p3", shares=0), adder("b1", "a0"), adder("c2", "a0", "b1")]
    state = _State.of(works)
    for _ in range(6):
        name = works[draw.integers(len(works))].name
        state = state.changed({name: Parallelism(int(draw.choice([1, 2, 4])), int(draw.choice([1, 2, 4])))})
        assert state.operators == operators_of(works, state.chosen)


# The search -----------------------------------------------------------------------------------------------------------

SEARCHES = [balanced_parallelism, shortest_parallelism]


def within(dsp: int, ports: int = 32) -> Counts:
    return Counts(dsp, 10**9, 10**9, 10**9, 10**9, ports)


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("tasks", [1, 2, 4])
def test_the_budget_is_for_one_of_those_in_a_row(search: type, tasks: int) -> None:
    """Each has all tasks while it computes; apart they would have a third."""
    chosen = search(IN_A_ROW, within(tasks * TASK))
    assert chosen == dict.fromkeys(chosen, Parallelism(LANES, tasks))


@pytest.mark.parametrize("search", SEARCHES)
def test_the_budget_is_for_all_that_do_not_wait_for_one_another(search: type) -> None:
    """Of tasks for 3 there is one for each, and the one that waits for them has all."""
    for tasks in (3, 4, 5):
        most = within(tasks * TASK)
        chosen = search(FIRST_THREE, most)
        assert counts_of(FIRST_THREE, chosen, Counts(ports=1)).fits(most)
        assert sum(chosen[name].copies for name in ("q0", "k1", "v2")) <= tasks
        assert {one.lanes for one in chosen.values()} == {LANES}
        assert chosen["o3"].copies == (2 if tasks == 3 else 4), "copies divide 8 rows of lanes"


@pytest.mark.parametrize("search", SEARCHES)
def test_parts_take_turns_where_copies_have_no_more_lanes(search: type) -> None:
    """16 columns of 8 lanes are two copies, of which each has two parts: as many tasks as the one before it has."""
    before, behind = turned(product("a0"), product("b1", "a0", columns=16))
    works = [before, replace(behind, dealt_extent=6, memory=(replace(behind.memory[0], is_dealt=True),))]
    assert search(works, within(4 * TASK)) == {"a0": Parallelism(LANES, 4), "b1": Parallelism(LANES, 2, parts=2)}
    assert search(works, within(4 * TASK, ports=2))["b1"].tasks == 2, "each has a port"


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize(("columns", "groups", "parts"), [(16, 4, 1), (16, 2, 2), (8, 4, 2)])
def test_parts_of_copies_with_several_words_of_rows_have_a_group_each(search: type, columns: int, groups: int, parts: int) -> None:
    """Where what reads the sums has no DSPs for a second copy, two words of 8 columns stay one task of the two that there are, or
    are two, of which each has one of two groups."""
    before, behind = turned(product("a0"), product("b1", "a0", columns=columns))
    behind = replace(behind, dealt_extent=groups)
    reader = Work("n1", columns, columns, Counts(dsp=50), 1, columns, False, 1, after=(Dependence("b1", 1.0, 1.0, 1.0),))
    chosen = search([before, behind, reader], within(2 * TASK + 60))
    assert (chosen["b1"], chosen["n1"]) == (Parallelism(LANES, 1, parts=parts), Parallelism(1, 1))


@pytest.mark.parametrize(("groups", "copies"), [(2, 4), (4, 2), (8, 1), (64, 8)])
def test_copies_are_parts_where_that_leaves_more_for_others(groups: int, copies: int) -> None:
    """Eight tasks with a reader each: one of few lanes keeps up with fewer copies, of which each part has a group, and what that
    gives back is for the last computation. Where eight tasks are no number of groups times copies, copies stay."""
    before, behind = turned(product("a0"), product("b1", "a0"))
    behind = replace(behind, dealt_extent=groups, memory=(replace(behind.memory[0], is_dealt=True),))
    reader = Work("n1", 64, 64, Counts(dsp=5), 8, 64, True, 1, after=(Dependence("b1", 0.0, 1.0, 0.05),), task=Counts(dsp=20))
    last = Work("z2", 512, 512, Counts(dsp=1), 256, 1, False, 2, after=(Dependence("n1", 1.0, 1.0, 1.0),))
    chosen = shortest_parallelism([before, behind, reader, last], within(8 * TASK + 260))
    assert chosen["b1"] == Parallelism(LANES, copies, parts=8 // copies)
    assert (chosen["n1"].copies, chosen["z2"].lanes) == (copies, 32 if copies == 8 else 64)


def test_two_side_by_side_get_parts_together() -> None:
    """38 words of rows each: two copies have a port each, 19 would have more than there are, and so would two copies of 7 parts;
    parts of one of both alone are no faster."""
    first, second = turned(product("b1", columns=38 * LANES), product("c1", columns=38 * LANES))
    works = [replace(each, dealt_extent=7, memory=(replace(each.memory[0], is_dealt=True),)) for each in (first, second)]
    last = Work("z2", 1, 1, Counts(dsp=1), 1, 1, False, 2, after=tuple(Dependence(name, 1.0, 1.0, 1.0) for name in ("b1", "c1")))
    chosen = shortest_parallelism([*works, last], within(40 * TASK, ports=20))
    assert chosen["b1"] == chosen["c1"] == Parallelism(LANES, 1, parts=7)


def test_copies_stay_where_groups_differ() -> None:
    """Two products that have a number of copies in common, of four groups and of two."""
    first, second = turned(product("b1"), product("c1", "b1"))
    works = [replace(first, dealt_extent=4), replace(second, dealt_extent=2)]
    reader = Work("n1", 64, 64, Counts(dsp=5), 8, 64, True, 1, after=(Dependence("c1", 0.0, 1.0, 0.05),), task=Counts(dsp=20))
    chosen = shortest_parallelism([*works, reader], within(8 * TASK + 260))
    assert {each.copies for each in chosen.values()} == {8} and {each.parts for each in chosen.values()} == {1}


@pytest.mark.parametrize("search", SEARCHES)
def test_lanes_are_kept_whatever_copies_leave(search: type) -> None:
    """24 columns of 8 lanes: 3 copies, but never 2 of 12 columns, in 6 or 12 lanes."""
    works = turned(product("a0", columns=24), product("b1", "a0", columns=24))
    for dsp, copies in ((TASK, 1), (2 * TASK, 1), (3 * TASK, 3), (6 * TASK, 3)):
        assert search(works, within(dsp)) == dict.fromkeys(("a0", "b1"), Parallelism(LANES, copies))


def test_the_least_is_all_lanes_of_a_task() -> None:
    assert begun_with(IN_A_ROW[0]) == Parallelism(LANES, 1)
    assert begun_with(product("a0", shares=0), 2) == Parallelism(1, 2)


# Tiles ----------------------------------------------------------------------------------------------------------------


def products(groups: int, size: int, rows: int, lanes: int) -> Computation:
    """s[g, r, l] = x[g, i] w[g, i, r, l] over loops g, r, l, i."""
    x = Operand("x", (0, 3), 1, row_major((groups, size), (1, size)))
    w = Operand("w", (0, 3, 1, 2), 1, is_parameter=True)
    return Computation((groups, rows, lanes, size), (3,), (x, w), (Operand("s", (0, 1, 2), 4),), of_integers=True)


@pytest.mark.parametrize(("groups", "size", "rows", "lanes"), [(6, 16, 48, 16), (48, 16, 6, 8), (5, 7, 3, 4), (1, 12, 1, 1)])
def test_a_tile_is_one_sum_of_each_lane(groups: int, size: int, rows: int, lanes: int) -> None:
    """Loops of the factors are outermost, the sum innermost; or those outside that readers sum up."""
    computation = products(groups, size, rows, 16)
    by_factors, by_sums = plans_of_shared(replace(computation, summed=(0,)), lanes)
    assert by_factors == LoopPlan((1, 1, lanes, size), (0, 1, 2, 3))
    assert by_sums == LoopPlan((1, 1, lanes, size), (1, 2, 0, 3))
    assert plans_of_shared(computation, lanes) == (by_factors, by_factors)
    found = Propagation([TiledOp("p", computation, lanes, is_shared=True)], TileSizes(16, 128)).plans["p"]
    assert found == by_factors


def in_a_row(points: int) -> list[TiledOp]:
    """A computation of so many points for each entry of x[48, 16], one of its 48 groups after the other, the products of x, and the
    sums of these over the groups."""
    product = products(48, 16, 6, 16)
    x, w = product.inputs
    x = replace(x, order=None)
    made = Computation((48, 16, points), (2,), (Operand("given", (0, 1, 2), 4),), (replace(x, dims=(0, 1)),))
    sums = Computation((6, 16, 48), (2,), (Operand("s", (2, 0, 1), 4),), (Operand("y", (0, 1), 4),))
    by_groups, product = LoopPlan((1, 16, points), (0, 1, 2)), replace(product, inputs=(x, w))
    return [TiledOp("x", made, given=by_groups), TiledOp("p", product, 16, is_shared=True), TiledOp("y", sums)]


def test_sums_are_over_one_after_the_other_where_the_factors_are_there() -> None:
    """Then their readers begin with the first; where factors come as slowly as they are used, it begins with the first of those."""
    soon, late = (Propagation(in_a_row(points), TileSizes(16, 128)).plans["p"].order for points in (1, 10))
    assert soon == (1, 2, 0, 3)
    assert late == (0, 1, 2, 3)


def test_a_given_plan_counts_more() -> None:
    given = LoopPlan((1, 4, 16, 8), (1, 0, 2, 3))
    nodes = [TiledOp("p", products(6, 16, 48, 16), 16, given=given, is_shared=True)]
    assert Propagation(nodes, TileSizes(16, 128)).plans["p"] == given


def test_others_are_tiled_by_their_sizes() -> None:
    plan = Propagation([TiledOp("p", products(6, 16, 48, 16), 16)], TileSizes(16, 128)).plans["p"]
    assert plan not in plans_of_shared(products(6, 16, 48, 16), 16)
