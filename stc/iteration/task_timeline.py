"""What a task does over time, as a tree of loops whose iterations keep a distance, and as the cycles of every access.

The times are what the timed simulation of the emitted C++ charges (`stc_sim/clock.h`): an iteration issues `interval` cycles after
the one before it and not before what it reads is there; what it writes enters the FIFO some cycles later; a loop ends, so that the
next statement can begin, one cycle after its last iteration has left the pipeline.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Cycles: TypeAlias = NDArray[np.int64]
"""Ascending cycles or iterations, one per token."""

Port: TypeAlias = tuple[str, bool]
"""A channel, and whether it is written."""


@dataclass(frozen=True, eq=False)
class Loop:
    """`count` iterations, `interval` cycles apart; `head` cycles before the first issues, `tail` from the last issue to the end.

    `iterations[port][k]`: which iteration moves the k-th token of a port. `late[port][k]`: how many cycles after its issue. `kept`:
    cycles from the read of a token until it counts as taken.
    """

    count: int
    interval: int
    head: int
    tail: int
    iterations: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    late: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    kept: int = 0


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
            issues = {port: node.head + taken * node.interval for port, taken in node.iterations.items()}
            return Stretch(node.head + max(0, node.count - 1) * node.interval + node.tail, issues)
        case Handover():
            return Stretch(node.head + node.tail, {})
        case Row():
            return _in_a_row([stretch(part) for part in node.parts])
        case Repeat():
            body = stretch(node.body)
            begins = np.arange(node.count, dtype=np.int64)[:, None] * body.cycles
            return Stretch(node.count * body.cycles, {port: (begins + times).ravel() for port, times in body.issues.items()})


def lateness(node: Node) -> dict[Port, Cycles]:
    """For every port and token: cycles from the issue of its iteration to the access."""
    return _per_token(node, lambda loop: loop.late)


def keeping(node: Node) -> dict[Port, Cycles]:
    """For every port that is read and token: cycles from the read until it counts as taken."""
    return _per_token(node, lambda loop: {port: np.full(len(late), loop.kept) for port, late in loop.late.items() if not port[1]})


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
            return Loop(node.count, node.interval, node.tail, node.head, iterations, late, node.kept)
        case Handover():
            return Handover(node.ring, MIRRORED[node.moment], node.tail, node.head)
        case Row():
            return Row(tuple(mirrored(part) for part in reversed(node.parts)))
        case Repeat():
            return Repeat(mirrored(node.body), node.count)


def handovers(node: Node) -> Iterator[Handover]:
    """Every handover in the text of `node`."""
    match node:
        case Handover():
            yield node
        case Row():
            for part in node.parts:
                yield from handovers(part)
        case Repeat():
            yield from handovers(node.body)
        case Loop():
            return


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
