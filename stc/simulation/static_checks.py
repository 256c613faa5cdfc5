"""What can be said of an emitted project from its manifest alone, without running it.

* Every FIFO and ring of blocks has one writer and one reader, which are tasks of its kernel.
* Both sides move as many tokens as the manifest says: trip counts times accesses of the loops, or as many as the
  conditions around them let through. Where data decides of these, this is only a bound, and a task that says nothing of accesses
  outside its loops may have more; then nothing is claimed.
* The tasks of a kernel form no cycle.
* Where paths part and meet again, a lack of depth can make a deadlock: these are listed. A FIFO on no undirected cycle (a bridge)
  cannot be part of one, whatever its depth. Where no wait-for cycle is possible at the depths that there are, the design ends,
  whatever its loops take; else only a run tells.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import networkx as nx

from stc.diagnostics import CompileError
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Task
from stc.network.graph import Channel, ReconvergentPaths, TaskGraph
from stc.network.units import inside
from stc.simulation.task_graphs import task_graphs

Severity: TypeAlias = Literal["error", "warning", "note"]
"""A contradiction in the manifest; something that makes a run or hardware doubtful; something that could not be decided."""


@dataclass(frozen=True)
class Finding:
    """`where`: the kernel and the stream or tasks concerned."""

    severity: Severity
    where: str
    text: str


@dataclass(frozen=True)
class StaticReport:
    """Of all kernels. `counted`: channels whose two sides are counted exactly and agree; `bridges`: those on no undirected cycle;
    `crossing`: those on an undirected cycle, but on none of the `reconvergent_paths`: between several sources or sinks.
    `doubtful`: those that may be full while their writer and others wait in a wait-for cycle. `ends`: there are none, and the
    counts agree: the design ends, proved without a run."""

    findings: tuple[Finding, ...]
    channels: int
    counted: tuple[str, ...]
    bridges: tuple[str, ...]
    crossing: tuple[str, ...]
    reconvergent_paths: tuple[ReconvergentPaths, ...]
    doubtful: tuple[str, ...]
    ends: bool

    @property
    def passed(self) -> bool:
        return not any(finding.severity == "error" for finding in self.findings)

    def as_json(self) -> dict[str, Any]:
        return {"origin": "computed from the manifest, nothing was run", "passed": self.passed, **asdict(self)}


def check_statically(manifest: Manifest) -> StaticReport:
    """All checks of every kernel of `manifest`."""
    findings: list[Finding] = []
    counted: list[str] = []
    bridges: list[str] = []
    crossing: list[str] = []
    doubtful: list[str] = []
    reconvergent_paths: list[ReconvergentPaths] = []
    both = list(zip(manifest.kernels, task_graphs(manifest), strict=True))
    for kernel, graph in both:
        problems = list(_contradictions(kernel, graph))
        findings += [*problems, *_cycles(kernel, graph)]
        disputed = {finding.where for finding in problems}
        counted += [link.name for link in graph.channels if f"{kernel.name}.{link.name}" not in disputed]
        found = list(graph.reconvergent_paths())
        reconvergent_paths += found
        bridges += sorted(graph.bridges)
        on_paths = {name for entry in found for side in entry.sides for name in side}
        between = on_paths if graph.cycle() else _between(graph, found)
        crossing += [link.name for link in graph.channels if link.name not in graph.bridges | between]
        doubtful += graph.full_in_wait_cycles()
    channels = sum(len(graph.channels) for _, graph in both)
    ends = not findings and not doubtful
    return StaticReport(
        tuple(findings), channels, tuple(counted), tuple(bridges), tuple(crossing), tuple(reconvergent_paths), tuple(doubtful), ends
    )


def refuse_contradictions(manifest: Manifest) -> None:
    """CompileError with the first contradiction in `manifest`, and how many more there are: such a design is not worth a run."""
    errors = [finding for kernel, graph in zip(manifest.kernels, task_graphs(manifest), strict=True)
              for finding in _contradictions(kernel, graph) if finding.severity == "error"]
    if not errors:
        return
    more = f" (and {len(errors) - 1} more: stc simulate DIR --static)" if len(errors) > 1 else ""
    raise CompileError(f"the manifest contradicts itself: {errors[0].text}{more}", where=errors[0].where)


def _contradictions(kernel: Kernel, graph: TaskGraph) -> Iterator[Finding]:
    counts = _Counts(kernel)
    yield from _ends(kernel, graph)
    yield from _names(graph)
    for link in graph.channels:
        yield from counts.problems(link)


def _ends(kernel: Kernel, graph: TaskGraph) -> Iterator[Finding]:
    """One writer and one reader, and the tasks say so too."""
    tasks = {task.name for task in kernel.tasks}
    for link in graph.channels:
        for side, end, users in (
            ("written", link.producer, [task.name for task in kernel.tasks if link.name in task.writes]),
            ("read", link.consumer, [task.name for task in kernel.tasks if link.name in task.reads]),
        ):
            if end not in tasks:
                yield Finding("error", f"{kernel.name}.{link.name}", f"is {side} by '{end}', which is no task")
            elif users != [end]:
                listed = ", ".join(users) or "no task"
                yield Finding("error", f"{kernel.name}.{link.name}", f"is {side} by {end}, but in the list of tasks by {listed}")


def _names(graph: TaskGraph) -> Iterator[Finding]:
    seen: set[str] = set()
    for link in graph.channels:
        if link.name in seen:
            yield Finding("error", f"{graph.kernel}.{link.name}", "is the name of two FIFOs or rings of blocks")
        seen.add(link.name)


def _cycles(kernel: Kernel, graph: TaskGraph) -> Iterator[Finding]:
    units = {task: unit.name for unit in kernel.units for task in unit.tasks}
    if cycle := inside(graph, units).cycle():
        text = f"tasks form a cycle: {', '.join(cycle)}; dataflow regions must be acyclic, and no static check of paths is possible"
        yield Finding("warning", graph.kernel, text)
    elif cycle := graph.cycle():
        text = f"tasks of several units form a cycle: {', '.join(cycle)}; no static check of paths is possible"
        yield Finding("note", graph.kernel, text)


def _between(graph: TaskGraph, reconvergent_paths: list[ReconvergentPaths]) -> set[str]:
    """The channels on any way from where paths part to where they meet."""
    names: set[str] = set()
    for entry in reconvergent_paths:
        below = nx.descendants(graph.graph, entry.parts) | {entry.parts}
        above = nx.ancestors(graph.graph, entry.meets) | {entry.meets}
        names |= {link.name for link in graph.channels if link.producer in below and link.consumer in above}
    return names


# Token counts ---------------------------------------------------------------------------------------------------------


class _Counts:
    """How many tokens the loops of a kernel move, as its manifest says.

    No trace (`stc.iteration.trace`) is asked: the manifest may be edited, or of another tool, and is what is checked here.
    """

    def __init__(self, kernel: Kernel):
        self.kernel = kernel
        self.tasks: dict[str, Task] = {task.name: task for task in kernel.tasks}

    @cached_property
    def by_task(self) -> dict[str, list[LoopSchedule]]:
        found: dict[str, list[LoopSchedule]] = {}
        for loop in self.kernel.schedule:
            found.setdefault(loop.task, []).append(loop)
        return found

    def problems(self, link: Channel) -> Iterator[Finding]:
        for task, writes in ((link.producer, True), (link.consumer, False)):
            if task in self.tasks:
                yield from self._side(link, self.tasks[task], writes)

    def _side(self, link: Channel, task: Task, writes: bool) -> Iterator[Finding]:
        where, verb = f"{self.kernel.name}.{link.name}", "writes" if writes else "reads"
        loops = [loop for loop in self.by_task.get(task.name, []) if link.name in (loop.writes if writes else loop.reads)]
        counts = self.kernel.executions
        inside = sum(counts[loop.task, loop.label] * (loop.writes if writes else loop.reads)[link.name] for loop in loops)
        known = task.outside_loops is not None and all(counts[loop.task, loop.label] > 0 for loop in loops)
        most = inside + (task.outside_loops or {}).get(link.name, 0)
        declared = f"the manifest says {link.tokens}"
        guarded = (task.guarded or {}).get(link.name)
        if link.tokens <= 0:
            yield Finding("note", where, "the manifest does not say how many tokens cross it")
        elif guarded is not None:
            if guarded != link.tokens:
                yield Finding("error", where, f"{task.name} {verb} {guarded} tokens, {declared}")
        elif task.guarded is not None and link.name in task.guarded:
            if known and most < link.tokens:
                yield Finding("error", where, f"{task.name} {verb} at most {most} tokens, {declared}")
            else:
                text = f"{task.name} {verb} at most {most} tokens, under a condition; {declared}: not decided"
                yield Finding("note", where, text)
        elif most == link.tokens:
            return
        elif known and task.guarded is not None:
            yield Finding("error", where, f"{task.name} {verb} {most} tokens, {declared}")
        else:
            text = f"the listed loops of {task.name} {verb.removesuffix('s')} {most} tokens, {declared}: not decided"
            yield Finding("note", where, text)
