"""Which buffer turns the order of one stream into that of another.

A strategy gets every place where a stream is wanted in another order than it is produced in, and returns the converter for each:
what it shares of the loops, how large its blocks are, and how many there are (`stc.iteration.converter.ConverterPlan`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stc.design_space.converter_choice import Serial, Surroundings, smallest_plan
from stc.design_space.published.converter import published_converter
from stc.diagnostics import CompileError
from stc.iteration.converter import ConverterPlan
from stc.iteration.order import StreamOrder
from stc.iteration.proofs import Equal, compare_sequences
from stc.strategies.registry import Decision, WrongPlan


@dataclass(frozen=True)
class Conversion:
    """A stream that arrives as `source` and is wanted as `target`. `plan`: what is there, `around`: what is known of the time."""

    name: str
    source: StreamOrder
    target: StreamOrder
    plan: ConverterPlan
    around: Surroundings


@dataclass(frozen=True)
class ConverterProblem:
    """All `conversions` of one kernel. `serial`: whether a converter may receive and send in turn (`Serial`)."""

    conversions: Sequence[Conversion]
    serial: Serial


ConverterPlans: TypeAlias = Mapping[str, ConverterPlan]
"""A plan for each conversion, by name."""


def check_plans(problem: ConverterProblem, plans: ConverterPlans) -> None:
    """WrongPlan unless every conversion has a plan between (respellings of) its two orders.

    That the buffer suffices is what ConverterPlan refuses to be made without, and what `verify-streams` proves.
    """
    names = [conversion.name for conversion in problem.conversions]
    if unknown := [name for name in plans if name not in names]:
        raise WrongPlan(f"there is no converter '{unknown[0]}'")
    for conversion in problem.conversions:
        plan = plans.get(conversion.name)
        if plan is None:
            raise WrongPlan(f"converter '{conversion.name}' has no plan")
        for side, found, required in (("source", plan.source, conversion.source), ("target", plan.target, conversion.target)):
            if not isinstance(compare_sequences(found, required), Equal):
                raise WrongPlan(f"the {side} of converter '{conversion.name}' has another order")


CONVERTERS: Decision[ConverterProblem, ConverterPlans] = Decision(
    "converters", "smallest", "a ConverterPlan for every conversion, between its two orders", check_plans
)


@CONVERTERS.strategy("smallest")
def smallest(problem: ConverterProblem) -> ConverterPlans:
    """Ours: the least memory that costs no time worth mentioning; line buffers and single blocks as `serial` allows."""
    return {found.name: smallest_plan(found.plan, found.around, problem.serial) for found in problem.conversions}


@CONVERTERS.strategy("published")
def published(problem: ConverterProblem) -> ConverterPlans:
    """As published: Algorithm 1 as printed, always ping-pong; an error where what it shares cannot be shared."""
    plans: dict[str, ConverterPlan] = {}
    for found in problem.conversions:
        try:
            plans[found.name] = published_converter(found.source, found.target)
        except ValueError as error:
            where = f"converter '{found.name}'"
            raise CompileError(f"Algorithm 1 as printed {error}", where=where, accepted="--converters smallest") from None
    return plans
