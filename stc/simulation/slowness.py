"""Which FIFO makes a run slower than a reference run, by lack of room.

A FIFO that was never full cost nothing: no write waited for it. Whether one that was full cost the whole run anything is not seen
from the waits (a task off the critical path may wait for free, and a wait may be longer in the faster run), so the run is repeated
with that FIFO as deep as its tokens are many: what is saved is what it cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from time import monotonic
from typing import Any, Protocol, TypeAlias

from stc.fifo.depth_search import DepthTest, Outcome, SizedFifo, next_deeper
from stc.network.graph import Channel
from stc.simulation.fixes import MOST_SECONDS, OutOfRuns


class TimedRun(Protocol):
    """What is asked of a run: SimulationResult and DesignRun have it. `cycles` is None where it did not end; by FIFO,
    `stalled_writers`: cycles that its writer waited for room, `occupancies`: most tokens in it at one time."""

    @property
    def cycles(self) -> int | None: ...

    @property
    def stalled_writers(self) -> Mapping[str, int]: ...

    @property
    def occupancies(self) -> Mapping[str, int]: ...


Retime: TypeAlias = Callable[[Mapping[str, int]], TimedRun]
"""Runs the design once more with some FIFO depths replaced, everything else as in the run that is explained."""

MOST_RUNS = 200


@dataclass(frozen=True)
class LackOfRoom:
    """One FIFO, or several that must be enlarged together, and what their lack of room costs.

    `stalled`: cycles that their writers waited for room. `saved`: cycles by which the whole run is shorter with enough room.
    `depths`: enough for all of that, or for as much as the reference is faster; with any of them one less it is not (`is_least`:
    unless the search was not finished). `added_bits`: what they cost beyond the run's.
    """

    depths: Mapping[str, int]
    stalled: int
    saved: int
    is_least: bool
    added_bits: int


@dataclass(frozen=True)
class Slowness:
    """`lost`: cycles beyond those of the reference.

    `causes`: every FIFO that saves something alone; and where none saves all that was lost, the set that saves most, if that is
    more. Those that save most come first, the cheapest in bits first among equals. `searched`: that is all there is to find;
    else the search ran out of runs or time, and the FIFOs `not_tried` may each save something too.
    """

    lost: int
    causes: tuple[LackOfRoom, ...]
    searched: bool
    not_tried: tuple[str, ...]
    runs: int
    text: str

    @property
    def culprits(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for cause in self.causes for name in cause.depths))

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "culprits": self.culprits}


def slow_because(
    fifos: Iterable[Channel],
    depths: Mapping[str, int],
    result: TimedRun,
    reference: TimedRun,
    rerun: Retime,
    most_runs: int = MOST_RUNS,
    there: str = "in the reference",
) -> Slowness | None:
    """The `fifos` whose lack of room makes `result`, run with `depths` by name, slower than `reference`; None where it is not.

    Both runs must have ended. Empty `causes`: no room that any FIFO lacks makes the difference. `there`: what the text calls the
    reference.
    """
    assert result.cycles is not None and reference.cycles is not None, "both runs must have ended"
    lost = result.cycles - reference.cycles
    if lost <= 0:
        return None
    links = {link.name: link for link in fifos}
    rooms = {name: _room(link, depths.get(name, link.depth)) for name, link in links.items()}
    search = _Search(rooms, result.cycles, lost, rerun, most_runs)
    stalled = result.stalled_writers
    search.look(_by_suspicion(rooms, result, reference), stalled)
    causes = [found.told(rooms, stalled) for found in search.found]
    causes.sort(key=lambda cause: (-cause.saved, cause.added_bits, *cause.depths))
    told = f"{result.cycles:,} cycles, {lost:,} more than {there} ({reference.cycles:,})"
    text = "\n".join([told, *_lines(lost, links, rooms, causes, search)])
    return Slowness(lost, tuple(causes), search.searched, tuple(search.not_tried), search.runs, text)


def _room(link: Channel, depth: int) -> SizedFifo:
    """`floor` is its depth in the run that is explained, `tokens` the most that is of use."""
    return SizedFifo(link.name, link.bits, max(link.tokens, depth + 1), floor=depth)


def _full(rooms: Mapping[str, SizedFifo], run: TimedRun) -> list[str]:
    return [name for name, room in rooms.items() if run.occupancies.get(name, 0) >= room.floor]


def _by_suspicion(rooms: Mapping[str, SizedFifo], result: TimedRun, reference: TimedRun) -> list[str]:
    """The FIFOs that were full, first those whose writers wait longest compared with the reference."""
    waits, usual = result.stalled_writers, reference.stalled_writers
    return sorted(_full(rooms, result), key=lambda name: (usual.get(name, 0) - waits.get(name, 0), -waits.get(name, 0)))


@dataclass
class _Found:
    """Enlarging `depths` saves at least `required` of `saved` cycles."""

    depths: dict[str, int]
    saved: int
    required: int
    is_least: bool = False

    def told(self, rooms: Mapping[str, SizedFifo], stalled: Mapping[str, int]) -> LackOfRoom:
        waited = sum(stalled.get(name, 0) for name in self.depths)
        bits = sum((depth - rooms[name].floor) * rooms[name].bits for name, depth in self.depths.items())
        return LackOfRoom(self.depths, waited, self.saved, self.is_least, bits)


@dataclass
class _Search:
    """`rooms`: depths of the run that is explained and the most that are of use; `cycles`: what it took; `lost`: to be gained at
    most."""

    rooms: Mapping[str, SizedFifo]
    cycles: int
    lost: int
    rerun: Retime
    most_runs: int
    runs: int = 0
    found: list[_Found] = field(default_factory=list["_Found"])
    not_tried: list[str] = field(default_factory=list[str])
    searched: bool = False
    began: float = field(default_factory=monotonic)

    def look(self, names: Sequence[str], stalled: Mapping[str, int]) -> None:
        """Fill `found`: which FIFOs of `names` save something alone, what they do together, and then how little room is enough."""
        self.not_tried = list(names)
        try:
            self._each_alone([name for name in names if stalled.get(name, 0) > 0])
            self._each_alone_if_all([name for name in names if stalled.get(name, 0) <= 0])
            if not any(found.saved >= self.lost for found in self.found):
                self._together(names)
            for found in sorted(self.found, key=lambda found: -found.saved):
                self._shrink(found)
        except OutOfRuns:
            return
        self.searched = True

    def _run(self, depths: Mapping[str, int]) -> TimedRun:
        if self.runs >= self.most_runs or monotonic() > self.began + MOST_SECONDS:
            raise OutOfRuns
        self.runs += 1
        return self.rerun(depths)

    def _saved(self, run: TimedRun) -> int:
        """Cycles gained by a run; 0 where it did not end."""
        return 0 if run.cycles is None else self.cycles - run.cycles

    def _add(self, names: Iterable[str], run: TimedRun) -> _Found:
        """`run` had room for everything in `names`: the most that there was at one time is enough for the same run."""
        saved = self._saved(run)
        depths = {name: max(run.occupancies[name], self.rooms[name].floor + 1) for name in names}
        self.found.append(_Found(depths, saved, min(saved, self.lost)))
        return self.found[-1]

    def _each_alone(self, names: Sequence[str]) -> None:
        for name in names:
            run = self._run({name: self.rooms[name].tokens})
            self.not_tried.remove(name)
            if self._saved(run) > 0:
                self._add([name], run)

    def _each_alone_if_all(self, names: Sequence[str]) -> None:
        """The same for FIFOs whose writers did not wait: one run tells, mostly, that none of them matters.

        A task that asks whether there is room does not wait, and a wait of a pipeline that buffers its outputs may be counted for
        another of them.
        """
        if names and self._saved(self._run({name: self.rooms[name].tokens for name in names})) > 0:
            self._each_alone(names)
        self.not_tried = []

    def _together(self, names: Sequence[str]) -> None:
        """A set that saves more than any FIFO alone, without those that make no difference.

        Where one FIFO has room another may be full for the first time, and a writer that waits for two at once is counted for one.
        """
        depths: dict[str, int] = {}
        new, run = list(names), None
        while new and (run is None or self._saved(run) < self.lost):
            depths |= {name: self.rooms[name].tokens for name in new}
            run = self._run(depths)
            new = [name for name in _full(self.rooms, run) if name not in depths]
        if run is None or self._saved(run) <= max((found.saved for found in self.found), default=0):
            return
        self._add(depths, run)

    def _shrink(self, found: _Found) -> None:
        """As few FIFOs as are needed of `found`, the most suspicious ones last, each as deep as is enough."""
        fifos = [replace(self.rooms[name], tokens=depth) for name, depth in found.depths.items()]
        as_it_is = tuple(fifo.floor for fifo in fifos)

        def run(depths: Mapping[str, int]) -> Outcome:
            tried = self._run(depths)
            if self._saved(tried) >= found.required:
                found.depths = {name: depth for name, depth in depths.items() if depth > self.rooms[name].floor}
            return Outcome(tried.cycles, {})

        test = DepthTest(fifos, run, Outcome(self.cycles - found.saved, {}), self.cycles - found.required, [as_it_is])
        needed = test.lowered(test.all_tokens, test.floors, range(len(fifos))[::-1])
        test.lowered(needed, test.floors, range(len(fifos)), next_deeper)
        found.is_least = True


# Words ----------------------------------------------------------------------------------------------------------------


def _lines(
    lost: int, links: Mapping[str, Channel], rooms: Mapping[str, SizedFifo], causes: Sequence[LackOfRoom], search: _Search
) -> Iterator[str]:
    if not causes and search.searched:
        yield "no FIFO is at fault: with room for all tokens in those that were full, the run is as slow"
    for cause in causes:
        what = " and ".join(
            f"FIFO '{name}' ({links[name].producer} to {links[name].consumer}, depth {rooms[name].floor})" for name in cause.depths
        )
        fix = " and ".join(f"{depth} for '{name}'" for name, depth in cause.depths.items())
        gain = "all of them" if cause.saved >= lost else f"{cause.saved:,} of them"
        least = "set the depth to at least" if cause.is_least else "enough, and perhaps more than that, is a depth of"
        yield f"{what}: {cause.stalled:,} cycles of waiting for room; {least} {fix}, which saves {gain}"
    if not search.searched:
        yield f"the search was given up after {search.runs} runs; {len(search.not_tried)} FIFOs that were full were not tried"
