"""`stc`: compile a PyTorch model into a stream-scheduled FPGA accelerator, and check it here.

Exit codes: 0 fine; 1 a check ran and failed (mismatch, deadlock); 2 unusable input or environment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stc.diagnostics import CompileError
from stc.manifest.files import read_manifest
from stc.platforms.budget import SMALL
from stc.simulation import sanitizers
from stc.simulation.build import DEFAULT_OPTIMISATION
from stc.simulation.csim import CsimResult, csim
from stc.simulation.design_file import is_foreign
from stc.simulation.explanation import Explanation
from stc.tools.atomic_files import write_atomically
from stc.tools.calibrate_command import calibrate_command
from stc.tools.check_tables import check_report, print_check, print_quantisation, print_recognised
from stc.tools.command_line import debugging, run_app
from stc.tools.compile_options import Asked, asked_compile, asked_model, including
from stc.tools.consoles import messages, output, print_json
from stc.tools.estimate_command import estimate_command
from stc.tools.explaining import explain_csim
from stc.tools.explore_command import explore_command
from stc.tools.generate_command import generate_command
from stc.tools.installed_commands import add_installed_commands
from stc.tools.report.command import report_command
from stc.tools.report.tables import NOT_KNOWN
from stc.tools.reproducer import versions
from stc.tools.request import WHOLE_MODEL, CompileRequest
from stc.tools.run_command import run_command as run_host
from stc.tools.simulate_command import simulate_command
from stc.tools.size_command import size_command
from stc.tools.stages import CHECK_FAILED, Told, on_each_stage

REPORT = "report.json"
UNCHECKED_PORTS = "not checked: indices into what the testbench hands to the top function, whose extents are not known"

app = typer.Typer(
    name="stc",
    help="Compile PyTorch models into stream-scheduled FPGA accelerators, and check them without one.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(requested: bool) -> None:
    if requested:
        typer.echo(f"stc {versions()}")
        raise typer.Exit


@app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", help="Show the versions and exit.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    """Compile PyTorch models into stream-scheduled FPGA accelerators, and check them without one."""


@app.command("compile")
@including(asked=asked_compile)
def compile_command(
    asked: Asked,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; it must be new or empty.")],
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile MODEL into a folder of Vitis HLS C++, host programs and packed parameters.

    MODEL may be IR of any level, as --emit-ir leaves it, edited or not: the compile goes on from there.

    Example: stc compile gpt2-medium --seq 32 --out build/gpt2-medium --check
    """
    from stc.tools.compile import compile_model
    from stc.tools.depth_minimisation import check_minimised, print_minimisation

    if asked.request.stage == WHOLE_MODEL:
        _compile_whole(asked, out, as_json)
        return
    slack, check = asked.request.minimise_depths, asked.check
    if check or slack is not None or asked.request.confirm > 1:
        _require_compiler()
    with debugging(asked.debug), _progress() as step:
        report = compile_model(asked.request, out, step)
        minimal = check_minimised(out, slack, step) if slack is not None else None
    result = _checked(out) if check else None
    explanation = _explained(out, result) if result is not None else None
    if result is not None:
        report["check"] = check_report(result, explanation)
        write_atomically(out / REPORT, json.dumps(report, indent=1) + "\n")
    if as_json:
        content = report if minimal is None else {**report, "minimisation_check": asdict(minimal)}
        print_json(content)
    else:
        _print_report(report, out)
        if minimal is not None:
            print_minimisation(report["fifo_sizing"]["minimisation"], minimal, output)
        if result is not None:
            print_check(result, explanation)
            print_quantisation(report.get("quantisation"))
            _print_draws(report["check_inputs"])
    _exit_with(result)
    if minimal is not None and not minimal.passed:
        raise typer.Exit(CHECK_FAILED)


