"""FIFOs of tasks that only feed others: they write no sooner than somebody needs it.

As early as possible such a task (one that unpacks loaded words, or hands them to several) fills its FIFOs with all that will ever
be read. A full FIFO holds it up, and nobody else but what only feeds it: so it may write each token just in time, and its FIFOs
have room for what lies between the reader that needs a token first and the others, and for gaps: its own, and those of loads.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import networkx as nx
import numpy as np

from stc.fifo.curves import FifoCurves, latency_of
from stc.fifo.network_run import NetworkRun
from stc.iteration.task_timeline import Cycles
from stc.network.graph import TaskGraph


def just_in_time(graph: TaskGraph, run: NetworkRun) -> dict[str, FifoCurves]:
    """The curves of all FIFOs, if what `run` does as early as possible is held up in tasks that only feed others, as long as no
    token comes later than it is needed.

    What holds a task up holds up all that comes after. So in pipelines that stop as a whole (`stp`), nothing is later than these
    curves say, and FIFOs of the depths that follow lose no cycle. Pipelines that flush (`flp`) may lose some: a freeze moves what
    is in flight, however far apart it came in; `--minimise-depths` looks for depths in simulations.
    """
    curves = {
        fifo.name: FifoCurves(run.written[fifo.name], run.needed[fifo.name], run.taken[fifo.name], fifo.crossing)
        for fifo in graph.fifos
    }
    for task in reversed(feeding(graph)):
        writes = [name for *_, name in graph.graph.out_edges(task, keys=True)]
        spare = [(curves[name].written, curves[name].spare(latency_of(graph.by_name[name].depth))) for name in writes]
        held_up = _HeldUp.of([*spare, (np.array([run.ends[task]]), np.array([run.makespan - run.ends[task]]))])
        for name in writes:
            curves[name] = replace(curves[name], written=held_up.later(curves[name].written))
        for *_, name in graph.graph.in_edges(task, keys=True):
            needed, taken = held_up.later(curves[name].needed), held_up.later(curves[name].taken)
            curves[name] = replace(curves[name], needed=needed, taken=taken)
    return curves


def feeding(graph: TaskGraph) -> Sequence[str]:
    """Tasks that wait for nobody who waits for them: not in a cycle nor behind one, and without rings of blocks, of which all is
    written before any is read; those that feed others come first."""
    others = set[str]().union(*graph.cycles, *((ring.producer, ring.consumer) for ring in graph.rings))
    behind = {task for layer in nx.bfs_layers(graph.graph, others) for task in layer}
    return tuple(nx.topological_sort(graph.graph.subgraph(set(graph.tasks) - behind)))


@dataclass(frozen=True, eq=False)
class _HeldUp:
    """By how many cycles a task is held up (`waits`) when it does what nobody may wait for in the cycles `at` without that."""

    at: Cycles
    waits: Cycles

    @classmethod
    def of(cls, spare: Iterable[tuple[Cycles, Cycles]]) -> _HeldUp:
        """As long as nothing, and nothing behind it, is late: of what is done in some cycles, how many each has to spare."""
        at, most = (np.concatenate(each) for each in zip(*spare, strict=True))
        order = np.argsort(at, kind="stable")
        return cls(at[order], np.maximum(0, np.minimum.accumulate(most[order][::-1])[::-1]))

    def later(self, cycles: Cycles) -> Cycles:
        """When what is done in these cycles is done: as late as the next thing that somebody waits for, or the last one."""
        return cycles + self.waits[np.minimum(np.searchsorted(self.at, cycles), len(self.at) - 1)]
