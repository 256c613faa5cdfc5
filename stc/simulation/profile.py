"""Measured figures of a vendor report in place of estimates: initiation interval and depth of loops, resources of tasks.

Three forms of file, told apart by their suffix, and a folder:

    .json   {"loops": [{"task": "fc", "loop": "mac", "ii": 1, "depth": 17}], "resources": [{"task": "fc", "dsp": 80, ...}]}
    .csv    task,loop,ii,depth   (that header; loops only)
    .xml    of Vitis HLS, as published reports have it: `csynth.xml` with all modules (Module/Name), or `MODULE_csynth.xml` with one
            (UserAssignments/TopModelName); SummaryOfLoopLatency with an element per loop and its PipelineII and PipelineDepth;
            AreaEstimates/Resources. A pipeline that HLS moved into a module of its own is called TASK_Pipeline_LOOP.
    DIR     all `*_csynth.xml` in it and in its folders, such as solution1/syn/report, or build/csynth with a folder per kernel

A flattened nest is called by the labels of its loops joined with `_`; loops of one iteration are left out, or not, and where the
pipelined loop itself has only one, the name ends with the loop around it.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import accumulate
from operator import mul
from pathlib import Path
from typing import Any, TypeVar
from xml.etree import ElementTree

from stc.diagnostics import CompileError
from stc.manifest.checks import MOST_LOOP_CYCLES
from stc.manifest.schema import Kernel, LoopSchedule, Manifest, Task, TaskResources
from stc.user_files import json_of, reason_of

Key = TypeVar("Key")

COLUMNS = ("task", "loop", "ii", "depth")
RESOURCES = tuple(entry.name for entry in fields(TaskResources))
XML_RESOURCES = {"DSP": "dsp", "LUT": "lut", "FF": "ff", "BRAM_18K": "bram18", "URAM": "uram"}
OUTLINED = "_Pipeline_"
MOST_BYTES = 64 << 20
"""Of a report: those of the vendor's tool for whole designs are a few megabytes."""
ONE_RUN = "folders with the reports of one run of the tool"
ACCEPTED = ".json, .csv, the csynth.xml of Vitis HLS, or the folder of its *_csynth.xml"


@dataclass(frozen=True)
class MeasuredLoop:
    """A pipelined loop: `ii` and `depth` in cycles. `loop` is its label, or those of its flattened nest joined with `_`. `trips`:
    its iterations, with those of the loops that it is flattened with; None where the report gives no single number."""

    task: str
    loop: str
    ii: int
    depth: int
    trips: int | None = None


@dataclass(frozen=True)
class Profile:
    """What a report says. `resources`: by task, those it has figures for."""

    source: str
    loops: tuple[MeasuredLoop, ...]
    resources: Mapping[str, Mapping[str, int]] = field(default_factory=dict[str, Mapping[str, int]])

    @property
    def origin(self) -> str:
        return f"measured (vendor report {self.source})"


@dataclass(frozen=True)
class LoopName:
    """A loop as a report may call it; `dissolves`: it has one iteration, so that nothing may be left of it in hardware."""

    label: str
    dissolves: bool


def is_called(name: str, nest: Sequence[LoopName]) -> bool:
    """Whether a report's `name` can mean the pipelined loop `nest[0]`; the others are around it, the innermost first."""
    if not nest:
        return False
    loop, outer = nest[0], nest[1:]
    if name == loop.label or (name.endswith(f"_{loop.label}") and is_called(name.removesuffix(f"_{loop.label}"), outer)):
        return True
    return loop.dissolves and is_called(name, outer)


def meant(name: str, nests: Mapping[Key, Sequence[LoopName]]) -> list[Key]:
    """Which of some pipelined loops, with what is around them, a report's `name` can mean: those of that label, if any."""
    called = [key for key, nest in nests.items() if is_called(name, nest)]
    return [key for key in called if nests[key][0].label == name] or called


