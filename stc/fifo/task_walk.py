"""One task on its way through its loops, as early as what it waits for allows.

Runs of iterations that nobody holds up are handled at once, so that the time is that of the stalls, not of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

import numpy as np

from stc.iteration.task_timeline import Cycles, Loop, Moves, Node, Repeat, Row, Stretch, TimedLockEvent, lock_events, stretch
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


@dataclass(frozen=True)
class Followed:
    """A port of `task`, one of `walks` that is still on its way: token k moves `apart[k]` cycles behind its issue there, or any
    token `apart[0]`."""

    walks: Mapping[str, TaskWalk]
    task: str
    port: Port
    apart: Cycles

    @property
    def known(self) -> int:
        """Tokens whose issue is known so far."""
        return self.walks[self.task].position[self.port]

    def bounds(self, begin: int, count: int) -> Cycles:
        """Of so many tokens; those that are not known yet mean nothing."""
        tokens = slice(begin, begin + count)
        return self.walks[self.task].issues[self.port][tokens] + (self.apart if len(self.apart) == 1 else self.apart[tokens])


@dataclass
class TaskWalk:
    """One task on its way.

    `bounds[port][k]`: the cycle before which the iteration that moves token k does not issue; of ports in `followed` another task,
    which is on its way as well, decides that. `moved` counts how often it went on.
    """

    bounds: Mapping[Port, Cycles]
    rings: Mapping[str, RingTimes]
    begin: int
    tokens: Mapping[Port, int]
    followed: Mapping[Port, Followed] = field(default_factory=dict[Port, Followed])

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
        """Go through `node`; yields where a block is missing, or where it is not known yet when a token may be moved."""
        match node:
            case TimedLockEvent():
                yield from self._lock_event(node)
            case Loop():
                yield from self._loop(node)
            case Row():
                for part in node.parts:
                    yield from self.walk(part)
            case Repeat() if has_lock_events(node):
                for _ in range(node.count):
                    yield from self.walk(node.body)
            case Repeat():
                yield from self._repeat(node)

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

    def _loop(self, loop: Loop) -> Iterator[None]:
        first, begins = self.now + loop.head, {port: self.position[port] for port in loop.iterations}
        begun, known, last = 0, 0, first
        while known < loop.count:
            before, known = known, self._known(loop, begins)
            if known > before:
                moves = loop.moves_in(range(begun, known))
                issues = self._issues(loop, first, begins, moves, known - begun)
                for port, begin, _, at in moves:
                    self._note(port, begins[port] + begin, issues[at])
                last = int(issues[-1])
                if loop.memory is None:  # what is left is a loop of its own; memory takes words by all that came before
                    begun, first = known, last + loop.interval
            if known < loop.count:
                yield
        self.now = last + loop.tail

    def _known(self, loop: Loop, begins: Mapping[Port, int]) -> int:
        """How many firings of a loop move only tokens of which it is known when they may be moved."""
        known = loop.count
        for port, iterations in loop.iterations.items():
            if port in self.followed and (tokens := self.followed[port].known - begins[port]) < len(iterations):
                known = min(known, int(iterations[tokens]))
        return known

    def _issues(self, loop: Loop, first: int, begins: Mapping[Port, int], moves: Sequence[Moves], count: int) -> Cycles:
        """When `count` firings of a loop issue, which make these `moves`, and of which the first one may from cycle `first` on."""
        ready: Cycles | None = None
        unhindered = first + loop.unhindered[:count]
        for port, begin, end, at in moves:
            if (bounds := self._bounds(port, begins[port] + begin, end - begin)) is None or not (bounds > unhindered[at]).any():
                continue
            if ready is None:
                ready = np.zeros(count if loop.memory is None else loop.count, dtype=np.int64)
            if isinstance(at, slice):
                np.maximum(ready[at], bounds - first, out=ready[at])
            else:
                np.maximum.at(ready, at, bounds - first)
        return unhindered if ready is None else first + loop.issued(ready)[:count]

    def _bounds(self, port: Port, begin: int, count: int) -> Cycles | None:
        """Of so many tokens of a port; None where nothing holds them up."""
        if port in self.followed:
            return self.followed[port].bounds(begin, count)
        return self.bounds[port][begin : begin + count] if port in self.bounds else None

    def _note(self, port: Port, begin: int, times: Cycles) -> None:
        self.issues[port][begin : begin + len(times)] = times
        self.position[port] = begin + len(times)
        self.moved += 1

    def _repeat(self, node: Repeat) -> Iterator[None]:
        """As many bodies at once as nobody holds up; one by one where somebody does."""
        body = stretched(node.body)
        rest = window = node.count
        while rest > 0:
            tried = min(window, rest)
            free = self._free(body, tried)
            if free > 0:
                begins = self.now + np.arange(free, dtype=np.int64)[:, None] * body.cycles
                for port, times in body.issues.items():
                    self._note(port, self.position[port], (begins + times).ravel())
                self.now += free * body.cycles
                rest -= free
            if free == tried:
                window = 2 * tried
                continue
            yield from self.walk(node.body)
            rest -= 1
            window = max(1, free)

    def _free(self, body: Stretch, count: int) -> int:
        """How many of the next `count` bodies nobody holds up, as far as that is known."""
        for port, times in body.issues.items():
            if port in self.followed and len(times):
                count = min(count, (self.followed[port].known - self.position[port]) // len(times))
        for port, times in body.issues.items():
            if count == 0:
                break
            if (bounds := self._bounds(port, self.position[port], count * len(times))) is None:
                continue
            earliest = (bounds.reshape(count, len(times)) - times).max(axis=1) - np.arange(count, dtype=np.int64) * body.cycles
            if (held_up := earliest > self.now).any():
                count = int(held_up.argmax())
        return count
