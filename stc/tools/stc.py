"""`stc`: compile a PyTorch model into a stream-scheduled FPGA accelerator, and check it here.

Exit codes: 0 fine; 1 a check ran and failed (mismatch, deadlock); 2 unusable input or environment.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from stc.pipeline import PipelineOptions
from stc.simulation import sanitizers
from stc.simulation.build import DEFAULT_OPTIMISATION
from stc.simulation.csim import CsimResult, csim
from stc.simulation.explanation import Explanation
from stc.tools.bisect_command import bisect_command
from stc.tools.check_tables import check_report, print_check
from stc.tools.command_line import run_app
from stc.tools.consoles import messages, output
from stc.tools.estimate_command import estimate_command
from stc.tools.explaining import explain_csim
from stc.tools.options import (
    Budget,
    CheckInputs,
    Config,
    Dsp,
    DType,
    Lanes,
    Layer,
    Model,
    ModelStage,
    Platform,
    Reread,
    Rows,
    Schedule,
    Seed,
    Sequence,
    SerialConverters,
    Tile,
    UniformTiles,
    UnsafeMath,
    Weights,
    one_model,
)
from stc.tools.report.command import report_command
from stc.tools.simulate_command import simulate_command
from stc.tools.size_command import size_command
from stc.tools.whole_files import write_whole

CHECK_FAILED = 1
REPORT = "report.json"

app = typer.Typer(
    name="stc",
    help="Compile PyTorch models into stream-scheduled FPGA accelerators, and check them without one.",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

@app.command("compile")
def compile_command(
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder to write; it must be new or empty.")],
    model: Model = None,
    config: Config = None,
    stage: ModelStage = "prefill",
    seq: Sequence = 32,
    dtype: DType = "f32",
    weights: Weights = None,
    layer: Layer = None,
    seed: Seed = 0,
    tile: Tile = 16,
    rows: Rows = 128,
    lanes: Lanes = 16,
    dsp: Dsp = 0,
    uniform_tiles: UniformTiles = False,
    schedule: Schedule = None,
    platform: Platform = "u55c",
    budget: Budget = 0,
    reread: Reread = -1,
    serial_converters: SerialConverters = "free",
    unsafe_math: UnsafeMath = False,
    crash_reproducer: Annotated[
        Path | None, typer.Option(metavar="FILE", help="If a pass crashes, write the IR it got here, not to the temporary folder.")
    ] = None,
    emit_ir: Annotated[bool, typer.Option("--emit-ir", help="Keep the IR after each pass in OUT/ir.")] = False,
    trim: Annotated[
        bool, typer.Option("--trim", help="Run the design with time, take the least FIFO depths that lose no cycles, emit again.")
    ] = False,
    slack: Annotated[float, typer.Option(help="With --trim: part of the cycles that may be lost; 0.05 for 5 %.", min=0)] = 0.0,
    check: Annotated[bool, typer.Option("--check", help="Build the emitted C++, run it, compare with PyTorch.")] = False,
    check_semantics: Annotated[
        bool,
        typer.Option("--check-semantics", help="Execute the IR before and after each pass; stop at one that changes a value."),
    ] = False,
    check_inputs: CheckInputs = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile MODEL into a folder of Vitis HLS C++, host programs and packed parameters.

    Example: stc compile gpt2-medium --seq 32 --out build/gpt2-medium --check
    """
    from stc.frontend.draws import read_draws
    from stc.tools.compile import CompileRequest, compile_model
    from stc.tools.trim import check_trimmed, print_trimming

    options = PipelineOptions(
        platform=platform,
        tile=tile,
        rows=rows,
        lanes=lanes,
        dsp=dsp,
        propagate_orders=not uniform_tiles,
        budget=budget,
        reread=reread,
        serial_converters=serial_converters,
        schedule=str(schedule or ""),
        unsafe_math=unsafe_math,
    )
    name, lost, draws = one_model(model, config), slack if trim else None, read_draws(check_inputs)
    request = CompileRequest(
        name, stage, seq, dtype, seed, weights, layer, emit_ir, options, crash_reproducer, lost, check_semantics, draws
    )
    if check or trim:
        _require_compiler()
    with _progress() as step:
        report = compile_model(request, out, step)
        trimmed = check_trimmed(out, slack, step) if trim else None
    result = _checked(out) if check else None
    explanation = _explained(out, result) if result is not None else None
    if result is not None:
        report["check"] = check_report(result, explanation)
        write_whole(out / REPORT, json.dumps(report, indent=1) + "\n")
    if as_json:
        content = report if trimmed is None else {**report, "trim_check": asdict(trimmed)}
        output.print_json(json.dumps(content))
    else:
        _print_report(report, out)
        if trimmed is not None:
            print_trimming(report["fifo_sizing"]["trimming"], trimmed, output)
        if result is not None:
            print_check(result, explanation)
            _print_left_out(report["check_inputs"]["left_out"])
    _exit_with(result)
    if trimmed is not None and not trimmed.passed:
        raise typer.Exit(CHECK_FAILED)


