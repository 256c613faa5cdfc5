"""The schedule that FIFO depths come from, by strategy.

* `normal`: no cycle is lost. A task may run as early as its inputs allow, as late as its consumers permit, or as in a run in which
  expensive FIFOs are bounded (`stc.design_space.fifo_bounds`), all ending by the cycle in which the network with unlimited FIFOs
  ends (or a slack above); the linear program picks (`stc.design_space.fifo_lp`).
* `rigid`: as published. Every task keeps its own pace from its first cycle to its last and never waits in between: it has to start
  so late that it never starves. A fast producer of a slow consumer then fills the FIFO with all its tokens, and all end later.
* `conservative`: as published, with every pace stretched to that of the slowest task.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, TypeVar

import networkx as nx
import numpy as np

from stc.design_space.fifo_bounds import frugal_run
from stc.design_space.fifo_curves import FifoCurves
from stc.design_space.fifo_lp import FifoSchedule, solve
from stc.design_space.fifo_pieces import FifoEdge, Pace, RingEdge, SizingProblem, ring_delays, share
from stc.design_space.network_run import Network, NetworkRun, earliest_run, latest_run, own_pace_run
from stc.iteration.task_timeline import Cycles
from stc.platforms.platform import Resources

Strategy: TypeAlias = Literal["normal", "conservative", "rigid"]

_Key = TypeVar("_Key")


def schedule(
    network: Network,
    fifos: Sequence[FifoEdge],
    rings: Sequence[RingEdge],
    usable: Resources,
    strategy: Strategy = "normal",
    slack: float = 0.0,
) -> FifoSchedule:
    """The cheapest schedule of `network`; `fifos` and `rings` are its links and rings. `slack`: part of the cycles that may be
    lost. UntimedError where tasks wait for blocks of each other, ValueError where own paces and rings do not fit each other.
    """
    if strategy == "normal":
        return _normal(network, fifos, rings, usable, slack)
    run = own_pace_run(network)
    alone = {task.name: _pace(run, task.name, fifos, rings) for task in network.tasks}
    if strategy == "conservative":
        alone = _stretched(alone, rings)
    makespan = least_makespan(alone, fifos, rings)
    return solve(SizingProblem({task: [pace] for task, pace in alone.items()}, fifos, rings, makespan), usable, slack)


def _normal(
    network: Network, fifos: Sequence[FifoEdge], rings: Sequence[RingEdge], usable: Resources, slack: float
) -> FifoSchedule:
    """From the earliest and the latest run; then from what was picked of them, and a run with expensive FIFOs bounded."""
    first = earliest_run(network)
    end = int(first.makespan * (1 + slack))
    last = latest_run(network, end)

    def paces_in(run: NetworkRun) -> dict[str, Pace]:
        return {task.name: _pace(run, task.name, fifos, rings) for task in network.tasks}

    def solved(paces: Mapping[str, Sequence[Pace]]) -> FifoSchedule:
        return solve(SizingProblem(paces, fifos, rings, first.makespan), usable, slack)

    def cost(found: FifoSchedule) -> float:
        return sum(share(fifo.bits, found.slots[fifo.name], usable) for fifo in fifos)

    late = paces_in(last)
    paces = {task: _distinct([pace, late[task]]) for task, pace in paces_in(first).items()}
    found = solved(paces)
    between = frugal_run(network, fifos, found.slots, usable, first, end)
    if between is None:
        return found
    picked = {task: some[found.paces[task]] for task, some in paces.items()}
    again = solved({task: _distinct([pace, picked[task]]) for task, pace in paces_in(between).items()})
    return replace(
        min(found, again, key=cost),
        seconds=found.seconds + again.seconds,
        preparation_seconds=found.preparation_seconds + again.preparation_seconds,
    )


def _pace(run: NetworkRun, task: str, fifos: Sequence[FifoEdge], rings: Sequence[RingEdge]) -> Pace:
    reads = [fifo.name for fifo in fifos if fifo.target == task]
    return Pace(
        run.begins[task],
        run.ends[task],
        {fifo.name: run.written[fifo.name] for fifo in fifos if fifo.source == task},
        {name: run.needed[name] for name in reads},
        {name: run.taken[name] for name in reads},
        {
            ring.name: {moment: np.array(cycles, dtype=np.int64) for moment, cycles in run.rings[ring.name].items()}
            for ring in rings
            if task in (ring.source, ring.target)
        },
    )


def _distinct(paces: Sequence[Pace]) -> list[Pace]:
    """`paces` without those that only start earlier or later than one after them."""
    return [pace for number, pace in enumerate(paces) if not any(_is_same(pace, other) for other in paces[number + 1 :])]


def _is_same(first: Pace, last: Pace) -> bool:
    by = last.end - first.end
    pairs = [*_pairs(first.written, last.written), *_pairs(first.needed, last.needed)]
    pairs += [pair for ring in first.blocks for pair in _pairs(first.blocks[ring], last.blocks[ring])]
    return all(np.array_equal(one + by, other) for one, other in pairs)


def _pairs(one: Mapping[_Key, Cycles], other: Mapping[_Key, Cycles]) -> list[tuple[Cycles, Cycles]]:
    return [(one[key], other[key]) for key in one]


def _stretched(paces: Mapping[str, Pace], rings: Sequence[RingEdge]) -> dict[str, Pace]:
    """Every task as slow as the slowest; tasks that share rings by one factor, so that their blocks still fit."""
    together: nx.Graph[str] = nx.Graph()
    together.add_nodes_from(paces)
    together.add_edges_from((ring.source, ring.target) for ring in rings)
    slowest = max(pace.end for pace in paces.values())
    found: dict[str, Pace] = {}
    for group in nx.connected_components(together):
        own = max(1, *(paces[task].end for task in group))
        found |= {task: paces[task].stretched(slowest, own) for task in group}
    return found


def least_makespan(paces: Mapping[str, Pace], fifos: Sequence[FifoEdge], rings: Sequence[RingEdge]) -> int:
    """The cycle in which the last task ends if every task starts as early as the paces of the others allow.

    ValueError where the rings do not allow these paces.
    """
    graph: nx.MultiDiGraph[str] = nx.MultiDiGraph()
    graph.add_edges_from((_ORIGIN, task, {"cost": 0}) for task in paces)
    for fifo in fifos:
        source, target = paces[fifo.source], paces[fifo.target]
        curves = FifoCurves(source.written[fifo.name], target.needed[fifo.name], target.taken[fifo.name])
        graph.add_edge(fifo.source, fifo.target, cost=-curves.least_delay())
    for ring in rings:
        least, largest = ring_delays(ring, paces[ring.source], paces[ring.target])
        graph.add_edge(ring.source, ring.target, cost=-least)
        graph.add_edge(ring.target, ring.source, cost=largest)
    try:
        starts = nx.single_source_bellman_ford_path_length(graph, _ORIGIN, weight="cost")
    except nx.NetworkXUnbounded:
        raise ValueError("rings are too small for these paces") from None
    return max(pace.end - int(starts[task]) for task, pace in paces.items())


_ORIGIN = ""
