"""The least FIFO depths that do what is required, found by trying: one search for all who ask.

    test = DepthTest(fifos, run, reference, allowed)        # run: depths by name -> Outcome
    found = minimal_depths(test)                            # no FIFO can be one less
    least = optimal_depths(test)                            # the least bits (stc.fifo.optimum)

Depths are *enough* where the run ends within `allowed` cycles. What a run is, and so what is proved, is the asker's: the simulated
design keeps its cycles (`stc size`), saves so many (`stc.simulation.slowness`) or ends at all (`stc.simulation.fixes`, where cycles
do not count), or tasks with unlimited FIFOs elsewhere end by a cycle (`stc.fifo.bounds`).

Depths are *minimal* where no FIFO can be one less: the run is then slower, or does not end.

Why one FIFO after the other suffices: a free slot is a token that travels backwards, and all times are maxima of sums, so a slot
more never makes anything later. So a FIFO that cannot be one less still cannot after others were lowered, and whole groups can be
tried at once. One thing is not of that form: a pipeline that freezes while a write waits, where an iteration can be earlier
because the freeze came later. So the closing check of `minimal_depths` does not rely on it: every depth above 1 is run one below.

First the least depth of each FIFO *alone* is found, all others unlimited. Usually all of these together are enough, and nothing
can be less. Where they are not, FIFOs stand in for each other, and what sits where matters: tokens kept before a task that packs
or converts them may be cheaper than those behind it. A descent from the start depths can only go where these lead, so others
start from depths without any limit, the costly FIFOs first, and the cheapest end is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
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
    """A FIFO whose depth is looked for, between `floor` and `tokens` (all that cross it). `bits`: per token; `start`: a guess."""

    name: str
    bits: int
    tokens: int
    start: int = FLOOR
    floor: int = FLOOR


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
Likely = Callable[[int, int, int], Collection[int]]
"""By FIFO, a depth of it that is too few and one that is enough: depths between them that are worth a try first."""


@dataclass(frozen=True)
class MinimalDepths:
    """Depths by FIFO that are enough, none of which can be one less: every depth above 1 was run one below.

    `cycles` and `bits`: of the design at these depths. `runs`: how many it took. `start`: the depths that the first descent began
    with. `surprises`: runs that contradicted the monotonicity that the search relies on.
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

    `reference` is the run in which every FIFO holds all its tokens, `allowed` the cycles that one that is enough may take: as many
    as it, if nothing is said. ValueError where it did not end. `too_few`: depths that are known not to be enough.
    """

    def __init__(
        self,
        fifos: Sequence[SizedFifo],
        run: Run,
        reference: Outcome,
        allowed: int | None = None,
        too_few: Sequence[Vector] = (),
    ) -> None:
        if reference.cycles is None:
            raise ValueError("the reference run did not end")
        self.fifos, self.run, self.reference = tuple(fifos), run, reference
        self.allowed = reference.cycles if allowed is None else allowed
        self.floors: Vector = tuple(fifo.floor for fifo in fifos)
        self.all_tokens: Vector = tuple(max(fifo.floor, fifo.tokens) for fifo in fifos)
        self.runs = self.surprises = 0
        self._known: dict[Vector, Outcome] = {self.all_tokens: reference}
        self._enough: list[Vector] = [self.all_tokens]
        self._too_few: list[Vector] = list(too_few)

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
        return self._least(self.all_tokens, index, self.floors[index] - 1, enough, next_deeper)

    def _least(self, depths: Vector, index: int, too_few: int, enough: int, likely: Likely) -> int:
        """The least depth of one FIFO between one that is known to be too few and one that is enough, all others as they are."""
        hints = sorted(likely(index, too_few, enough))
        while enough - too_few > 1:
            inside = [depth for depth in hints if too_few < depth < enough]
            middle = min(max(isqrt(too_few * enough), too_few + 1), enough - 1)
            middle = inside[len(inside) // 2] if inside else middle
            if self.is_enough(replaced(depths, index, middle)):
                enough = middle
            else:
                too_few = middle
        return enough

    def lowered(self, depths: Vector, floors: Vector, order: Sequence[int], likely: Likely | None = None) -> Vector:
        """Depths that are enough, lowered as far as they still are, in `order`; without `likely` to `floors` or not at all."""

        def least(reached: Vector, index: int) -> int:
            return self._least(reached, index, floors[index], reached[index], likely) if likely is not None else reached[index]

        return self._moved(depths, tuple(map(min, depths, floors)), [order], True, least)

    def raised(self, depths: Vector, groups: Sequence[Sequence[int]], likely: Likely) -> Vector:
        """Depths that are not enough, raised as far as they still are not, the last group first."""

        def most(reached: Vector, index: int) -> int:
            return self._least(reached, index, reached[index], self.all_tokens[index], likely) - 1

        return self._moved(depths, self.all_tokens, groups, False, most)

    def _moved(
        self,
        depths: Vector,
        target: Vector,
        groups: Sequence[Sequence[int]],
        enough: bool,
        as_far_as: Callable[[Vector, int], int],
    ) -> Vector:
        """Whole groups to their target at once if that is as (not) `enough` as before, halves of one if not; the last first."""
        under_way = list(groups)
        while under_way:
            group = under_way.pop()
            moved = tuple(target[index] if index in group else depth for index, depth in enumerate(depths))
            if moved == depths or self.is_enough(moved) == enough:
                depths = moved
            elif len(group) == 1:
                depths = replaced(depths, group[0], as_far_as(depths, group[0]))
            else:
                half = len(group) // 2
                under_way += [group[half:], group[:half]]
        return depths

    def _learn(self, depths: Vector) -> None:
        if self.passes(depths):
            self.surprises += any(_covers(known, depths) for known in self._too_few)
            self._enough = [known for known in self._enough if not _covers(known, depths)] + [depths]
        else:
            self.surprises += any(_covers(depths, known) for known in self._enough)
            self._too_few = [known for known in self._too_few if not _covers(depths, known)] + [depths]


def next_deeper(index: int, too_few: int, enough: int) -> Collection[int]:
    """The least depth above one that is too few: mostly it is enough."""
    return (too_few + 1,)


def replaced(depths: Vector, index: int, depth: int) -> Vector:
    return (*depths[:index], depth, *depths[index + 1 :])


def _covers(larger: Vector, smaller: Vector) -> bool:
    return all(a >= b for a, b in zip(larger, smaller, strict=True))


def minimal_depths(test: DepthTest, most_runs: int = MOST_RUNS) -> MinimalDepths:
    """Minimal depths; see above. The first of the descents, where any is needed, starts from the depths given.

    Where the start depths are not enough, the highest occupancies of the reference run are tried (a FIFO as deep as it was ever
    full never makes anybody wait in time; yet an iteration that fires as a whole may need more slots), in the end all tokens.
    """
    before = test.runs
    start, depths = _first_enough(test)
    best = test.least_alone if test.is_enough(test.least_alone) else _cheapest_end(test, depths, before + most_runs)
    return _ended(test, best, before, start)


def minimal_at(test: DepthTest, found: MinimalDepths, depths: Mapping[str, int]) -> MinimalDepths:
    """Minimal depths at or below those that another search found to be enough; `found` was the end so far."""
    vector = tuple(depths[fifo.name] for fifo in test.fifos)
    return _ended(test, vector, test.runs - found.runs, found.start)


def _ended(test: DepthTest, depths: Vector, before: int, start: Start) -> MinimalDepths:
    best = _closed(test, depths)
    cycles = test.outcome(best).cycles
    assert cycles is not None
    return MinimalDepths(test.named(best), cycles, test.bits(best), test.runs - before, start, test.surprises)


def _cheapest_end(test: DepthTest, depths: Vector, last_run: int) -> Vector:
    """Of several descents, each with another order of the FIFOs; `depths` are enough."""
    fifos = test.fifos
    memory = [-memory_bits(fifo.bits, depth) for fifo, depth in zip(fifos, depths, strict=True)]
    width = [-fifo.bits for fifo in fifos]

    def descent(begin: Vector, order: Sequence[int]) -> Vector:
        return test.lowered(begin, test.least_alone, order, next_deeper)

    ends = [descent(_capped(test, depths), sorted(range(len(fifos)), key=lambda index: (memory[index], width[index])))]
    for indices in (range(len(fifos)), reversed(range(len(fifos)))):
        if test.runs < last_run:
            ends.append(descent(test.all_tokens, sorted(indices, key=lambda index: width[index])))
    return min(ends, key=lambda end: _cost(test, end))


def _first_enough(test: DepthTest) -> tuple[Start, Vector]:
    given = tuple(max(fifo.floor, fifo.start) for fifo in test.fifos)
    occupied = tuple(max(fifo.floor, test.reference.occupancies[fifo.name]) for fifo in test.fifos)
    both = tuple(map(max, given, occupied))
    candidates: list[tuple[Start, Vector]] = [("given", given), ("occupancies", occupied), ("given and occupancies", both)]
    for name, depths in candidates:
        if test.passes(depths):
            return name, depths
    return "tokens", test.all_tokens


def _capped(test: DepthTest, depths: Vector) -> Vector:
    """At most as deep as the FIFOs were full in the run at `depths`, where that is still enough."""
    occupied = test.outcome(depths).occupancies
    caps = tuple(min(depth, max(fifo.floor, occupied[fifo.name])) for fifo, depth in zip(test.fifos, depths, strict=True))
    return caps if test.is_enough(caps) else depths


def _cost(test: DepthTest, depths: Vector) -> tuple[int, int]:
    memory = sum(memory_bits(fifo.bits, depth) for fifo, depth in zip(test.fifos, depths, strict=True))
    return memory, test.bits(depths)


def _closed(test: DepthTest, depths: Vector) -> Vector:
    """Every depth above the floor is run one below; where that is enough after all, the search goes on from there."""
    if not test.passes(depths):  # it was only implied
        depths = test.cheapest_run()
    lowered = True
    while lowered:
        lowered = False
        for index, floor in enumerate(test.floors):
            while depths[index] > floor and test.passes(below := replaced(depths, index, depths[index] - 1)):
                depths, lowered = below, True
    return depths
