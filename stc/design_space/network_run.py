"""A whole network of tasks in time, with FIFOs as large as needed: as early as possible, or as late as an end allows.

Control does not depend on data, so the earliest run is the least solution of what holds tasks up: an iteration issues `interval`
cycles after the one before and not before its tokens are there, a block is taken when there is one. The latest run is the same
backwards in time, where writers wait for their readers. The earliest run gives the cycles of the design without FIFO limits; the
latest one starts every task as late as its consumers permit, so that little is stored.

Runs of iterations that nobody holds up are handled at once, so that the time is that of the stalls, not of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

import numpy as np

from stc.design_space.fifo_curves import SLOT_LATENCY
from stc.diagnostics import UntimedError
from stc.iteration.task_timeline import (
    MIRRORED,
    Cycles,
    Handover,
    Loop,
    Moment,
    Node,
    Port,
    Repeat,
    Row,
    Stretch,
    TaskTimeline,
    handovers,
    keeping,
    lateness,
    mirrored,
    stretch,
)

ROUNDS = 6
"""After so many runs with bounded FIFOs none is tried any more."""

BLOCK_LATENCY = 1
"""Cycles from handing over a block to taking it, either way, as the timed simulation has it."""

HELD_UP_BY: dict[Moment, Moment] = {"room": "freed", "taken": "published"}


@dataclass(frozen=True)
class Link:
    """A FIFO between two tasks; `latency` cycles from a write to the read of it."""

    name: str
    source: str
    target: str
    latency: int


@dataclass(frozen=True)
class Network:
    """Tasks, FIFOs, and rings by name with the number of blocks each holds."""

    tasks: Sequence[TaskTimeline]
    links: Sequence[Link]
    rings: Mapping[str, int] = field(default_factory=dict[str, int])


@dataclass(frozen=True)
class NetworkRun:
    """When each task begins and ends, and by FIFO when each token is written, has to be readable, and is taken.

    `rings[name]`: the cycles of each of its moments.
    """

    begins: dict[str, int]
    ends: dict[str, int]
    written: dict[str, Cycles]
    needed: dict[str, Cycles]
    taken: dict[str, Cycles]
    rings: dict[str, dict[Moment, list[int]]]

    @property
    def makespan(self) -> int:
        """When the last task ends."""
        return max(self.ends.values(), default=0)


def earliest_run(network: Network, room: Mapping[str, Cycles] | None = None) -> NetworkRun:
    """Everything as soon as possible, from cycle 0 on; UntimedError where tasks wait for blocks of each other.

    `room`: by FIFO, no token is written before its cycle.
    """
    walked = _walk(network, 0, backwards=False, room=room or {})
    return _run(network, walked, backwards=False)


def bounded_run(network: Network, depths: Mapping[str, int], begin: NetworkRun, end: int) -> NetworkRun | None:
    """The earliest run if FIFOs have these `depths`, those not named as large as needed; `begin` is a run without these limits.

    Runs in which tokens wait for the room that the run before had are repeated until one is its own predecessor: each waits at
    least as long as the one before, so that it is the earliest. None where it does not end by cycle `end`, or after `ROUNDS` runs.
    """
    run, room = begin, _room(begin, depths)
    for _ in range(ROUNDS):
        if all((run.written[name] >= earliest).all() for name, earliest in room.items()):
            return run
        run = earliest_run(network, room)
        if run.makespan > end:
            return None
        room = _room(run, depths)
    return None


def _room(run: NetworkRun, depths: Mapping[str, int]) -> dict[str, Cycles]:
    """By FIFO the cycle in which there is room for each token: the slot of an earlier one has been free for a cycle."""
    never = np.iinfo(np.int64).min // 2
    found: dict[str, Cycles] = {}
    for name, depth in depths.items():
        taken = run.taken[name]
        empty = np.full(min(depth, len(taken)), never, dtype=np.int64)
        found[name] = np.concatenate([empty, taken[: len(taken) - len(empty)] + SLOT_LATENCY])
    return found


def latest_run(network: Network, end: int) -> NetworkRun:
    """Everything as late as possible, if all is to have ended by cycle `end`."""
    walked = _walk(network, -end, backwards=True)
    return _run(network, walked, backwards=True)


def own_pace_run(network: Network) -> NetworkRun:
    """Every task from cycle 0 on as if its inputs were always there: only rings hold it up."""
    return _run(network, _walk(Network(network.tasks, (), network.rings), 0, backwards=False), backwards=False)


def _run(network: Network, walked: _Walked, backwards: bool) -> NetworkRun:
    def whole(times: Cycles) -> Cycles:
        return -times[::-1] if backwards else times

    written: dict[str, Cycles] = {}
    needed: dict[str, Cycles] = {}
    taken: dict[str, Cycles] = {}
    for link in network.links:
        source, target = walked.walks[link.source], walked.walks[link.target]
        write, read = (link.name, True), (link.name, False)
        late_write, late_read = (walked.late[task][port] for task, port in ((link.source, write), (link.target, read)))
        written[link.name] = whole(source.issues[write]) + (late_write[::-1] if backwards else late_write)
        needed[link.name] = whole(target.issues[read]) + (late_read[::-1] if backwards else late_read)
        kept = walked.kept[link.target][read]
        taken[link.name] = needed[link.name] + (kept[::-1] if backwards else kept)
    walks = walked.walks.items()
    begins = {name: -walk.now if backwards else walk.begin for name, walk in walks}
    ends = {name: -walk.begin if backwards else walk.now for name, walk in walks}
    rings = {name: _moments(ring.times, backwards) for name, ring in walked.rings.items()}
    return NetworkRun(begins, ends, written, needed, taken, rings)


def _moments(times: Mapping[Moment, list[int]], backwards: bool) -> dict[Moment, list[int]]:
    if not backwards:
        return dict(times)
    return {MIRRORED[moment]: [-at for at in reversed(cycles)] for moment, cycles in times.items()}


# Walking --------------------------------------------------------------------------------------------------------------


@dataclass
class _Ring:
    blocks: int
    times: dict[Moment, list[int]] = field(
        default_factory=lambda: {"room": [], "published": [], "taken": [], "freed": []}  # pyright: ignore[reportArgumentType]
    )


@dataclass
class _Walked:
    walks: dict[str, _Walk]
    late: dict[str, dict[Port, Cycles]]
    kept: dict[str, dict[Port, Cycles]]
    rings: dict[str, _Ring]


def _walk(network: Network, begin: int, backwards: bool, room: Mapping[str, Cycles] = MappingProxyType({})) -> _Walked:
    """Each task after those that hold it up; tasks that share rings in turns."""
    programs = {task.name: mirrored(task.program) if backwards else task.program for task in network.tasks}
    late = {name: lateness(program) for name, program in programs.items()}
    rings = {name: _Ring(blocks) for name, blocks in network.rings.items()}
    incoming: dict[str, list[Link]] = {name: [] for name in programs}
    for link in network.links:
        incoming[link.source if backwards else link.target].append(link)
    walks: dict[str, _Walk] = {}
    under_way: dict[str, Iterator[None]] = {}
    done: set[str] = set()
    while len(done) < len(programs):
        progress = False
        for name, program in programs.items():
            if name in walks:
                continue
            others = [link.target if backwards else link.source for link in incoming[name]]
            if all(other in done for other in others):
                bounds = {
                    (link.name, backwards): walks[other].issues[link.name, not backwards]
                    + (late[link.source][link.name, True] + link.latency - late[link.target][link.name, False])
                    for link, other in zip(incoming[name], others, strict=True)
                }
                full = {port for port in late[name] if port[1] and port[0] in room}
                bounds |= {port: room[port[0]] - late[name][port] for port in full}
                walks[name] = _Walk(bounds, rings, begin, {port: len(times) for port, times in late[name].items()})
                under_way[name] = walks[name].walk(program)
                progress = True
        for name, steps in list(under_way.items()):
            moved = walks[name].moved
            if next(steps, _ENDED) is _ENDED:
                del under_way[name]
                done.add(name)
            progress = progress or name in done or walks[name].moved != moved
        if not progress:
            names = ", ".join(name for name in programs if name not in done)
            raise UntimedError(f"tasks {names} wait for blocks of each other", accepted="rings between tasks with no other path")
    return _Walked(walks, late, {name: keeping(program) for name, program in programs.items()}, rings)


_ENDED = object()

_stretch = cache(stretch)
_hands_over = cache(lambda node: next(handovers(node), None) is not None)


@dataclass
class _Walk:
    """One task on its way. `bounds[port][k]`: the iteration that moves token k issues no earlier. `moved` counts handovers."""

    bounds: Mapping[Port, Cycles]
    rings: Mapping[str, _Ring]
    begin: int
    tokens: Mapping[Port, int]

    def __post_init__(self) -> None:
        self.now = self.begin
        self.moved = 0
        self.issues: dict[Port, Cycles] = {port: np.zeros(count, dtype=np.int64) for port, count in self.tokens.items()}
        self.position = dict.fromkeys(self.tokens, 0)

    def walk(self, node: Node) -> Iterator[None]:
        """Go through `node`; yields where a block is missing."""
        match node:
            case Handover():
                yield from self._hand_over(node)
            case Row() if _hands_over(node):
                for part in node.parts:
                    yield from self.walk(part)
            case Repeat() if _hands_over(node):
                for _ in range(node.count):
                    yield from self.walk(node.body)
            case _:
                self._go(node)

    def _hand_over(self, handover: Handover) -> Iterator[None]:
        ring = self.rings[handover.ring]
        times, at = ring.times[handover.moment], self.now + handover.head
        if handover.moment in HELD_UP_BY:
            others = ring.times[HELD_UP_BY[handover.moment]]
            block = len(times) - (ring.blocks if handover.moment == "room" else 0)
            while block >= len(others):
                yield
            at = max(at, others[block] + BLOCK_LATENCY) if block >= 0 else at
        times.append(at)
        self.now = at + handover.tail
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
            case Handover():
                raise AssertionError(node)

    def _loop(self, loop: Loop) -> None:
        first = self.now + loop.head
        late: Cycles | None = None
        for port, iterations in loop.iterations.items():
            if port not in self.bounds:
                continue
            begin = self.position[port]
            earliest = self.bounds[port][begin : begin + len(iterations)] - iterations * loop.interval
            if int(earliest.max()) > first:
                late = np.full(loop.count, first, dtype=np.int64) if late is None else late
                np.maximum.at(late, iterations, earliest)
        if late is None:
            self._note({port: first + iterations * loop.interval for port, iterations in loop.iterations.items()})
            self.now = first + (loop.count - 1) * loop.interval + loop.tail
            return
        issues = np.maximum.accumulate(late) + np.arange(loop.count, dtype=np.int64) * loop.interval
        self._note({port: issues[iterations] for port, iterations in loop.iterations.items()})
        self.now = int(issues[-1]) + loop.tail

    def _note(self, issues: Mapping[Port, Cycles]) -> None:
        for port, times in issues.items():
            begin = self.position[port]
            self.issues[port][begin : begin + len(times)] = times
            self.position[port] = begin + len(times)

    def _repeat(self, node: Repeat) -> None:
        """As many bodies at once as nobody holds up; one by one where somebody does."""
        body = _stretch(node.body)
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
