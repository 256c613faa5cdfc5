"""Which FIFO makes a run slower than a reference run, by lack of room.

A FIFO can only be at fault if its writer had to wait for room. Whether that cost the whole run anything is not seen from the waits
(a task off the critical path may wait for free): the run is repeated with that FIFO as deep as its tokens are many, and what is
saved is what it cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Protocol, TypeAlias

from stc.manifest.schema import Manifest
from stc.simulation.task_network import Link, networks


class TimedRun(Protocol):
    """What is asked of a run: SimulationResult has it. `cycles` is None where it did not end; `stalled_writers`: cycles that the
    writer of each FIFO waited for room."""

    @property
    def cycles(self) -> int | None: ...

    @property
    def stalled_writers(self) -> Mapping[str, int]: ...


Retime: TypeAlias = Callable[[Mapping[str, int]], TimedRun]
"""Runs the design once more with some FIFO depths replaced, everything else as in the run that is explained."""

MOST_RUNS = 100


@dataclass(frozen=True)
class LackOfRoom:
    """One FIFO, or several that must be enlarged together, and what their lack of room costs.

    `stalled`: cycles that their writers waited for room. `saved`: cycles by which the whole run is shorter with enough room.
    `depths`: the least with which all of that is saved, or as much as the reference is faster.
    """

    depths: Mapping[str, int]
    stalled: int
    saved: int


@dataclass(frozen=True)
class Slowness:
    """`lost`: cycles beyond those of the reference. `causes`: each saves something alone, most first; or the set that does so."""

    lost: int
    causes: tuple[LackOfRoom, ...]
    runs: int
    text: str

    @property
    def culprits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for cause in self.causes for name in cause.depths))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "culprits": self.culprits}


def slow_because(
    manifest: Manifest,
    depths: Mapping[str, int],
    result: TimedRun,
    reference: TimedRun,
    rerun: Retime,
    most_runs: int = MOST_RUNS,
) -> Slowness | None:
    """The FIFOs whose lack of room makes `result`, run with `depths` by name, slower than `reference`; None where it is not slower.

    Both runs must have ended. Empty `causes`: no room that any FIFO lacks makes the difference (its latency may).
    """
    assert result.cycles is not None and reference.cycles is not None, "both runs must have ended"
    lost = result.cycles - reference.cycles
    if lost <= 0:
        return None
    links = {link.name: link for network in networks(manifest) for link in network.links if not link.is_ring}
    now = {name: depths.get(name, link.depth) for name, link in links.items()}
    search = _Search(links, now, result.cycles, lost, reference.stalled_writers, rerun, most_runs)
    stalled = {name: cycles for name, cycles in result.stalled_writers.items() if cycles > 0 and name in links}
    suspects = search.more_stalled(result)
    others = sorted((name for name in stalled if name not in suspects), key=lambda name: -stalled[name])
    found = search.single_causes(suspects) or search.joint_cause(suspects) or search.single_causes(others)
    causes = tuple(LackOfRoom(room, sum(stalled.get(name, 0) for name in room), saved) for room, saved in found)
    text = "\n".join(_lines(result.cycles, reference.cycles, links, now, causes))
    return Slowness(lost, causes, search.runs, text)


@dataclass
class _Search:
    """`now`: the depths of the run that is explained; `lost`: the cycles to be gained at most; `usual`: how long the writers of the
    reference wait."""

    links: Mapping[str, Link]
    now: Mapping[str, int]
    cycles: int
    lost: int
    usual: Mapping[str, int]
    rerun: Retime
    most_runs: int
    runs: int = 0

    def run(self, depths: Mapping[str, int]) -> TimedRun | None:
        """A run with these depths; None where no more runs are allowed."""
        if self.runs >= self.most_runs:
            return None
        self.runs += 1
        return self.rerun(depths)

    def saved(self, depths: Mapping[str, int]) -> int:
        """Cycles gained with these depths; 0 where that is not known."""
        run = self.run(depths)
        return 0 if run is None or run.cycles is None else self.cycles - run.cycles

    def more_stalled(self, run: TimedRun) -> list[str]:
        """The FIFOs whose writers wait for room longer than in the reference, the longest first."""
        more = {name: cycles - self.usual.get(name, 0) for name, cycles in run.stalled_writers.items() if name in self.links}
        return sorted((name for name in more if more[name] > 0), key=lambda name: -more[name])

    def roomy(self, name: str) -> int:
        return max(self.links[name].tokens, self.now[name] + 1)

    def single_causes(self, names: Sequence[str]) -> list[tuple[dict[str, int], int]]:
        """Every FIFO that saves something when it alone is enlarged: its least depth, and what that saves."""
        saved = {name: self.saved({name: self.roomy(name)}) for name in names}
        found = sorted((name for name in names if saved[name] > 0), key=lambda name: -saved[name])
        return [({name: self.least({}, name, saved[name])}, saved[name]) for name in found]

    def joint_cause(self, names: Sequence[str]) -> list[tuple[dict[str, int], int]]:
        """A set that saves something together, without those that make no difference.

        A writer that waits for two FIFOs at once is counted for one: the other shows when the first has room.
        """
        depths: dict[str, int] = {}
        new, saved = list(names), 0
        while saved <= 0 and new:
            depths |= {name: self.roomy(name) for name in new}
            run = self.run(depths)
            if run is None or run.cycles is None:
                return []
            saved = self.cycles - run.cycles
            new = [name for name in self.more_stalled(run) if name not in depths]
        if saved <= 0:
            return []
        for name in reversed(list(depths)):
            fewer = {other: depth for other, depth in depths.items() if other != name}
            if self.saved(fewer) >= saved:
                depths = fewer
        for name in list(depths):
            others = {other: depth for other, depth in depths.items() if other != name}
            depths[name] = self.least(others, name, saved)
        return [(depths, saved)]

    def least(self, others: Mapping[str, int], name: str, saved: int) -> int:
        """The least depth of `name` beside `others` that saves as much, or all that was lost; what is not tried is not enough."""
        wanted = min(saved, self.lost)
        low, most, step = self.now[name], self.roomy(name), 1
        while (high := min(low + step, most)) < most and self.saved({**others, name: high}) < wanted:
            low, step = high, 2 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if self.saved({**others, name: middle}) >= wanted else (middle, high)
        return high


# Words ----------------------------------------------------------------------------------------------------------------


def _lines(
    cycles: int, goal: int, links: Mapping[str, Link], now: Mapping[str, int], causes: Sequence[LackOfRoom]
) -> Iterator[str]:
    lost = cycles - goal
    yield f"{cycles:,} cycles, {lost:,} more than the reference ({goal:,})"
    if not causes:
        yield "no FIFO is at fault: with room for all tokens in those whose writers wait, the run is as slow"
    for cause in causes:
        what = " and ".join(
            f"FIFO '{name}' ({links[name].producer} to {links[name].consumer}, depth {now[name]})" for name in cause.depths
        )
        cure = " and ".join(f"{depth} for '{name}'" for name, depth in cause.depths.items())
        gain = "which reaches the reference" if cause.saved >= lost else f"which saves {cause.saved:,} of them"
        yield f"{what}: {cause.stalled:,} cycles of waiting for room; set the depth to at least {cure}, {gain}"
