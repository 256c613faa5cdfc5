"""`stc calibrate`: the vendor's reports of a design beside what was estimated of it, and the design sized anew for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stc.calibration.comparison import Comparison, LoopGap, ResourceGap, compare, reached_mhz
from stc.calibration.vendor_reports import VendorReports, read_reports
from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest
from stc.simulation.design_file import is_foreign
from stc.simulation.projects import sound_manifest
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.consoles import messages, output
from stc.tools.stages import Told, on_each_stage
from stc.user_files import json_of, reason_of

REPORT = "report.json"
MOST_LISTED = 40
"""Rows of a table; --json has all."""
PAGE = "docs/card.md"


def calibrate_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote.")],
    reports: Annotated[Path, typer.Option(metavar="FOLDER", help="The tool's reports of DIR: DIR/build, or any folder above them.")],
    run: Annotated[bool, typer.Option("--run/--no-run", help="Simulate the design as estimated, and as the reports say.")] = True,
    everything: Annotated[bool, typer.Option("--all", help="All loops and tasks, not only those that are off.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds after which a run is stopped.")] = 600.0,
) -> None:
    """Say where the estimates of a design were off: loops, resources, clock and cycles, beside the reports of the vendor's tool.

    Below FOLDER it reads csynth.xml, co-simulation, timing and utilisation reports, as far as they are there.

    Exit codes: 0 fine; 1 the reports say that results are wrong or that the clock is not met; 2 unusable or of another design.

    Example: stc calibrate build/gpt2-medium --reports build/gpt2-medium/build
    """
    own = {"--reports": True}
    on_each_stage(directory, lambda folder: _calibrated(folder, reports, run, everything, timeout), as_json, own)


def _calibrated(directory: Path, folder: Path, run: bool, everything: bool, timeout: float) -> Told:
    if is_foreign(directory):
        what = "nothing was estimated of a design that stc did not write"
        raise CompileError(what, where=str(directory), accepted="a folder that `stc compile` wrote")
    manifest = sound_manifest(directory)
    reports = read_reports(folder, manifest)
    simulated = _simulated(directory, manifest, reports, timeout) if run else (None, None)
    found = compare(manifest, _report_of(directory), reports, simulated)
    return Told(not found.failures, found.as_json(), lambda: _print(found, everything))


def _report_of(directory: Path) -> Mapping[str, Any]:
    path = directory / REPORT
    try:
        content = json_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        why = reason_of(error) if isinstance(error, OSError | UnicodeDecodeError) else str(error)
        raise CompileError(f"cannot read it ({why})", where=str(path), accepted="the report.json of the project") from None
    if not isinstance(content, dict):
        raise CompileError("not a report", where=str(path), accepted="the report.json of the project")
    return content


def _simulated(directory: Path, manifest: Manifest, reports: VendorReports, timeout: float) -> tuple[int | None, int | None]:
    """Cycles with estimated loops, and with those of the reports; None where a run does not end."""
    with messages.status("building and running the emitted C++ with time"):
        design = timed_design(directory)
        modelled = design.run(timeout=timeout, report=None).cycles
        if reports.profile is None:
            return modelled, None
        return modelled, design.run(SimulationOptions(profile=reports.profile), timeout, report=None).cycles


# Printing ---------------------------------------------------------------------------------------------------------------


def _print(found: Comparison, everything: bool) -> None:
    _print_loops(found, everything)
    _print_resources(found, everything)
    _print_clock(found)
    _print_cycles(found)
    for sentence in found.sentences:
        output.print(Text(f"off: {sentence}"))
    for failure in found.failures:
        output.print(Text(f"not yet: {failure}"))
    if found.failures:
        output.print(Text(f"what to change then: {PAGE}"))
    for missing in found.reports.missing:
        output.print(Text(f"not found below {found.reports.folder}: {missing}"))


def _print_loops(found: Comparison, everything: bool) -> None:
    if found.reports.profile is None:
        return
    rows = sorted((loop for loop in found.loops if everything or loop.is_off), key=lambda loop: -abs(loop.extra_cycles))
    table = Table("task", "loop", "iterations", "II modelled", "reported", "depth modelled", "reported", "off by",
                  title="pipelined loops")
    for loop in rows if everything else rows[:MOST_LISTED]:
        table.add_row(*map(Text, _loop_cells(loop)))
    if rows:
        output.print(table)
    off = [loop for loop in found.loops if loop.is_off]
    listed = "" if everything or len(rows) <= MOST_LISTED else f", {MOST_LISTED} listed (--all)"
    exact = len(found.loops) - len(off)
    output.print(Text(f"{len(found.loops)} pipelined loops reported: {exact} as modelled, {len(off)} off{listed}; "
                      f"II and depth in cycles, measured by {found.reports.profile.source}"))


def _loop_cells(loop: LoopGap) -> tuple[str, ...]:
    off = [f"II {loop.reported_ii - loop.ii:+}"] if loop.reported_ii != loop.ii else []
    off += [f"depth {loop.reported_depth - loop.depth:+}"] if loop.reported_depth != loop.depth else []
    cells = (loop.ii, loop.reported_ii, loop.depth, loop.reported_depth)
    return (loop.task, loop.loop, f"{loop.iterations:,}", *map(str, cells), ", ".join(off))


def _print_resources(found: Comparison, everything: bool) -> None:
    tasks = [task for task in found.tasks if everything or task.large]
    rows = [*found.totals, *(tasks if everything else tasks[:MOST_LISTED])]
    if not rows and not any(use.whole_device for use in found.reports.utilisation):
        return
    table = Table("", "DSP", "LUT", "FF", "BRAM18", "URAM", title="resources, modelled -> reported")
    for gap in rows:
        table.add_row(*map(Text, (gap.of, *(_pair(gap, name) for name in ("dsp", "lut", "ff", "bram18", "uram")))))
    for use in found.reports.utilisation:
        if use.whole_device:
            cells = (f"{use.resources[name]:,}" if name in use.resources else "-" for name in ("dsp", "lut", "ff", "bram18", "uram"))
            table.add_row(*map(Text, (f"whole device, shell included ({use.of})", *cells)))
    output.print(table)


def _pair(gap: ResourceGap, name: str) -> str:
    return f"{gap.modelled[name]:,} -> {gap.reported[name]:,}" if name in gap.modelled else "-"


def _print_clock(found: Comparison) -> None:
    asked = f"clock: {found.clock_ns:g} ns ({1000 / found.clock_ns:g} MHz) asked"
    estimated = [f"{one.estimated_ns:g} ns estimated by C synthesis of {one.kernel}" for one in found.reports.synthesis
                 if one.estimated_ns is not None]
    timing, routed = found.reports.timing, list[str]()
    if timing is not None:
        reached = reached_mhz(timing, found.clock_ns)
        routed = [f"slack {timing.wns:g} ns in {Path(timing.file).name}" + (f" ({reached:.0f} MHz)" if reached else "")]
    output.print(Text("; ".join([asked, *estimated, *routed])))


def _print_cycles(found: Comparison) -> None:
    cycles = found.cycles
    named = {
        "estimated by FIFO sizing": cycles.estimated, "simulated as estimated": cycles.simulated,
        "simulated with the reported II and depth": cycles.simulated_as_reported, "estimated by C synthesis": cycles.synthesis,
        "co-simulated": cycles.cosimulated,
    }  # fmt: skip
    output.print(Text("cycles: " + ("; ".join(f"{count:,} {name}" for name, count in named.items() if count is not None) or "none")))

