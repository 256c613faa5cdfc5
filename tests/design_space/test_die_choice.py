"""Dies of units: the fewest wires between them within what each has, against a greedy baseline and all there are."""

from __future__ import annotations

import random
from dataclasses import fields, replace
from itertools import product

import pytest

from stc.design_space.dies import DieGraph, DieLink, Part, assign, assign_greedily, complaint_about, least_whole
from stc.diagnostics import CompileError
from stc.platforms.platform import Resources
from stc.strategies.dies import DIES
from stc_testing.drawn import seeds

ROOM = Resources(1000, 2000, 100, 40, 300)


def drawn(seed: int, most: int, load: float = 0.35) -> DieGraph:
    """Two parts with memory ports among up to `most`, which take `load` of all dies together on average."""
    generator = random.Random(seed)
    dies, count = generator.randint(2, 4), generator.randint(4, most)
    names = [field.name for field in fields(Resources)]
    shares = [{name: generator.uniform(0.5, 1.5) * load * dies / count for name in names} for _ in range(count)]
    takes = [Resources(**{name: int(share * getattr(ROOM, name)) for name, share in each.items()}) for each in shares]
    parts = [Part(f"p{at}", taken, 0 if at < 2 else None) for at, taken in enumerate(takes)]
    ends = [generator.sample([part.name for part in parts], 2) for _ in range(2 * count)]
    links = [DieLink(f"l{at}", pair[0], pair[1], generator.choice((10, 34, 130, 514))) for at, pair in enumerate(ends)]
    return DieGraph(tuple(parts), tuple(links), (ROOM,) * dies)


def chain(*takes: int, wires: int | None = None) -> DieGraph:
    """Parts that take so many LUTs, the first at die 0, each linked to the next by 10 wires; two dies."""
    parts = tuple(Part(f"p{at}", Resources(lut, 0, 0, 0, 0), 0 if at == 0 else None) for at, lut in enumerate(takes))
    links = tuple(DieLink(f"l{at}", f"p{at}", f"p{at + 1}", 10) for at in range(len(takes) - 1))
    return DieGraph(parts, links, (ROOM, ROOM), wires)


@pytest.mark.parametrize("seed", seeds(20))
def test_no_plan_crosses_less_than_the_optimum(seed: int) -> None:
    graph = drawn(seed, most=14)
    best, baseline = assign(graph), assign_greedily(graph)
    assert complaint_about(graph, best.dies) is None and complaint_about(graph, baseline) is None
    assert best.least_wires == graph.crossing_wires(best.dies) <= graph.crossing_wires(baseline)


@pytest.mark.parametrize("seed", seeds(12, first=100))
def test_it_is_the_best_of_all(seed: int) -> None:
    """Of few parts, tight ones among them: every assignment is tried."""
    graph = replace(drawn(seed, most=6, load=0.8), wires=1500)
    names = [part.name for part in graph.parts]
    every = (dict(zip(names, dies, strict=True)) for dies in product(range(len(graph.dies)), repeat=len(names)))
    fitting = [graph.crossing_wires(dies) for dies in every if complaint_about(graph, dies) is None]
    if fitting:
        assert graph.crossing_wires(assign(graph).dies) == min(fitting)
    else:
        with pytest.raises(CompileError, match=r"no assignment to . die.s. fits: at best"):
            assign(graph)


def test_wires_count_at_each_boundary_they_cross() -> None:
    graph = replace(chain(600, 600), dies=(ROOM, replace(ROOM, lut=500), ROOM))
    assert assign(graph).dies == {"p0": 0, "p1": 2}
    assert graph.boundary_wires({"p0": 0, "p1": 2}) == [10, 10] and graph.crossing_wires({"p0": 0, "p1": 2}) == 20


