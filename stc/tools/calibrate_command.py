"""`stc calibrate`: the vendor's reports of a design beside what was estimated of it, and the design sized anew for them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stc.calibration.comparison import Comparison, LoopGap, ResourceGap, compare, reached_mhz
from stc.calibration.vendor_reports import VendorReports, read_reports
from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest
from stc.simulation.design_file import is_foreign
from stc.simulation.profile import RESOURCES
from stc.simulation.projects import sound_manifest
from stc.simulation.simulate import timed_design
from stc.simulation.timing_table import SimulationOptions
from stc.tools.consoles import messages, output
from stc.tools.stages import Told, on_each_stage
from stc.user_files import json_of, reason_of

if TYPE_CHECKING:
    from stc.tools.resizing import Resized

REPORT = "report.json"
MOST_LISTED = 40
"""Rows of a table; --json has all."""
PAGE = "docs/card.md"


def calibrate_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="What `stc compile` wrote.")],
    reports: Annotated[
        list[Path], typer.Option(metavar="FOLDER", help="Where the tool left its reports of DIR: DIR/build. Several times, too.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="New folder: the same design with FIFOs sized for the reported II and depth.")
    ] = None,
    run: Annotated[bool, typer.Option("--run/--no-run", help="Simulate the design as modelled, and as the reports say.")] = True,
    everything: Annotated[bool, typer.Option("--all", help="All loops and tasks, not only those that are off.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as JSON.")] = False,
    timeout: Annotated[float, typer.Option(help="Seconds after which a run is stopped.")] = 600.0,
) -> None:
    """Say where the estimates of a design were off: loops, resources, clock and cycles, beside the reports of the vendor's tool.

    Below FOLDER it reads csynth.xml, co-simulation, timing and utilisation reports, as far as they are there. With --out the model
    is compiled once more, with the schedule it has, and with the intervals and depths of the reports in place of estimates.

    Exit codes: 0 fine; 1 the reports say that results are wrong or that the clock is not met; 2 unusable or of another design.

    Example: stc calibrate build/gpt2-medium --reports build/gpt2-medium/build
    """
    asked = _Asked(reports, out, run, everything, timeout)
    on_each_stage(directory, lambda folder: _calibrated(folder, asked), as_json, {"--reports": True})


@dataclass(frozen=True)
class _Asked:
    """What the command line says."""

    reports: Sequence[Path]
    out: Path | None
    run: bool
    everything: bool
    timeout: float


def _calibrated(directory: Path, asked: _Asked) -> Told:
    if is_foreign(directory):
        what = "nothing was estimated of a design that stc did not write"
        raise CompileError(what, where=str(directory), accepted="a folder that `stc compile` wrote")
    if asked.out is not None:
        from stc.tools.resizing import require_resizable

        require_resizable(directory, asked.out)
    manifest, report = sound_manifest(directory), _report_of(directory)
    reports = read_reports(asked.reports, manifest)
    if asked.out is not None and reports.profile is None:
        what = "no C synthesis is among the reports, and FIFOs are sized for its loops"
        raise CompileError(what, where=reports.folder, accepted="a folder with csynth.xml; or --out left out")
    simulated = _simulated(directory, manifest, reports, asked.timeout) if asked.run else (None, None)
    found = compare(manifest, report, reports, simulated)
    resized = _resized(directory, manifest, report, found, asked.out) if asked.out is not None else None

    def show() -> None:
        _print(found, asked.everything)
        if resized is not None:
            _print_resized(resized)

    def as_json() -> dict[str, Any]:
        return {**found.as_json(), "resized": None if resized is None else resized.as_json()}

    return Told(not found.failures, as_json, show)


def _resized(directory: Path, manifest: Manifest, report: Mapping[str, Any], found: Comparison, out: Path) -> Resized:
    from stc.tools.resizing import resize  # all of the compiler: only where it is asked for

    loops = {(loop.task, loop.loop): (loop.reported_ii, loop.reported_depth) for loop in found.loops}
    with messages.status("compiling with the reported loops") as status:
        return resize(directory, manifest, report, loops, out, status.update)


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
    """Cycles with the loops as modelled, and with those of the reports; None where a run does not end."""
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
        table.add_row(*map(Text, (gap.of, *(_pair(gap, name) for name in RESOURCES))))
    for use in found.reports.utilisation:
        if use.whole_device:
            cells = (f"{use.resources[name]:,}" if name in use.resources else "-" for name in RESOURCES)
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
        reached = reached_mhz(timing)
        clock = f" of clock {timing.clock}" + (f" ({reached:.0f} MHz)" if reached else "") if timing.clock is not None else ""
        routed = [f"slack {timing.wns:g} ns{clock} in {Path(timing.file).name}"]
    output.print(Text("; ".join([asked, *estimated, *routed])))


def _print_cycles(found: Comparison) -> None:
    cycles = found.cycles
    named = {
        "estimated by FIFO sizing": cycles.estimated, "simulated as modelled": cycles.simulated,
        "simulated with the reported II and depth": cycles.simulated_as_reported, "estimated by C synthesis": cycles.synthesis,
        "co-simulated": cycles.cosimulated,
    }  # fmt: skip
    known = [f"{count:,} {name}" for name, count in named.items() if count is not None]
    output.print(Text("cycles: " + ("; ".join(known) or "none")))


def _print_resized(resized: Resized) -> None:
    changes = sorted(resized.changes, key=lambda fifo: -abs(fifo.after - fifo.before) * fifo.bits)
    table = Table("FIFO", "bits", "depth before", "after", title="FIFO depths, sized for the reported loops")
    for fifo in changes[:MOST_LISTED]:
        table.add_row(*map(Text, (fifo.name, str(fifo.bits), f"{fifo.before:,}", f"{fifo.after:,}")))
    if changes:
        output.print(table)
    (bits, new_bits), (cycles, new_cycles) = resized.bits, resized.cycles
    changed = f"{len(changes)} FIFO{'s' if len(changes) > 1 else ''} changed, {bits:,} bits before, {new_bits:,} after"
    changed = changed if changes else f"no FIFO changed ({bits:,} bits)"
    output.print(Text(f"sized for {resized.loops} reported loops: {changed}"))
    if cycles is not None and new_cycles is not None:
        told = f"{cycles:,} as modelled, {new_cycles:,} with the reported loops"
        output.print(Text(f"cycles (estimated by FIFO sizing): {told}"))
    output.print(Text(f"written: {resized.directory}; next: stc simulate {resized.directory}"))
