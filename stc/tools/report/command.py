"""`stc report`: what is known about an emitted design, on one page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from jinja2 import UndefinedError

from stc.diagnostics import CompileError
from stc.fifo.depths_file import read_depths
from stc.manifest.sizes import of_launch
from stc.simulation.build import TIMED_OPTIMISATION
from stc.simulation.critical_path import critical_path
from stc.simulation.csim import CsimResult, check_timeout
from stc.simulation.explanation import explain
from stc.simulation.path_roles import PathRole, path_roles, total
from stc.simulation.projects import scalars_of_draw, sound_manifest
from stc.simulation.simulate import SimulationResult, timed_design
from stc.simulation.timing_table import SimulationOptions, timing_table
from stc.tools.atomic_files import write_atomically
from stc.tools.consoles import messages, output
from stc.tools.stages import Told, on_each_stage
from stc.user_files import json_of

PAGE = "report.html"
COMPILE_REPORT = "report.json"
SIZING = "fifo_sizing.json"
TRIAL = "report_trial"
"""Name under which runs leave their files that look for the depths that fix a deadlock."""


def report_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote: a project, or a model.")],
    depths: Annotated[Path | None, typer.Option(help="JSON object: FIFO names and the depths to run with.")] = None,
    timeout: Annotated[float, typer.Option(help="Seconds after which the run is stopped.")] = 600.0,
) -> None:
    """Write DIR/build/report.html: graph, timeline, token curves, memory, FIFOs, compile time, on one page without references.

    Of a model each stage has a page of its own, and MODEL/build/report.html a row for each.

    The design is run with time (built only if its sources changed). Exit codes: 0 fine, 1 mismatch or deadlock (the page says
    which), 2 unusable project or options.
    """

    def run(folder: Path) -> Told:
        with messages.status("building and running the emitted C++ with time"):
            result = write_report(folder, read_depths(depths), timeout)
        pages[folder.name] = f"../{folder.name}/build/{PAGE}"
        if result.cycles is not None:
            manifest = sound_manifest(folder)
            at = of_launch(manifest, scalars_of_draw(folder, manifest))
            rows.append((total(path_roles(at, result, critical_path(result)), folder.name), result.launch_cycles))
        return Told(result.passed, lambda: None, lambda: _print(folder / "build" / PAGE, result))

    def together() -> None:
        from stc.tools.report.page import render_model

        page = directory / "build" / PAGE
        page.parent.mkdir(exist_ok=True)
        write_atomically(page, render_model(directory.resolve().name, rows, pages))
        output.print(f"{page}: all stages", markup=False)

    rows: list[tuple[PathRole, int]] = []
    pages: dict[str, str] = {}
    on_each_stage(directory, run, own={"--depths": depths is not None}, together=together)


def _print(page: Path, result: SimulationResult) -> None:
    output.print(f"{page}: {page.stat().st_size / 1e6:.1f} MB, {result.values.outcome}", markup=False)
    if not result.passed:
        output.print(result.values.explanation or "the values are wrong", markup=False)


def write_report(
    directory: Path, depths: Mapping[str, int], timeout: float, optimisation: int = TIMED_OPTIMISATION
) -> SimulationResult:
    """Run the project in `directory` with these FIFO depths replaced and write its page; returns the run.

    CompileError where it is not a project or cannot be run: then the page, if there is one, stays as it was.
    """
    from stc.tools.report.page import render_page

    check_timeout(timeout)
    manifest = sound_manifest(directory)
    report = read_object(directory / COMPILE_REPORT) or {}
    sizing = read_object(directory / "build" / SIZING)
    options = SimulationOptions(depths=depths)
    timing_table(manifest, options)  # refuses depths that do not fit before anything is built
    design = timed_design(directory, optimisation)
    result = design.run(options, timeout)

    def rerun(change: Mapping[str, int]) -> CsimResult:
        return design.run(replace(options, depths={**depths, **change}), timeout, TRIAL).values

    explanation = explain(manifest, result.values, rerun)
    try:
        use, at = design.utilisation(result, options), design.as_run(manifest, options)
        text = render_page(manifest, report, sizing, result, explanation, use, at)
    except (KeyError, TypeError, UndefinedError) as error:
        fault = "has a field of another type" if isinstance(error, TypeError) else "lacks a field"
        what = f"{COMPILE_REPORT} or build/{SIZING} {fault}: {error}"
        raise CompileError(what, where=str(directory), accepted="files that this version of stc wrote") from error
    write_atomically(directory / "build" / PAGE, text)
    return result


def read_object(path: Path) -> dict[str, Any] | None:
    """The JSON object in `path`, None where there is no such file."""
    if not path.is_file():
        return None
    try:
        content = json_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot read it ({error})", where=str(path), accepted="a JSON object") from None
    if not isinstance(content, dict):
        raise CompileError("not a JSON object", where=str(path), accepted="a JSON object")
    return content
