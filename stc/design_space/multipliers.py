"""Which contractions of integers multiply in LUTs where DSPs are short.

DSPs bound how much is computed at once, so a contraction in LUTs leaves its DSPs to the others; it has lanes as the others, and no
copies. LUTs are taken for no more than that: of the contractions in LUTs, none could be in DSPs without a longer interval (cycles
of the slowest computation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Trial:
    """What a design would be: cycles of its slowest computation, and LUTs of all that it computes with."""

    interval: int
    lut: int


def multipliers_in_luts(candidates: Sequence[int], trial: Callable[[frozenset[int]], Trial], lut: float) -> frozenset[int]:
    """Those of `candidates` that multiply in LUTs; `trial` says what the design is with these, `lut` how many LUTs there are.

    From all of them in LUTs, they go back to DSPs one after the other: the one with which the interval is shortest, of several that
    with the fewest LUTs left, then the first, until the interval would get longer, and there are LUTs enough. None is left where
    that is no shorter than with all in DSPs. Asked again about those that went back, with the others in LUTs, all go back again.
    """
    chosen = frozenset(candidates)
    made, none = trial(chosen), trial(frozenset())
    while chosen:
        trials = [(trial(chosen - {candidate}), candidate) for candidate in chosen]
        back, found = min(trials, key=lambda each: (each[0].interval, each[0].lut, each[1]))
        if back.interval > made.interval and made.lut <= lut:
            break
        chosen, made = chosen - {found}, back
    return chosen if made.interval < none.interval else frozenset()
