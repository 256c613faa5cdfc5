"""What contractions of integers multiply in: two products per DSP, one per DSP, or LUTs, within so many DSPs and LUTs.

Both resources bound how much is computed at once (`stc.design_space.parallelism`), so a contraction that takes the one leaves the
other to the rest: where DSPs are short, lanes and copies are bought with LUTs as long as there are any, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Kind = TypeVar("Kind")

WORTH = 0.005
"""Part of the scarcer resource that a candidate frees at least, to have another kind than its first."""


@dataclass(frozen=True)
class Trial:
    """What a design would be: cycles of its slowest computation, DSPs and LUTs of all that it computes with."""

    interval: int
    dsp: int
    lut: float

    def excess(self, limit: Trial) -> float:
        """How much of DSPs and LUTs is beyond those of `limit`, as parts of these; 0 for what fits."""
        return sum(max(0, taken - there) / max(1, there) for taken, there in self._of(limit))

    def share(self, limit: Trial) -> float:
        """The part of `limit` that is taken of what is scarcer, DSPs or LUTs."""
        return max(taken / max(1, there) for taken, there in self._of(limit))

    def _of(self, limit: Trial) -> tuple[tuple[float, float], tuple[float, float]]:
        return (self.dsp, limit.dsp), (self.lut, limit.lut)


def choose_multipliers(
    candidates: Mapping[int, Sequence[Kind]],
    trial: Callable[[Mapping[int, Kind]], Trial],
    dsp: int,
    lut: float,
    kept: Collection[int],
) -> Mapping[int, Kind]:
    """A kind for each of `candidates`, of those that it can have; the first is what it has where nothing speaks for another, and
    for those of `kept`, where no other is faster.

    `trial` says what the design is with a choice. What exceeds `dsp` and `lut` less is better, then a shorter interval, then more
    of `kept` with their first kind, then what leaves more of the scarcer of both, where each other candidate that has not its first
    kind has to free `WORTH` of it, then fewer LUTs. Of all with their first kind, and of all with the same one, the best is changed
    one candidate at a time until no single change makes it better.
    """
    limit, tried = Trial(0, dsp, lut), dict[tuple[Kind, ...], tuple[float, ...]]()

    def cost(choice: Mapping[int, Kind]) -> tuple[float, ...]:
        key = tuple(choice.values())
        if key not in tried:
            made, others = trial(choice), [one for one, kinds in candidates.items() if choice[one] != kinds[0]]
            given_up = sum(one in kept for one in others)
            share = made.share(limit) + WORTH * (len(others) - given_up)
            tried[key] = (made.excess(limit), made.interval, given_up, share, made.lut)
        return tried[key]

    best: Mapping[int, Kind] = {one: kinds[0] for one, kinds in candidates.items()}
    for alike in dict.fromkeys(kind for kinds in candidates.values() for kind in kinds):
        start = {one: alike if alike in kinds else kinds[0] for one, kinds in candidates.items()}
        best = min(best, start, key=cost)
    while True:
        before = best
        for one, kinds in candidates.items():
            best = min([best, *({**best, one: kind} for kind in kinds)], key=cost)
        if best == before:
            return best
