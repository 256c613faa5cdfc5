"""The least FIFO depths at which a design keeps its cycles, found by running it.

    test = DepthTest(fifos, run, reference, slack=0.0)      # run: depths by name -> Outcome
    trimmed = trim_depths(test)

Depths are *enough* where the run ends within reference cycles * (1 + slack). They are *minimal* where no FIFO can be one less:
the run is then slower, or does not end. The floor is 1.

Why one FIFO after the other suffices: a free slot is a token that travels backwards, and all times are maxima of sums, so a slot
more never makes anything later. So a FIFO that cannot be one less still cannot after others were lowered, and whole groups can be
tried at once. One thing is not of that form: a pipeline that freezes while a write waits, where an iteration can be earlier
because the freeze came later. So the closing check does not rely on it: every depth above 1 is run one below.

First the least depth of each FIFO *alone* is found, all others unlimited. Usually all of these together are enough, and nothing
can be less. Where they are not, FIFOs stand in for each other, and what sits where matters: tokens kept before a task that packs
or converts them may be cheaper than those behind it. A descent from the start depths can only go where these lead, so others
start from depths without any limit, the costly FIFOs first, and the cheapest end is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import floor as rounded_down
from math import isqrt
from typing import Literal

from stc.platforms.fifo_storage import LUT_BITS, fifo_cost

FLOOR = 1
"""A FIFO has at least one slot."""
BRAM18_BITS, URAM_BITS = 18 * 1024, 288 * 1024
MOST_RUNS = 600
"""Beyond so many runs no further descent begins."""


@dataclass(frozen=True)
class SizedFifo:
    """A FIFO whose depth is looked for: `bits` per token, `tokens` that cross it, and the depth to `start` from."""

    name: str
    bits: int
    tokens: int
    start: int


@dataclass(frozen=True)
class Outcome:
    """One run: its cycles (None where it did not end: deadlock or cycle limit), and the most tokens at one time in each FIFO.

    A run that did not end, or was cut at a limit, may not have come to all FIFOs.
    """

    cycles: int | None
    occupancies: Mapping[str, int]


Run = Callable[[Mapping[str, int]], Outcome]
Start = Literal["given", "occupancies", "given and occupancies", "tokens"]
Vector = tuple[int, ...]
"""Depths in the order of the FIFOs."""


@dataclass(frozen=True)
class Trimmed:
    """`start`: the depths that the first descent began with. Every depth above 1 was run one below, which was not enough.

    `surprises`: runs that contradicted the monotonicity that the search relies on.
    """

    depths: dict[str, int]
    cycles: int
    bits: int
    runs: int
    start: Start
    surprises: int


def memory_bits(bits: int, depth: int) -> int:
    """Bits of the memory that a FIFO occupies: none in shift registers, else whole LUTs, BRAM18 or URAM."""
    cost = fifo_cost(bits, depth)
    return LUT_BITS * cost.lut + BRAM18_BITS * cost.bram18 + URAM_BITS * cost.uram


class DepthTest:
    """Asks whether depths are enough, with as few runs as possible: what earlier runs imply is not run again.

    `reference` is the run in which every FIFO holds all its tokens. ValueError where it did not end.
    """

    def __init__(self, fifos: Sequence[SizedFifo], run: Run, reference: Outcome, slack: float = 0.0):
        if reference.cycles is None:
            raise ValueError("the reference run did not end")
        self.fifos, self.run, self.reference = tuple(fifos), run, reference
        self.allowed = rounded_down(reference.cycles * (1 + slack))
        self.all_tokens: Vector = tuple(max(FLOOR, fifo.tokens) for fifo in fifos)
        self.runs = self.surprises = 0
        self._known: dict[Vector, Outcome] = {self.all_tokens: reference}
        self._enough: list[Vector] = [self.all_tokens]
        self._too_few: list[Vector] = []

    def named(self, depths: Vector) -> dict[str, int]:
        return {fifo.name: depth for fifo, depth in zip(self.fifos, depths, strict=True)}

    def bits(self, depths: Vector) -> int:
        return sum(fifo.bits * depth for fifo, depth in zip(self.fifos, depths, strict=True))

    def is_enough(self, depths: Vector) -> bool:
        """By a run, unless one at depths nowhere larger was enough or one at depths nowhere smaller was not."""
        if any(_covers(depths, known) for known in self._enough):
            return True
        if any(_covers(known, depths) for known in self._too_few):
            return False
        return self.passes(depths)

    def passes(self, depths: Vector) -> bool:
        """By a run at exactly these depths."""
        cycles = self.outcome(depths).cycles
        return cycles is not None and cycles <= self.allowed

    def outcome(self, depths: Vector) -> Outcome:
        if depths not in self._known:
            self.runs += 1
            self._known[depths] = self.run(self.named(depths))
            self._learn(depths)
        return self._known[depths]

    def cheapest_run(self) -> Vector:
        """Of all depths that a run found to be enough."""
        return min((depths for depths in self._known if self.passes(depths)), key=self.bits)

    @cached_property
    def least_alone(self) -> Vector:
        """The least depth of each FIFO that is enough with all others unlimited. No depths that are enough are below these."""
        return tuple(self._least_alone(index) for index in range(len(self.fifos)))

    def _least_alone(self, index: int) -> int:
        enough = min(known[index] for known in self._enough)
        return least_enough(FLOOR - 1, enough, lambda depth: self.is_enough(replaced(self.all_tokens, index, depth)))

    def _learn(self, depths: Vector) -> None:
        if self.passes(depths):
            self.surprises += any(_covers(known, depths) for known in self._too_few)
            self._enough = [known for known in self._enough if not _covers(known, depths)] + [depths]
        else:
            self.surprises += any(_covers(depths, known) for known in self._enough)
            self._too_few = [known for known in self._too_few if not _covers(depths, known)] + [depths]


def least_enough(too_few: int, enough: int, is_enough: Callable[[int], bool]) -> int:
    """The least depth between one known to be too few and one that is enough. The next one, and small ones, are likely."""
    following = too_few + 1
    while enough - too_few > 1:
        middle = following if too_few < following else min(max(isqrt(too_few * enough), too_few + 1), enough - 1)
        if is_enough(middle):
            enough = middle
        else:
            too_few = middle
    return enough


def replaced(depths: Vector, index: int, depth: int) -> Vector:
    return (*depths[:index], depth, *depths[index + 1 :])


def _covers(larger: Vector, smaller: Vector) -> bool:
    return all(a >= b for a, b in zip(larger, smaller, strict=True))


def trim_depths(test: DepthTest, most_runs: int = MOST_RUNS) -> Trimmed:
    """Minimal depths; see above. The first of the descents, where any is needed, starts from the depths given.

    Where the start depths are not enough, the highest occupancies of the reference run are tried (a FIFO as deep as it was ever
    full never makes anybody wait in time; yet an iteration that fires as a whole may need more slots), in the end all tokens.
    """
    before = test.runs
    start, depths = _first_enough(test)
    best = test.least_alone if test.is_enough(test.least_alone) else _cheapest_end(test, depths, before + most_runs)
    return _ended(test, best, before, start)


def trimmed_at(test: DepthTest, found: Trimmed, depths: Mapping[str, int]) -> Trimmed:
    """The end of trimming at depths that another search found to be enough, closed as any other; `found` was the end so far."""
    vector = tuple(depths[fifo.name] for fifo in test.fifos)
    return _ended(test, vector, test.runs - found.runs, found.start)


def _ended(test: DepthTest, depths: Vector, before: int, start: Start) -> Trimmed:
    best = _closed(test, depths)
    cycles = test.outcome(best).cycles
    assert cycles is not None
    return Trimmed(test.named(best), cycles, test.bits(best), test.runs - before, start, test.surprises)


def _cheapest_end(test: DepthTest, depths: Vector, last_run: int) -> Vector:
    """Of several descents, each with another order of the FIFOs; `depths` are enough."""
    fifos = test.fifos
    memory = [-memory_bits(fifo.bits, depth) for fifo, depth in zip(fifos, depths, strict=True)]
    width = [-fifo.bits for fifo in fifos]
    ends = [_descent(test, _capped(test, depths), sorted(range(len(fifos)), key=lambda index: (memory[index], width[index])))]
    for indices in (range(len(fifos)), reversed(range(len(fifos)))):
        if test.runs < last_run:
            ends.append(_descent(test, test.all_tokens, sorted(indices, key=lambda index: width[index])))
    return min(ends, key=lambda end: _cost(test, end))


def _first_enough(test: DepthTest) -> tuple[Start, Vector]:
    given = tuple(max(FLOOR, fifo.start) for fifo in test.fifos)
    occupied = tuple(max(FLOOR, test.reference.occupancies[fifo.name]) for fifo in test.fifos)
    both = tuple(max(pair) for pair in zip(given, occupied, strict=True))
    candidates: list[tuple[Start, Vector]] = [("given", given), ("occupancies", occupied), ("given and occupancies", both)]
    for name, depths in candidates:
        if test.passes(depths):
            return name, depths
    return "tokens", test.all_tokens


def _capped(test: DepthTest, depths: Vector) -> Vector:
    """At most as deep as the FIFOs were full in the run at `depths`, where that is still enough."""
    occupied = test.outcome(depths).occupancies
    caps = tuple(min(depth, max(FLOOR, occupied[fifo.name])) for fifo, depth in zip(test.fifos, depths, strict=True))
    return caps if test.is_enough(caps) else depths


def _cost(test: DepthTest, depths: Vector) -> tuple[int, int]:
    memory = sum(memory_bits(fifo.bits, depth) for fifo, depth in zip(test.fifos, depths, strict=True))
    return memory, test.bits(depths)


def _descent(test: DepthTest, depths: Vector, order: Sequence[int]) -> Vector:
    """From depths that are enough to minimal ones: whole groups to their floor at once, halves of a group that cannot be."""
    floor = test.least_alone
    groups = [list(order)]
    while groups:
        group = groups.pop()
        lowest = tuple(min(depth, floor[index]) if index in group else depth for index, depth in enumerate(depths))
        if lowest == depths or test.is_enough(lowest):
            depths = lowest
        elif len(group) == 1:
            [index] = group
            depth = least_enough(
                lowest[index], depths[index], lambda depth, at=index, others=depths: test.is_enough(replaced(others, at, depth))
            )
            depths = replaced(depths, index, depth)
        else:
            half = len(group) // 2
            groups += [group[half:], group[:half]]
    return depths


def _closed(test: DepthTest, depths: Vector) -> Vector:
    """Every depth above the floor is run one below; where that is enough after all, the search goes on from there."""
    if not test.passes(depths):  # it was only implied
        depths = test.cheapest_run()
    lowered = True
    while lowered:
        lowered = False
        for index in range(len(depths)):
            while depths[index] > FLOOR and test.passes(below := replaced(depths, index, depths[index] - 1)):
                depths, lowered = below, True
    return depths
