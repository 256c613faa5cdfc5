"""How far load tasks have to run ahead of their readers.

A load task that is held up by a full FIFO costs nothing while a word comes in every cycle. Where words come with gaps (a burst
begins anew with the latency of memory, ports are shared, a word takes several cycles), the gaps are over before their words are
needed only if the task may have gone on in the meantime: a FIFO has room for what is loaded until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from stc.fifo.curves import SLOT_LATENCY
from stc.fifo.depths import SHALLOW
from stc.iteration.task_timeline import Cycles
from stc.network.graph import Channel


def depth_without_gaps(written: Cycles, taken: Cycles, least: int = SHALLOW) -> int:
    """The least depth, from `least` on, at which each token of a load task is written before it is taken.

    `written`: when nothing holds the task up, `taken`: by the reader then. Held up, it keeps the distances of its words: each comes
    as many cycles behind the one before as without, or when there is room, whatever is later.
    """
    enough = max(least, len(written))
    while least < enough:
        tried = (least + enough) // 2
        if np.all(_held_up(written, taken, tried) < taken):
            enough = tried
        else:
            least = tried + 1
    return least


def _held_up(written: Cycles, taken: Cycles, depth: int) -> Cycles:
    """When tokens are written into a FIFO of this depth: by the most that any before, or the own, has to wait."""
    waits = np.zeros(len(written), dtype=np.int64)
    waits[depth:] = np.maximum(0, taken[: len(taken) - depth] + SLOT_LATENCY - written[depth:])
    return written + np.maximum.accumulate(waits)


def deepest_within(bits: int, fifos: Iterable[Channel], depths: Mapping[str, int]) -> dict[str, int]:
    """Those of `depths` that all together have so many bits beyond what the FIFOs have, the cheapest first."""
    added = {fifo.name: fifo.bits * (depths[fifo.name] - fifo.depth) for fifo in fifos if depths[fifo.name] > fifo.depth}
    found: dict[str, int] = {}
    for name in sorted(added, key=added.__getitem__):
        bits -= added[name]
        if bits < 0:
            break
        found[name] = depths[name]
    return found
