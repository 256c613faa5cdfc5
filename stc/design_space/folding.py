"""Which tasks become one: a stream between two tasks that run in step is folded where that costs no throughput.

Two tasks that pass tiles of one shape in one nest of loops can be one task that computes the second tile from the first. That saves
the FIFO and a copy of the tile, but the two computations then take turns instead of overlapping. A kernel runs at the issue rate of
its slowest task, so that tasks may be joined as long as none becomes slower than that. Where little is pipelined through a kernel
(one token in decoding), its tasks wait for one another, and every cycle that a task takes longer is one of the kernel: tasks take
turns only where that adds a small share to the longer one, or no more than handing over the tile would take.

Cycles are those of computing: a computation on a tile takes its points over those computed at once, times how often it happens;
what happens in a task adds up. Reading, writing and filling tiles is left out: mostly it happens in the cycles of a computation
(`fuse-reads`, `fuse-writes`), so that a joined task computes no longer than the slowest, but may take some cycles beside that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

HANDING_OVER = 64
"""Cycles that a tile takes from one task to another, about: the pipelines of both, the FIFO, and tokens of the first iterations."""


@dataclass(frozen=True)
class Fold:
    """A stream from task `producer` to task `consumer`."""

    producer: str
    consumer: str


def is_worth_folding(fold: Fold, cycles: Mapping[str, int], limit: int, added: int) -> bool:
    """Whether the task that both become takes at most `limit` cycles (0: those of the slowest task of all), and at most `added`
    percent more than the longer of both, or about as long as both do one behind the other."""
    own = cycles[fold.producer], cycles[fold.consumer]
    return sum(own) <= (limit or max(cycles.values())) and min(own) <= max(HANDING_OVER, added * max(own) / 100)