def read_profile(path: Path, manifest: Manifest) -> Profile:
    """The figures in `path` for the design of `manifest`; CompileError for files, tasks, loops or figures that do not fit."""
    profile = read_figures(path, [task.name for kernel in manifest.kernels for task in kernel.tasks])
    _check(profile, manifest)
    return profile


def read_modules(files: Sequence[Path], source: str, manifest: Manifest) -> Profile:
    """As `read_profile`, of the reports of modules in `files`, which were found in `source`."""
    profile = _from_modules(files, source, [task.name for kernel in manifest.kernels for task in kernel.tasks])
    _check(profile, manifest)
    return profile


def read_figures(path: Path, tasks: Sequence[str]) -> Profile:
    """The figures in `path`, which may be of other loops than a design has. `tasks`: whose modules there may be."""
    if path.is_dir():
        return _from_folder(path, tasks)
    text = _text(path)
    readers = {".json": _from_json, ".csv": _from_csv, ".xml": _from_xml}
    if path.suffix not in readers:
        raise CompileError(f"a profile ending in '{path.suffix}'", where=str(path), accepted=ACCEPTED)
    return _checked(readers[path.suffix](text, str(path), tasks))


def _text(path: Path) -> str:
    try:
        if (size := path.stat().st_size) > MOST_BYTES:
            raise CompileError(f"a report of {size:,} bytes", where=str(path), accepted=f"at most {MOST_BYTES:,} bytes")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the profile ({reason_of(error)})", where=str(path), accepted=ACCEPTED) from None


def read_xml(path: Path) -> ElementTree.Element:
    """A report of Vitis HLS as a document; CompileError where it cannot be read."""
    return _xml(_text(path), str(path))


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
    figures = {(row.task, label): row for row in profile.loops for label in meant(row.loop, _nests(kernel, row.task))}
    schedule: list[LoopSchedule] = []
    for loop in kernel.schedule:
        found = figures.get((loop.task, loop.label))
        schedule.append(replace(loop, ii=found.ii, depth=found.depth, limit=profile.origin, chain=None) if found else loop)
    return replace(kernel, tasks=tuple(_measured_task(task, profile) for task in kernel.tasks), schedule=tuple(schedule))


def _measured_task(task: Task, profile: Profile) -> Task:
    known = task.resources or TaskResources(0, 0, 0, 0, 0)
    return replace(task, resources=replace(known, **profile.resources[task.name])) if task.name in profile.resources else task


def _around(kernel: Kernel, task: str, label: str) -> list[LoopSchedule]:
    """The loop, and those around it that it is flattened with, or that have one iteration; the innermost first."""
    loops = {loop.label: loop for loop in kernel.schedule if loop.task == task}
    found, parent = [loops[label]], loops[label].parent
    while parent is not None and (loops[parent].flattened or loops[parent].trip == 1):
        found.append(loops[parent])
        parent = loops[parent].parent
    return found


def _nest(loop: LoopSchedule, kernel: Kernel) -> tuple[LoopName, ...]:
    """The names of the loop, and of those around it that it is flattened with, or that have one iteration."""
    return tuple(LoopName(other.label, other.trip == 1) for other in _around(kernel, loop.task, loop.label))


def _nests(kernel: Kernel, task: str) -> dict[str, tuple[LoopName, ...]]:
    """The pipelined loops of a task by label, with what is around them."""
    return {loop.label: _nest(loop, kernel) for loop in kernel.schedule if loop.task == task and loop.ii is not None}