def _compile_whole(asked: Asked, out: Path, as_json: bool) -> None:
    """A whole language model: its projects, checked if asked for, and what model.json says."""
    from stc.manifest.model_files import model_to_json
    from stc.manifest.model_sharing import sharing
    from stc.tools.language_model import compile_language_model

    if asked.check:
        _require_compiler()
    with debugging(asked.debug), _progress() as step:
        model = compile_language_model(asked.request, out, step)
    results = {project.folder: _checked(out / project.folder) for project in model.projects} if asked.check else {}
    if as_json:
        print_json(json.loads(model_to_json(model)))
    else:
        cycles = ", ".join(f"{project.folder} {project.cycles_told}" for project in model.projects if project.cycles)
        output.print(f"{model.name}: {model.layer_count} layers, {model.max_seq} positions, written to {out}", markup=False)
        steps = max(project.steps for project in model.projects)
        of = "a launch" if steps == 1 else f"one of the {steps} steps of a launch"
        output.print(f"cycles of {of} ({model.projects[-1].origin}): {cycles}", markup=False)
        output.print(f"{sharing(model)}", markup=False)
        for folder, result in results.items():
            output.print(f"{folder}:", markup=False)
            print_check(result, _explained(out / folder, result))
    for result in results.values():
        _exit_with(result)


@app.command("check")
@including(asked=asked_model)
def check_command(
    asked: CompileRequest,
    as_json: Annotated[bool, typer.Option("--json", help="Print the obstacles as JSON.")] = False,
) -> None:
    """Say whether MODEL can be compiled, without compiling it: all obstacles at once, each with its place and what would work.

    Where that is enough, proposes submodules that PyTorch could run on the host, between kernels, with the command for it.

    Exit code 0 if it is supported, 1 if not, 2 if there is no such model or it does not run.
    """
    from stc.tools.check import checked_model
    from stc.tools.host_proposal import compile_command

    model = asked.model
    with _progress() as step:
        checked = checked_model(asked, step)
    found = checked.obstacles
    if as_json:
        said = {"model": model, "supported": not found, "obstacles": [asdict(entry) for entry in found], "host": checked.host}
        print_json(said)
    elif not found:
        output.print(f"{model}: supported", markup=False)
    else:
        table = Table("where", "what", "accepted", title=f"{model}: {len(found)} obstacle(s)")
        for entry in found:
            table.add_row(Text(entry.where or "the model itself"), Text(entry.what), Text(entry.accepted))
        output.print(table)
        if checked.host:
            output.print("supported with these submodules in PyTorch, on the host between kernels:")
            output.print(f"  {compile_command(asked, checked.host)}", markup=False, soft_wrap=True)
    if found:
        raise typer.Exit(CHECK_FAILED)


