"""How far load tasks have to run ahead of their readers, so that no cycle is lost.

A load task that is held up by a full FIFO costs nothing while a word comes in every cycle. Where words come with gaps (a burst
begins anew with the latency of memory, ports are shared, a word takes several cycles), the gaps are over before their words are
needed only if the task may have gone on in the meantime: a FIFO has room for what is loaded until then.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from stc.fifo.curves import SLOT_LATENCY
from stc.fifo.depths import SHALLOW
from stc.fifo.network_run import Network, NetworkRun, bounded_run, earliest_run
from stc.iteration.task_timeline import Cycles
from stc.network.graph import Channel


def depth_without_gaps(written: Cycles, needed: Cycles, taken: Cycles, least: int = SHALLOW) -> int:
    """The least depth, from `least` on, at which each token of a load task is written before it is needed.

    `written`: when nothing holds the task up, `needed` and `taken`: by the reader then, which may hold a token for a while. That a
    deeper FIFO may answer a cycle later is left to whoever counts its cycles. Held up, it keeps the distances of its words: each
    comes as many cycles behind the one before as without, or when there is room, whatever is later.
    """
    enough = max(least, len(written))
    while least < enough:
        tried = (least + enough) // 2
        if np.all(_held_up(written, taken, tried) < needed):
            enough = tried
        else:
            least = tried + 1
    return least


def _held_up(written: Cycles, taken: Cycles, depth: int) -> Cycles:
    """When tokens are written into a FIFO of this depth: by the most that any before, or the own, has to wait."""
    waits = np.zeros(len(written), dtype=np.int64)
    waits[depth:] = np.maximum(0, taken[: len(taken) - depth] + SLOT_LATENCY - written[depth:])
    return written + np.maximum.accumulate(waits)


def depths_ahead(networks: Sequence[Network], fifos: Sequence[Channel]) -> dict[str, int]:
    """Depths of those of `fifos`, which load tasks fill, that have to be deeper than they are: in each of `networks` (of one graph,
    at several values of its symbols) no cycle is lost against FIFOs of unlimited depth.

    Beginning with what each would need for all its tokens to be in time, those are left as they are, the most expensive first,
    whose tokens may as well be late.
    """
    runs = [(network, earliest_run(network)) for network in networks]
    shallow: dict[str, int] = {fifo.name: fifo.depth for fifo in fifos}

    def is_enough(depths: Mapping[str, int]) -> bool:
        return all(bounded_run(network, {**shallow, **depths}, run, run.makespan) is not None for network, run in runs)

    if is_enough({}):
        return {}
    depths = {fifo.name: max(_depth_in(run, fifo) for _, run in runs) for fifo in fifos}
    deeper = {name: depth for name, depth in depths.items() if depth > shallow[name]}
    alike: dict[tuple[int, int], list[str]] = {}
    for fifo in fifos:
        if fifo.name in deeper:
            alike.setdefault((fifo.bits * deeper[fifo.name], fifo.bits), []).append(fifo.name)
    for _, names in sorted(alike.items(), reverse=True):
        if is_enough(left := {name: depth for name, depth in deeper.items() if name not in names}):
            deeper = left
    return deeper


def _depth_in(run: NetworkRun, fifo: Channel) -> int:
    """A token that crosses dies is needed as much earlier, and its slot free as much later."""
    needed, taken = run.needed[fifo.name] - fifo.crossing, run.taken[fifo.name] + fifo.crossing
    return depth_without_gaps(run.written[fifo.name], needed, taken)


def deepest_within(bits: int, fifos: Iterable[Channel], depths: Mapping[str, int]) -> dict[str, int]:
    """As much of `depths` as all together have so many bits beyond what the FIFOs have: the cheapest get what they want, as long as
    that is no more than an equal part of what is left; the others get such a part each."""
    added = {fifo: fifo.bits * max(0, depths[fifo.name] - fifo.depth) for fifo in fifos if fifo.name in depths}
    found: dict[str, int] = {}
    for number, fifo in enumerate(sorted(added, key=added.__getitem__)):
        part = min(added[fifo], bits // (len(added) - number))
        found[fifo.name] = fifo.depth + part // fifo.bits
        bits -= part // fifo.bits * fifo.bits
    return {fifo.name: found[fifo.name] for fifo in added if found[fifo.name] > fifo.depth}
