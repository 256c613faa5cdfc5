"""Words as a fluid: how long elements of an array take for a launch whose ports bring their weights ahead of them.

A port brings `rate` words a cycle into a FIFO of `depth` words as long as there is room; an element takes `speed` words a cycle as
long as there are any, and none at all while it waits for activations. What it waits for does not depend on weights, so a launch is
a row of demands: so many cycles without activations, then so many words at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Demand:
    """`gap` cycles without activations, then `words` that there are activations for."""

    gap: float
    words: float


@dataclass(frozen=True)
class Launch:
    """What each element is asked for, one after the other, and the cycles `behind` the last. `rate`: words that a port brings a
    cycle; `speed`: words that an element takes a cycle; `elements` of which share a port, `ports` of them."""

    demands: Sequence[Demand]
    behind: float
    rate: float
    speed: float
    ports: int
    elements: int = 1

    def cycles(self, depth: float) -> float:
        """Of the launch, where each element has a FIFO of so many words."""
        rate, there, cycles = self.rate / self.elements, 0.0, self.behind
        for demand in self.demands:
            there = min(depth, there + rate * demand.gap)
            taking = _cycles_of(demand.words, there, rate, self.speed)
            there = max(0.0, min(depth, there + (rate - self.speed) * taking))
            cycles += demand.gap + taking
        return cycles

    def with_array(self, ports: int, elements: int) -> Launch:
        """The same work for `elements` at each of so many `ports`."""
        share = self.ports * self.elements / (ports * elements)
        return replace(self, demands=[Demand(it.gap, it.words * share) for it in self.demands], ports=ports, elements=elements)


def _cycles_of(words: float, there: float, rate: float, speed: float) -> float:
    """Cycles for `words`, some of which are `there`: as fast as an element is, then as fast as they come."""
    if rate >= speed or words <= speed * there / (speed - rate):
        return words / speed
    return there / (speed - rate) + (words - speed * there / (speed - rate)) / rate


def demands_of(begin: int, end: int, waits: Iterable[tuple[int, int, int, bool]], words: int) -> tuple[list[Demand], float]:
    """What an element was asked for that took `words` from cycle `begin` to `end`, and the words that it took a cycle.

    `waits`: begin, end and cycles lost of each wait, in order, and whether it was for activations. Whatever else it waited for is
    no part of the time in which it worked.
    """
    pieces: list[tuple[int, int]] = []
    gap, worked, at = begin, 0, begin
    for since, until, lost, for_activations in waits:
        worked += max(0, since - at) + until - since - lost
        if for_activations:
            pieces.append((gap, worked))
            gap, worked = lost, 0
        at = until
    pieces.append((gap, worked + max(0, end - at)))
    speed = words / max(1, sum(cycles for _, cycles in pieces))
    return [Demand(before, cycles * speed) for before, cycles in pieces], speed
