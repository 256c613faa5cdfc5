"""Whether a design keeps to its budget, and how the search goes on where it does not.

The search counts what a design takes before anything is tiled (`choose-parallelism`); what is emitted is counted in the end. Where
that is more than the budget has, the next search gets less of it: as much as it said the design would take, in the proportion in
which the budget is too small for what came to be. Amounts that a user named are limits: where no search keeps them, the compile is
refused. The platform's plan (`plan`, the default) is an aim: then the cheapest design is made, and what it lacks is said.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from stc.diagnostics import BeyondBudget, CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL, Budget, Counts
from stc.platforms.platform import load_platform
from stc.transforms.linalg.choose_parallelism import ChooseParallelism

MOST_TRIES = 4
MARGIN = 0.95
"""Part of the proportion that the next search gets: what does not grow with lanes is in it, too."""

NAMES = {"dsp": "DSP", "lut": "LUT", "ff": "FF", "bram": "BRAM18", "uram": "URAM", "ports": "memory ports"}


@dataclass(frozen=True)
class Fit:
    """A compiled design: what it takes (`emitted`), what the search said (`expected`, None for no search), and the budget."""

    emitted: Counts
    expected: Counts | None
    budget: Counts

    @property
    def lacking(self) -> str:
        """What it takes too much of, in words; empty where it fits."""
        taken, has = asdict(self.emitted), asdict(self.budget)
        return ", ".join(f"{taken[name]:,} {NAMES[name]} of {has[name]:,}" for name in self.emitted.beyond(self.budget))

    def smaller(self, searched: Counts) -> Counts:
        """Within what to search next, where it was `searched` before."""
        assert self.expected is not None
        said, taken, has = asdict(self.expected), asdict(self.emitted), asdict(self.budget)
        less = {name: int(MARGIN * said[name] * has[name] / taken[name]) for name in self.emitted.beyond(self.budget)}
        return Counts(**asdict(searched) | less)

    def report(self, tries: int, cycles: int | None) -> dict[str, Any]:
        """The section "budget" of report.json, with the `cycles` that the search expected."""
        return {
            "origin": "estimated: no synthesis; expected: before tiling, by the model of the search",
            "budget": asdict(self.budget),
            "taken": asdict(self.emitted),
            "expected": None if self.expected is None else asdict(self.expected),
            "expected_cycles": cycles,
            "tries": tries,
        }


def fit_of(options: PipelineOptions, resources: Mapping[str, int], ports: int, expected: Counts | None) -> Fit:
    """The fit of a design that takes `resources` (as in the report's total) and so many memory ports."""
    taken = {"bram" if name == "bram18" else name: count for name, count in resources.items()}
    limits = Budget.parse(options.budget).limits(load_platform(options.platform))
    return Fit(Counts(**taken, ports=ports), expected, limits)


def searched_again(options: PipelineOptions, fit: Fit, before: Fit | None, tries: int) -> PipelineOptions:
    """The options of the next try, of which `tries` were made. BeyondBudget where there is none, or it would change nothing."""
    if fit.expected is None or tries >= MOST_TRIES or (before is not None and fit.expected == before.expected):
        raise _beyond(options, fit, f", the least of {tries} searches" if tries > 1 else "")
    searched = Budget.parse(options.search_within or options.budget).limits(load_platform(options.platform))
    less = asdict(fit.smaller(searched))
    return replace(options, search_within=",".join(f"{name}={count}" for name, count in less.items()))


def _beyond(options: PipelineOptions, fit: Fit, among: str) -> BeyondBudget:
    least = ",".join(f"{name}={asdict(fit.emitted)[name]}" for name in fit.emitted.beyond(fit.budget))
    what = f"the design takes {fit.lacking}{among}"
    return BeyondBudget(what, where=f"--budget {options.budget}", accepted=f"{least} or more, or other tiles")


def does_not_fit(options: PipelineOptions, fit: Fit) -> CompileError:
    """That a schedule says lanes and copies of a design that is beyond the budget."""
    accepted = "a larger --budget, or the schedule without its table 'stc.parallelism' and those of computations"
    what = f"the design takes {fit.lacking} within --budget {options.budget}"
    return CompileError(what, where=options.schedule, accepted=accepted)


def without_search(options: PipelineOptions, failure: BeyondBudget, before: Fit | None) -> PipelineOptions:
    """The options of the cheapest design; `failure` itself where the budget is a limit that a user named.

    A search within less than the budget that finds nothing fails at an amount that nobody named: what was made `before` lacks.
    """
    if not is_aim(options):
        if before is not None and failure.where == ChooseParallelism.name:
            raise _beyond(options, before, "")
        raise failure
    return not_searched(options)


def not_searched(options: PipelineOptions) -> PipelineOptions:
    """The options of the cheapest design."""
    return replace(options, budget=SMALL, search_within="", search_rank=1)


def is_aim(options: PipelineOptions) -> bool:
    """Whether the budget is the plan, or a part of it, and no limit that a user named."""
    return Budget.parse(options.budget).names_nothing