REFUSED = {
    "a part beyond a die": (chain(100, 1001), "die 1 lacks 1 of 1,001 LUT (1,000 may be used; 'p1' takes 1,001)"),
    "all beyond all": (chain(900, 900, 900), "LUT (1,000 may be used; 'p"),
    "too few wires": (chain(600, 600, wires=9), "10 wires cross between dies 0 and 1, where 9 may"),
    "what is bound": (replace(chain(600), parts=(Part("p", replace(ROOM, dsp=301), 0),)), "die 0 lacks 1 of 301 DSP"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_says_what_lacks(case: str) -> None:
    graph, what = REFUSED[case]
    with pytest.raises(CompileError) as refused:
        assign(graph)
    assert what in str(refused.value)


NONE_LEFT = replace(ROOM, uram=0)


@pytest.mark.parametrize("room", [NONE_LEFT, replace(ROOM, uram=0.5)])
def test_a_die_may_have_no_block_of_a_kind(room: Resources) -> None:
    """What needs none has room, what needs one is on another die, or refused."""
    graph = replace(chain(600, 600), dies=(room, room))
    assert assign(graph).dies == assign_greedily(graph) == {"p0": 0, "p1": 1}
    needs = replace(graph, parts=(graph.parts[0], Part("p1", Resources(1, 0, 0, 1, 0))))
    above = replace(needs, dies=(room, ROOM))
    assert assign(above).dies == assign_greedily(above) == {"p0": 0, "p1": 1}
    assert assign(replace(needs, dies=(ROOM, room))).dies == {"p0": 0, "p1": 0}
    with pytest.raises(CompileError, match=r"at best die . lacks 1 of 1 URAM \(0 may be used; 'p1' takes 1\)"):
        assign(needs)


def test_blocks_of_18_kbit_are_halves() -> None:
    graph = DieGraph((Part("p", Resources(0, 0, 10.5, 0, 0), 0),), (), (replace(ROOM, bram36=10.7),))
    assert assign(graph).dies == assign_greedily(graph) == {"p": 0}
    with pytest.raises(CompileError, match=r"die 0 lacks 1 of 11 BRAM36 \(10 may be used"):
        assign(replace(graph, dies=(replace(ROOM, bram36=10.4),)))


def test_a_bound_that_is_whole_is_the_least_itself() -> None:
    assert [least_whole(bound, 20) for bound in (10.0, 10.0000001, 10.2, 9.9999999, 25.0, -1.0, float("-inf"))] == [
        10, 10, 11, 10, 20, 0, 0,
    ]


def test_the_baseline_may_find_none_where_there_is_one() -> None:
    graph = chain(100, 450, 450, 500, 500)
    assert assign(graph).dies == {"p0": 0, "p1": 0, "p2": 0, "p3": 1, "p4": 1}
    with pytest.raises(CompileError, match=r"no die has room for 'p2': die . lacks .* accepted: strategy optimum"):
        assign_greedily(graph)


BROKEN = {
    "no plan at all": (dict[str, int](), None),
    "unknown": ({"p0": 0, "p1": 0, "p9": 0}, "there is no 'p9'"),
    "missing": ({"p0": 0}, "'p1' has no die"),
    "no such die": ({"p0": 0, "p1": 2}, "'p1' is on die 2, of dies 0 to 1"),
    "bound elsewhere": ({"p0": 1, "p1": 1}, "'p0' is on die 1, its memory ports are at die 0"),
    "no room": ({"p0": 0, "p1": 0}, "die 0 lacks 200 of 1,200 LUT"),
}


@pytest.mark.parametrize("case", BROKEN)
def test_plans_of_strategies_are_checked(case: str) -> None:
    plan, what = BROKEN[case]
    DIES.registered["tried"] = lambda graph: plan
    try:
        if what is None:
            assert DIES.decide("tried", chain(600, 600)) == {}
            return
        with pytest.raises(CompileError) as refused:
            DIES.decide("tried", chain(600, 600))
        assert f"dies strategy 'tried': its plan is wrong: {what}" in str(refused.value)
    finally:
        del DIES.registered["tried"]
