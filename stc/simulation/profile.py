"""Measured figures of a vendor report in place of estimates: initiation interval and depth of loops, resources of tasks.

Three forms of file, told apart by their suffix:

    .json   {"loops": [{"task": "fc", "loop": "mac", "ii": 1, "depth": 17}], "resources": [{"task": "fc", "dsp": 80, ...}]}
    .csv    task,loop,ii,depth   (that header; loops only)
    .xml    `csynth.xml` of Vitis HLS, as far as its structure is publicly known: Module/Name, SummaryOfLoopLatency with Name,
            PipelineII and PipelineDepth, AreaEstimates/Resources. A pipeline that HLS moved into a module of its own is called
            TASK_Pipeline_LOOP, a flattened nest by the labels of its loops joined with `_`.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from stc.diagnostics import CompileError
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Task, TaskResources

COLUMNS = ("task", "loop", "ii", "depth")
RESOURCES = tuple(entry.name for entry in fields(TaskResources))
XML_RESOURCES = {"DSP": "dsp", "LUT": "lut", "FF": "ff", "BRAM_18K": "bram18", "URAM": "uram"}
OUTLINED = "_Pipeline_"
ACCEPTED = ".json, .csv, or the csynth.xml of Vitis HLS"


@dataclass(frozen=True)
class MeasuredLoop:
    """A pipelined loop: `ii` and `depth` in cycles. `loop` is its label, or those of its flattened nest joined with `_`."""

    task: str
    loop: str
    ii: int
    depth: int


@dataclass(frozen=True)
class Profile:
    """What a report says. `resources`: by task, those it has figures for."""

    source: str
    loops: tuple[MeasuredLoop, ...]
    resources: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])

    @property
    def origin(self) -> str:
        return f"measured (vendor report {self.source})"


def read_profile(path: Path, manifest: Manifest) -> Profile:
    """The figures in `path` for the design of `manifest`; CompileError for files, tasks, loops or figures that do not fit."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot read the profile ({error})", where=str(path), accepted=ACCEPTED) from None
    readers = {".json": _from_json, ".csv": _from_csv, ".xml": _from_xml}
    if path.suffix not in readers:
        raise CompileError(f"a profile ending in '{path.suffix}'", where=str(path), accepted=ACCEPTED)
    profile = readers[path.suffix](text, str(path), [task.name for kernel in manifest.kernels for task in kernel.tasks])
    _check(profile, manifest)
    return profile


def with_profile(manifest: Manifest, profile: Profile) -> Manifest:
    """The manifest with measured figures where the profile has them; `origins` says so."""
    kernels = tuple(_measured_kernel(kernel, profile) for kernel in manifest.kernels)
    count = sum(loop.limit == profile.origin for kernel in kernels for loop in kernel.schedule)
    total = sum(loop.ii is not None for kernel in kernels for loop in kernel.schedule)
    origins = dict(manifest.origins)
    for name in ("schedule.ii", "schedule.depth"):
        origins[name] = f"{count} of {total} loops {profile.origin}; else {origins.get(name, 'estimated')}"
    if profile.resources:
        tasks = sum(len(kernel.tasks) for kernel in kernels)
        known = f"{len(profile.resources)} of {tasks} tasks {profile.origin} where it has figures"
        origins["tasks.resources"] = f"{known}; else {origins.get('tasks.resources', 'estimated')}"
    return replace(manifest, kernels=kernels, origins=origins)


def _measured_kernel(kernel: Kernel, profile: Profile) -> Kernel:
    measured = {(entry.task, entry.loop): entry for entry in profile.loops}
    schedule: list[LoopSchedule] = []
    for loop in kernel.schedule:
        found = next((measured[loop.task, name] for name in _names(loop, kernel) if (loop.task, name) in measured), None)
        own = found is not None and loop.ii is not None
        schedule.append(replace(loop, ii=found.ii, depth=found.depth, limit=profile.origin, chain=None) if own and found else loop)
    return replace(kernel, tasks=tuple(_measured_task(task, profile) for task in kernel.tasks), schedule=tuple(schedule))


def _measured_task(task: Task, profile: Profile) -> Task:
    known = task.resources or TaskResources(0, 0, 0, 0, 0)
    return replace(task, resources=replace(known, **profile.resources[task.name])) if task.name in profile.resources else task


def _names(loop: LoopSchedule, kernel: Kernel) -> list[str]:
    """What a report may call a loop: its label, and with the labels of the loops that are flattened into it before."""
    loops = {(other.task, other.label): other for other in kernel.schedule}
    names, parent = [loop.label], loop.parent
    while parent is not None and loops[loop.task, parent].flattened:
        names.append(f"{parent}_{names[-1]}")
        parent = loops[loop.task, parent].parent
    return names


def _check(profile: Profile, manifest: Manifest) -> None:
    kernels = manifest.kernels
    known: dict[str, set[str]] = {task.name: set() for kernel in kernels for task in kernel.tasks}
    for kernel in kernels:
        for loop in kernel.schedule:
            if loop.ii is not None:
                known[loop.task].update(_names(loop, kernel))
    labels = {(loop.task, name): loop.label for kernel in kernels for loop in kernel.schedule if loop.ii is not None
              for name in _names(loop, kernel)}
    seen: set[tuple[str, str]] = set()
    for entry in profile.loops:
        if entry.task not in known:
            raise CompileError(f"no task is called '{entry.task}'", where=profile.source, accepted=_some(known))
        if entry.loop not in known[entry.task]:
            what = f"task '{entry.task}' has no pipelined loop '{entry.loop}'"
            raise CompileError(what, where=profile.source, accepted=_some(known[entry.task]))
        loop = (entry.task, labels[entry.task, entry.loop])
        if loop in seen:
            raise CompileError(f"loop '{loop[1]}' of task '{entry.task}' comes twice", where=profile.source)
        seen.add(loop)
        for name, value in (("ii", entry.ii), ("depth", entry.depth)):
            if value < 1:
                raise CompileError(f"{name} of '{entry.loop}' is {value}", where=profile.source, accepted="at least 1")
    for task, figures in profile.resources.items():
        if task not in known:
            raise CompileError(f"no task is called '{task}'", where=profile.source, accepted=_some(known))
        for name, value in figures.items():
            if value < 0:
                raise CompileError(f"{name} of '{task}' is {value}", where=profile.source, accepted="0 or more")


