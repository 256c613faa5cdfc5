"""Which tasks of a kernel are built as one compute unit.

A strategy gets the tasks with the channels between them, and which of them have memory ports, and returns the unit of each task. A
channel between two units is a link: a stream from one unit's port to another's, which the linker joins. Inside a unit tasks form no
cycle; links may.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from stc.network.graph import TaskGraph
from stc.network.units import complaint_about, complaint_about_link
from stc.strategies.registry import Decision, WrongPlan

ONE = "one"
"""The strategy that leaves a kernel as it is."""


@dataclass(frozen=True)
class UnitProblem:
    """One kernel. `ports`: its tasks that read or write external memory."""

    graph: TaskGraph
    ports: frozenset[str]


UnitPlan: TypeAlias = Mapping[str, str]
"""The unit of each task, by name; no task where the kernel is one unit."""


def check_units(problem: UnitProblem, plan: UnitPlan) -> None:
    """WrongPlan unless each task has a unit, or none has, and what crosses between units can be a link."""
    if complaint := complaint_about(problem.graph, plan):
        raise WrongPlan(complaint)


UNITS: Decision[UnitProblem, UnitPlan] = Decision("units", ONE, "a unit for each task, or for none", check_units)


@UNITS.strategy(ONE)
def one(problem: UnitProblem) -> UnitPlan:
    """All tasks in one unit."""
    return {}


@UNITS.strategy("memory")
def memory(problem: UnitProblem) -> UnitPlan:
    """Tasks with memory ports in one unit, all others in one that starts by itself, as far as their channels can be links."""
    started = problem.ports
    together = [{each.producer, each.consumer} for each in problem.graph.channels if complaint_about_link(each) is not None]
    while grown := set[str]().union(*(pair for pair in together if pair & started)) - started:
        started |= grown
    if not set(problem.graph.tasks) - started:
        return {}
    return {task: "memory" if task in started else "body" for task in problem.graph.tasks}