@app.command("csim")
def csim_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that stc compile wrote, or one with design.toml.")],
    inputs: Annotated[str, typer.Option(help="Draws of golden inputs to run on, with commas; default: all there are.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds that one run of the simulation may take.")] = 600.0,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run under AddressSanitizer and UndefinedBehaviorSanitizer, some ten times slower.")
    ] = False,
    tap: Annotated[
        str, typer.Option(metavar="STREAM,...", help="Write all that crosses these, or that these tasks read and write, as .npy.")
    ] = "",
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of --tap, new or empty; default: DIR/build/taps.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build the C++ of DIR with g++, run it on the golden inputs with bounded FIFOs, compare with PyTorch; of a model, each stage.

    A deadlock ends at once; the blocked tasks and FIFOs are named, and the least depth that fixes it. Writes only under DIR/build.
    """
    draws, taps = ([name.strip() for name in names.split(",") if name.strip()] for names in (inputs, tap))
    if out is not None and not taps:
        raise CompileError("--out without --tap", accepted="--tap STREAM --out FOLDER")
    if sanitize and taps:
        raise CompileError("both --tap and --sanitize", accepted="one of them")

    def run(folder: Path) -> Told:
        if taps:
            from stc.tools.tap_command import tapped

            return tapped(folder, taps, out, draws, timeout)
        result = _checked(folder, timeout, draws, sanitize)
        explanation = _explained(folder, result, timeout)
        return Told(result.passed, lambda: check_report(result, explanation), lambda: _print_csim(folder, result, explanation))

    on_each_stage(directory, run, as_json, {"--tap": bool(taps)})


def _print_csim(directory: Path, result: CsimResult, explanation: Explanation | None) -> None:
    print_check(result, explanation)
    if is_foreign(directory):
        output.print(UNCHECKED_PORTS)
        return
    for note in read_manifest(directory).notes:
        output.print(note, markup=False)


app.command("report")(report_command)
app.command("estimate")(estimate_command)
app.command("calibrate")(calibrate_command)
app.command("simulate")(simulate_command)
app.command("size")(size_command)
app.command("run")(run_host)
app.command("generate")(generate_command)
app.command("explore")(explore_command)


# Steps ----------------------------------------------------------------------------------------------------------------


@contextmanager
def _progress() -> Generator[Any]:
    with messages.status("starting") as status:
        yield lambda step: status.update(step)


def _require_compiler() -> None:
    """Fail before a long compile rather than after it."""
    from stc.simulation.build import find_compiler

    find_compiler()


def _checked(
    directory: Path, timeout: float = 600.0, draws: list[str] | None = None, sanitized: bool = False
) -> CsimResult:
    with messages.status("building and running the emitted C++"):
        level = sanitizers.OPTIMISATION if sanitized else DEFAULT_OPTIMISATION
        result = csim(directory, timeout, level, draws=draws, sanitized=sanitized)
    if result.passed:
        return result
    from stc.tools.near_ties import LOOKING_FOR_NEAR_TIES, with_near_ties

    with messages.status(LOOKING_FOR_NEAR_TIES):
        return with_near_ties(directory, result)


def _explained(directory: Path, result: CsimResult, timeout: float = 600.0) -> Explanation | None:
    """Why the design did not end, and what fixes it; None where it ended."""
    if not result.failed:
        return None
    with messages.status("looking for the least FIFO depths that fix it"):
        return explain_csim(directory, result, timeout)


def _exit_with(result: CsimResult | None) -> None:
    if result is not None and not result.passed:
        raise typer.Exit(CHECK_FAILED)


# Output ---------------------------------------------------------------------------------------------------------------


def _print_report(report: dict[str, Any], out: Path) -> None:
    output.print(f"{report['model']}: {report['groups']} group(s), {report['tasks']} tasks, {report['fifos']} FIFOs, "
                 f"{report['converters']} converters, written to {out}")
    if (steps := report.get("steps", 1)) > 1:
        output.print(f"a launch computes {steps} steps, one after the other; all figures are of one")
    _print_source(report["source"])
    _print_host_parts(report.get("host_parts"))
    times = Table("stage", "seconds", title="compile time (executed)")
    for name, seconds in report["compile_seconds"].items():
        if name != "origin":
            times.add_row(name, f"{seconds:.2f}")
    output.print(times)
    memory = report["memory_bytes"]
    table = Table("memory", "bytes", title="memory (counted in the IR)")
    for key, label in _MEMORY_ROWS:
        table.add_row(label, f"{memory[key]:,}" if memory[key] is not None else NOT_KNOWN)
    output.print(table)
    for key, label in _RATIO_ROWS:
        if key in memory:
            output.print(f"{label}: {100 * memory[key]:.1f} %")
    duplicate_loads, traffic = report["duplicate_loads"], report["external_traffic_bytes"]
    added, saved = duplicate_loads["traffic_bytes"], duplicate_loads["saved_bytes"]
    _print_speed(report)
    _print_estimates(report)
    print_recognised(report["quantised_by_model"])
    if (semantics := report.get("semantics")) is not None:
        output.print(f"semantics (executed on the model's inputs): {semantics['passes_checked']} passes change no value")
        for note in semantics["not_checked"]:
            output.print(f"note: {note}", markup=False)
    _print_proofs(report)
    output.print(f"memory ports move per run: {traffic['read']:,} bytes in, {traffic['written']:,} bytes out")
    count = len(duplicate_loads["list"])
    output.print(f"duplicate loads: {count}, adding {added:,} bytes of traffic and saving {saved:,} bytes on chip")


def _print_source(source: dict[str, Any]) -> None:
    """Where the compile began, if not with the model, and what it is compared with."""
    if "ir" in source:
        follows = f", behind '{source['follows']}'" if source["follows"] else ""
        output.print(f"compiled from {source['ir']}{follows}; the reference is {source['reference']}", markup=False)


def _print_host_parts(found: dict[str, Any] | None) -> None:
    """What PyTorch runs between kernels, and what of the figures is without it."""
    if found is None:
        return
    table = Table("submodule", "takes", "gives", "from", title="in PyTorch, on the host between kernels (host.py)")
    for part in found["list"]:
        sides = (", ".join("x".join(map(str, shape)) for shape in part[side].values()) for side in ("takes", "gives"))
        table.add_row(*map(Text, (part["call"], *sides, part["runs"])))
    output.print(table)
    output.print("cycles, resources and traffic below are without it; C simulation gives the kernels what PyTorch computes there")


def _print_proofs(report: dict[str, Any]) -> None:
    proofs = report["proofs"]
    if "edges" in proofs:
        _print_stream_proofs(proofs)
    else:
        output.print(f"streams proved: {NOT_KNOWN}")
    if (bounds := proofs["bounds"]) is None:
        output.print(f"indices proved: {NOT_KNOWN}")
        return
    at_run_time = len(bounds["at_run_time"])
    left = f", {at_run_time} depend on data and are checked when they run" if at_run_time else ""
    output.print(f"indices proved: {bounds['indices'] - at_run_time} stay within their arrays{left}")


def _print_stream_proofs(proofs: dict[str, Any]) -> None:
    z3 = proofs["z3"]
    gave_up = f", gave up on {z3['gave_up']}" if z3["gave_up"] else ""
    for_all = f", {z3['for_all_run_time_sizes']} for all run-time sizes" if z3["for_all_run_time_sizes"] else ""
    output.print(f"streams proved: {proofs['edges']} edges; z3 confirmed {z3['confirmed'] + z3['alone']} of the {z3['asked']} "
                 f"it was asked{for_all}{gave_up}")


def _print_speed(report: dict[str, Any]) -> None:
    """Cycles, what of multipliers and ports is used in them, and what would be faster."""
    speed, use = report["throughput"], report["utilisation"]
    most, cycles = speed["plan_dsp"], "not known" if speed["cycles"] is None else f"{speed['cycles']:,}"
    searched = (report.get("budget") or {}).get("expected_cycles")
    expected = f"; {searched:,} by the model of the search" if searched else ""
    faster = f"; faster: --budget plan, up to {most} DSP" if most and speed["budget"] == SMALL else ""
    budget = f"budget: {speed['budget']}{expected}"
    output.print(f"cycles (estimated): {cycles} on {speed['dsp']:,} DSP ({budget}){faster}", markup=False)
    _print_confirmation(report.get("confirmation"))
    if use is not None:
        output.print(f"utilisation ({use['origin']}): {use['text']}", markup=False)


def _print_confirmation(confirmation: dict[str, Any] | None) -> None:
    """The designs of the search that were run, and which was kept."""
    if confirmation is None:
        return
    table = Table("design", "cycles: search", "FIFO sizing", "simulation", title="designs of the search, run")
    for each in confirmation["designs"]:
        name = f"{each['rank']}, kept" if each["rank"] == confirmation["kept"] else str(each["rank"])
        cycles = (each[name] for name in ("search", "sizing", "simulation"))
        table.add_row(name, *(f"{count:,}" if count is not None else NOT_KNOWN for count in cycles))
    output.print(table)


def _print_estimates(report: dict[str, Any]) -> None:
    loops, resources = report["loops"], report["resources"]
    limited = ", ".join(f"{count} by {kind}" for kind, count in loops["limited"].items())
    output.print(f"pipelined loops (estimated): {len(loops['list'])}, started less often than every cycle: {limited or 'none'}; "
                 "stc estimate OUT says why")
    total, share = resources["total"], resources["share"]
    used = ", ".join(f"{total[name]:,} {label} ({100 * share[name]:.0f} %)" for name, label in _RESOURCES)
    devices = [each["share"] for each in resources["kernels"].values()] if report.get("bitstreams") else [share]
    lacking = ", ".join(label for name, label in _RESOURCES if any(each[name] > 1 for each in devices))
    output.print(f"resources (estimated; share of what a plan may use of all dies): {used}"
                 + (f"; does not fit: {lacking}" if lacking else ""))
    if (dies := report.get("dies")) is not None:
        _print_dies(dies)
    if (bitstreams := report.get("bitstreams")) is not None:
        _print_bitstreams(bitstreams, resources["kernels"])


def _print_bitstreams(bitstreams: dict[str, Any], kernels: dict[str, Any]) -> None:
    """What each takes of its device, and what nobody counts."""
    for each, kernel in zip(bitstreams["list"], kernels.values(), strict=False):
        total, share = kernel["total"], kernel["share"]
        used = ", ".join(f"{total[name]:,} {label} ({100 * share[name]:.0f} %)" for name, label in _RESOURCES)
        where = f"card {each['card']}" if bitstreams["cards"] > 1 else "bitstream"
        output.print(f"{where} (estimated; share of what a plan may use of its device): {each['kernel']}, {used}", markup=False)
    output.print(bitstreams["note"], markup=False)


def _print_dies(dies: dict[str, Any]) -> None:
    """Where the units lie, and what crosses."""
    where = ", ".join(f"{each['unit']} on {each['die']}" for each in dies["units"])
    used = ", ".join(f"{each['wires']:,} wires of {each['may_be_used']:,} between {each['between']}" for each in dies["boundaries"])
    fifos = dies["crossing_fifos"]
    cycles = f"; {len(fifos)} FIFOs cross, in up to {max(each['cycles'] for each in fifos)} cycles either way" if fifos else ""
    baseline = "finds no dies that fit" if dies["greedy_wires"] is None else f"{dies['greedy_wires']:,}"
    cycles += f"; {dies['crossing_wires']:,} wires in all, the greedy baseline: {baseline}" if dies["boundaries"] else ""
    output.print(f"dies (estimated): {where}" + (f"; {used}" if used else "") + cycles, markup=False)


_RESOURCES = (("dsp", "DSP"), ("lut", "LUT"), ("ff", "FF"), ("bram18", "BRAM18"), ("uram", "URAM"))


_MEMORY_ROWS = (
    ("before", "intermediates before: fused linalg"),
    ("before_unfused", "intermediates before: unfused linalg"),
    ("converters", "after (a): converters, ping-pong included"),
    ("fifos", "after (b): FIFOs at emitted depth"),
    ("local", "after (c): tiles and accumulators"),
    ("external", "intermediates in external memory"),
)
_RATIO_ROWS = (
    ("streams_over_before", "(a+b) over fused linalg"),
    ("all_over_before", "(a+b+c) over fused linalg"),
    ("streams_over_before_unfused", "(a+b) over unfused linalg"),
    ("all_over_before_unfused", "(a+b+c) over unfused linalg"),
)


def _print_draws(draws: dict[str, Any]) -> None:
    for name, inputs in draws["kept"].items():
        output.print(f"  {name}: {', '.join(inputs)} as in the example", markup=False)
    for name, reason in draws["left_out"].items():
        output.print(f"  {name}: not run, {reason}", markup=False)


def main() -> None:
    """Entry point of `stc`: a refusal is one line on stderr and exit code 2."""
    run_app(run_command, "stc", sys.argv[1:] or ["--help"])


def run_command(arguments: list[str], **settings: Any) -> Any:
    """Run a command of ours or of an installed package, as `app` does."""
    add_installed_commands(app, arguments[0])
    return app(arguments, **settings)
