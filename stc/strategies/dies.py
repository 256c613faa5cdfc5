"""On which die each compute unit lies.

A strategy gets all units of a design, with what they take and the wires between them, and returns the die of each. Units with
memory ports stay at the memory's die. What a plan may use of a die, and of the wires between two, is enough for what lies there.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from stc.design_space.dies import DieGraph, assign, assign_greedily, complaint_about
from stc.diagnostics import warn
from stc.strategies.registry import Decision, WrongPlan

UNASSIGNED = "unassigned"
"""The strategy that leaves it to the vendor's tools."""

DieAssignment: TypeAlias = Mapping[str, int]
"""The die of each unit, by name; of none where nothing is assigned."""


def check_dies(graph: DieGraph, plan: DieAssignment) -> None:
    """WrongPlan unless each unit has a die, or none has, and what lies on each has room."""
    if plan and (complaint := complaint_about(graph, plan)):
        raise WrongPlan(complaint)


DIES: Decision[DieGraph, DieAssignment] = Decision("dies", UNASSIGNED, "a die with room for each unit, or for none", check_dies)


@DIES.strategy(UNASSIGNED)
def unassigned(graph: DieGraph) -> DieAssignment:
    """No `slr=`: the vendor's placer decides, and nothing is known of crossings."""
    return {}


@DIES.strategy("optimum")
def optimum(graph: DieGraph) -> DieAssignment:
    """The fewest crossing wires, by an integer program."""
    plan = assign(graph)
    if (wires := graph.crossing_wires(plan.dies)) > plan.least_wires:
        warn(f"dies: stopped after {plan.seconds:.0f} s; {wires} wires cross, no assignment has fewer than {plan.least_wires}")
    return plan.dies


@DIES.strategy("greedy")
def greedy(graph: DieGraph) -> DieAssignment:
    """The largest unit first, each where it adds the fewest wires: the baseline."""
    return assign_greedily(graph)
