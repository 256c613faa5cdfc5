"""How deep the FIFOs between tasks are.

A strategy gets the tasks with what they do in time and the FIFOs between them, and returns the slots each FIFO needs. FIFOs that
load tasks fill are no part of it: a load task that waits costs nothing.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

from stc.fifo.network_run import Network
from stc.fifo.published import published_slots
from stc.fifo.sizing import schedule
from stc.network.graph import Channel
from stc.platforms.platform import Resources
from stc.strategies.registry import Decision, WrongPlan


@dataclass(frozen=True)
class FifoProblem:
    """All tasks with what they do in time (`network`), in which FIFOs to be sized hold all their tokens, and rings of buffers have
    their size. `usable`: what the device has. `slack`: part of the cycles that may be lost. `given`: slots that FIFOs have in any
    case, since the same tasks need them where a run-time size has another value."""

    network: Network
    usable: Resources
    slack: float = 0.0
    given: Mapping[str, int] = field(default_factory=dict)

    @property
    def fifos(self) -> tuple[Channel, ...]:
        """Those to be sized."""
        return self.network.graph.sized


@dataclass(frozen=True)
class FifoPlan:
    """`slots` by FIFO, tokens that it holds at most. `makespan`: cycles of the schedule they are for, None where there is none.
    `solver`, `seconds`, `preparation_seconds`: what found it, how long it took and how long writing the program took. `may_grow`:
    whether a FIFO that blocks the run to the end is given more; else that is an error, and depths are those of the plan. `ahead`:
    depths that FIFOs which loads fill have to have for it, where it counts on more than they have."""

    slots: Mapping[str, int]
    makespan: int | None = None
    solver: str | None = None
    seconds: float = 0.0
    preparation_seconds: float = 0.0
    may_grow: bool = True
    ahead: Mapping[str, int] = field(default_factory=dict[str, int])


def check_slots(problem: FifoProblem, plan: FifoPlan) -> None:
    """WrongPlan unless every FIFO, and nothing else, has slots."""
    names = [fifo.name for fifo in problem.fifos]
    if unknown := [name for name in plan.slots if name not in names]:
        raise WrongPlan(f"there is no FIFO '{unknown[0]}'")
    for name in names:
        if name not in plan.slots:
            raise WrongPlan(f"FIFO '{name}' has no depth")
        if operator.index(plan.slots[name]) < 1:
            raise WrongPlan(f"FIFO '{name}' has {plan.slots[name]} slots")


FIFOS: Decision[FifoProblem, FifoPlan] = Decision("fifos", "no-stall", "whole slots for every FIFO, at least 1", check_slots)


@FIFOS.strategy("no-stall")
def no_stall(problem: FifoProblem) -> FifoPlan:
    """Ours: the cheapest FIFOs with which no cycle is lost against unlimited ones."""
    found = schedule(problem.network, problem.usable, problem.slack, problem.given)
    times = found.seconds, found.preparation_seconds
    return FifoPlan(found.slots, found.makespan, found.solver, *times, ahead=found.ahead)


@FIFOS.strategy("published-normal")
def published_normal(problem: FifoProblem) -> FifoPlan:
    """As published: every kernel keeps its own issue rate; delays of least sum, tokens by equations 1 and 2."""
    return FifoPlan(published_slots(problem.network), solver="HiGHS", may_grow=False)


@FIFOS.strategy("published-conservative")
def published_conservative(problem: FifoProblem) -> FifoPlan:
    """As published: every kernel is as slow as the slowest; delays of least sum, tokens by equations 1 and 2."""
    return FifoPlan(published_slots(problem.network, conservative=True), solver="HiGHS", may_grow=False)
