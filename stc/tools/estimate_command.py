"""`stc estimate`: what each pipelined loop and each task of an emitted design is estimated to take, and why."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stc.diagnostics import CompileError
from stc.manifest.schema import LoopSchedule, Manifest, Task
from stc.simulation.design_file import is_foreign
from stc.simulation.memory_traffic import ChannelUses, estimated_channels
from stc.simulation.profile import RESOURCES, read_profile, with_profile
from stc.simulation.projects import sound_manifest
from stc.tools.consoles import output
from stc.tools.report.command import COMPILE_REPORT, read_object
from stc.tools.simulation_tables import print_channels
from stc.tools.stages import Told, on_each_stage


def estimate_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote: a project, or a model.")],
    everything: Annotated[bool, typer.Option("--all", help="Every loop, not only those with an interval above 1.")] = False,
    profile: Annotated[Path | None, typer.Option(metavar="FILE", help="Measured figures: .json, .csv or csynth.xml.")] = None,
    dies: Annotated[bool, typer.Option("--dies", help="Instead: the dies that tasks would lie on, with the fewest wires.")] = False,
    cut: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --dies: write a schedule that makes a compute unit for each die.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
) -> None:
    """Say where initiation intervals and depths come from, and what tasks take of the device.

    Example: stc estimate build/gpt2-medium --all
    """
    own = {"--profile": profile is not None, "--cut": cut is not None}
    if cut is not None and not dies:
        raise CompileError("--cut without --dies", accepted="both")
    if dies and (everything or profile is not None):
        raise CompileError("--dies with --all or --profile, which are of loops", accepted="--dies, --cut and --json alone")
    run = partial(_proposed, cut=cut) if dies else partial(_estimated, everything=everything, profile=profile)
    on_each_stage(directory, run, as_json, own)


def _proposed(directory: Path, cut: Path | None) -> Told:
    """The dies of the tasks of one project."""
    from stc.tools.die_proposals import propose, write_cut

    if is_foreign(directory):
        what = "nothing is estimated of tasks of a design that stc did not write"
        raise CompileError(what, where=str(directory), accepted="a folder that `stc compile` wrote")
    manifest = sound_manifest(directory)
    if manifest.bitstreams:
        what = f"its kernels are in {len(manifest.bitstreams)} bitstreams, which have all dies each"
        accepted = "the folder of one card, or a project compiled without --groups"
        raise CompileError(what, where=f"{directory} --dies", accepted=accepted)
    proposal = propose(manifest, directory)
    if cut is not None:
        write_cut(proposal, directory, cut)
    return Told(True, proposal.as_json, proposal.show)


def _estimated(directory: Path, everything: bool, profile: Path | None) -> Told:
    """Of one project."""
    if is_foreign(directory):
        what = "nothing is estimated for a design that stc did not write: its figures are those of its design file"
        raise CompileError(what, where=str(directory), accepted="a folder that `stc compile` wrote")
    manifest = sound_manifest(directory)
    if profile is not None:
        manifest = with_profile(manifest, read_profile(profile, manifest))
    cycles = _estimated_cycles(directory, manifest) if profile is None else {}  # another pace takes other cycles
    channels = estimated_channels(manifest, cycles)
    report = {**_as_json(manifest), "memory": None if channels is None else channels.as_json()}
    return Told(True, lambda: report, lambda: _print(manifest, channels, everything))


def _estimated_cycles(directory: Path, manifest: Manifest) -> dict[str, int | None]:
    """Cycles of each kernel by FIFO sizing, as report.json has them; None where it does not."""
    sizing = (read_object(directory / COMPILE_REPORT) or {}).get("fifo_sizing") or {}
    try:
        found: list[int | None] = [kernel["makespan"] for kernel in sizing.get("kernels") or ()]
    except (AttributeError, KeyError, TypeError):
        where, accepted = str(directory / COMPILE_REPORT), "the file that stc compile wrote"
        raise CompileError("fifo_sizing is not what this version of stc writes", where=where, accepted=accepted) from None
    is_known = len(found) == len(manifest.kernels) and all(type(each) is int for each in found)
    return {kernel.name: cycles for kernel, cycles in zip(manifest.kernels, found, strict=True)} if is_known else {}


def _print(manifest: Manifest, channels: ChannelUses | None, everything: bool) -> None:
    loops = _pipelined(manifest)
    slow = [loop for loop in loops if (loop.ii or 1) > 1]
    _print_loops(loops if everything else slow)
    output.print(f"{len(loops)} pipelined loops, {len(slow)} with an interval above 1")
    for name in ("schedule.ii", "schedule.depth"):
        output.print(Text(f"{name}: {manifest.origins.get(name, 'not said')}"), soft_wrap=True)
    _print_tasks([task for kernel in manifest.kernels for task in kernel.tasks])
    output.print(Text(f"resources: {manifest.origins.get('tasks.resources', 'not said')}"), soft_wrap=True)
    if channels is not None:
        print_channels(channels, output)
    for note in manifest.notes:
        output.print(Text(note), soft_wrap=True)


def _pipelined(manifest: Manifest) -> list[LoopSchedule]:
    return [loop for kernel in manifest.kernels for loop in kernel.schedule if loop.ii is not None]


def _as_json(manifest: Manifest) -> dict[str, Any]:
    tasks = [task for kernel in manifest.kernels for task in kernel.tasks]
    return {
        "origins": manifest.origins,
        **({"notes": list(manifest.notes)} if manifest.notes else {}),
        "loops": [asdict(loop) for loop in _pipelined(manifest)],
        "tasks": [{"task": task.name, **asdict(task.resources)} for task in tasks if task.resources is not None],
    }


def _print_loops(loops: list[LoopSchedule]) -> None:
    table = Table(title="pipelined loops")
    for name in ("task", "loop", "trip", "II", "bounded by", "depth", "longest chain"):
        table.add_column(name, overflow="fold")
    for loop in loops:
        row = (loop.task, loop.label, f"{loop.trip:,}", str(loop.ii), loop.limit or "", str(loop.depth), loop.chain or "")
        table.add_row(*(Text(cell) for cell in row))
    if loops:
        output.print(table)


def _print_tasks(tasks: list[Task]) -> None:
    known = [(task, task.resources) for task in tasks if task.resources is not None]
    table = Table(title="resources of tasks, their arrays included")
    for name in ("task", *RESOURCES):
        table.add_column(name, overflow="fold", justify="left" if name == "task" else "right")
    for task, count in sorted(known, key=lambda pair: (-pair[1].dsp, -pair[1].bram18, -pair[1].lut)):
        table.add_row(Text(task.name), *(f"{getattr(count, name):,}" for name in RESOURCES))
    total = [f"{sum(getattr(count, name) for _, count in known):,}" for name in RESOURCES]
    table.add_section()
    table.add_row("all tasks (FIFOs, rings and ports: report.json)", *total)
    output.print(table)
