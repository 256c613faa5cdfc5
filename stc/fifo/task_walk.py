"""One task on its way through its loops, as early as what it waits for allows.

Runs of iterations that nobody holds up are handled at once, so that the time is that of the stalls, not of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from stc.iteration.task_timeline import Cycles, Loop, Node, Repeat, Row, Stretch, TimedLockEvent, lock_events, stretch
from stc.iteration.trace import Moment, Port

BLOCK_LATENCY = 1
"""Cycles from releasing a block to taking it, either way, as the timed simulation has it."""

HELD_UP_BY: dict[Moment, Moment] = {"write_acquire": "read_release", "read_acquire": "write_release"}

stretched = cache(stretch)
has_lock_events = cache(lambda node: next(lock_events(node), None) is not None)


@dataclass
class RingTimes:
    """A ring of so many blocks, and the cycles of each of its moments so far."""

    blocks: int
    times: dict[Moment, list[int]] = field(
        default_factory=lambda: {"write_acquire": [], "write_release": [], "read_acquire": [], "read_release": []}  # pyright: ignore[reportArgumentType]
    )


@dataclass
class TaskWalk:
    """One task on its way.

    `bounds[port][k]`: the cycle before which the iteration that moves token k does not issue. `moved` counts lock events.
    """

    bounds: Mapping[Port, Cycles]
    rings: Mapping[str, RingTimes]
    begin: int
    tokens: Mapping[Port, int]

    def __post_init__(self) -> None:
        self.now = self.begin
        self.moved = 0
        self.issues: dict[Port, Cycles] = {port: np.zeros(count, dtype=np.int64) for port, count in self.tokens.items()}
        self.position = dict.fromkeys(self.tokens, 0)

    def mirrored(self, later: int) -> TaskWalk:
        """The same walk, so many cycles later, backwards in time."""
        found = TaskWalk({}, {}, -self.now - later, {})
        found.now = -self.begin - later
        found.issues = {port: -(times + later)[::-1] for port, times in self.issues.items()}
        return found

    def walk(self, node: Node) -> Iterator[None]:
        """Go through `node`; yields where a block is missing."""
        match node:
            case TimedLockEvent():
                yield from self._lock_event(node)
            case Row() if has_lock_events(node):
                for part in node.parts:
                    yield from self.walk(part)
            case Repeat() if has_lock_events(node):
                for _ in range(node.count):
                    yield from self.walk(node.body)
            case _:
                self._go(node)

    def _lock_event(self, event: TimedLockEvent) -> Iterator[None]:
        ring = self.rings[event.ring]
        times, at = ring.times[event.moment], self.now + event.head
        if event.moment in HELD_UP_BY:
            others = ring.times[HELD_UP_BY[event.moment]]
            block = len(times) - (ring.blocks if event.moment == "write_acquire" else 0)
            while block >= len(others):
                yield
            at = max(at, others[block] + BLOCK_LATENCY) if block >= 0 else at
        times.append(at)
        self.now = at + event.tail
        self.moved += 1

    def _go(self, node: Node) -> None:
        match node:
            case Loop():
                self._loop(node)
            case Row():
                for part in node.parts:
                    self._go(part)
            case Repeat():
                self._repeat(node)
            case TimedLockEvent():
                raise AssertionError(node)

    def _loop(self, loop: Loop) -> None:
        first = self.now + loop.head
        ready: Cycles | None = None
        for port, iterations in loop.iterations.items():
            if port not in self.bounds:
                continue
            begin, in_step = self.position[port], port in loop.in_step
            earliest = self.bounds[port][begin : begin + len(iterations)] - first
            if (earliest > (loop.unhindered if in_step else loop.unhindered[iterations])).any():
                ready = np.zeros(loop.count, dtype=np.int64) if ready is None else ready
                if in_step:
                    np.maximum(ready, earliest, out=ready)
                else:
                    np.maximum.at(ready, iterations, earliest)
        issues = loop.unhindered if ready is None else loop.issued(ready)
        at = first + issues
        self._note({port: at if port in loop.in_step else at[iterations] for port, iterations in loop.iterations.items()})
        self.now = first + int(issues[-1]) + loop.tail

    def _note(self, issues: Mapping[Port, Cycles]) -> None:
        for port, times in issues.items():
            begin = self.position[port]
            self.issues[port][begin : begin + len(times)] = times
            self.position[port] = begin + len(times)

    def _repeat(self, node: Repeat) -> None:
        """As many bodies at once as nobody holds up; one by one where somebody does."""
        body = stretched(node.body)
        rest = window = node.count
        while rest > 0:
            tried = min(window, rest)
            free = self._free(body, tried)
            if free > 0:
                begins = self.now + np.arange(free, dtype=np.int64)[:, None] * body.cycles
                self._note({port: (begins + times).ravel() for port, times in body.issues.items()})
                self.now += free * body.cycles
                rest -= free
            if free == tried:
                window = 2 * tried
                continue
            self._go(node.body)
            rest -= 1
            window = max(1, free)

    def _free(self, body: Stretch, count: int) -> int:
        """How many of the next `count` bodies nobody holds up."""
        for port, times in body.issues.items():
            if port not in self.bounds:
                continue
            begin = self.position[port]
            bounds = self.bounds[port][begin : begin + count * len(times)].reshape(count, len(times))
            earliest = (bounds - times).max(axis=1) - np.arange(count, dtype=np.int64) * body.cycles
            held_up = np.flatnonzero(earliest > self.now)
            if len(held_up):
                count = int(held_up[0])
        return count
