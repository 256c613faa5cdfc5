"""The least FIFO depths with which a design that deadlocks ends, found by running it.

A network of tasks whose control does not depend on data is a Kahn network, and so is the one with a free slot as a token that
travels back: where it stops does not depend on the order of the tasks, and what ends at some depths ends at larger ones. So one
run with a FIFO that holds all its tokens says whether a larger depth of that FIFO helps at all; the least depths are those of
`stc.fifo.depth_search`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from stc.fifo.depth_search import DepthTest, Outcome, SizedFifo, Vector, next_deeper
from stc.simulation.csim import BlockedTask


class Run(Protocol):
    """What is asked of a run: CsimResult and DesignRun have it. `outcome` as in CsimResult."""

    @property
    def outcome(self) -> str: ...

    @property
    def blocked(self) -> Sequence[BlockedTask]: ...

    @property
    def explanation(self) -> str | None: ...


Rerun: TypeAlias = Callable[[Mapping[str, int]], Run]
"""Runs the design once more with some FIFO depths replaced, everything else as in the run that is explained."""

MOST_RUNS = 100
MOST_SECONDS = 300.0
"""Time after which no further run of a search is begun."""


@dataclass(frozen=True)
class Fix:
    """Depths at which the design ends; with any of them one less it does not. `added_bits`: of FIFOs, beyond the run's."""

    depths: Mapping[str, int]
    added_bits: int


class OutOfRuns(Exception):
    """More runs or more time would be needed than are allowed."""


class DepthsIgnored(Exception):
    """A run did not use the depths it was given: the headers of the project are older than this `stc`."""


@dataclass
class Trials:
    """Runs of the design, each combination of depths once, at most `most_runs`, none begun after MOST_SECONDS."""

    rerun: Rerun
    most_runs: int = MOST_RUNS
    runs: int = 0
    began: float = field(default_factory=time.monotonic)
    _known: dict[tuple[tuple[str, int], ...], Run] = field(default_factory=dict[tuple[tuple[str, int], ...], Run])

    def run(self, depths: Mapping[str, int]) -> Run:
        key = tuple(sorted(depths.items()))
        if key not in self._known:
            if self.runs >= self.most_runs or time.monotonic() > self.began + MOST_SECONDS:
                raise OutOfRuns
            self.runs += 1
            result = self.rerun(dict(depths))
            if any(task.waits_to == "write" and task.depth != depths.get(task.channel, task.depth) for task in result.blocked):
                raise DepthsIgnored
            self._known[key] = result
        return self._known[key]

    def ends(self, depths: Mapping[str, int]) -> bool:
        return self.run(depths).outcome == "finished"


def single_fixes(fifos: Sequence[SizedFifo], trials: Trials) -> list[Fix]:
    """Those of `fifos` that fix the deadlock alone, each with its least depth, cheapest first.

    `floor` of a FIFO is its depth in the run, `tokens` the most that can be of use.
    """
    alone = [fifo for fifo in fifos if fifo.tokens > fifo.floor and trials.ends({fifo.name: fifo.tokens})]
    tests = [_test([fifo], trials) for fifo in alone]
    fixes = [_fix(test.lowered(test.all_tokens, test.floors, [0], next_deeper), test) for test in tests]
    return sorted(fixes, key=lambda fix: fix.added_bits)


def joint_fix(fifos: Sequence[SizedFifo], trials: Trials) -> Fix | None:
    """A set of FIFOs and depths none of which can be less; None if not even all of `fifos` together help."""
    if not trials.ends({fifo.name: fifo.tokens for fifo in fifos}):
        return None
    test = _test(sorted(fifos, key=lambda fifo: -fifo.tokens * fifo.bits), trials)
    needed = test.lowered(test.all_tokens, test.floors, range(len(fifos)))  # first as few of them as possible
    return _fix(test.lowered(needed, test.floors, range(len(fifos)), next_deeper), test)


def _test(fifos: Sequence[SizedFifo], trials: Trials) -> DepthTest:
    """Whether the design ends with other depths of `fifos`, which with the most of all of them it does, and as it is does not."""
    as_it_is = tuple(fifo.floor for fifo in fifos)
    return DepthTest(fifos, lambda depths: Outcome(0 if trials.ends(depths) else None, {}), Outcome(0, {}), too_few=[as_it_is])


def _fix(depths: Vector, test: DepthTest) -> Fix:
    larger = [(fifo, depth) for fifo, depth in zip(test.fifos, depths, strict=True) if depth > fifo.floor]
    return Fix({fifo.name: depth for fifo, depth in larger}, sum((depth - fifo.floor) * fifo.bits for fifo, depth in larger))
