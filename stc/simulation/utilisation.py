"""How much of what it has a design uses: products over those that its DSPs could have begun, bytes over those that its ports could
have moved, and what binds it. Of a run with time, or of an estimate of the cycles: the same figures, of other cycles.

Products and bytes are those of the manifest (`TaskWork`). A port moves a word in as many cycles as the simulation is told
(`stc.platforms.memory_channels`); ports of one bundle are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from functools import cached_property
from math import inf
from typing import Any

from stc.manifest.element_types import word_bytes
from stc.manifest.schema import Kernel, Manifest, Task, TaskWork
from stc.simulation.simulation_result import MEMORY, SimulationResult, TaskTime
from stc.simulation.timing_table import cycles_between_words
from stc.simulation.waiting import waiting_of

BUSY = 0.5
"""What is busy for less of the time binds nothing: tasks wait for one another."""

NO_WORK = TaskWork(0, 0, 0, {})


@dataclass(frozen=True)
class TaskUse:
    """One task in the `cycles` of its kernel. `multiplying`, `moving`: cycles in which its multipliers, and its busiest port, have
    something to do; `works`: cycles of its loops, waits for others left out. `products` of `possible` ones that all its DSPs could
    have begun, `bytes` of `possible_bytes` that its ports could have moved; 0 where it has none. `bound_by`: in words."""

    task: str
    cycles: int
    works: float
    multiplying: float
    moving: float
    products: int
    possible: float
    bytes: int
    possible_bytes: float
    bound_by: str


@dataclass(frozen=True)
class Utilisation:
    """Of a whole design, as `TaskUse` of a task, and of its tasks. `cycles`: of all kernels, one after the other."""

    origin: str
    cycles: int
    products: int
    possible: float
    bytes: int
    possible_bytes: float
    binding: str
    tasks: tuple[TaskUse, ...]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "text": self.text}

    @property
    def text(self) -> str:
        """Both shares, and what binds the design, in a line."""
        moved = f"{self.bytes:,} bytes moved, {_share(self.bytes, self.possible_bytes)} of what its ports could have"
        done = f"{self.products:,} multiply-accumulates, {_share(self.products, self.possible)} of what its DSPs could have done"
        done = done if self.possible else f"{self.products:,} multiply-accumulates in LUTs"
        return "; ".join([*([done] if self.products else []), moved, self.binding])


def estimated_utilisation(manifest: Manifest, cycles: Mapping[str, int], origin: str) -> Utilisation:
    """Of a design whose kernels are estimated to take so many `cycles`, by name."""
    return _utilisation(manifest, cycles, origin, None)


def measured_utilisation(manifest: Manifest, result: SimulationResult) -> Utilisation | None:
    """Of the first invocation of each kernel; None of a run that did not end, and of a design that `stc` did not write.

    `manifest`: at the values of the scalars that the run had."""
    known = any(task.work is not None for kernel in manifest.kernels for task in kernel.tasks)
    if result.cycles is None or not known:
        return None
    return _utilisation(manifest, {name: ends[0] for name, ends in result.ends.items()}, "of the simulated cycles", result)


def _utilisation(manifest: Manifest, cycles: Mapping[str, int], origin: str, result: SimulationResult | None) -> Utilisation:
    times = {task.name: task for task in result.tasks} if result is not None else {}
    kernels = [kernel for kernel in manifest.kernels if kernel.name in cycles]
    total = sum(cycles[kernel.name] for kernel in kernels)
    uses: list[TaskUse] = []
    possible = 0.0
    for kernel in kernels:
        ports = _Ports(kernel, manifest)
        found = [_task_use(task, cycles[kernel.name], ports, kernel, times.get(task.name)) for task in kernel.tasks]
        possible += ports.bytes_per_cycle(port.name for port in kernel.ports) * cycles[kernel.name]
        uses += found
    return Utilisation(
        origin=origin,
        cycles=total,
        products=sum(use.products for use in uses),
        possible=_possible([task for kernel in kernels for task in kernel.tasks], total),
        bytes=sum(use.bytes for use in uses),
        possible_bytes=possible,
        binding=_binding(uses, result, manifest),
        tasks=tuple(uses),
    )


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f} %" if whole else "0 %"


# Multipliers ----------------------------------------------------------------------------------------------------------


def _possible(tasks: list[Task], cycles: int) -> float:
    """Products that the DSPs of `tasks` could have begun in `cycles`, were all part of such multipliers and adders as they have."""
    works = [task.work or NO_WORK for task in tasks]
    of_products = sum(work.dsp for work in works)
    dsp = sum(task.resources.dsp if task.resources is not None else 0 for task in tasks)
    return cycles * sum(work.at_once for work in works if work.dsp) * dsp / of_products if of_products else 0.0


# Ports ----------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Ports:
    """The ports of a kernel by bundle and direction; those of one of these take turns."""

    kernel: Kernel
    manifest: Manifest

    @cached_property
    def cycles(self) -> dict[str, float]:
        """Cycles between two words of each port, by its name."""
        return cycles_between_words(self.kernel, self.manifest)

    def moving(self, moves: Mapping[str, int]) -> float:
        """Cycles that the bytes by port which a task moves take at least: of a bundle and direction one after the other, those
        of a channel no faster than it brings them."""
        movers, channels = defaultdict[tuple[str, str], float](float), defaultdict[int | str, float](float)
        for name, size in moves.items():
            port = self.kernel.port(name)
            words = size / word_bytes(port)
            movers[port.mover] += words * self.cycles[name]
            channels[port.channel] += words * port.padded_word_bytes / self._channel
        return max([0.0, *movers.values(), *channels.values()])

    def bytes_per_cycle(self, names: Iterable[str]) -> float:
        """The most that these ports move in a cycle: no channel more than it sustains."""
        rates: dict[int | str, dict[tuple[str, str], float]] = {}
        for port in map(self.kernel.port, names):
            of_channel = rates.setdefault(port.channel, {})
            of_channel[port.mover] = max(of_channel.get(port.mover, 0.0), port.padded_word_bytes / self.cycles[port.name])
        return sum(min(self._channel, sum(movers.values())) for movers in rates.values())

    @property
    def _channel(self) -> float:
        """Bytes that a channel brings in a cycle."""
        return self.manifest.memory.channel_bytes_per_cycle if self.manifest.memory is not None else inf


def _port_words(task: Task) -> str:
    """What to call the ports of a task that has any."""
    names = list(task.work.moves) if task.work is not None else []
    return f"the port of {', '.join(names[:1])}" + (f" and {len(names) - 1} others" if len(names) > 1 else "")


# Tasks ----------------------------------------------------------------------------------------------------------------


def _task_use(task: Task, cycles: int, ports: _Ports, kernel: Kernel, time: TaskTime | None) -> TaskUse:
    work = task.work or NO_WORK
    multiplying = work.products / work.at_once if work.at_once else 0.0
    moving = ports.moving(work.moves)
    works = time.busy if time is not None else loop_cycles(kernel, task.name)
    return TaskUse(
        task=task.name,
        cycles=cycles,
        works=works,
        multiplying=multiplying,
        moving=moving,
        products=work.products,
        possible=_possible([task], cycles),
        bytes=sum(work.moves.values()),
        possible_bytes=ports.bytes_per_cycle(work.moves) * cycles,
        bound_by=_bound_by(task, {"its multipliers": multiplying, _port_words(task): moving, "its loops": works}, time),
    )


def loop_cycles(kernel: Kernel, task: str) -> int:
    """Cycles of a task that never waits, filling and draining of its pipelines left out."""
    counts = kernel.executions
    return sum(counts[loop.task, loop.label] * (loop.ii or 0) for loop in kernel.schedule if loop.task == task)


def _bound_by(task: Task, busy: Mapping[str, float], time: TaskTime | None) -> str:
    """What takes most of the task's time: of two that take as long the one named first."""
    waits: dict[str, float] = {}
    for wait in time.waits if time is not None else ():
        what = _port_words(task) if wait.channel == MEMORY else f"{'reading' if wait.reads else 'writing'} {wait.channel}"
        waits[what] = waits.get(what, 0.0) + wait.cycles
    words = {**waits, **{what: max(cycles, waits.get(what, 0.0)) for what, cycles in busy.items() if cycles > 0}}
    order = [*busy, *waits]
    return max(sorted(words, key=order.index), key=lambda what: words[what], default="nothing")