def _some(names: Mapping[str, Any] | set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:8]) + (f", ... ({len(shown)})" if len(shown) > 8 else "")


# Forms ------------------------------------------------------------------------------------------------------------------


def _from_json(text: str, source: str, tasks: list[str]) -> Profile:
    accepted = '{"loops": [{"task", "loop", "ii", "depth"}], "resources": [{"task", ...}]}'
    try:
        content = json.loads(text)
    except ValueError as error:
        raise CompileError(f"not valid JSON ({error})", where=source, accepted=accepted) from None
    if not isinstance(content, dict) or not set(content) <= {"loops", "resources"}:
        raise CompileError("not a profile", where=source, accepted=accepted)
    loops = tuple(_loop(row, source) for row in _rows(content, "loops", source))
    resources: dict[str, Mapping[str, int]] = {}
    for row in _rows(content, "resources", source):
        if unknown := set(row) - {"task", *RESOURCES}:
            raise CompileError(f"unknown resource '{min(unknown)}'", where=source, accepted=", ".join(RESOURCES))
        if (task := str(row.get("task"))) in resources:
            raise CompileError(f"resources of task '{task}' come twice", where=source)
        resources[task] = {name: _integer(row, name, source) for name in RESOURCES if name in row}
    return Profile(source, loops, resources)


def _rows(content: dict[str, Any], name: str, source: str) -> list[dict[str, Any]]:
    rows = content.get(name, [])
    if not isinstance(rows, list) or any(not isinstance(row, dict) for row in rows):
        raise CompileError(f"'{name}' is no list of objects", where=source)
    return rows


def _from_csv(text: str, source: str, tasks: list[str]) -> Profile:
    rows = csv.DictReader(text.splitlines())
    if tuple(rows.fieldnames or ()) != COLUMNS:
        raise CompileError(f"the header is {','.join(rows.fieldnames or ())}", where=source, accepted=",".join(COLUMNS))
    return Profile(source, tuple(_loop(row, source) for row in rows))


def _loop(row: Mapping[str, Any], source: str) -> MeasuredLoop:
    if unknown := set(row) - set(COLUMNS):
        raise CompileError(f"unknown column '{min(map(str, unknown))}' of a loop", where=source, accepted=", ".join(COLUMNS))
    for name in ("task", "loop"):
        if not isinstance(row.get(name), str):
            raise CompileError(f"'{name}' is {row.get(name)!r}", where=source, accepted="a name")
    return MeasuredLoop(row["task"], row["loop"], _integer(row, "ii", source), _integer(row, "depth", source))


def _integer(row: Mapping[str, Any], name: str, source: str) -> int:
    value = row.get(name)
    try:
        if isinstance(value, bool) or not isinstance(value, int | str):
            raise ValueError
        return int(value)
    except ValueError:
        where = f"{row.get('task')}.{row.get('loop', name)}"
        raise CompileError(f"{name} of {where} is {value!r}", where=source, accepted="an integer") from None


def _from_xml(text: str, source: str, tasks: list[str]) -> Profile:
    try:
        root = ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise CompileError(f"not valid XML ({error})", where=source, accepted="the csynth.xml of Vitis HLS") from None
    loops: list[MeasuredLoop] = []
    resources: dict[str, Mapping[str, int]] = {}
    for module in root.iter("Module"):
        name = module.findtext("Name", "")
        task = _task_of(name, tasks)
        rows = list(_xml_loops(module, task or name, source))
        if rows and task is None:
            what = f"module '{name}' has pipelined loops and belongs to no task"
            raise CompileError(what, where=source, accepted=_some(set(tasks)))
        loops += rows
        if task is not None and name == task:   # figures of a function include the modules below it
            resources[task] = _xml_resources(module, task, source)
    if not loops:
        raise CompileError("no pipelined loop in it", where=source, accepted="the csynth.xml of Vitis HLS")
    return Profile(source, tuple(loops), resources)


def _task_of(module: str, tasks: list[str]) -> str | None:
    own = [task for task in tasks if module == task or module.startswith(task + OUTLINED)]
    return max(own, key=len, default=None)


def _xml_loops(module: ElementTree.Element, task: str, source: str) -> Iterator[MeasuredLoop]:
    for summary in module.iter("SummaryOfLoopLatency"):
        for entry in summary.iter():
            if entry.find("PipelineII") is not None:
                row = {"task": task, "ii": entry.findtext("PipelineII"), "depth": entry.findtext("PipelineDepth")}
                yield _loop({**row, "loop": entry.findtext("Name", entry.tag)}, source)


def _xml_resources(module: ElementTree.Element, task: str, source: str) -> Mapping[str, int]:
    found = module.find("AreaEstimates/Resources")
    row: dict[str, Any] = {ours: found.findtext(name) for name, ours in XML_RESOURCES.items()} if found is not None else {}
    return {name: _integer({**row, "task": task}, name, source) for name, value in row.items() if value is not None}
