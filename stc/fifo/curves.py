"""Tokens in a FIFO as a function of the delay between its two tasks: exact from the curves, and by the published formulas.

Both tasks keep their issue rates: token k enters the FIFO in cycle `written[k]` of the source and must be readable in cycle
`needed[k]` of the target. `delay` is the start of the target minus that of the source. Bursts and pauses are in the curves.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import ceil, floor

import numpy as np

from stc.fifo.depths import SHALLOW
from stc.iteration.task_timeline import Cycles

SHALLOW_LATENCY, LATENCY = 1, 2
"""Cycles from writing a token to reading it: of a shift register, and of a FIFO in memory."""


def latency_of(depth: int) -> int:
    """Cycles from writing a token to reading it in a FIFO of this depth."""
    return SHALLOW_LATENCY if depth <= SHALLOW else LATENCY


BLOCK = 64
"""Tokens that are looked at together first."""

SAMPLES = 2048
"""So many tokens at most are looked at where bounds will do."""

SLOT_LATENCY = 1
"""Cycles from reading a token to writing its slot again."""


@dataclass(frozen=True, eq=False)
class FifoCurves:
    """One FIFO: when its source writes each token, and when its target needs and takes it, each in its own cycles. `crossing`:
    cycles that tokens take to another die, and freed slots take back."""

    written: Cycles
    needed: Cycles
    taken: Cycles
    crossing: int = 0

    def __post_init__(self) -> None:
        if not len(self.written) == len(self.needed) == len(self.taken) > 0:
            raise ValueError(f"{len(self.written)} tokens are written, {len(self.needed)} needed, {len(self.taken)} taken")

    @property
    def tokens(self) -> int:
        return len(self.written)

    def least_delay(self, latency: int = LATENCY) -> int:
        """The least delay at which the target never waits. It generalises D - C_in to bursts; it may be negative."""
        return -int(self.spare(latency).min())

    def spare(self, latency: int = LATENCY) -> Cycles:
        """By how many cycles each token may be written later, if both tasks begin together, so that the target does not wait."""
        return self.needed - self.written - latency - self.crossing

    def depth(self, delay: int, least: int = 1) -> int | None:
        """The least depth, from `least` on, at which nobody waits if it answers like one of `least`; None where the target does at
        any."""
        return max(least, self.slots(delay)) if delay >= self.least_delay(latency_of(least)) else None

    def slots(self, delay: int) -> int:
        """The least depth at which the source never waits, if the target begins `delay` cycles later."""
        starts = np.arange(0, self.tokens, BLOCK)
        taken = self._taken_slots(starts, delay)
        # Within a block the count grows by one per token at most: only blocks that can get beyond the best are looked at closely.
        open_blocks = starts[taken + (BLOCK - 1) > int(taken.max())]
        tokens = (open_blocks[:, None] + np.arange(1, BLOCK)).ravel()
        tokens = tokens[tokens < self.tokens]
        return max(int(taken.max()), int(self._taken_slots(tokens, delay).max(initial=0)))

    def sampled_slots(self, delay: int) -> int:
        """The same looked at for `SAMPLES` tokens only, the first and the last among them: a lower bound, quicker."""
        return int(self._taken_slots(self._sample, delay).max())

    @cached_property
    def _sample(self) -> Cycles:
        """Tokens spread over all, at distances that differ by one, so that they meet all parts of what recurs."""
        return np.unique(np.linspace(0, self.tokens - 1, SAMPLES).astype(np.int64))

    def _taken_slots(self, tokens: Cycles, delay: int) -> Cycles:
        """How many slots are taken when these tokens have been written."""
        freed = np.searchsorted(self.taken, self.written[tokens] - (delay + SLOT_LATENCY + self.crossing), side="right")
        return tokens + 1 - freed

    def largest_delay(self, slots: int) -> int | None:
        """The largest delay at which `slots` are enough; None where all tokens fit."""
        if slots >= self.tokens:
            return None
        return int((self.written[slots:] - self.taken[: self.tokens - slots]).min()) - SLOT_LATENCY - self.crossing

    def sampled_largest_delay(self, slots: int) -> int | None:
        """The same looked at for `SAMPLES` tokens only: an upper bound, quicker."""
        if slots >= self.tokens:
            return None
        tokens = self._sample[self._sample >= slots]
        return int((self.written[tokens] - self.taken[tokens - slots]).min()) - SLOT_LATENCY - self.crossing


@dataclass(frozen=True)
class IssueRate:
    """The published token model of one side of an edge (docs/design/method.md, section 6).

    `tokens`: how many cross (T). `first`: the cycle of the first one (D of a source, C_in of a target). `interval`: cycles from one
    to the next (II).
    """

    tokens: int
    first: int
    interval: float

    @property
    def last(self) -> float:
        """The cycle of the last token."""
        return self.first + (self.tokens - 1) * self.interval


def published_tokens(source: IssueRate, target: IssueRate, delay: float) -> int:
    """`max_tokens` as published, for uniform traffic; `delay` is from the start of the source to the first read of the target.

    L is taken as the cycle of the last write: with the cycle in which the whole task ends the formula would count less.
    """
    total = source.tokens
    if source.interval <= target.interval:
        return min(total, total - floor((source.last - delay) / target.interval))
    return min(total, ceil((delay - source.first) / source.interval))
