"""Where the cycles of a run went, by what tasks are for: the critical path, grouped by the module that a task computes, and what
was done in each part of it.

What is for no module (loads, stores, forks, converters) is grouped by its kind; tasks of designs that `stc` did not write have
their own names. Nothing here knows names of any model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from stc.manifest.schema import Manifest, Task
from stc.simulation.critical_path import PathPart
from stc.simulation.simulation_result import SimulationResult
from stc.simulation.timing_table import NO_PLATFORM
from stc.simulation.utilisation import loop_cycles


@dataclass(frozen=True)
class PathRole:
    """`cycles` of the critical path in what is called `role`: its tasks `work`, wait for external `memory`, let tokens and slots
    pass through `fifos`, or wait for something that no report tells (`start`).

    Of `work`, loops begin iterations in so many cycles (`iterating`), and fill and drain their pipelines in the others; in
    `multiplying` cycles multipliers have something to do. Both are parts of what the tasks do in the whole run, in proportion;
    None where trips of loops are not known. `first`: the cycle of the path in which it first has a part.
    """

    role: str
    cycles: int = 0
    work: int = 0
    iterating: float | None = 0.0
    multiplying: float | None = 0.0
    memory: int = 0
    fifos: int = 0
    start: int = 0
    first: int = 0

    @property
    def filling(self) -> float | None:
        """Cycles of work in which pipelines fill and drain."""
        return None if self.iterating is None else self.work - self.iterating

    @property
    def parts(self) -> tuple[float | None, ...]:
        """What tables show of its cycles: iterations, filling pipelines, memory, FIFOs, multipliers busy."""
        return self.iterating, self.filling, self.memory, self.fifos, self.multiplying


def role_of(task: Task) -> str:
    """The module that it computes, else what kind of task it is."""
    return task.module or (task.name if task.kind == "foreign" else task.kind)


def role_names(manifest: Manifest) -> dict[str, str]:
    """The role of each task, by its name."""
    return {task.name: role_of(task) for kernel in manifest.kernels for task in kernel.tasks}


def task_of(part: PathPart) -> str:
    """The task that spent a part of a path, or that it is inside of."""
    return part.task.partition(".")[0]


def path_roles(manifest: Manifest, result: SimulationResult, path: Sequence[PathPart]) -> tuple[PathRole, ...]:
    """The path's cycles by role, in the order in which the path comes to them. `manifest`: at the values and with the loops of the
    run."""
    shares = {
        task.name: _shares(manifest, kernel.name, task, result) for kernel in manifest.kernels for task in kernel.tasks
    }
    names = role_names(manifest)
    found: dict[str, PathRole] = {}
    for part in path:
        task = task_of(part)
        name = names.get(task, task)
        role = found.setdefault(name, PathRole(name, first=part.begin))
        found[name] = _with(role, part, shares.get(task, (None, None)))
    return tuple(found.values())


def total(roles: Sequence[PathRole], name: str) -> PathRole:
    """All of them together, under a name."""
    def together(values: Sequence[float | None]) -> float | None:
        return None if None in values else sum(value or 0.0 for value in values)

    return PathRole(
        name, sum(role.cycles for role in roles), sum(role.work for role in roles), together([role.iterating for role in roles]),
        together([role.multiplying for role in roles]), sum(role.memory for role in roles), sum(role.fifos for role in roles),
        sum(role.start for role in roles),
    )


def _shares(manifest: Manifest, kernel: str, task: Task, result: SimulationResult) -> tuple[float | None, float | None]:
    """The parts of a task's work in which its loops begin iterations, and its multipliers products; None where nobody knows."""
    time = next((time for time in result.tasks if time.name == task.name), None)
    if manifest.platform == NO_PLATFORM or time is None:
        return None, None
    busy = max(1, time.busy) / max(1, len(result.ends.get(kernel, ())))
    work = task.work
    multiplying = work.products / work.at_once if work is not None and work.at_once else 0.0
    return min(1.0, loop_cycles(manifest.kernel(kernel), task.name) / busy), min(1.0, multiplying / busy)


def _with(role: PathRole, part: PathPart, shares: tuple[float | None, float | None]) -> PathRole:
    role = replace(role, cycles=role.cycles + part.cycles)
    match part.kind:
        case "work":
            iterating, multiplying = (_plus(before, share, part.cycles) for before, share in zip(
                (role.iterating, role.multiplying), shares, strict=True))
            return replace(role, work=role.work + part.cycles, iterating=iterating, multiplying=multiplying)
        case "memory":
            return replace(role, memory=role.memory + part.cycles)
        case "fifo":
            return replace(role, fifos=role.fifos + part.cycles)
        case "start":
            return replace(role, start=role.start + part.cycles)


def _plus(before: float | None, share: float | None, cycles: int) -> float | None:
    return None if before is None or share is None else before + share * cycles
