"""What a task does over time, as a tree of loops whose iterations keep a distance, and as the cycles of every access.

The times are what the timed simulation of the emitted C++ charges (`stc_sim/clock.h`): an iteration issues `interval` cycles after
the one before it, reads some cycles later, and not before what it reads is there, and writes some cycles after that; a loop
ends, so that the next statement can begin, two cycles after its last iteration came into the last stage. A loop that moves words
of external memory has
one per iteration, which is there, or is taken, when the memory says (`stc_sim/loop_clock.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Cycles: TypeAlias = NDArray[np.int64]
"""Ascending cycles or iterations, one per token."""

Port: TypeAlias = tuple[str, bool]
"""A channel, and whether it is written."""


MICRO = 1_000_000
"""The memory's pace is in millionths of a cycle, as the simulation is told it."""


@dataclass(frozen=True)
class MemoryPace:
    """External memory behind a loop: one word per iteration, `micro` millionths of a cycle apart.

    Words that are read are there from `latency` cycles after the begin of the loop on, however late they are asked for: as many as
    it takes are on their way. A word that is written is taken when the memory is done with the one before.
    """

    latency: int
    micro: int
    writes: bool

    def cycles(self, words: int) -> int:
        """Cycles between two words so far apart, rounded up."""
        return -(-words * self.micro // MICRO)


@dataclass(frozen=True, eq=False)
class Loop:
    """`count` iterations, `interval` cycles apart; `head` cycles before the first issues, `tail` from the last issue to the end.

    `iterations[port][k]`: which iteration moves the k-th token of a port. `late[port][k]`: how many cycles after its issue. `kept`:
    cycles from the read of a token until it counts as taken. `memory`: external memory that every iteration moves a word of.
    """

    count: int
    interval: int
    head: int
    tail: int
    iterations: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    late: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    kept: int = 0
    memory: MemoryPace | None = None

    @cached_property
    def in_step(self) -> frozenset[Port]:
        """The ports that move one token in every iteration."""
        every = np.arange(self.count)
        return frozenset(port for port, at in self.iterations.items() if len(at) == self.count and (at == every).all())

    @cached_property
    def unhindered(self) -> Cycles:
        """When each iteration issues, in cycles from where the first could, if no token is missing."""
        return self.issued(np.zeros(self.count, dtype=np.int64))

    def issued(self, ready: Cycles) -> Cycles:
        """When each iteration issues, if what it reads is there from cycle `ready` of it on, and the loop begins at cycle 0."""
        steps = np.arange(self.count, dtype=np.int64) * self.interval
        if self.memory is None:
            return np.maximum.accumulate(ready - steps) + steps
        if self.memory.writes:
            return self._taken(ready, self.memory.micro)
        words = np.arange(self.count, dtype=np.int64) * self.memory.micro
        there = self.memory.latency - (-words // MICRO)
        return np.maximum.accumulate(np.maximum(ready, there) - steps) + steps

    def _taken(self, ready: Cycles, micro: int) -> Cycles:
        """When words leave that memory takes one by one: it is free `micro` after it began with the one before.

        It begins with a word within the cycle before, if it is free there: else a pace of 1.2 cycles would be one of 1.5.
        """
        if micro <= self.interval * MICRO:
            steps = np.arange(self.count, dtype=np.int64) * self.interval
            return np.maximum.accumulate(ready - steps) + steps
        free, last = 0, -self.interval
        taken = np.empty(self.count, dtype=np.int64)
        for word, at in enumerate(ready.tolist()):
            wanted = max(at, last + self.interval)
            if -(-free // MICRO) < wanted:
                free = wanted * MICRO
            taken[word] = last = -(-free // MICRO)
            free += micro
        return taken


@dataclass(frozen=True, eq=False)
class Row:
    """One after the other."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, eq=False)
class Repeat:
    """`body`, `count` times in a row."""

    body: Node
    count: int


Moment = Literal["room", "published", "taken", "freed"]
"""A block of a ring is taken to be filled, handed over, taken to be emptied, and given back."""


@dataclass(frozen=True, eq=False)
class Handover:
    """A moment of the next block of `ring`, with `head` cycles before and `tail` after it."""

    ring: str
    moment: Moment
    head: int
    tail: int


Node: TypeAlias = Loop | Row | Repeat | Handover

TAIL: dict[Moment, int] = {"room": 0, "published": 1, "taken": 1, "freed": 0}
"""Cycles that a task spends on each moment."""

MIRRORED: dict[Moment, Moment] = {"room": "freed", "freed": "room", "published": "taken", "taken": "published"}


@dataclass(frozen=True)
class TaskTimeline:
    """A task by name."""

    name: str
    program: Node

    @cached_property
    def tokens(self) -> dict[Port, int]:
        """How many tokens every port moves."""
        return {port: len(late) for port, late in self._late.items()}

    @cached_property
    def late(self) -> dict[Port, Cycles]:
        """For every port: cycles from the issue of its iteration to the access, by token, or one number where all have the same."""
        return {port: late[:1] if (late == late[0]).all() else late for port, late in self._late.items()}

    @cached_property
    def _late(self) -> dict[Port, Cycles]:
        return _per_token(self.program, lambda loop: loop.late)

    @cached_property
    def kept(self) -> dict[Port, Cycles]:
        """For every port of which tokens do not count as taken at once: cycles from the read of each until it does."""
        found = _per_token(self.program, lambda loop: {port: np.full(len(late), loop.kept) for port, late in loop.late.items()})
        return {port: kept for port, kept in found.items() if not port[1] and kept.any()}

    @cached_property
    def mirrored(self) -> TaskTimeline:
        """The same backwards in time."""
        return TaskTimeline(self.name, mirrored(self.program))

    @cached_property
    def rings(self) -> frozenset[str]:
        """Those that it takes blocks of."""
        return frozenset(handover.ring for handover in handovers(self.program))


@dataclass(frozen=True)
class Stretch:
    """A part of a task if nobody waits: its `cycles`, and by port the cycle in which the iteration of each token issues."""

    cycles: int
    issues: dict[Port, Cycles]


@dataclass(frozen=True)
class PortFigures:
    """One port in the terms of method.md, section 6. `first`: the cycle of the first token, that is C_in where the task reads and
    D where it writes; `interval`: mean cycles between tokens (II); `last`: the cycle of the last token (L, for a port that is
    written); `tokens`: T."""

    first: int
    interval: float
    last: int
    tokens: int


def port_figures(times: Cycles) -> PortFigures:
    """The figures of a port with at least one token."""
    count = len(times)
    first, last = int(times[0]), int(times[-1])
    return PortFigures(first, (last - first) / max(1, count - 1), last, count)


def stretch(node: Node) -> Stretch:
    """What `node` does if nobody waits."""
    match node:
        case Loop():
            at = node.unhindered
            last = int(at[-1]) if node.count else 0
            return Stretch(node.head + last + node.tail, {port: node.head + at[taken] for port, taken in node.iterations.items()})
        case Handover():
            return Stretch(node.head + node.tail, {})
        case Row():
            return _in_a_row([stretch(part) for part in node.parts])
        case Repeat():
            body = stretch(node.body)
            begins = np.arange(node.count, dtype=np.int64)[:, None] * body.cycles
            return Stretch(node.count * body.cycles, {port: (begins + times).ravel() for port, times in body.issues.items()})


def _per_token(node: Node, of: Callable[[Loop], dict[Port, Cycles]]) -> dict[Port, Cycles]:
    match node:
        case Loop():
            return of(node)
        case Handover():
            return {}
        case Row():
            return _joined([_per_token(part, of) for part in node.parts])
        case Repeat():
            return {port: np.tile(cycles, node.count) for port, cycles in _per_token(node.body, of).items()}


def mirrored(node: Node) -> Node:
    """The same backwards in time: what came last is first, and the tokens of every port come in reverse."""
    match node:
        case Loop():
            iterations = {port: node.count - 1 - taken[::-1] for port, taken in node.iterations.items()}
            late = {port: late[::-1] for port, late in node.late.items()}
            return Loop(node.count, node.interval, node.tail, node.head, iterations, late, node.kept, node.memory)
        case Handover():
            return Handover(node.ring, MIRRORED[node.moment], node.tail, node.head)
        case Row():
            return Row(tuple(mirrored(part) for part in reversed(node.parts)))
        case Repeat():
            return Repeat(mirrored(node.body), node.count)


def handovers(node: Node) -> Iterator[Handover]:
    """Every handover in the text of `node`."""
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Handover))


def loops_of(node: Node) -> Iterator[Loop]:
    """Every loop in the text of `node`."""
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Loop))


def _leaves(node: Node) -> Iterator[Loop | Handover]:
    match node:
        case Loop() | Handover():
            yield node
        case Row():
            for part in node.parts:
                yield from _leaves(part)
        case Repeat():
            yield from _leaves(node.body)


def _in_a_row(parts: list[Stretch]) -> Stretch:
    begin = 0
    moved: list[dict[Port, Cycles]] = []
    for part in parts:
        moved.append({port: begin + times for port, times in part.issues.items()})
        begin += part.cycles
    return Stretch(begin, _joined(moved))


def _joined(parts: list[dict[Port, Cycles]]) -> dict[Port, Cycles]:
    if len(parts) == 1:
        return parts[0]
    found: dict[Port, list[Cycles]] = {}
    for part in parts:
        for port, times in part.items():
            found.setdefault(port, []).append(times)
    return {port: np.concatenate(times) if len(times) > 1 else times[0] for port, times in found.items()}
