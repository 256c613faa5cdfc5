"""A slow simulator of pipelined loops, cycle by cycle, from the words of the model alone: the engine must compute the same.

A pipeline of depth D has the stages 0 to D-1. An iteration comes into stage 0 `ii` cycles of pipeline time after the one before,
and into the next stage with every cycle of pipeline time. It reads in stage 1 and writes in stage D-1 (in stage 0, if there is
no other). Reads that need a cycle each are in successive stages from 1 on, such writes in successive stages up to D-1. Every
cycle, each task does this:

* stp: all that iterations in the pipeline read and write now must be possible; else nothing in the task moves;
* flp: all that they write must be possible; else nothing moves. An iteration that cannot read stays where it is, with all that come
  after it, and those before it go on;
* frp: an iteration leaves what it writes in a buffer per FIFO, whose first token enters the FIFO when there is a slot. Reads are as
  with flp. An iteration comes in only if, of those before it that write something, all but the last ceil(D / ii) are out of the
  buffers.

A token written in cycle c can be read from c + latency on, a slot read in c be written again from c + 1 on. A loop ends two cycles
after its last iteration was in the last stage, and frp after the last token left its buffer.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

Style = Literal["stp", "flp", "frp"]


@dataclass(frozen=True)
class Pipeline:
    """A task of one pipelined loop. `reads` and `writes`: FIFO -> in every how manieth iteration, the first included. `pulls`,
    `pushes`: how many tokens of each such FIFO, one per cycle."""

    name: str
    trip: int
    ii: int
    depth: int
    reads: Mapping[str, int]
    writes: Mapping[str, int]
    pulls: int = 1
    pushes: int = 1

    @property
    def first_stage(self) -> int:
        """In which the reads begin."""
        return 1 if self.depth > 1 else 0

    def reads_in(self, iteration: int, stage: int) -> list[str]:
        """The FIFOs that it reads a token of in this stage."""
        if not 0 <= stage - self.first_stage < self.pulls:
            return []
        return [name for name, every in self.reads.items() if iteration % every == 0]

    def writes_in(self, iteration: int, stage: int) -> list[str]:
        """The FIFOs that it writes a token to in this stage."""
        if not 0 <= self.depth - 1 - stage < self.pushes:
            return []
        return [name for name, every in self.writes.items() if iteration % every == 0]


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
    style: Style
    begun: int = 0
    since: int = 0           # cycles of the pipeline's time since the last iteration came in
    inside: deque[list[int]] = field(default_factory=deque[list[int]])   # iteration and stage, the oldest first
    buffers: dict[str, deque[int]] = field(default_factory=dict[str, deque[int]])   # frp: by FIFO, which iterations' tokens
    to_leave: Counter[int] = field(default_factory=Counter[int])         # frp: tokens by iteration that writes some
    ended: int = 0           # two cycles after what happened last
    moved: bool = False

    @property
    def done(self) -> bool:
        return self.begun == self.task.trip and not self.inside and not self.to_leave.total()

    def step(self, now: int, fifos: Mapping[str, Fifo]) -> None:
        self.moved = False
        left = set[str]()
        self.write_to_buffers(self.going_on(now, fifos))
        self.empty_buffers(now, fifos, left)
        if self.begun < self.task.trip and (self.begun == 0 or self.since >= self.task.ii) and self.has_room():
            self.inside.append([self.begun, 0])
            self.begun, self.since, self.moved = self.begun + 1, 0, True
            if self.style == "frp":
                if tokens := self.tokens_of(self.begun - 1):
                    self.to_leave[self.begun - 1] = tokens
                self.write_to_buffers([entry for entry in self.going_on(now, fifos) if entry is self.inside[-1]])
                self.empty_buffers(now, fifos, left)
        going_on = self.going_on(now, fifos)
        if self.style != "frp":
            writes = [name for i, stage in going_on for name in self.task.writes_in(i, stage)]
            if not all(fifos[name].has_slot(now) for name in writes):
                return
            if self.style == "stp" and len(going_on) < len(self.inside):
                return
            for name in writes:
                fifos[name].written.append(now)
        for iteration, stage in going_on:
            for name in self.task.reads_in(iteration, stage):
                fifos[name].read.append(now)
        self.since += len(going_on) == len(self.inside)
        self.go_on(going_on, now)

    def going_on(self, now: int, fifos: Mapping[str, Fifo]) -> list[list[int]]:
        """The iterations before the first that cannot read."""
        missing = [not all(fifos[name].has_token(now) for name in self.task.reads_in(i, stage)) for i, stage in self.inside]
        return list(self.inside)[: missing.index(True) if True in missing else None]

    def tokens_of(self, iteration: int) -> int:
        return sum(len(self.task.writes_in(iteration, stage)) for stage in range(self.task.depth))

    def has_room(self) -> bool:
        first = next((k for k, count in enumerate(self.to_leave.values()) if count > 0), len(self.to_leave))
        return self.style != "frp" or len(self.to_leave) - first <= -(-self.task.depth // self.task.ii)

    def write_to_buffers(self, iterations: Iterable[list[int]]) -> None:
        if self.style == "frp":
            for iteration, stage in iterations:
                for name in self.task.writes_in(iteration, stage):
                    self.buffers.setdefault(name, deque()).append(iteration)

    def empty_buffers(self, now: int, fifos: Mapping[str, Fifo], left: set[str]) -> None:
        for name, buffer in self.buffers.items():
            if buffer and name not in left and fifos[name].has_slot(now):
                left.add(name)
                fifos[name].written.append(now)
                self.to_leave[buffer.popleft()] -= 1
                self.ended, self.moved = now + 2, True

    def go_on(self, iterations: Iterable[list[int]], now: int) -> None:
        for entry in iterations:
            entry[1] += 1
            self.moved = True
        while self.inside and self.inside[0][1] == self.task.depth:
            self.inside.popleft()
            self.ended = max(self.ended, now + 2)


def simulate_slowly(tasks: Sequence[Pipeline], fifos: Mapping[str, Fifo], style: Style = "flp") -> dict[str, int] | None:
    """The cycle in which each task ends; None where nothing moves any more: a deadlock."""
    running = [_Running(task, style) for task in tasks]
    now = last = 0
    while not all(r.done for r in running):
        under_way = [r for r in running if not r.done]
        for r in under_way:
            r.step(now, fifos)
        if any(r.moved for r in under_way):
            last = now
        if now - last > max(fifo.latency for fifo in fifos.values()) + max(task.ii for task in tasks):
            return None
        now += 1
    return {r.task.name: r.ended for r in running}
