"""The least FIFO depths with which a design that deadlocks ends, found by running it.

A network of tasks whose control does not depend on data is a Kahn network, and so is the one with a free slot as a token that
travels back: where it stops does not depend on the order of the tasks, and what ends at some depths ends at larger ones. So one
run with a FIFO that holds all its tokens says whether a larger depth of that FIFO helps at all, and the least depth is found by
doubling and bisection.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

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
class Cure:
    """Depths at which the design ends; with any of them one less it does not. `added_bits`: what they cost beyond the run's."""

    depths: Mapping[str, int]
    added_bits: int


@dataclass(frozen=True)
class Room:
    """A FIFO that might be enlarged: `depth` of the run, `most` that can be of use (its tokens), `bits` per token."""

    depth: int
    most: int
    bits: int


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


def single_cures(names: Sequence[str], rooms: Mapping[str, Room], trials: Trials) -> list[Cure]:
    """The FIFOs of `names` that cure the deadlock alone, each with its least depth, cheapest first."""
    alone = [name for name in names if rooms[name].most > rooms[name].depth and trials.ends({name: rooms[name].most})]
    cures = [_cure({name: least_depth(name, {}, rooms[name], trials.ends)}, rooms) for name in alone]
    return sorted(cures, key=lambda cure: cure.added_bits)


def joint_cure(names: Sequence[str], rooms: Mapping[str, Room], trials: Trials) -> Cure | None:
    """A set of FIFOs and depths none of which can be less; None if not even all of `names` together help."""
    depths = {name: rooms[name].most for name in names}
    if not trials.ends(depths):
        return None
    for name in sorted(depths, key=lambda name: -rooms[name].most * rooms[name].bits):
        fewer = {other: depth for other, depth in depths.items() if other != name}
        if trials.ends(fewer):
            depths = fewer
    for name in list(depths):
        others = {other: depth for other, depth in depths.items() if other != name}
        depths[name] = least_depth(name, others, rooms[name], trials.ends)
    return _cure(depths, rooms)


def least_depth(name: str, others: Mapping[str, int], room: Room, is_enough: Callable[[Mapping[str, int]], bool]) -> int:
    """The least depth of `name` above that of the run that is enough beside `others`; `room.most` is known to be."""
    low, step = room.depth, 1
    while (high := min(low + step, room.most)) < room.most and not is_enough({**others, name: high}):
        low, step = high, 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough({**others, name: middle}) else (middle, high)
    return high


def _cure(depths: Mapping[str, int], rooms: Mapping[str, Room]) -> Cure:
    return Cure(depths, sum((depth - rooms[name].depth) * rooms[name].bits for name, depth in depths.items()))
