"""A task without time: numbered firings, and which of them moves which token.

An iteration of a loop fires as a whole, when all that it reads is there and all that it writes has room; accesses between loops
fire together; a block of a ring is taken in one firing and given back in another. Whether a network of such tasks ends does not
depend on when they fire (`stc.fifo.token_run`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from stc.iteration.task_timeline import Cycles, held_back, loop_of
from stc.iteration.trace import Holding, InTurn, LockEvent, Moment, Nest, Repeated, Step, Straight, TaskTrace, steps

Side: TypeAlias = tuple[str, Moment]
"""A channel, and what happens to its tokens: see `Moment`."""

WRITTEN: tuple[Moment, Moment] = ("write_acquire", "write_release")
READ: tuple[Moment, Moment] = ("read_acquire", "read_release")


@dataclass(frozen=True, eq=False)
class Firings:
    """`count` firings of task `name`. `moments[channel, moment][k]`: the firing, ascending, in which token k has its moment."""

    name: str
    count: int
    moments: dict[Side, Cycles]


def firings(trace: TaskTrace, deeper: int = 1) -> Firings:
    """The firings of a task whose pipelines are at most `deeper` times as deep as they say.

    Where a pipeline holds back what it computed (`loop_of`), a token takes its room when its iteration fires, and is published when
    the deepest pipeline writes it. A network that ends so ends with pipelines of any depth up to that, each by itself, and of the
    style they have or one that flushes: the same firings then write no token before it has room here, and none after it is
    published here. Pipelines that flush here hold nothing back: of them it says nothing if they were `stp`.
    """
    found = _Firings(deeper).of(steps(trace))
    return Firings(trace.name, found.count, found.moments)


@dataclass(frozen=True, eq=False)
class _Part:
    count: int
    moments: dict[Side, Cycles]


_ZERO = np.zeros(1, dtype=np.int64)


class _Firings:
    def __init__(self, deeper: int) -> None:
        self.deeper = deeper
        self.found: dict[Step, _Part] = {}

    def of(self, step: Step) -> _Part:
        if step not in self.found:
            self.found[step] = self._new(step)
        return self.found[step]

    def _new(self, step: Step) -> _Part:
        match step:
            case Nest():
                return self._nest(step)
            case Straight():
                return _together(step.ports)
            case LockEvent():
                return _Part(1, {(step.ring, step.moment): _ZERO})
            case Holding():
                return self._with_blocks(step)
            case InTurn():
                return _in_turn([self.of(part) for part in step.parts])
            case Repeated():
                body = self.of(step.body)
                begins = np.arange(step.count, dtype=np.int64)[:, None] * body.count
                return _Part(step.count * body.count, {side: (begins + at).ravel() for side, at in body.moments.items()})

    def _nest(self, nest: Nest, takes_blocks: bool = False) -> _Part:
        if not nest.accesses:
            return _Part(0, {})
        moments: dict[Side, Cycles] = {}
        for port, at in _iterations(nest).items():
            for moment in WRITTEN if port[1] else READ:
                moments[port[0], moment] = at
        if nest.pipeline is None:
            return _Part(nest.count, moments)
        deep = loop_of(nest, self.deeper, takes_blocks)
        for (name, writes), at in deep.iterations.items():
            if writes:
                moments[name, "write_release"] = np.maximum.accumulate(at)  # a FIFO has no token before those ahead of it
        return _Part(deep.count, moments)

    def _with_blocks(self, step: Holding) -> _Part:
        """An iteration takes its blocks when it fires; those that it fills are released when it leaves the pipeline."""
        part, every = self._nest(step.nest, takes_blocks=True), np.arange(step.nest.count, dtype=np.int64)
        held = held_back(step.nest, self.deeper)
        moments: list[Side] = [(ring, moment) for ring, writes in step.rings for moment in (WRITTEN if writes else READ)]
        rings: dict[Side, Cycles] = dict.fromkeys(moments, every)
        rings |= {(ring, WRITTEN[1]): every + held for ring, writes in step.rings if writes}
        return _Part(max(part.count, step.nest.count + held), part.moments | rings)


def _iterations(nest: Nest) -> dict[tuple[str, bool], Cycles]:
    """By port the iteration that moves each token."""
    found: dict[tuple[str, bool], list[Cycles]] = {}
    for case in nest.cases:
        for port in case.accesses:
            found.setdefault(port, []).append(case.iterations)
    return {port: some[0] if len(some) == 1 else np.sort(np.concatenate(some)) for port, some in found.items()}


def _together(ports: tuple[tuple[str, bool], ...]) -> _Part:
    moments: dict[Side, Cycles] = {}
    for name, writes in dict.fromkeys(ports):
        at = np.zeros(ports.count((name, writes)), dtype=np.int64)
        moments |= {(name, moment): at for moment in (WRITTEN if writes else READ)}
    return _Part(1, moments)


def _in_turn(parts: list[_Part]) -> _Part:
    count = 0
    found: dict[Side, list[Cycles]] = {}
    for part in parts:
        for side, at in part.moments.items():
            found.setdefault(side, []).append(at + count)
        count += part.count
    return _Part(count, {side: np.concatenate(some) if len(some) > 1 else some[0] for side, some in found.items()})


