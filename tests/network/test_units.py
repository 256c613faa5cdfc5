"""Compute units of a graph of tasks: what crosses between them, and what may."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.diagnostics import CompileError
from stc.network.graph import Channel, TaskGraph
from stc.network.units import complaint_about, inside, links_of
from stc.strategies.units import UNITS, UnitProblem

WAYS = [("out", "mover", "work", 512), ("far", "work", "norm", 32), ("back", "norm", "mover", 32)]
LOOP = TaskGraph.of(Channel(name, producer, consumer, 8, bits=bits) for name, producer, consumer, bits in WAYS)
"""Three tasks in a cycle."""
APART = {"mover": "first", "work": "second", "norm": "second"}


def test_links_are_what_crosses():
    assert [link.name for link in links_of(LOOP, APART)] == ["out", "back"]
    assert [channel.name for channel in inside(LOOP, APART).channels] == ["far"]
    assert links_of(LOOP, {}) == [] and inside(LOOP, {}) == LOOP


def test_cycles_close_between_units_alone():
    assert complaint_about(LOOP, APART) is None and complaint_about(LOOP, {}) is None
    assert complaint_about(LOOP, dict.fromkeys(LOOP.tasks, "u")) == "tasks mover, work, norm of unit u form a cycle"


@pytest.mark.parametrize(
    ("units", "complaint"),
    [
        ({**APART, "other": "first"}, "there is no task 'other'"),
        ({"mover": "first"}, "task 'work' has no unit"),
        ({**APART, "norm": "2nd"}, "task 'norm' is in unit '2nd', expected a C++ identifier"),
    ],
)
def test_wrong_units(units: dict[str, str], complaint: str):
    assert complaint_about(LOOP, units) == complaint


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"bits": 2056}, "tokens of 2056 bits, expected whole bytes up to 2048 bits"),
        ({"bits": 12}, "tokens of 12 bits"),
        ({"is_ring": True}, "a ring of blocks, expected a stream"),
    ],
)
def test_what_cannot_be_a_link(change: dict[str, int], what: str):
    first, *others = LOOP.channels
    graph = replace(LOOP, channels=(replace(first, **change), *others))
    assert what in (complaint_about(graph, APART) or "") and complaint_about(graph, dict.fromkeys(APART, "u")) is not None
    assert what not in (complaint_about(graph, {**APART, "work": "first"}) or "")


def test_memory_has_a_unit_of_its_own():
    """With what shares a ring of blocks with it."""
    channels = [Channel("a", "load", "turn", 4, is_ring=True), Channel("b", "turn", "work", 4), Channel("c", "work", "store", 4)]
    problem = UnitProblem(TaskGraph.of(channels), frozenset({"load", "store"}))
    assert UNITS.decide("memory", problem) == {"load": "memory", "turn": "memory", "work": "body", "store": "memory"}
    assert UNITS.decide("one", problem) == {}
    assert UNITS.decide("memory", replace(problem, ports=frozenset(problem.graph.tasks))) == {}


def test_a_wrong_plan_is_a_sentence():
    UNITS.strategy("half")(lambda problem: {"load": "memory"})
    problem = UnitProblem(TaskGraph.of([Channel("a", "load", "work", 4)]), frozenset())
    with pytest.raises(CompileError, match="units strategy 'half': its plan is wrong: task 'work' has no unit"):
        UNITS.decide("half", problem)
    del UNITS.registered["half"]
