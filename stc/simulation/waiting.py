"""What one task of a timed run waits for over time, and why the task at the other end lets it wait.

A task that waits to read waits for its producer, one that waits to write for its consumer. In the cycles in which that task itself
waits, what it waits for is the cause, and so on, until a task that works then (its issue rate is the cause) or external memory.

All causes are of the same cycles: shares of what one task lost. `stc.simulation.critical_path` goes back in time instead, from the
end of the run, and explains all its cycles once; `stc.network.waits` is about a run that stands still, without time.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias

from stc.diagnostics import CompileError
from stc.simulation.simulation_result import MEMORY, SimulationResult, TaskTime, Wait

Cause: TypeAlias = tuple[str, bool]
"""A channel (or external memory) and whether it is waited for to read."""

Activity: TypeAlias = Literal["works", "waits", "works and waits"]

MOST_PHASES = 16
"""A task's time is told in at most so many phases: the shortest neighbours are taken together."""

MOSTLY = 0.9
"""A phase in which this part of the cycles is lost (or not) is one of waiting (or of work)."""


@dataclass(frozen=True)
class Because:
    """A link in the chain of causes: `task` waits to read or write `channel`, or (channel None) works, and how it ends."""

    task: str
    channel: str | None
    reads: bool
    ends: str = ""

    @property
    def text(self) -> str:
        if self.channel is None:
            return f"{self.task} {self.ends}"
        return f"{self.task} {_wait_words(self.channel, self.reads)}{self.ends}"


@dataclass(frozen=True)
class Root:
    """A chain of causes, from the task at the other end to the one that works, and the part of the cycles lost that it explains."""

    chain: tuple[Because, ...]
    share: float

    @property
    def text(self) -> str:
        return ", because ".join(link.text for link in self.chain)


@dataclass(frozen=True)
class Phase:
    """Cycles `begin` to `end` of a task, `lost` of them waiting, mostly for `channel`; `roots`: where that comes from."""

    begin: int
    end: int
    activity: Activity
    lost: int
    channel: str | None
    reads: bool
    roots: tuple[Root, ...]

    @property
    def text(self) -> str:
        if self.channel is None:
            return "works"
        if self.activity == "waits":
            return _wait_words(self.channel, self.reads)
        share = 100 * self.lost / max(1, self.end - self.begin)
        return f"works, and {share:.0f} % of the time {_wait_words(self.channel, self.reads)}"


