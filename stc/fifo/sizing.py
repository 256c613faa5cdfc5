"""The schedule that FIFO depths come from: no cycle is lost against FIFOs of unlimited depth.

A task may run as early as its inputs allow, as late as its consumers permit, or as in a run in which expensive FIFOs are bounded
(`stc.fifo.bounds`), all ending by the cycle in which the network with unlimited FIFOs ends (or a slack above); the linear program
picks (`stc.fifo.lp`). Where tasks feed each other, as units do, all run as early as they can, what only feeds them just in time
(`stc.fifo.just_in_time`), and FIFOs have room for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np

from stc.fifo.bounds import bounded_asap_schedule
from stc.fifo.curves import latency_of
from stc.fifo.depths import SHALLOW, least_depth
from stc.fifo.just_in_time import feeding, just_in_time
from stc.fifo.lp import FifoSchedule, solve
from stc.fifo.network_run import Network, NetworkRun, bounded_run, earliest_run, latest_run
from stc.fifo.pieces import SizingProblem, TaskSchedule, share
from stc.iteration.task_timeline import Cycles
from stc.network.graph import TaskGraph
from stc.platforms.platform import Resources

_Key = TypeVar("_Key")


def schedule(network: Network, usable: Resources, slack: float = 0.0, given: Mapping[str, int] | None = None) -> FifoSchedule:
    """A cheap schedule of `network`; `slack`: part of the cycles that may be lost. The FIFOs that load tasks fill keep their
    depth: nobody holds these tasks up. `given`: slots that FIFOs have in any case, at no cost; with some, no run with bounded FIFOs
    is tried.

    UntimedError where tasks wait for blocks of each other.

    At first as if every FIFO answered as soon as a shift register, but those that have to be deeper from the start.

    Where the schedule needs more slots the FIFO is a memory, with its latency, in a next one; and so on until no FIFO is a memory
    that was taken for a register. That ends, because memories stay memories; and the design without FIFO limits has these very
    latencies. A next one has all slots of the one before for nothing: its program is solved several times sooner, and FIFOs of
    gpt2-medium's W4A8 decode block have 5,553,664 bits (5,553,440 where only that they are memories is kept).
    """
    given = given or {}
    network = network.with_depths({fifo.name: max(least_depth(fifo), given.get(fifo.name, 0)) for fifo in network.graph.sized})
    if network.graph.cycle():
        return _as_early_as_possible(network)
    seconds = preparation = 0.0
    bounds: dict[str, int] | None = {} if given else None
    while True:
        found, bounds = _NoCycleLost(network, usable, slack).schedule(bounds)
        seconds, preparation = seconds + found.seconds, preparation + found.preparation_seconds
        grown = [fifo for fifo in network.graph.sized if found.slots[fifo.name] > SHALLOW >= fifo.depth]
        if not grown:
            return replace(found, seconds=seconds, preparation_seconds=preparation)
        network = network.with_depths(found.slots)


def _as_early_as_possible(network: Network) -> FifoSchedule:
    """The slots that tasks fill which all run as early as they can, but for those that only feed others, which are held up as long
    as that loses no cycle; memories where that is more than registers hold."""
    graph = network.graph
    slots = {fifo.name: fifo.depth for fifo in graph.sized}
    before_others = set(feeding(graph))
    while True:
        network = network.with_depths(slots)
        run = earliest_run(network)
        curves = just_in_time(network.graph, run)
        found = {name: max(depth, curves[name].slots(delay=0)) for name, depth in slots.items()}
        if all((depth > SHALLOW) == (slots[name] > SHALLOW) for name, depth in found.items()):
            ahead = {fifo.name: curves[fifo.name].slots(delay=0) for fifo in graph.fed if fifo.consumer in before_others}
            return FifoSchedule({}, {}, found, {}, run.makespan, "earliest run", 0.0, 0.0, ahead)
        slots = found


class _NoCycleLost:
    """Schedules that end when the earliest run of `network` does (or a slack above)."""

    def __init__(self, network: Network, usable: Resources, slack: float) -> None:
        self.network, self.usable, self.slack = network, usable, slack
        self.first = earliest_run(network)
        self.end = int(self.first.makespan * (1 + slack))
        self.latest = self._schedules_in(latest_run(network, self.first, self.end))

    def schedule(self, bounds: dict[str, int] | None) -> tuple[FifoSchedule, dict[str, int]]:
        """The cheapest that was found, and the bounds on FIFOs that helped, if any did: a good guess for a similar network.

        From the earliest and the latest run; then from what was picked of them, and a run with expensive FIFOs bounded. With a
        guess of these bounds at once from that run and the latest.
        """
        if bounds and (run := bounded_run(self.network, bounds, self.first, self.end)) is not None:
            return self._solved(self._with_latest(run)), bounds
        schedules = self._with_latest(self.first)
        found = self._solved(schedules)
        if bounds is not None:
            return found, {}
        bounds, run = bounded_asap_schedule(self.network, found.slots, self.usable, self.first, self.end)
        if run is None:
            return found, {}
        picked = {task: some[found.schedules[task]] for task, some in schedules.items()}
        again = self._solved({task: _distinct([schedule, picked[task]]) for task, schedule in self._schedules_in(run).items()})
        best = min(found, again, key=self._cost)
        seconds, preparation = found.seconds + again.seconds, found.preparation_seconds + again.preparation_seconds
        return replace(best, seconds=seconds, preparation_seconds=preparation), bounds if best is not found else {}

    def _with_latest(self, run: NetworkRun) -> dict[str, list[TaskSchedule]]:
        return {task: _distinct([schedule, self.latest[task]]) for task, schedule in self._schedules_in(run).items()}

    def _schedules_in(self, run: NetworkRun) -> dict[str, TaskSchedule]:
        return _task_schedules(self.network, run, self.first, self.end)

    def _solved(self, schedules: Mapping[str, Sequence[TaskSchedule]]) -> FifoSchedule:
        return solve(SizingProblem(schedules, self.network.graph, self.first.makespan), self.usable, self.slack)

    def _cost(self, found: FifoSchedule) -> float:
        return sum(share(fifo.bits, found.slots[fifo.name], self.usable) for fifo in self.network.graph.sized)


def _task_schedules(network: Network, run: NetworkRun, first: NetworkRun, end: int) -> dict[str, TaskSchedule]:
    """The schedules of all tasks in `run`, which have to end by `end`, but those that fill FIFOs which are not sized: these keep to
    their cycles in `first`, and have a schedule where they fill others, or read any, as a scalar, which nothing moves."""
    sources = {fifo.producer for fifo in network.graph.fed}
    spare: dict[str, int] = {}
    for fifo in network.graph.fed:
        least = int((run.needed[fifo.name] - first.written[fifo.name]).min()) - latency_of(fifo.depth) - fifo.crossing
        spare[fifo.consumer] = min(spare.get(fifo.consumer, least), least)
    tasks = [task.name for task in network.tasks if task.name not in sources]
    sooner = {task: min(run.begins[task], spare.get(task, run.begins[task])) for task in tasks}
    held = sources & {task for fifo in network.graph.sized for task in (fifo.producer, fifo.consumer)}
    kept = {task: replace(_task_schedule(network.graph, first, task, 0), end=end) for task in held}
    return kept | {task: _task_schedule(network.graph, run, task, sooner[task]) for task in tasks}


def _task_schedule(graph: TaskGraph, run: NetworkRun, task: str, sooner: int) -> TaskSchedule:
    reads = [fifo.name for fifo in graph.sized if fifo.consumer == task]
    return TaskSchedule(
        run.begins[task],
        run.ends[task],
        sooner,
        {fifo.name: run.written[fifo.name] for fifo in graph.sized if fifo.producer == task},
        {name: run.needed[name] for name in reads},
        {name: run.taken[name] for name in reads},
        {
            ring.name: {moment: np.array(cycles, dtype=np.int64) for moment, cycles in run.rings[ring.name].items()}
            for ring in graph.rings
            if task in (ring.producer, ring.consumer)
        },
    )


def _distinct(schedules: Sequence[TaskSchedule]) -> list[TaskSchedule]:
    """`schedules` without those that only start earlier or later than one after them."""
    return [one for number, one in enumerate(schedules) if not any(_is_same(one, other) for other in schedules[number + 1 :])]


def _is_same(first: TaskSchedule, last: TaskSchedule) -> bool:
    by = last.end - first.end
    pairs = [*_pairs(first.written, last.written), *_pairs(first.needed, last.needed)]
    pairs += [pair for ring in first.blocks for pair in _pairs(first.blocks[ring], last.blocks[ring])]
    return all(np.array_equal(one + by, other) for one, other in pairs)


def _pairs(one: Mapping[_Key, Cycles], other: Mapping[_Key, Cycles]) -> list[tuple[Cycles, Cycles]]:
    return [(one[key], other[key]) for key in one]
