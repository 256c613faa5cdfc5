"""A slow simulator of flushing pipelines, cycle by cycle, from the words of the model alone: the engine must compute the same.

Every cycle, each task does this. If the iteration that leaves its pipeline now has tokens to write, all FIFOs it writes must have a
free slot; else nothing in the task moves. Then the next iteration enters, if `ii` cycles of pipeline time have passed and all
tokens it reads are there. A token written in cycle c can be read from c + latency on, a slot read in c be written again from
c + 1 on.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Pipeline:
    """A task of one pipelined loop. `reads` and `writes`: FIFO -> in every how manieth iteration, the first included."""

    name: str
    trip: int
    ii: int
    depth: int
    reads: Mapping[str, int]
    writes: Mapping[str, int]


@dataclass
class Fifo:
    depth: int
    latency: int
    written: list[int] = field(default_factory=list[int])   # when
    read: list[int] = field(default_factory=list[int])

    def has_token(self, now: int) -> bool:
        return len(self.written) > len(self.read) and self.written[len(self.read)] + self.latency <= now

    def has_slot(self, now: int) -> bool:
        freed = len(self.read) - (1 if self.read and self.read[-1] == now else 0)
        return len(self.written) - freed < self.depth

    @property
    def highest(self) -> int:
        """Most tokens present just after a write, the slots freed in that cycle not counted."""
        return max((k + 1 - sum(r + 1 <= at for r in self.read) for k, at in enumerate(self.written)), default=0)


@dataclass
class _Running:
    task: Pipeline
    time: int = 0            # of the pipeline: it stands still while the pipeline does
    begun: int = 0
    last: int = 0
    leaving: deque[tuple[int, int]] = field(default_factory=deque[tuple[int, int]])   # when, in pipeline time; which iteration
    end: int | None = None

    def step(self, now: int, fifos: Mapping[str, Fifo]) -> None:
        task = self.task
        if self.leaving and self.leaving[0][0] == self.time:
            outputs = [fifos[name] for name, every in task.writes.items() if self.leaving[0][1] % every == 0]
            if not all(fifo.has_slot(now) for fifo in outputs):
                return
            for fifo in outputs:
                fifo.written.append(now)
            if self.leaving.popleft()[1] == task.trip - 1:
                self.end = now + 1
        if self.begun < task.trip and (self.begun == 0 or self.time >= self.last + task.ii):
            inputs = [fifos[name] for name, every in task.reads.items() if self.begun % every == 0]
            if all(fifo.has_token(now) for fifo in inputs):
                for fifo in inputs:
                    fifo.read.append(now)
                self.leaving.append((self.time + task.depth, self.begun))
                self.last = self.time
                self.begun += 1
        self.time += 1


def simulate_slowly(tasks: Sequence[Pipeline], fifos: Mapping[str, Fifo], patience: int = 500) -> dict[str, int] | None:
    """The cycle in which each task ends; None where nothing moves for `patience` cycles: a deadlock."""
    running = [_Running(task) for task in tasks]
    now = moved = 0
    while any(r.end is None for r in running):
        before = sum(r.begun + len(r.leaving) for r in running)
        for r in running:
            if r.end is None:
                r.step(now, fifos)
        if sum(r.begun + len(r.leaving) for r in running) != before:
            moved = now
        if now - moved > patience:
            return None
        now += 1
    return {r.task.name: r.end for r in running if r.end is not None}