def _check(profile: Profile, manifest: Manifest) -> None:
    nests = {task.name: _nests(kernel, task.name) for kernel in manifest.kernels for task in kernel.tasks}
    seen: set[tuple[str, str]] = set()
    for entry in profile.loops:
        if entry.task not in nests:
            raise CompileError(f"no task is called '{entry.task}'", where=profile.source, accepted=_some(set(nests)))
        labels = meant(entry.loop, nests[entry.task])
        if len(labels) > 1:
            what = f"'{entry.loop}' may be each of the loops {', '.join(labels)} of task '{entry.task}'"
            raise CompileError(what, where=profile.source, accepted="one of these labels")
        if not labels:
            what = f"task '{entry.task}' has no pipelined loop '{entry.loop}'"
            known = {"_".join(name.label for name in reversed(nest)) for nest in nests[entry.task].values()}
            raise CompileError(what, where=profile.source, accepted=_some(known | set(nests[entry.task])))
        _check_trips(entry, labels[0], manifest, profile.source)
        if (entry.task, labels[0]) in seen:
            raise CompileError(f"loop '{labels[0]}' of task '{entry.task}' comes twice", where=profile.source)
        seen.add((entry.task, labels[0]))
    for task in profile.resources:
        if task not in nests:
            raise CompileError(f"no task is called '{task}'", where=profile.source, accepted=_some(set(nests)))


def _check_trips(entry: MeasuredLoop, label: str, manifest: Manifest, source: str) -> None:
    """CompileError where a report counts other iterations than the loop has: the reports are of another design then."""
    kernel = next(kernel for kernel in manifest.kernels if any(task.name == entry.task for task in kernel.tasks))
    around = _around(kernel, entry.task, label)
    if entry.trips is None or any(loop.size is not None for loop in around):
        return
    known = set(accumulate((loop.trip for loop in around), mul))
    known |= {kernel.steps * trips for trips in known}  # of all steps of a launch
    if entry.trips not in known:
        what = f"loop '{entry.loop}' of task '{entry.task}' has {entry.trips} iterations there: this is a report of another design"
        raise CompileError(what, where=source, accepted=f"a report of this one, which has {' or '.join(map(str, sorted(known)))}")


def _checked(profile: Profile) -> Profile:
    """The profile, if its figures can be."""
    for entry in profile.loops:
        for name, value in (("ii", entry.ii), ("depth", entry.depth)):
            if not 1 <= value <= MOST_LOOP_CYCLES:
                accepted = f"at least 1, at most {MOST_LOOP_CYCLES:,}"
                raise CompileError(f"{name} of '{entry.loop}' is {value:,}", where=profile.source, accepted=accepted)
    for task, figures in profile.resources.items():
        for name, value in figures.items():
            if value < 0:
                raise CompileError(f"{name} of '{task}' is {value}", where=profile.source, accepted="0 or more")
    return profile


def _some(names: set[str]) -> str:
    shown = sorted(names)
    return ", ".join(shown[:8]) + (f", ... ({len(shown)})" if len(shown) > 8 else "")


# Forms ------------------------------------------------------------------------------------------------------------------


def _from_json(text: str, source: str, tasks: Sequence[str]) -> Profile:
    accepted = '{"loops": [{"task", "loop", "ii", "depth"}], "resources": [{"task", ...}]}'
    try:
        content = json_of(text)
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


def _from_csv(text: str, source: str, tasks: Sequence[str]) -> Profile:
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
        raise CompileError(f"{name} of {where} is {value!r:.40}", where=source, accepted="an integer") from None


def _from_folder(folder: Path, tasks: Sequence[str]) -> Profile:
    files = sorted(path for path in folder.rglob("*_csynth.xml"))
    if not files:
        raise CompileError("no *_csynth.xml in it", where=str(folder), accepted=ACCEPTED)
    return _from_modules(files, str(folder), tasks)


def _from_modules(files: Sequence[Path], source: str, tasks: Sequence[str]) -> Profile:
    parts = _without_copies({path: _module(path, tasks) for path in files})
    loops = tuple(loop for part in parts for loop in part.loops)
    if not loops:
        raise CompileError("no pipelined loop in its *_csynth.xml", where=source, accepted=ACCEPTED)
    return Profile(source, loops, {task: figures for part in parts for task, figures in part.resources.items()})