# The whole ------------------------------------------------------------------------------------------------------------


def _binding(uses: list[TaskUse], result: SimulationResult | None, manifest: Manifest) -> str:
    """In how many cycles the busiest multipliers (else loops) are busy, and what holds them up in the others."""
    use = max(uses, key=lambda use: (use.multiplying, use.works), default=None)
    if use is None:
        return "nothing is busy"
    what, busy = ("multipliers", use.multiplying) if use.multiplying else ("loops", use.works)
    said = f"in {busy:,.0f} of {use.cycles:,} cycles the {what} of {use.task} are busy"
    if busy >= BUSY * use.cycles:
        return f"{said}: it is bound by them"
    return f"{said}: {_held_up(use, result, manifest) if result is not None else _busiest(uses, manifest)}"


def _busiest(uses: list[TaskUse], manifest: Manifest) -> str:
    """The loops or the port that an estimate has most to do for."""
    ports = dict(_ports_of(manifest))
    busy = [(use.works / use.cycles, use.works, use.cycles, f"the loops of {use.task}") for use in uses if use.cycles]
    busy += [(use.moving / use.cycles, use.moving, use.cycles, ports[use.task]) for use in uses if use.cycles and use.bytes]
    part, count, cycles, what = max(busy)
    if part >= BUSY:
        return f"it is bound by {what}, busy in {count:,.0f} of {cycles:,}"
    return f"no resource is busy for half of the time, tasks wait for one another; most to do has {what}, {count:,.0f} cycles"


def _held_up(use: TaskUse, result: SimulationResult, manifest: Manifest) -> str:
    """What a task whose multipliers are idle most of the time does instead, or waits for, longest; `waiting_of` says why."""
    waiting, ports = waiting_of(result, use.task), dict(_ports_of(manifest))
    length = max(1, waiting.end - waiting.begin)
    held = {"it is bound by its other loops": use.works - use.multiplying, "it has ended": float(use.cycles - waiting.end)}
    for words, share in waiting.roots.items():
        task, _, how = words.partition(" ")
        if task in ports:
            held[f"it is bound by {ports[task]}, as {words}"] = share * length
        else:
            held[f"it is bound by task {task}, which {how}"] = share * length
    what = max(held, key=lambda what: held[what])
    return f"{what}, for {held[what]:,.0f} of them"


def _ports_of(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The port behind each task that moves words."""
    for kernel in manifest.kernels:
        yield from ((task.name, _port_words(task)) for task in kernel.tasks if task.work is not None and task.work.moves)