@app.command("check")
def check_command(
    model: Model = None,
    config: Config = None,
    stage: ModelStage = "prefill",
    seq: Sequence = 32,
    dtype: DType = "f32",
    weights: Weights = None,
    layer: Layer = None,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print the obstacles as JSON.")] = False,
) -> None:
    """Say whether MODEL can be compiled, without compiling it: all obstacles at once, each with its place and what would work.

    Exit code 0 if it is supported, 1 if not, 2 if there is no such model or it does not run.
    """
    from stc.tools.check import check_model
    from stc.tools.compile import CompileRequest

    model = one_model(model, config)
    with _progress() as step:
        found = check_model(CompileRequest(model, stage, seq, dtype, seed, weights, layer), step)
    if as_json:
        output.print_json(json.dumps({"model": model, "supported": not found, "obstacles": [asdict(entry) for entry in found]}))
    elif not found:
        output.print(f"{model}: supported", markup=False)
    else:
        table = Table("where", "what", "accepted", title=f"{model}: {len(found)} obstacle(s)")
        for entry in found:
            table.add_row(Text(entry.where or "the model itself"), Text(entry.what), Text(entry.accepted))
        output.print(table)
    if found:
        raise typer.Exit(CHECK_FAILED)


@app.command("fuzz")
def fuzz_command(
    count: Annotated[int, typer.Option(help="How many random programs, or mutants.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first; the others follow.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.", min=1)] = 1,
    csim_every: Annotated[int, typer.Option(help="Build and run the emitted C++ of every Kth; 0: of none.", min=0)] = 1,
    mlir_every: Annotated[int, typer.Option(help="Ask MLIR's execution engine about every Kth; 0: none.", min=0)] = 1,
    mutate: Annotated[
        bool, typer.Option("--mutate", help="Mutate the IR of lit tests instead, and run each through its passes.")
    ] = False,
    source: Annotated[
        list[Path] | None, typer.Option(help="With --mutate: lit tests, or folders of them (repeatable).", exists=True)
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for what fails.")] = Path("build/fuzz"),
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> None:
    """Compile random programs of linalg, execute every level and the emitted C++, and compare; or mutate IR of any level.

    Exit code 1 if any failed: a level that differs, a design that does not end, broken IR, anything but a proper refusal.

    Examples: stc fuzz --count 100 --seed 0 --jobs 2, stc fuzz --mutate --source filecheck_tests --count 5000
    """
    from stc.tools.fuzzing.campaign import Campaign
    from stc.tools.fuzzing.command import print_report, run_with_progress
    from stc.tools.fuzzing.mutants import MutationCampaign

    campaign = Campaign(count, seed, jobs, csim_every, mlir_every)
    if mutate:
        sources = tuple(source or [Path("filecheck_tests")])
        campaign = MutationCampaign(count, seed, jobs, csim_every=0, mlir_every=0, sources=sources)
    report = run_with_progress(campaign, out, messages)
    if as_json:
        output.print_json(json.dumps(report.as_json()))
    else:
        print_report(campaign, report, out, output)
    if report.failed:
        raise typer.Exit(CHECK_FAILED)


@app.command("csim")
def csim_command(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="A folder that stc compile wrote, or one with design.toml.")],
    inputs: Annotated[str, typer.Option(help="Draws of golden inputs to run on, with commas; default: all there are.")] = "",
    timeout: Annotated[float, typer.Option(help="Seconds that one run of the simulation may take.")] = 600.0,
    sanitize: Annotated[
        bool, typer.Option("--sanitize", help="Run under AddressSanitizer and UndefinedBehaviorSanitizer, some ten times slower.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
) -> None:
    """Build the C++ of DIR with g++, run it on the golden inputs with bounded FIFOs, compare with PyTorch.

    A deadlock ends at once; the blocked tasks and FIFOs are named, and the least depth that cures it. Writes only under DIR/build.
    """
    result = _checked(directory, timeout, [name.strip() for name in inputs.split(",") if name.strip()], sanitize)
    explanation = _explained(directory, result, timeout)
    if as_json:
        output.print_json(json.dumps(check_report(result, explanation)))
    else:
        print_check(result, explanation)
    _exit_with(result)


app.command("bisect")(bisect_command)
app.command("report")(report_command)
app.command("estimate")(estimate_command)
app.command("simulate")(simulate_command)
app.command("size")(size_command)


# Steps ----------------------------------------------------------------------------------------------------------------


@contextmanager
def _progress() -> Iterator[Any]:
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
        return csim(directory, timeout, level, draws=draws, sanitized=sanitized)


def _explained(directory: Path, result: CsimResult, timeout: float = 600.0) -> Explanation | None:
    """Why the design did not end, and what cures it; None where it ended."""
    if result.passed:
        return None
    with messages.status("looking for the least FIFO depths that cure it"):
        return explain_csim(directory, result, timeout)


def _exit_with(result: CsimResult | None) -> None:
    if result is not None and not result.passed:
        raise typer.Exit(CHECK_FAILED)


# Output ---------------------------------------------------------------------------------------------------------------


def _print_report(report: dict[str, Any], out: Path) -> None:
    output.print(f"{report['model']}: {report['groups']} group(s), {report['tasks']} tasks, {report['fifos']} FIFOs, "
                 f"{report['converters']} converters, written to {out}")
    times = Table("stage", "seconds", title="compile time (executed)")
    for name, seconds in report["compile_seconds"].items():
        if name != "origin":
            times.add_row(name, f"{seconds:.2f}")
    output.print(times)
    memory = report["memory_bytes"]
    table = Table("memory", "bytes", title="memory (counted in the IR)")
    for key, label in _MEMORY_ROWS:
        table.add_row(label, f"{memory[key]:,}")
    output.print(table)
    for key, label in _RATIO_ROWS:
        if key in memory:
            output.print(f"{label}: {100 * memory[key]:.1f} %")
    rereads, traffic = report["rereads"], report["external_traffic_bytes"]
    added, saved = rereads["traffic_bytes"], rereads["saved_bytes"]
    _print_estimates(report)
    if (semantics := report.get("semantics")) is not None:
        output.print(f"semantics (executed on the model's inputs): {semantics['passes_checked']} passes change no value")
        for note in semantics["not_checked"]:
            output.print(f"note: {note}", markup=False)
    _print_proofs(report)
    output.print(f"memory ports move per run: {traffic['read']:,} bytes in, {traffic['written']:,} bytes out")
    output.print(f"inputs read again: {len(rereads['list'])}, adding {added:,} bytes of traffic and saving {saved:,} bytes on chip")


def _print_proofs(report: dict[str, Any]) -> None:
    proofs, z3 = report["proofs"], report["proofs"]["z3"]
    gave_up = f", gave up on {z3['gave_up']}" if z3["gave_up"] else ""
    output.print(f"streams proved: {proofs['edges']} edges; z3 confirmed {z3['confirmed'] + z3['alone']} of the {z3['asked']} "
                 f"between types that are not the same{gave_up}")
    bounds = proofs["bounds"]
    at_run_time = len(bounds["at_run_time"])
    left = f", {at_run_time} depend on data and are checked when they run" if at_run_time else ""
    output.print(f"indices proved: {bounds['indices'] - at_run_time} stay within their arrays{left}")


def _print_estimates(report: dict[str, Any]) -> None:
    loops, resources = report["loops"], report["resources"]
    limited = ", ".join(f"{count} by {kind}" for kind, count in loops["limited"].items())
    output.print(f"pipelined loops (estimated): {len(loops['list'])}, with an interval above 1: {limited or 'none'}; "
                 "stc estimate OUT says why")
    total, share = resources["total"], resources["share"]
    used = ", ".join(f"{total[name]:,} {label} ({100 * share[name]:.0f} %)" for name, label in _RESOURCES)
    output.print(f"resources (estimated; share of what a plan may use of all dies): {used}")


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


def _print_left_out(left_out: dict[str, str]) -> None:
    for name, reason in left_out.items():
        output.print(f"  {name}: not run, {reason}", markup=False)


def main() -> None:
    """Entry point of `stc`: a refusal is one line on stderr and exit code 2."""
    run_app(app, "stc", sys.argv[1:] or ["--help"])
