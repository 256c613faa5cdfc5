"""What a FIFO costs as a function of the delay between its tasks, in pieces: the data of the program in `stc.fifo.lp`.

A piece ends where the storage changes, or, in block RAM, at twice its least depth; the last one ends where all tokens fit. Two
slots are a piece of their own where they suffice: a shift register answers a cycle sooner than a memory.

What keeps a target from starving is read off all tokens, and so is the depth that follows from a schedule. Costs, which only say
what is cheaper, are read off a sample of the tokens.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product
from typing import TypeAlias

from stc.fifo.curves import FifoCurves, latency_of
from stc.fifo.depths import SHALLOW
from stc.fifo.task_walk import BLOCK_LATENCY
from stc.iteration.task_timeline import Cycles
from stc.iteration.trace import Moment
from stc.network.graph import Channel, TaskGraph
from stc.platforms.fifo_storage import LUT_BITS, fifo_cost, largest_depth_of_same_cost
from stc.platforms.platform import Resources

MICRO = 1e6
TIE_BREAK = 1e-4
"""Bits count by this part of what a LUT costs that holds as many as `LUT_BITS`."""

FEW_SLOTS = 512
"""From so many slots on, a piece ends at twice its least depth: block RAM has many steps."""

FAR = 1 << 40
"""Cycles: no limit."""


@dataclass(frozen=True, eq=False)
class TaskSchedule:
    """When one task does what, in cycles, from `begin` to `end`.

    `written`, `needed`, `taken`: by FIFO, of each of its tokens, when it is written, when it is read, and when its slot is free.
    `blocks`: by ring and moment, of each of its blocks. `sooner`: how many cycles earlier the task may start. That is less than
    `begin` where it reads external memory, which has to have answered.
    """

    begin: int
    end: int
    sooner: int
    written: Mapping[str, Cycles]
    needed: Mapping[str, Cycles]
    taken: Mapping[str, Cycles]
    blocks: Mapping[str, Mapping[Moment, Cycles]]

    def stretched(self, numerator: int, denominator: int) -> TaskSchedule:
        """Every cycle times a factor of at least 1, rounded down: a slower schedule that keeps all distances."""

        def slow(times: Mapping[str, Cycles]) -> dict[str, Cycles]:
            return {name: cycles * numerator // denominator for name, cycles in times.items()}

        blocks: dict[str, dict[Moment, Cycles]] = {
            ring: {moment: at * numerator // denominator for moment, at in times.items()} for ring, times in self.blocks.items()
        }
        begin, end, sooner = (cycle * numerator // denominator for cycle in (self.begin, self.end, self.sooner))
        return TaskSchedule(begin, end, sooner, slow(self.written), slow(self.needed), slow(self.taken), blocks)


@dataclass(frozen=True)
class SizingProblem:
    """`schedules`: by task, of which it keeps one. `makespan`: cycles, the least for one choice of them with all starts at 0.

    FIFOs to be sized get at least the depth they have in `graph`, and answer like one of it. Rings are of fixed size: they only say
    how far their tasks may be apart.
    """

    schedules: Mapping[str, Sequence[TaskSchedule]]
    graph: TaskGraph
    makespan: int


Ends: TypeAlias = tuple[str, str]
"""Source and target of an edge: all that ties the same two tasks is one edge."""

Choice: TypeAlias = tuple[int, int]
"""The schedule of the source of an edge, and that of its target."""


@dataclass(frozen=True)
class Piece:
    """Delays from `least` to `largest` and what is paid at either end, in millionths of the device; linear in between.

    `floor`: the least delay that FIFOs of the same latency allow.
    """

    least: int
    largest: int
    cost: float
    cost_at_largest: float
    floor: int

    @property
    def slope(self) -> float:
        """Cost per cycle."""
        return (self.cost_at_largest - self.cost) / max(1, self.largest - self.least)


class EdgeCosts:
    """The edges of a problem whose tasks all have to end by cycle `end`."""

    def __init__(self, problem: SizingProblem, usable: Resources, end: int) -> None:
        self.problem, self.usable, self.end = problem, usable, end
        self.edges: dict[Ends, list[Channel]] = {}
        for edge in (*problem.graph.sized, *problem.graph.rings):
            self.edges.setdefault((edge.producer, edge.consumer), []).append(edge)
        self.curves, self.delays, self.first = cache(self._curves), cache(self._delays), cache(self._first)
        self.depth = cache(lambda edge, choice, delay: self.curves(edge, choice).depth(delay, edge.depth))
        self._slots = cache(FifoCurves.sampled_slots)

    def _curves(self, edge: Channel, choice: Choice) -> FifoCurves:
        """The curves of a FIFO at these schedules of its tasks."""
        source, target = self.problem.schedules[edge.producer][choice[0]], self.problem.schedules[edge.consumer][choice[1]]
        return FifoCurves(source.written[edge.name], target.needed[edge.name], target.taken[edge.name], edge.crossing)

    def shifts(self, task: str, schedule: int) -> tuple[int, int]:
        """How much earlier (negative) and how much later a task may start at a schedule."""
        found = self.problem.schedules[task][schedule]
        return -found.sooner, self.end - found.end

    def _delays(self, ends: Ends, choice: Choice) -> tuple[int, int]:
        """The least and largest delay that an edge allows at these schedules; the least is larger if it allows none."""
        (source_low, source_high), (target_low, target_high) = (self.shifts(*side) for side in zip(ends, choice, strict=True))
        least, largest = target_low - source_high, target_high - source_low
        for edge in self.edges[ends]:
            if edge.is_ring:
                schedules = [self.problem.schedules[task][schedule] for task, schedule in zip(ends, choice, strict=True)]
                low, high = ring_delays(edge, *schedules)
                least, largest = max(least, low), min(largest, high)
            else:
                least = max(least, self.curves(edge, choice).least_delay(latency_of(edge.depth)))
        return least, largest

    def _first(self, ends: Ends) -> dict[Choice, tuple[Piece, ...]]:
        """The pieces with as few slots as may be, of shift registers and of memories, by choice of schedules."""
        found: dict[Choice, tuple[Piece, ...]] = {}
        for choice in product(range(len(self.problem.schedules[ends[0]])), range(len(self.problem.schedules[ends[1]]))):
            least, largest = self.delays(ends, choice)
            deep = [self._piece(ends, choice, least)] if least <= largest else []
            if pieces := (*self._shallow(ends, choice), *deep):
                found[choice] = pieces
        return found

    def least_cost(self, ends: Ends) -> float:
        """What an edge costs at any choice, at least."""
        return min((piece.cost for pieces in self.first(ends).values() for piece in pieces), default=0)

    def unmoved(self, ends: Ends) -> dict[Choice, tuple[Piece, ...]]:
        """The cost at every choice that allows both tasks their starts: delay 0."""
        found: dict[Choice, tuple[Piece, ...]] = {}
        for choice, first in self.first(ends).items():
            least, largest = self.delays(ends, choice)
            if any(piece.least <= 0 <= piece.largest for piece in self._shallow(ends, choice)):
                found[choice] = (first[0],)
            elif least <= 0 <= largest:
                found[choice] = (self._piece(ends, choice, 0),)
        return {choice: tuple(_only(0, piece) for piece in pieces) for choice, pieces in found.items()}

    def pieces(self, ends: Ends, most: float) -> dict[Choice, tuple[Piece, ...]]:
        """All pieces that cost at most `most` at their least delay."""
        found = {choice: tuple(self._affordable(ends, choice, most)) for choice in self.first(ends)}
        return {choice: pieces for choice, pieces in found.items() if pieces}

    def _affordable(self, ends: Ends, choice: Choice, most: float) -> Iterator[Piece]:
        yield from (piece for piece in self._shallow(ends, choice) if piece.cost <= most)
        following, largest = self.delays(ends, choice)
        while following <= largest and self._cost(ends, choice, following) <= most:
            piece = self._piece(ends, choice, following)
            yield piece
            following = piece.largest + 1

    def _shallow(self, ends: Ends, choice: Choice) -> tuple[Piece, ...]:
        """Shift registers, if they do, for all FIFOs that may be."""
        curves = [found for edge, found in self._fifos(ends, choice) if edge.depth <= SHALLOW]
        least, largest = self.delays(ends, choice)
        largest = min([largest, *(_none_is_far(found.largest_delay(SHALLOW)) for found in curves)])
        if not curves or least > largest:
            return ()
        return (Piece(least, largest, self._cost(ends, choice, least), self._cost(ends, choice, largest), least),)

    def _piece(self, ends: Ends, choice: Choice, least: int) -> Piece:
        """Memories: from `least` on, up to where storage changes."""
        floor, largest = self.delays(ends, choice)
        fifos = self._fifos(ends, choice)
        tops = [_top(edge.bits, self._slots_of(edge, curves, least)) for edge, curves in fifos]
        limits = (curves.sampled_largest_delay(top) for (_, curves), top in zip(fifos, tops, strict=True))
        limit = min([largest, *map(_none_is_far, limits)])
        counted = limit == largest or len(fifos) > 1  # else the limit is the last delay for that many slots
        at_limit = self._cost(ends, choice, limit) if counted else share(fifos[0][0].bits, tops[0], self.usable)
        return Piece(least, limit, self._cost(ends, choice, least), at_limit, floor)

    def _cost(self, ends: Ends, choice: Choice, delay: int) -> float:
        found = self._fifos(ends, choice)
        return sum(share(edge.bits, self._slots_of(edge, curves, delay), self.usable) for edge, curves in found)

    def _fifos(self, ends: Ends, choice: Choice) -> list[tuple[Channel, FifoCurves]]:
        return [(edge, self.curves(edge, choice)) for edge in self.edges[ends] if not edge.is_ring]

    def _slots_of(self, edge: Channel, curves: FifoCurves, delay: int) -> int:
        return max(edge.depth, self._slots(curves, delay))


def share(bits: int, slots: int, usable: Resources) -> float:
    """Millionths of the device for so many slots of `bits` each, and a little for the bits."""
    depth = max(SHALLOW, slots)
    return MICRO * (fifo_cost(bits, depth).share(usable) + TIE_BREAK * bits * depth / LUT_BITS / usable.lut)


def ring_delays(ring: Channel, source: TaskSchedule, target: TaskSchedule) -> tuple[int, int]:
    """The least and largest delay of the reader of a ring at which neither task waits for a block."""
    writer, reader, far = source.blocks[ring.name], target.blocks[ring.name], FAR
    least = (writer["write_release"] + BLOCK_LATENCY - reader["read_acquire"]).max(initial=-far)
    room = writer["write_acquire"][ring.depth :]
    largest = (room - reader["read_release"][: len(room)] - BLOCK_LATENCY).min(initial=far)
    return int(least), int(largest)


def _top(bits: int, slots: int) -> int:
    """The largest depth that a piece spans which begins where `slots` are needed."""
    top = largest_depth_of_same_cost(bits, slots)
    return top if top <= FEW_SLOTS else max(top, 2 * slots)


def _none_is_far(delay: int | None) -> int:
    return FAR if delay is None else delay


def _only(delay: int, piece: Piece) -> Piece:
    return Piece(delay, delay, piece.cost, piece.cost, piece.floor)
