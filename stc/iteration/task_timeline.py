"""What a task does over time, as a tree of loops whose iterations keep a distance, and as the cycles of every access.

The times are what the timed simulation of the emitted C++ charges (`stc_sim/clock.h`): an iteration issues `interval` cycles after
the one before it, reads some cycles later, and not before what it reads is there, and writes some cycles after that; a loop
ends, so that the next statement can begin, two cycles after its last iteration came into the last stage. A loop that moves words
of external memory has one per iteration, which is there, or is taken, when the memory says (`stc_sim/loop_clock.h`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from stc.diagnostics import CompileError, UntimedError
from stc.iteration.trace import (
    MICRO,
    Holding,
    InTurn,
    LockEvent,
    MemoryBeats,
    Moment,
    Nest,
    Pipeline,
    Port,
    Repeated,
    Step,
    Straight,
    TaskTrace,
    steps,
)

Cycles: TypeAlias = NDArray[np.int64]
"""Ascending cycles or iterations, one per token."""


class Moves(NamedTuple):
    """The tokens that some firings of a loop move at `port`, from number `begin` to before `end` of the loop, and which firing,
    counted from their first, moves each (`at`)."""

    port: Port
    begin: int
    end: int
    at: Cycles | slice


@dataclass(frozen=True, eq=False)
class Loop:
    """`count` firings, `interval` cycles apart; `head` cycles before the first issues, `tail` from the last issue to the end.

    `iterations[port][k]`: which firing moves the k-th token of a port. `late[port][k]`: how many cycles after its issue.
    `retained`: cycles from the read of a token until it counts as taken. `memory`: external memory that every iteration moves a
    word of. `drain`: the last so many firings are no iterations: they only write what earlier ones computed (`loop_of`).
    """

    count: int
    interval: int
    head: int
    tail: int
    iterations: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    late: dict[Port, Cycles] = field(default_factory=dict[Port, Cycles])
    retained: int = 0
    memory: MemoryBeats | None = None
    drain: int = 0

    @cached_property
    def in_step(self) -> frozenset[Port]:
        """The ports that move one token in every iteration."""
        every = np.arange(self.count)
        return frozenset(port for port, at in self.iterations.items() if len(at) == self.count and (at == every).all())

    @cached_property
    def moves(self) -> tuple[Moves, ...]:
        """All that it moves, port by port."""
        return tuple(
            Moves(port, 0, len(at), slice(0, self.count) if port in self.in_step else at) for port, at in self.iterations.items()
        )

    def moves_in(self, firings: range) -> Sequence[Moves]:
        """What some firings move, port by port."""
        if len(firings) == self.count:
            return self.moves
        found: list[Moves] = []
        for port, at in self.iterations.items():
            begin, end = np.searchsorted(at, (firings.start, firings.stop)).tolist()
            inside = slice(0, end - begin) if port in self.in_step else at[begin:end] - firings.start
            found.append(Moves(port, begin, end, inside))
        return found

    @cached_property
    def unhindered(self) -> Cycles:
        """When each iteration issues, in cycles from where the first could, if no token is missing."""
        return self.issued(np.zeros(self.count, dtype=np.int64))

    def issued(self, ready: Cycles) -> Cycles:
        """When each iteration issues, if what it reads is there from cycle `ready` of it on, and the loop begins at cycle 0.

        Without memory also of fewer iterations in a row, the first of which could issue at cycle 0."""
        steps = np.arange(len(ready), dtype=np.int64) * self.interval
        if self.memory is None:
            return np.maximum.accumulate(ready - steps) + steps
        if self.memory.writes:
            return self._taken(ready, self.memory.micro)
        words = np.arange(self.count - self.drain, dtype=np.int64) * self.memory.micro
        there = ready.copy()
        np.maximum(ready[: len(words)], self.memory.latency - (-words // MICRO), out=there[: len(words)])
        return np.maximum.accumulate(there - steps) + steps

    def _taken(self, ready: Cycles, micro: int) -> Cycles:
        """When words leave that memory takes one by one: it is free `micro` after it began with the one before.

        It begins with a word within the cycle before, if it is free there: else 1.2 cycles per beat would be 1.5.
        The first words leave after as many firings as drain.
        """
        if micro <= self.interval * MICRO:
            steps = np.arange(self.count, dtype=np.int64) * self.interval
            return np.maximum.accumulate(ready - steps) + steps
        free, last = 0, -self.interval
        taken = np.empty(self.count, dtype=np.int64)
        for firing, at in enumerate(ready.tolist()):
            last = max(at, last + self.interval)
            if firing >= self.drain:
                if -(-free // MICRO) < last:
                    free = last * MICRO
                last = -(-free // MICRO)
                free += micro
            taken[firing] = last
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


@dataclass(frozen=True, eq=False)
class TimedLockEvent:
    """A lock event, `head` cycles behind what its task did before, and `tail` cycles ahead of what it does next."""

    ring: str
    moment: Moment
    head: int
    tail: int


Node: TypeAlias = Loop | Row | Repeat | TimedLockEvent

TAIL: dict[Moment, int] = {"write_acquire": 0, "write_release": 1, "read_acquire": 1, "read_release": 0}
"""Cycles that a task spends on each moment."""

MIRRORED: dict[Moment, Moment] = {
    "write_acquire": "read_release", "read_release": "write_acquire",
    "write_release": "read_acquire", "read_acquire": "write_release",
}


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
    def retained(self) -> dict[Port, Cycles]:
        """For every port of which tokens do not count as taken at once: cycles from the read of each until it does."""
        found = _per_token(self.program, lambda loop: {port: np.full(len(late), loop.retained) for port, late in loop.late.items()})
        return {port: retained for port, retained in found.items() if not port[1] and retained.any()}

    @cached_property
    def mirrored(self) -> TaskTimeline:
        """The same backwards in time."""
        return TaskTimeline(self.name, mirrored(self.program))

    @cached_property
    def rings(self) -> frozenset[str]:
        """Those that it takes blocks of."""
        return frozenset(event.ring for event in lock_events(self.program))


@dataclass(frozen=True)
class Stretch:
    """A part of a task if nobody waits: its `cycles`, and by port the cycle in which the iteration of each token issues."""

    cycles: int
    issues: dict[Port, Cycles]


def stretch(node: Node) -> Stretch:
    """What `node` does if nobody waits."""
    match node:
        case Loop():
            at = node.unhindered
            last = int(at[-1]) if node.count else 0
            return Stretch(node.head + last + node.tail, {port: node.head + at[taken] for port, taken in node.iterations.items()})
        case TimedLockEvent():
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
        case TimedLockEvent():
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
            return Loop(node.count, node.interval, node.tail, node.head, iterations, late, node.retained, node.memory, node.drain)
        case TimedLockEvent():
            return TimedLockEvent(node.ring, MIRRORED[node.moment], node.tail, node.head)
        case Row():
            return Row(tuple(mirrored(part) for part in reversed(node.parts)))
        case Repeat():
            return Repeat(mirrored(node.body), node.count)


def lock_events(node: Node) -> Iterator[TimedLockEvent]:
    """Every lock event in the text of `node`."""
    return (leaf for leaf in _leaves(node) if isinstance(leaf, TimedLockEvent))


def loops_of(node: Node) -> Iterator[Loop]:
    """Every loop in the text of `node`."""
    return (leaf for leaf in _leaves(node) if isinstance(leaf, Loop))


def _leaves(node: Node) -> Iterator[Loop | TimedLockEvent]:
    match node:
        case Loop() | TimedLockEvent():
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


# From a trace -----------------------------------------------------------------------------------------------------------


def task_timeline(trace: TaskTrace) -> TaskTimeline:
    """When a task moves its tokens. CompileError where a loop has no hardware yet, UntimedError where a pipelined loop takes a
    block under a condition."""
    return TaskTimeline(trace.name, _Timer().timed(steps(trace)))


class _Timer:
    """Gives steps their cycles; what is the same stays the same."""

    def __init__(self) -> None:
        self.found: dict[Step, Node] = {}

    def timed(self, step: Step) -> Node:
        if step not in self.found:
            self.found[step] = self._new(step)
        return self.found[step]

    def _new(self, step: Step) -> Node:
        match step:
            case Nest():
                return loop_of(step)
            case Straight():
                return _row([_straight(port) for port in step.ports])
            case LockEvent():
                return TimedLockEvent(step.ring, step.moment, 0, TAIL[step.moment])
            case Holding():
                return _iterations_with_blocks(step)
            case InTurn():
                return _row([self.timed(part) for part in step.parts])
            case Repeated():
                return Repeat(self.timed(step.body), step.count)


def _row(parts: list[Node]) -> Node:
    return parts[0] if len(parts) == 1 else Row(tuple(parts))


def _straight(port: Port) -> Loop:
    """An access between loops takes a cycle; what is read counts as taken when that is over."""
    at_once = {port: np.zeros(1, dtype=np.int64)}
    return Loop(1, 1, 0, 1, at_once, at_once, retained=1)


def _hardware(nest: Nest) -> Pipeline:
    if nest.pipeline is None:
        where = f"loop {nest.loops[-1].label}"
        raise CompileError("is not pipelined", where=where, accepted="the IR after hls-directives")
    return nest.pipeline


def loop_of(nest: Nest, deeper: int = 1, takes_blocks: bool = False) -> Loop:
    """A nest as the firings of its pipeline, which is taken to be `deeper` times as deep as it says.

    `takes_blocks`: its iterations wait for blocks of rings as they wait to read.

    The rule of the style `stp`, which stops as a whole: while an iteration waits to read, what earlier ones computed stays in the
    pipeline if it would leave no earlier than that read. So firing n does the reads of iteration n and the writes of an iteration
    before it, by as many as the pipeline is ahead: (cycles from read to write) / interval. When the loop ends, as many firings more
    write the rest. Other styles fire an iteration as a whole: they hold nothing back.
    """
    hardware = _hardware(nest)
    depth = hardware.depth * deeper
    first, interval, count = first_stage(depth), hardware.interval, nest.count
    accesses = _Accesses.of(nest)
    last, writes = accesses.stages(depth)
    iterations: dict[Port, Cycles] = {}
    late: dict[Port, Cycles] = {}
    for port, (at, offsets) in accesses.by_port.items():
        known = np.searchsorted(accesses.begins, at, "right") - 1
        iterations[port], late[port] = at, offsets + (writes[known] if port[1] else first)
    end = int(last[-1]) if len(last) else max(depth - 1, first)
    memory = hardware.memory
    if memory is not None and not memory.writes:
        memory = replace(memory, latency=memory.latency - first)
    drain = 0
    if hardware.style == "stp" and _waits_and_leaves(iterations, memory, takes_blocks):
        for port in [port for port in iterations if port[1]]:
            held = (late[port] - first) // interval
            iterations[port], late[port] = iterations[port] + held, late[port] - held * interval
            drain = max(drain, int(held.max(initial=0)))
        if memory is not None and memory.writes:
            drain = max(drain, (end - first) // interval)
    return Loop(count + drain, interval, 0, end + 2 - drain * interval, iterations, late, 0, memory, drain)


def held_back(nest: Nest, deeper: int = 1) -> int:
    """How many iterations of a nest that takes blocks are in its pipeline while the next one waits for a block."""
    hardware = _hardware(nest)
    depth = hardware.depth * deeper
    return (depth - 1 - first_stage(depth)) // hardware.interval if hardware.style == "stp" else 0


def _waits_and_leaves(ports: Iterable[Port], memory: MemoryBeats | None, takes_blocks: bool) -> bool:
    """Whether a loop may wait to read, or for a block, and something else leaves it."""
    reads = takes_blocks or any(not writes for _, writes in ports) or (memory is not None and not memory.writes)
    return reads and (any(writes for _, writes in ports) or (memory is not None and memory.writes))


def first_stage(depth: int) -> int:
    """The stage, counted from 0, in which a pipeline of `depth` stages reads."""
    return 1 if depth > 1 else 0


@dataclass(frozen=True, eq=False)
class _Accesses:
    """The accesses of a nest, as `stc_sim/loop_clock.h` has them: a second access of an iteration to the same side of a channel is
    a cycle later, and so is all that follows. The first reads are in stage 1, the last writes in the last stage.

    `by_port`: the iteration of each token and its offset, in cycles from the first read, or from the first write of its iteration.
    `begins`: iterations from which on pipelines are known to need more stages: `extents` cycles of accesses, `written` of writes.
    """

    by_port: dict[Port, tuple[Cycles, Cycles]]
    begins: Cycles
    extents: Cycles
    written: Cycles

    @staticmethod
    def of(nest: Nest) -> _Accesses:
        moved: dict[Port, list[tuple[Cycles, int]]] = {}
        needs: list[tuple[int, int, int]] = []
        for case in nest.cases:
            offsets, extent, written = _offsets(case.accesses)
            needs.append((int(case.iterations[0]), extent, written))
            for port, offset in zip(case.accesses, offsets, strict=True):
                moved.setdefault(port, []).append((case.iterations, offset))
        begins, extents, written = np.array(sorted(needs), dtype=np.int64).reshape(-1, 3).T
        by_port = {port: _in_order(some) for port, some in moved.items()}
        return _Accesses(by_port, begins, np.maximum.accumulate(extents), np.maximum.accumulate(written))

    def stages(self, depth: int) -> tuple[Cycles, Cycles]:
        """The last stage, and that of an iteration's first write, from each of `begins` on."""
        last = np.maximum(depth - 1, first_stage(depth) + self.extents)
        return last, last - self.written


