"""What contractions of integers multiply in: two products per DSP, one per DSP, or LUTs, within so many DSPs and LUTs.

Both resources bound how much is computed at once (`stc.design_space.parallelism`), so a contraction that takes the one leaves the
other to the rest: where DSPs are short, lanes and copies are bought with LUTs as long as there are any, and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

Kind = TypeVar("Kind")


@dataclass(frozen=True)
class Trial:
    """What a design would be: cycles of its slowest computation, DSPs and LUTs of all that it computes with."""

    interval: int
    dsp: int
    lut: float

    def excess(self, limit: Trial) -> float:
        """How much of DSPs and LUTs is beyond those of `limit`, as parts of these; 0 for what fits."""
        pairs = ((self.dsp, limit.dsp), (self.lut, limit.lut))
        return sum(max(0, taken - there) / max(1, there) for taken, there in pairs)


def choose_multipliers(
    candidates: Mapping[int, Sequence[Kind]], trial: Callable[[Mapping[int, Kind]], Trial], dsp: int, lut: float
) -> Mapping[int, Kind]:
    """A kind for each of `candidates`, of those that it can have; the first is what it has where nothing speaks for another.

    `trial` says what the design is with a choice. What exceeds `dsp` and `lut` less is better, then a shorter interval, then more
    candidates with their first kind, then fewer LUTs. Of all with their first kind, and of all with the same one, the best is
    changed one candidate at a time until no single change makes it better.
    """
    limit, tried = Trial(0, dsp, lut), dict[tuple[Kind, ...], tuple[float, ...]]()

    def cost(choice: Mapping[int, Kind]) -> tuple[float, ...]:
        key = tuple(choice.values())
        if key not in tried:
            made, others = trial(choice), sum(choice[one] != kinds[0] for one, kinds in candidates.items())
            tried[key] = (made.excess(limit), made.interval, others, made.lut)
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
