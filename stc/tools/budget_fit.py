"""Whether a design keeps to its budget, and how the search goes on where it does not.

The search counts what a design takes before anything is tiled (`choose-parallelism`); what is emitted is counted in the end. Where
that is more than the budget has, the next search gets less of it: as much as it said the design would take, in the proportion in
which the budget is too small for what came to be. Amounts that a user named are limits: where no search keeps them, the compile is
refused. The platform's plan (`plan`, the default) is an aim: then the cheapest design is made, with narrower tokens where a word of
a memory port is too wide for the plan, and what it lacks is said. What takes more than the whole platform has is refused.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

from stc.diagnostics import BeyondBudget, CompileError
from stc.manifest.bitstreams import SEPARATE
from stc.pipeline import TOGETHER, PipelineOptions
from stc.platforms.budget import PLAN, SMALL, Budget, Counts
from stc.platforms.platform import load_platform
from stc.transforms.linalg.choose_parallelism import ChooseParallelism

MOST_TRIES = 4
MARGIN = 0.95
"""Part of the proportion that the next search gets: what does not grow with lanes is in it, too. Half of what is missing is enough,
where that is less: designs near the budget are the fastest."""

MEMORIES = ("lut", "bram", "uram")
"""What memories are built of."""

ALIKE = 0.99
"""Proportions of no more difference are taken to be alike: a block of RAM more or less."""

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
        taken, has = self.emitted._asdict(), self.budget._asdict()
        return ", ".join(f"{taken[name]:,} {NAMES[name]} of {has[name]:,}" for name in self.emitted.beyond(self.budget))

    def smaller(self, searched: Counts, *, is_last: bool = False) -> Counts:
        """Within what to search next, where it was `searched` before; `is_last`: if that is the last try.

        `choose-storage` builds memories of whatever there is, in equal shares where something is short. So of LUTs, BRAM and URAM
        that lack only the one is limited of which the search said that the largest share is taken, and what lacks more than that:
        the others are beyond the budget for its sake. In the last try all that lack are.
        """
        assert self.expected is not None
        said, taken, has = self.expected._asdict(), self.emitted._asdict(), self.budget._asdict()
        fits = {name: has[name] / taken[name] for name in self.emitted.beyond(self.budget)}
        most = max((name for name in fits if name in MEMORIES), key=lambda name: said[name] / max(has[name], 1), default=None)
        if most is not None and not is_last:
            fits = {name: fit for name, fit in fits.items() if name == most or name not in MEMORIES or fit < ALIKE * fits[most]}
        less = {name: int(said[name] * fit * max(MARGIN, sqrt(fit))) for name, fit in fits.items()}
        return Counts(**searched._asdict() | less)

    def report(self, tries: int, cycles: int | None) -> dict[str, Any]:
        """The section "budget" of report.json, with the `cycles` that the search expected."""
        return {
            "origin": "estimated: no synthesis; expected: before tiling, by the model of the search",
            "budget": self.budget._asdict(),
            "taken": self.emitted._asdict(),
            "expected": None if self.expected is None else self.expected._asdict(),
            "expected_cycles": cycles,
            "tries": tries,
        }


def fit_of(options: PipelineOptions, resources: Mapping[str, int], ports: int, expected: Counts | None) -> Fit:
    """The fit of a design that takes `resources` (as in the report's total) and so many memory ports."""
    taken = {"bram" if name == "bram18" else name: count for name, count in resources.items()}
    return Fit(Counts(**taken, ports=ports), expected, limits_of(options))


def fit_of_report(options: PipelineOptions, report: Mapping[str, Any], expected: Counts | None = None) -> Fit:
    """The fit of a design by its report: of all kernels, or where each has a device to itself, of the most that any takes."""
    taken, ports = taken_at_once(options, report["resources"]), report["memory_ports"]
    if options.groups in SEPARATE:
        ports = max(kernel["memory_ports"] for kernel in report["resources"]["kernels"].values())
    return fit_of(options, taken, ports, expected)


def taken_at_once(options: PipelineOptions, resources: Mapping[str, Any]) -> Mapping[str, int]:
    """What one device has to have, of the section "resources" of a report."""
    if options.groups not in SEPARATE:
        return resources["total"]
    each = [kernel["total"] for kernel in resources["kernels"].values()]
    return {name: max(taken[name] for taken in each) for name in resources["total"]}


def limits_of(options: PipelineOptions) -> Counts:
    """What a design may take; CompileError for options without a budget."""
    return Budget.parse(options.budget).limits(load_platform(options.platform))


def searched_again(options: PipelineOptions, fit: Fit, before: Fit | None, tries: int) -> PipelineOptions:
    """The options of the next try, of which `tries` were made. BeyondBudget where there is none, or it would change nothing."""
    if fit.expected is None or tries >= MOST_TRIES or (before is not None and fit.expected == before.expected):
        raise _beyond(options, fit, f", the least of {tries} searches" if tries > 1 else "")
    searched = Budget.parse(options.search_within or options.budget).limits(load_platform(options.platform))
    return _within(options, fit.smaller(searched, is_last=tries == MOST_TRIES - 1)._asdict())


ROOM = 0.03
"""Part of the budget that has to be left for another search, within more."""

CAUTION = 0.9
"""Part of the way to where the budget would be used up, between two searches, that the one between them goes."""


def searched_between(options: PipelineOptions, fit: Fit, before: Fit | None, tries: int) -> PipelineOptions | None:
    """The options of a search within more than the one whose design has this `fit`, since it leaves `ROOM` of what the one `before`
    took too much of. None where there is no such room, or no try is left."""
    if before is None or before.expected is None or fit.expected is None or tries >= MOST_TRIES:
        return None
    searched = Budget.parse(options.search_within).limits(load_platform(options.platform))._asdict()
    has, said, said_before = fit.budget._asdict(), fit.expected._asdict(), before.expected._asdict()
    taken, taken_before = fit.emitted._asdict(), before.emitted._asdict()
    beyond = before.emitted.beyond(fit.budget)
    if any(taken[name] > (1 - ROOM) * has[name] for name in beyond):
        return None
    more = dict(searched)
    for name in beyond:
        way = CAUTION * (has[name] - taken[name]) / (taken_before[name] - taken[name])
        more[name] = max(searched[name], int(said[name] + way * (said_before[name] - said[name])))
    return None if more == searched else _within(options, more)


def _within(options: PipelineOptions, limits: Mapping[str, int]) -> PipelineOptions:
    """With a search within these limits."""
    return replace(options, search_within=",".join(f"{name}={count}" for name, count in limits.items()))


NARROWER = (4, 1)
"""Entries of a token in the cheapest design, where those of a word are too many. On the KV260 a decode block of gpt2-tiny in W4A8
takes 81,138 LUTs with 1, of the plan's 91,200 (estimated; docs/platforms.md)."""


def narrower_tokens(options: PipelineOptions) -> PipelineOptions | None:
    """The options of a cheapest design with narrower tokens; None where there is none, or they say how wide those are."""
    if options.is_searched or options.schedule or options.lanes not in (0, *NARROWER):
        return None
    lanes = next((lanes for lanes in NARROWER if lanes < options.token_lanes), None)
    return None if lanes is None else replace(options, lanes=lanes)


_BY_LANES = ("dsp", "lut", "ff")
"""What a design takes by its lanes."""


def narrower(options: PipelineOptions, resources: Mapping[str, int]) -> PipelineOptions | None:
    """The options of the next cheapest design with narrower tokens, where one with these `options` takes `resources`; None where it
    is no cheapest design, fits the plan, or says itself how wide tokens are."""
    if options.is_searched:
        return None
    fit = fit_of(replace(options, budget=PLAN), resources, 0, None)
    return narrower_tokens(options) if any(name in _BY_LANES for name in fit.emitted.beyond(fit.budget)) else None


def require_platform(options: PipelineOptions, resources: Mapping[str, int]) -> None:
    """BeyondBudget where a design takes more `resources` than the whole platform has."""
    fit = replace(fit_of(replace(options, budget=PLAN), resources, 0, None), budget=whole_of(options.platform))
    if fit.lacking:
        accepted = "a larger platform, a smaller model, fewer positions or tokens, or --small, which emits it all the same"
        raise BeyondBudget(f"the design takes {fit.lacking} that the platform has", where=options.platform, accepted=accepted)


def require_together(options: PipelineOptions, resources: Mapping[str, int], groups: int) -> None:
    """CompileError where `--groups together` was asked for, and all kernels take more `resources` than the plan allows."""
    fit = fit_of(replace(options, budget=PLAN), resources, 0, None)
    if options.groups != TOGETHER or not fit.lacking:
        return
    taken, has = fit.emitted._asdict(), fit.budget._asdict()
    beyond = ", ".join(
        f"{taken[name]:,} {NAMES[name]} of {has[name]:,} ({taken[name] - has[name]:,} too many)"
        for name in fit.emitted.beyond(fit.budget)
    )
    accepted = "a smaller --budget, smaller --tile or --rows, a larger platform, or --groups unchecked, which emits it all the same"
    what = f"{groups} group(s) in one bitstream take {beyond} that a plan may use of {options.platform}"
    raise CompileError(what, where=f"--groups {TOGETHER}", accepted=accepted)


def whole_of(platform: str) -> Counts:
    """All that `platform` has: what a design that takes more cannot be."""
    return Budget.parse("dsp=100%,lut=100%,ff=100%,bram=100%,uram=100%").limits(load_platform(platform))


def _beyond(options: PipelineOptions, fit: Fit, among: str) -> BeyondBudget:
    least = ",".join(f"{name}={fit.emitted._asdict()[name]}" for name in fit.emitted.beyond(fit.budget))
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
