"""The critical path of a run: what the last cycle waited for, and that for, and so on back to the beginning.

From the end of the last task one walks back in time. A task either worked, or it waited: for a token, then what its producer did
before is next; for a free slot, then what the consumer did; for memory; for the return of a task that releases a variable. Where
tasks wait for one another in turn, over and over, the stretch is told as one wait-for cycle: its cycles are those tasks' own work
and, for the rest, the time that tokens and slots spend in the FIFOs between them. The cycles of all parts sum to the cycles of the
run.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, groupby
from typing import Literal

from stc.simulation.simulation_result import MEMORY, FifoTime, SimulationResult, TaskTime, Wait

Kind = Literal["work", "fifo", "memory", "start"]


@dataclass(frozen=True)
class PathPart:
    """`cycles` between `begin` and `end`, spent by `task`: its own work ("work"), a token or slot on its way through FIFO `channel`
    ("fifo"), a wait for external memory ("memory"), a wait for something that no report tells ("start").

    In a wait-for cycle of tasks that wait in turn several parts share the time from `begin` to `end`; else `cycles` is all of it.
    """

    task: str
    begin: int
    end: int
    cycles: int
    kind: Kind
    channel: str = ""


@dataclass(frozen=True)
class PathShare:
    """What a task's work, a FIFO or memory makes up of the critical path. `name`: of the task, or of the FIFO."""

    kind: Kind
    name: str
    cycles: int


def critical_path(result: SimulationResult) -> tuple[PathPart, ...]:
    """In order of time, kernel after kernel; of the first invocation. Their cycles sum to `result.cycles`; empty without an end."""
    if result.cycles is None:
        return ()
    parts: list[PathPart] = []
    for kernel, ends in result.ends.items():
        mine = tuple(t for t in result.tasks if t.name.split(".")[0] in result.kernel_tasks.get(kernel, ()))
        parts += _merged(reversed(list(_Walk(kernel, mine, result.fifos).back_from(ends[0]))))
    return tuple(parts)


def summary(parts: Sequence[PathPart]) -> tuple[PathShare, ...]:
    """What makes up the path, most cycles first."""
    cycles: dict[tuple[Kind, str], int] = {}
    for part in parts:
        key = (part.kind, part.channel if part.kind == "fifo" else part.task)
        cycles[key] = cycles.get(key, 0) + part.cycles
    return tuple(PathShare(*key, count) for key, count in sorted(cycles.items(), key=lambda item: (-item[1], item[0])))


def _merged(parts: Iterator[PathPart]) -> Iterator[PathPart]:
    for _, group in groupby((p for p in parts if p.cycles > 0), key=lambda p: (p.task, p.kind, p.channel)):
        first, *others = group
        yield replace(first, end=others[-1].end if others else first.end, cycles=sum(p.cycles for p in (first, *others)))


@dataclass(frozen=True)
class _At:
    """Where the walk is: what `task` had done by cycle `at`. Of waits to read only those that ended `lead` cycles before count,
    because what it wrote at `at` issued then."""

    task: str
    at: int
    lead: int = 0