def _in_order(some: list[tuple[Cycles, int]]) -> tuple[Cycles, Cycles]:
    iterations = np.concatenate([at for at, _ in some])
    offsets = np.concatenate([np.full(len(at), offset, dtype=np.int64) for at, offset in some])
    if len(some) == 1:
        return iterations, offsets
    order = np.argsort(iterations, kind="stable")
    return iterations[order], offsets[order]


def _offsets(accesses: tuple[Port, ...]) -> tuple[list[int], int, int]:
    """Of accesses of one iteration in order; the cycles all of them take beyond the first, and those the writes take."""
    offset, first_write = 0, None
    touched: set[Port] = set()
    found: list[int] = []
    for port in accesses:
        if port in touched:
            offset, touched = offset + 1, set()
        touched.add(port)
        if port[1]:
            first_write = offset if first_write is None else first_write
        found.append(offset - (first_write or 0) if port[1] else offset)
    return found, offset, 0 if first_write is None else offset - first_write


def _iterations_with_blocks(step: Holding) -> Node:
    """A pipelined loop that takes blocks in every iteration: firing by firing (`loop_of`), `interval` cycles apart; those that only
    drain it wait for no block."""
    hardware = _hardware(step.nest)
    if held_back(step.nest) and any(writes for _, writes in step.rings):
        where = f"loop {step.nest.loops[-1].label}"
        raise UntimedError("keeps the blocks it fills while it waits for more", where=where, accepted="style=frp or flp")
    interval, depth = hardware.interval, hardware.depth
    first = first_stage(depth)
    taken: list[Node] = []
    given: list[Node] = []
    for ring, writes in step.rings:
        late = depth - 1 if writes else first  # it leaves with what was written to it; the next iteration does not wait
        taken.append(TimedLockEvent(ring, "write_acquire" if writes else "read_acquire", first, -first))
        given.append(TimedLockEvent(ring, "write_release" if writes else "read_release", late - interval, interval - late))
    full = loop_of(step.nest, takes_blocks=True)
    firings = _firings(full)
    rows = [Row((*taken, firing, *reversed(given))) for firing in firings[: step.nest.count]]
    return Row((*rows, *firings[step.nest.count :], Loop(1, 1, 0, max(0, full.tail - interval))))


def _firings(loop: Loop) -> list[Loop]:
    """Each firing of `loop` as a loop of its own."""
    late: list[dict[Port, list[int]]] = [{} for _ in range(loop.count)]
    for port, at in loop.iterations.items():
        for number, cycles in zip(at.tolist(), loop.late[port].tolist(), strict=True):
            late[number].setdefault(port, []).append(cycles)
    every = [{port: np.array(some, dtype=np.int64) for port, some in moved.items()} for moved in late]
    return [Loop(1, loop.interval, 0, loop.interval, {port: 0 * at for port, at in moved.items()}, moved) for moved in every]