@dataclass(frozen=True)
class Waiting:
    """One task over the run. `busy`, `lost` by what it waits for, and `roots` by who is to blame are parts of its cycles from
    `begin` to `end`."""

    task: str
    begin: int
    end: int
    calls: int
    busy: float
    lost: dict[str, float]
    roots: dict[str, float]
    phases: tuple[Phase, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def waiting_of(result: SimulationResult, name: str) -> Waiting:
    """What the task `name` waits for. CompileError where there is no such task."""
    tasks = {task.name: task for task in result.tasks}
    if name not in tasks:
        raise CompileError(f"no task is called '{name}'", accepted=", ".join(tasks) or "none: the run has no tasks")
    chains = _Chains(tasks, {fifo.name: (fifo.producer, fifo.consumer) for fifo in result.fifos})
    task = tasks[name]
    phases = tuple(_phase(stretch, task, chains) for stretch in _stretches(task))
    length = max(1, sum(end - begin for begin, end in task.calls))
    lost: Counter[str] = Counter()
    for wait in task.waits:
        lost[_wait_words(wait.channel, wait.reads)] += wait.cycles
    roots: dict[str, float] = {}
    for phase in phases:
        for root in phase.roots:
            blamed = root.chain[-1].text if root.chain else "external memory sets the issue rate"
            roots[blamed] = roots.get(blamed, 0.0) + root.share * phase.lost / length
    blame = dict(sorted(roots.items(), key=lambda item: -item[1]))
    shares = {words: cycles / length for words, cycles in lost.most_common()}
    return Waiting(name, task.begin, task.end, len(task.calls), task.busy / length, shares, blame, phases)


# Phases ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Stretch:
    begin: int
    end: int
    lost: Counter[Cause]

    def joined(self, other: _Stretch) -> _Stretch:
        return _Stretch(self.begin, other.end, self.lost + other.lost)


def _stretches(task: TaskTime) -> list[_Stretch]:
    """The calls of a task cut at its waits, the shortest neighbours joined until few enough are left."""
    found = list(_cut(task))
    while len(found) > MOST_PHASES:
        lengths = [second.end - first.begin for first, second in pairwise(found)]
        least = lengths.index(min(lengths))
        found[least:least + 2] = [found[least].joined(found[least + 1])]
    return found


def _cut(task: TaskTime) -> Iterator[_Stretch]:
    now = task.begin
    for wait in sorted(task.waits, key=lambda wait: wait.begin):
        if wait.begin > now:
            yield _Stretch(now, wait.begin, Counter())
        begin, end = max(now, wait.begin), max(now, wait.end)
        yield _Stretch(begin, end, Counter({(wait.channel, wait.reads): wait.cycles}))
        now = end
    if task.end > now:
        yield _Stretch(now, task.end, Counter())


def _phase(stretch: _Stretch, task: TaskTime, chains: _Chains) -> Phase:
    lost = sum(stretch.lost.values())
    share = lost / max(1, stretch.end - stretch.begin)
    if share <= 1 - MOSTLY:
        return Phase(stretch.begin, stretch.end, "works", lost, None, False, ())
    (channel, reads), _ = stretch.lost.most_common(1)[0]
    activity: Activity = "waits" if share >= MOSTLY else "works and waits"
    roots = chains.roots(task.name, (channel, reads), stretch.begin, stretch.end)
    return Phase(stretch.begin, stretch.end, activity, lost, channel, reads, roots)


# Causes ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Chains:
    """`ends`: producer and consumer of each channel."""

    tasks: Mapping[str, TaskTime]
    ends: Mapping[str, tuple[str, str]]

    def roots(self, task: str, cause: Cause, begin: int, end: int) -> tuple[Root, ...]:
        """Why `task` waits for `cause` in these cycles: for each task to blame the chain that leads to it most of the time."""
        found: dict[Because | None, Counter[tuple[Because, ...]]] = {}
        for chain, cycles in self._follow(task, cause, begin, end, ()):
            found.setdefault(chain[-1] if chain else None, Counter())[chain] += cycles
        length = max(1, end - begin)
        roots = (Root(chains.most_common(1)[0][0], chains.total() / length) for chains in found.values())
        return tuple(sorted(roots, key=lambda root: -root.share))

    def _follow(
        self, task: str, cause: Cause, begin: int, end: int, chain: tuple[Because, ...]
    ) -> Iterator[tuple[tuple[Because, ...], int]]:
        """The cycles cut by what the task at the other end does in them: a chain of causes and how many cycles it holds."""
        channel, reads = cause
        if channel not in self.ends:
            yield chain, end - begin
            return
        other = self.ends[channel][0 if reads else 1]
        if other == task or any(link.task == other for link in chain):
            yield (*chain, Because(other, None, False, "waits in turn for what is told here already")), end - begin
            return
        now = begin
        for wait in self._waits(other, begin, end):
            at, until = max(now, wait.begin), min(end, wait.end)
            if until <= at:
                continue
            yield from self._works(other, now, at, chain)
            link = Because(other, wait.channel, wait.reads)
            yield from self._follow(task, (wait.channel, wait.reads), at, until, (*chain, link))
            now = until
        yield from self._works(other, now, end, chain)

    def _waits(self, task: str, begin: int, end: int) -> Iterator[Wait]:
        """The waits of a task that touch these cycles and lose at least half of their own."""
        waits = self.tasks[task].waits if task in self.tasks else ()
        for wait in waits:
            if wait.end > begin and wait.begin < end and 2 * wait.cycles >= wait.end - wait.begin:
                yield wait

    def _works(self, task: str, begin: int, end: int, chain: tuple[Because, ...]) -> Iterator[tuple[tuple[Because, ...], int]]:
        if end <= begin:
            return
        if task not in self.tasks:
            how = "is outside the design"
        elif self.tasks[task].begin >= end:
            how = "has not begun"
        elif self.tasks[task].end <= begin:
            how = "has ended, and its last tokens are under way"
        else:
            how = "works"
        yield (*chain, Because(task, None, False, how)), end - begin


def _channel_words(channel: str, reads: bool) -> str:
    return f"{'read' if reads else 'write'} {channel}"


def _wait_words(channel: str, reads: bool) -> str:
    if channel == MEMORY:
        return f"waits for external memory to {'deliver' if reads else 'take'} words"
    return f"waits to {_channel_words(channel, reads)}"