def _module(path: Path, tasks: Sequence[str]) -> tuple[str, Profile]:
    """A report, behind what tells it from others: its name, and of `csynth.xml`, which every kernel has, the top function."""
    root = read_xml(path)
    name = path.name if path.name != "csynth.xml" else root.findtext("UserAssignments/TopModelName", "").strip()
    return name, _checked(_modules(root, str(path), tasks))


def _without_copies(reports: Mapping[Path, tuple[str, Profile]]) -> list[Profile]:
    """The reports, each behind its module, without copies that say the same: the tool leaves some in several folders.

    CompileError where two differ.
    """
    first: dict[str, tuple[Path, Profile]] = {}
    for path, (module, found) in reports.items():
        other, known = first.setdefault(module, (path, found))
        if (known.loops, known.resources) != (found.loops, found.resources):
            what = f"says something else than {other}"
            raise CompileError(what, where=str(path), accepted=ONE_RUN)
    return [found for _, found in first.values()]


def _from_xml(text: str, source: str, tasks: Sequence[str]) -> Profile:
    profile = _modules(_xml(text, source), source, tasks)
    if not profile.loops:
        raise CompileError("no pipelined loop in it", where=source, accepted="the csynth.xml of Vitis HLS")
    return profile


def _xml(text: str, source: str) -> ElementTree.Element:
    """The document; one with declarations of its own (entities that grow without end) is refused unread."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        raise CompileError("XML with a document type", where=source, accepted="the csynth.xml of Vitis HLS, which has none")
    try:
        return ElementTree.fromstring(text)
    except ElementTree.ParseError as error:
        raise CompileError(f"not valid XML ({error})", where=source, accepted="the csynth.xml of Vitis HLS") from None


def _modules(root: ElementTree.Element, source: str, tasks: Sequence[str]) -> Profile:
    """What a report says of its modules, or of the only one that it is about."""
    loops: list[MeasuredLoop] = []
    resources: dict[str, Mapping[str, int]] = {}
    modules = [(module.findtext("Name", ""), module) for module in root.iter("Module")]
    for name, module in modules or [(root.findtext("UserAssignments/TopModelName", ""), root)]:
        task = _task_of(name, tasks)
        rows = list(_xml_loops(module, task or name, source))
        if rows and task is None:
            what = f"module '{name}' has pipelined loops and belongs to no task"
            raise CompileError(what, where=source, accepted=_some(set(tasks)))
        loops += rows
        if task is not None and name == task:   # figures of a function include the modules below it
            resources[task] = _xml_resources(module, task, source)
    return Profile(source, tuple(loops), resources)


def _task_of(module: str, tasks: Sequence[str]) -> str | None:
    own = [task for task in tasks if module == task or module.startswith(task + OUTLINED)]
    return max(own, key=len, default=None)


def _xml_loops(module: ElementTree.Element, task: str, source: str) -> Iterator[MeasuredLoop]:
    for summary in module.iter("SummaryOfLoopLatency"):
        for entry in summary.iter():   # loops in loops are elements in elements
            if entry.find("PipelineII") is not None:
                row = {"task": task, "ii": entry.findtext("PipelineII"), "depth": entry.findtext("PipelineDepth")}
                loop = _loop({**row, "loop": entry.findtext("Name", entry.tag)}, source)
                trips = (entry.findtext("TripCount") or "").strip()   # a range, or undef, where it depends on data
                told = trips.isdecimal()
                yield replace(loop, trips=_integer({**row, "trips": trips, "loop": loop.loop}, "trips", source) if told else None)


def _xml_resources(module: ElementTree.Element, task: str, source: str) -> Mapping[str, int]:
    found = module.find("AreaEstimates/Resources")
    row: dict[str, Any] = {ours: found.findtext(name) for name, ours in XML_RESOURCES.items()} if found is not None else {}
    return {name: _integer({**row, "task": task}, name, source) for name, value in row.items() if value is not None}