class _Walk:
    """Back through the waits of one kernel."""

    def __init__(self, kernel: str, tasks: Sequence[TaskTime], fifos: Sequence[FifoTime]):
        self.kernel = kernel
        self.tasks: Mapping[str, TaskTime] = {task.name: task for task in tasks}
        self.fifos: Mapping[str, FifoTime] = {fifo.name: fifo for fifo in fifos}
        self.inside: dict[str, list[TaskTime]] = {}
        """By task those that it starts, and that these start."""
        for task in tasks:
            for outer in accumulate(task.name.split(".")[:-1], "{}.{}".format):
                self.inside.setdefault(outer, []).append(task)
        self.wait_cycle: list[tuple[_At, Wait]] = []   # waits that the walk is in the middle of

    def back_from(self, end: int) -> Iterator[PathPart]:
        """Parts, the last first."""
        if not self.tasks:
            yield PathPart(self.kernel, 0, end, end, "work")
            return
        at, last = max((until, task.name) for task in self.tasks.values() for _, until in task.calls if until <= end)
        yield PathPart(self.kernel, at, end, end - at, "work")
        here: _At | None = _At(last, at)
        while here is not None and here.at > 0:
            parts, here = self.step(here)
            yield from parts

    def step(self, here: _At) -> tuple[list[PathPart], _At | None]:
        """The parts just before `here`, the last first, and where they lead; None where nothing was before."""
        task = self.tasks.get(here.task)
        if task is None:
            return [PathPart(here.task, 0, here.at, here.at, "start")], None
        inner = self.inner_task(task, here.at)
        if inner is not None:
            return [], _At(inner, here.at)
        wait, ended = _last_wait(task, here)
        begin = max((begin for begin, _ in task.calls if begin < here.at), default=0)
        if wait is None or ended < begin:
            self.wait_cycle = []
            return [_work(here.task, begin, here.at)], self.before_call(task, begin)
        if wait.end <= ended:
            self.wait_cycle = []
        elif (members := self.closed_wait_cycle(here, wait)) is not None:
            self.wait_cycle = []
            return self.told_as_wait_cycle(members, here)
        else:
            self.wait_cycle.append((here, wait))
        part, following = self.cause(here.task, wait, ended)
        return [_work(here.task, ended, here.at), part], following

    def inner_task(self, task: TaskTime, at: int) -> str | None:
        """A task that `task` starts and that ends with it."""
        inner = (each.name for each in self.inside.get(task.name, ()) if any(begin < at == end for begin, end in each.calls))
        return next(inner, None)

    def before_call(self, task: TaskTime, begin: int) -> _At | None:
        """What a call that began at `begin` waited for: the call before, or the task that started it."""
        if begin == 0:
            return None
        if any(end == begin for _, end in task.calls):
            return _At(task.name, begin)
        outer = task.name.rpartition(".")[0]
        return _At(outer or f"start of {task.name}", begin)

    def cause(self, task: str, wait: Wait, ended: int) -> tuple[PathPart, _At | None]:
        """What `task` waited for when it could go on at `ended`."""
        if wait.channel == MEMORY:
            return PathPart(task, wait.begin, ended, ended - wait.begin, "memory"), _At(task, wait.begin)
        if wait.peer:
            return _work(wait.peer, ended, ended), _At(wait.peer, ended)
        fifo = self.fifos.get(wait.channel)
        peer = "" if fifo is None else fifo.producer if wait.reads else fifo.consumer
        if fifo is None or not peer:
            return PathPart(task, 0, ended, ended, "start", wait.channel), None
        before = max(0, ended - (max(1, fifo.latency) if wait.reads else 1 + fifo.crossing))
        part = PathPart(task, before, ended, ended - before, "fifo", wait.channel)
        return part, _At(peer, before, fifo.lead if wait.reads else 0)

    def closed_wait_cycle(self, here: _At, wait: Wait) -> list[tuple[_At, Wait]] | None:
        """The waits since the walk was in the middle of this one before."""
        for index, (before, known) in enumerate(self.wait_cycle):
            if known is wait and before.task == here.task:
                return self.wait_cycle[index:]
        return None

    def told_as_wait_cycle(self, members: Sequence[tuple[_At, Wait]], here: _At) -> tuple[list[PathPart], _At | None]:
        """Tasks that wait in turn, back to where the first of them had not begun to."""
        first, wait = max(members, key=lambda member: member[1].begin)
        begin = min(wait.begin, here.at - 1)
        span = here.at - begin
        own = [max(0.0, 1 - w.cycles / max(1, w.end - w.begin)) for _, w in members]
        scale = span / max(1.0, sum(own))
        parts = [PathPart(at.task, begin, here.at, int(share * scale), "work") for (at, _), share in zip(members, own, strict=True)]
        left = span - sum(part.cycles for part in parts)
        for index, (at, w) in enumerate(members):
            share = left // len(members) + (index < left % len(members))
            kind: Kind = "memory" if w.channel == MEMORY else "fifo"
            parts.append(PathPart(at.task, begin, here.at, share, kind, "" if kind == "memory" else w.channel))
        return parts, _At(first.task, begin)


def _work(task: str, begin: int, end: int) -> PathPart:
    return PathPart(task, begin, end, end - begin, "work")


def _last_wait(task: TaskTime, here: _At) -> tuple[Wait | None, int]:
    """The wait after which `task` did last what led to `here`, and the cycle, at most its end, in which that began."""
    best: Wait | None = None
    latest = -1
    for wait in task.waits:
        lead = here.lead if wait.reads else 0
        seen = min(wait.end + lead, here.at)
        if wait.begin + lead < here.at and seen >= latest:
            best, latest = wait, seen
    return best, latest - (here.lead if best is not None and best.reads else 0)
