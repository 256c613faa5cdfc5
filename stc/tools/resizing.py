"""A project compiled once more for the loops that synthesis has found: `stc calibrate --out`.

The same model with the same schedule, from which the depths of FIFOs and what they are built of are left out, and to which the
measured loops are added (`apply-measurements`). Everything else that the compiler decides is given, so that nothing else changes.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from stc.codegen.project import require_free
from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.manifest.model_files import MODEL
from stc.manifest.schema import OWN_KERNEL, Manifest, Stream
from stc.pipeline import PipelineOptions
from stc.platforms.platform import PLATFORM_FILE
from stc.tools.loading import load_all
from stc.tools.plan import Plan, read_edit
from stc.tools.request import CompileRequest
from stc.tools.schedule_file import FIFOS, FILE, loops_text, with_schedule, without_table
from stc.transforms.stream.apply_measurements import LOOPS_TABLE, ApplyMeasurements
from stc.transforms.stream.choose_storage import MEMORIES_TABLE
from stc.user_files import reason_of

MeasuredLoops = Mapping[tuple[str, str], tuple[int, int]]
"""Interval and depth in cycles, by task and label."""


@dataclass(frozen=True)
class FifoChange:
    """A FIFO of `bits` per token that is another depth now, in tokens."""

    name: str
    bits: int
    before: int
    after: int


@dataclass(frozen=True)
class Resized:
    """What another compile changed. Bits of all FIFOs as emitted; cycles estimated by FIFO sizing, None where it gave up."""

    directory: str
    loops: int
    changes: tuple[FifoChange, ...]
    bits: tuple[int, int]
    cycles: tuple[int | None, int | None]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def require_resizable(directory: Path, out: Path) -> None:
    """CompileError where `out` is not free, or the project cannot be compiled once more: asked before any work."""
    require_free(out)
    if (directory.absolute().parent / MODEL).is_file():
        what = "a stage of a whole model, whose other stages share its parameters, is not compiled by itself"
        raise CompileError(what, where=str(directory), accepted="a project of `stc compile`; or --out left out")
    if not (directory / FILE).is_file():
        raise CompileError(f"no {FILE} in it, which says how it was compiled", where=str(directory), accepted="an emitted project")


def resize(
    directory: Path, manifest: Manifest, report: Mapping[str, Any], loops: MeasuredLoops, out: Path, progress: Callable[[str], None]
) -> Resized:
    """Compile the project in `directory` into the new folder `out`, with the figures of `loops`; what that changes.

    CompileError where that gives another design (the model is not what it was); then nothing is left of `out`.
    """
    from stc.tools.compile import compile_model

    require_resizable(directory, out)
    asked, out = out, out.absolute()  # `.` has no name, and is no folder that can be put in another's place
    own = {task.name for kernel in manifest.kernels for task in kernel.tasks if task.kind == OWN_KERNEL}
    loops = {key: figures for key, figures in loops.items() if key[0] not in own}
    names = _names_in_ir(manifest, report, str(directory))
    in_ir = {(names[task], label): figures for (task, label), figures in loops.items()}
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{out.name}.", dir=out.parent) as folder:
        schedule = Path(folder) / FILE
        schedule.write_text(calibrated_schedule(_read(directory / FILE), in_ir, str(directory / FILE)), encoding="utf-8")
        project = Path(folder) / "project"
        found = compile_model(_request(directory, manifest, schedule, emits_ir=(directory / "ir").is_dir()), project, progress)
        made = read_manifest(project)
        _require_same(manifest, made, str(directory))
        _require_applied(loops, made, str(directory))
        if out.exists():
            out.rmdir()
        project.rename(out)
    before, after = _streams(manifest), _streams(made)
    changes = [FifoChange(name, fifo.bits, before[name].depth, fifo.depth)
               for name, fifo in after.items() if fifo.depth != before[name].depth]
    bits = tuple(sum(fifo.bits * fifo.depth for fifo in fifos.values()) for fifos in (before, after))
    cycles = tuple((each.get("throughput") or {}).get("cycles") for each in (report, found))
    return Resized(str(asked), len(loops), tuple(changes), (bits[0], bits[1]), (cycles[0], cycles[1]))


def _names_in_ir(manifest: Manifest, report: Mapping[str, Any], where: str) -> dict[str, str]:
    """What the IR calls the tasks with pipelined loops: functions of the C++ may have another name where theirs was taken.

    report.json lists the same loops by the names of the IR; CompileError where it does not.
    """
    ours = [(loop.task, loop.label) for kernel in manifest.kernels for loop in kernel.schedule if loop.ii is not None]
    listed: list[dict[str, Any]] = (report.get("loops") or {}).get("list") or []
    if [label for _, label in ours] != [entry.get("loop") for entry in listed]:
        accepted = "a project as `stc compile` wrote it"
        raise CompileError("report.json lists other loops than manifest.json", where=where, accepted=accepted)
    return {task: str(entry.get("task")) for (task, _), entry in zip(ours, listed, strict=True)}


def calibrated_schedule(text: str, loops: MeasuredLoops, where: str) -> str:
    """A schedule without its depths of FIFOs and what these are built of, and with the measured loops."""
    kept = without_table(without_table(text, FIFOS, where), LOOPS_TABLE, where)
    kept = without_table(kept, MEMORIES_TABLE, where, keeps=lambda key: "." in key)  # "task.array": those without are FIFOs
    return f"{kept.rstrip()}\n\n{loops_text(loops)}\n"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read it ({reason_of(error)})", where=str(path), accepted="the file of the project") from None


def _request(directory: Path, manifest: Manifest, schedule: Path, *, emits_ir: bool) -> CompileRequest:
    """What the project was compiled from, by its manifest, with another schedule; of a platform file that is gone it has a copy."""
    said = manifest.options
    load_all(said.get("load", ()))
    options = with_schedule(PipelineOptions(schedule=str(schedule), kernel_name=said.get("kernel_name", "")), ())
    if options.platform.endswith(".toml") and not Path(options.platform).is_file():
        options = replace(options, platform=str(directory / PLATFORM_FILE))
    known = {field.name for field in fields(CompileRequest)} - {"options", "plan", "given", "first", "emit_ir", "confirm"}
    of_model = {name: value for name, value in said.items() if name in known}
    if isinstance(draws := of_model.get("check_inputs"), list):
        of_model["check_inputs"] = tuple(draws)
    plan = Plan(said.get("passes", ""), tuple(map(read_edit, said.get("edits", ()))))
    try:
        return CompileRequest(**of_model, options=options, plan=plan, emit_ir=emits_ir, given=frozenset({"schedule"}))
    except TypeError as error:
        raise CompileError(f"the manifest does not say what was compiled ({error})", accepted="a project of this version") from None


def _require_same(before: Manifest, after: Manifest, where: str) -> None:
    """CompileError where another compile gave other loops, FIFOs or parameters: figures of one would be another's."""
    for what, one, other in (
        ("loops", _loops(before), _loops(after)), ("FIFOs", {*_streams(before)}, {*_streams(after)}),
        ("parameters", _parameters(before), _parameters(after)),
    ):  # fmt: skip
        if one != other:
            some = ", ".join(map(str, sorted(one ^ other)[:3]))
            raise CompileError(f"compiled once more it has other {what} ({some})", where=where,
                               accepted=f"the model '{before.options.get('model')}' as it was, and the same version of stc")


def _require_applied(loops: MeasuredLoops, made: Manifest, where: str) -> None:
    """CompileError where a loop has not got its figures."""
    found = {(loop.task, loop.label): (loop.ii, loop.depth) for kernel in made.kernels for loop in kernel.schedule}
    if missed := next((key for key, figures in loops.items() if found.get(key) != figures), None):
        what = f"the reported figures of loop '{missed[1]}' of task '{missed[0]}' do not reach the design"
        raise CompileError(what, where=where, accepted=f"a pipeline with the pass {ApplyMeasurements.name}, as ours is")


def _loops(manifest: Manifest) -> set[str]:
    return {f"{loop.task}.{loop.label} of {loop.trip} iterations" for kernel in manifest.kernels for loop in kernel.schedule}


def _streams(manifest: Manifest) -> dict[str, Stream]:
    return {stream.name: stream for kernel in manifest.kernels for stream in kernel.streams}


def _parameters(manifest: Manifest) -> set[str]:
    return {f"{port.name} {port.sha256}" for kernel in manifest.kernels for port in kernel.ports if port.sha256 is not None}
