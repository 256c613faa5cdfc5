"""Which tasks become one: a stream between two tasks that run in step is folded where that costs no throughput.

Two tasks that pass tiles of one shape in one nest of loops can be one task that computes the second tile from the first. That saves
the FIFO and a copy of the tile, but the two computations then take turns instead of overlapping. A kernel runs at the issue rate of
its slowest task, so that tasks may be joined as long as none becomes slower than that.

Cycles are estimated: a computation on a tile takes its points over those computed at once, a tile that is read or written its
entries over the lanes of a token, each times how often it happens; what happens in a task adds up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Fold:
    """A stream from task `producer` to task `consumer`, and the cycles that both together spend on writing and reading it."""

    producer: str
    consumer: str
    stream_cycles: int


def folded_cycles(fold: Fold, cycles: Mapping[str, int]) -> int:
    """Cycles of the task that both become."""
    return cycles[fold.producer] + cycles[fold.consumer] - fold.stream_cycles


def is_worth_folding(fold: Fold, cycles: Mapping[str, int], limit: int) -> bool:
    """Whether the task that both become takes at most `limit` cycles; 0 stands for the cycles of the slowest task of all."""
    return folded_cycles(fold, cycles) <= (limit or max(cycles.values()))
