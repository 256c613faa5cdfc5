"""FIFOs behind tasks that read nothing but what was loaded, and write it no sooner than it is needed.

As early as possible such a task (one that unpacks words, or hands them to several) fills its FIFOs with all that will ever be read.
A full FIFO holds it up, and nobody else but load tasks: so it may write each token just in time, and its FIFOs have room for what
lies between the reader that needs a token first and the others, and for its own gaps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from stc.fifo.curves import FifoCurves, latency_of
from stc.fifo.network_run import NetworkRun
from stc.iteration.task_timeline import Cycles
from stc.network.graph import Channel, TaskGraph


def just_in_time(graph: TaskGraph, run: NetworkRun) -> dict[str, FifoCurves]:
    """The curves of all FIFOs that are sized, if what `run` does as early as possible is held up behind loads as long as no token
    comes later than it is needed. What holds a task up holds up all that comes after: its tokens keep their distances, or are
    farther apart, so that FIFOs of the depth that follows do just that."""
    curves = {
        fifo.name: FifoCurves(run.written[fifo.name], run.needed[fifo.name], run.taken[fifo.name], fifo.crossing)
        for fifo in graph.sized
    }
    reads, writes = _ends(graph)
    for task in reversed(behind_loads(graph)):
        written = [(fifo, curves[fifo.name]) for fifo in writes.get(task, ()) if fifo.name in curves]
        held_up = _HeldUp.of(written, run.makespan - run.ends[task])
        for fifo in writes.get(task, ()):
            if (curve := curves.get(fifo.name)) is not None:
                curves[fifo.name] = FifoCurves(held_up.later(curve.written), curve.needed, curve.taken, fifo.crossing)
        for fifo in reads.get(task, ()):
            if (curve := curves.get(fifo.name)) is not None:
                needed, taken = held_up.later(curve.needed), held_up.later(curve.taken)
                curves[fifo.name] = FifoCurves(curve.written, needed, taken, fifo.crossing)
    return curves


def behind_loads(graph: TaskGraph) -> Sequence[str]:
    """Tasks that read nothing, or only what such tasks write and what loads fill: those that write for others come first."""
    reads, writes = _ends(graph)
    filled, found = set(graph.memory_fed), dict[str, None]()
    left = [task for task in graph.tasks if writes.get(task)]
    while now := [task for task in left if all(channel.name in filled for channel in reads.get(task, ()))]:
        found |= dict.fromkeys(now)
        filled |= {channel.name for task in now for channel in writes[task] if not channel.is_ring}
        left = [task for task in left if task not in found]
    return tuple(found)


def _ends(graph: TaskGraph) -> tuple[dict[str, list[Channel]], dict[str, list[Channel]]]:
    """The channels that each task reads, and those that it writes."""
    reads, writes = dict[str, list[Channel]](), dict[str, list[Channel]]()
    for channel in graph.channels:
        reads.setdefault(channel.consumer, []).append(channel)
        writes.setdefault(channel.producer, []).append(channel)
    return reads, writes


@dataclass(frozen=True, eq=False)
class _HeldUp:
    """By how many cycles a task is held up (`waits`) when it writes its tokens, of all FIFOs, in the cycles `at` without that."""

    at: Cycles
    waits: Cycles

    @classmethod
    def of(cls, written: Sequence[tuple[Channel, FifoCurves]], most: int) -> _HeldUp:
        """As long as no token, and none behind it, is late, and `most` cycles in all."""
        if not written:
            return cls(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
        spare = [curve.needed - curve.written - latency_of(fifo.depth) - fifo.crossing for fifo, curve in written]
        at = np.concatenate([curve.written for _, curve in written])
        order = np.argsort(at, kind="stable")
        waits = np.minimum.accumulate(np.concatenate(spare)[order][::-1])[::-1]
        return cls(at[order], np.clip(waits, 0, most))

    def later(self, cycles: Cycles) -> Cycles:
        """When what happens in these cycles happens: as late as the next token that is written, or the last one."""
        if not len(self.at):
            return cycles
        return cycles + self.waits[np.minimum(np.searchsorted(self.at, cycles), len(self.at) - 1)]
