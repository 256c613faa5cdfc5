"""`stc bisect`: the command line of `stc_testing.bisect`."""

from __future__ import annotations

import shlex
import tempfile
from collections.abc import Sequence as Many
from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from stc.codegen.project import require_free
from stc.diagnostics import CompileError
from stc.extensions import load_options
from stc.frontend.draws import EXAMPLE
from stc.pipeline import Step
from stc.tools.compile_options import Asked, asked_compile, including
from stc.tools.consoles import messages, print_json, result_console
from stc.tools.options import AsJson
from stc.tools.reproducer import Reproducer, pipeline_text
from stc.tools.request import CompileRequest, load
from stc.tools.start import read_ir
from stc_testing.bisect import Finding, Outcome, Reduced, find, reduce_finding
from stc_testing.breaks import BreakKind
from stc_testing.reduction.size import Size

BREAK_FOUND = 1
UNUSABLE = 2
_SHORT = 40
"""A reduced module of so many lines is printed."""

output = result_console(markup=False)


@including(asked=asked_compile)
def bisect_command(
    asked: Asked,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder for the reduced IR; new or empty. Default: a temporary one.")
    ] = None,
    refusals: Annotated[bool, typer.Option("--refusals", help="Treat a refusal by a pass as a break, too.")] = False,
    tries: Annotated[int, typer.Option(help="Most trial runs for the reduction; 0: do not reduce.", min=0)] = 600,
    as_json: AsJson = False,
) -> None:
    """Find the pass that breaks a compile of MODEL, and reduce the IR it got to a small module that still fails.

    A pass breaks a compile if it crashes, leaves IR that does not verify or cannot be executed, changes a value, leaves what its
    stage should have removed, or leaves IR that a checking pass (verify-streams, verify-bounds) refuses, which accepted the IR
    before it. Values are compared on random inputs. Exit codes: 0 nothing breaks, 1 a break was found, 2 unusable or refused input.

    Example: stc bisect gpt2-tiny --seq 8; stc bisect tiled.mlir -p 'linalg-to-dataflow,choose-groups' --out small
    """
    request = replace(asked.request, check_inputs=(EXAMPLE,))
    if out is not None:
        require_free(out)
    for name in sorted(request.given & _OF_THE_DESIGN):
        messages.print(f"note: --{name.replace('_', '-')} concerns the emitted design, which is not made here")
    with _bar() as progress:
        sequence, outcome = _search(request, progress)
    code = _conclude(request.model, sequence, outcome, refusals, tries, out, as_json)
    raise typer.Exit(code)


_OF_THE_DESIGN = frozenset({"emit_ir", "minimise_depths", "slack", "check", "check_inputs"})
"""Options of a compile that concern what comes after the passes."""


def _search(request: CompileRequest, progress: Progress) -> tuple[Many[Step], Outcome]:
    """Read the input and run all passes on it, or those behind the IR that it is."""
    task = progress.add_task("reading the input", total=1)
    ir = read_ir(request, any_level=bool(request.plan.passes))
    if ir is None:
        module, sequence = load(request).module, request.plan.steps(request.options)
    else:
        module, sequence, request = ir.module, ir.steps[ir.begin :], ir.request
    progress.update(task, total=len(sequence))
    outcome = find(module, sequence, request.seed, lambda i, step: progress.update(task, completed=i, description=step.label))
    progress.update(task, completed=len(sequence))
    return sequence, outcome


def _conclude(
    model: str, sequence: Many[Step], outcome: Outcome, refusals: bool, tries: int, out: Path | None, as_json: bool
) -> int:
    """Say what was found, reduce and write it; the exit code."""
    finding = outcome.finding
    if finding is None:
        _report_healthy(model, sequence, outcome, as_json)
        return 0
    if finding.broken.kind == BreakKind.REFUSAL and not refusals:
        raise CompileError(f"{finding.sentence()} (a refusal is not a break; --refusals treats it as one)", where=model)
    with _bar() as progress:
        reduced = _reduce(finding, tries, progress)
    folder = Path(tempfile.mkdtemp(prefix="stc-bisect-")) if out is None else out
    _write(folder, finding, reduced)
    command = _command(finding, folder / "reduced.mlir")
    if as_json:
        print_json(_report(model, finding, reduced, outcome, folder, command))
    else:
        _print_finding(model, sequence, finding, reduced, outcome, folder, command)
    return BREAK_FOUND


def _reduce(finding: Finding, tries: int, progress: Progress) -> Reduced:
    task = progress.add_task("reducing", total=tries)

    def show(name: str, size: Size, calls: int) -> None:
        progress.update(task, completed=calls, description=f"{size}: {name}")

    return reduce_finding(finding, tries, show)


# Output ---------------------------------------------------------------------------------------------------------------


def _bar() -> Progress:
    columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
    return Progress(*columns, TimeElapsedColumn(), console=messages, transient=True, disable=not messages.is_terminal)


def _command(finding: Finding, path: Path) -> str:
    """The line that shows the failure again."""
    passes = pipeline_text([step.one_pass for step in finding.culprits])
    words = ["stc-opt", str(path), "-p", passes]
    if finding.broken.kind in (BreakKind.VALUE, BreakKind.STUCK):
        words.append(f"--check-semantics={finding.seed}")
    if finding.broken.kind == BreakKind.ILLEGAL:
        words += ["--check-stage", finding.culprits[-1].stage.name.replace(" ", "-")]
    return shlex.join([*words, *load_options()])


def _write(folder: Path, finding: Finding, reduced: Reduced) -> None:
    """before.mlir as it was, reduced.mlir with how to run it."""
    folder.mkdir(parents=True, exist_ok=True)
    passes = tuple(step.one_pass for step in finding.culprits)
    for name, module in (("before.mlir", finding.before), ("reduced.mlir", reduced.module)):
        Reproducer(module, passes, finding.sentence()).write(folder / name)


def _report_healthy(model: str, sequence: Many[Step], outcome: Outcome, as_json: bool) -> None:
    if as_json:
        print_json({"model": model, "broken": None, "passes": len(sequence), "notes": outcome.notes})
        return
    compared = "results" if not outcome.notes else "results, where they could be computed,"
    output.print(f"{model}: nothing breaks: {len(sequence)} passes, IR verified and {compared} compared after each")
    _print_notes(outcome)


def _print_notes(outcome: Outcome) -> None:
    for note in outcome.notes:
        output.print(f"note: {note}")


def _print_finding(
    model: str, sequence: Many[Step], finding: Finding, reduced: Reduced, outcome: Outcome, folder: Path, command: str
) -> None:
    step = finding.culprits[0]
    place = "" if step.stage.name == "-p" else f", in stage '{step.stage.name}'"
    output.print(f"{model}: {finding.sentence()}")
    output.print(f"  pass {finding.first + 1} of {len(sequence)}{place}")
    for frame in finding.broken.frames:
        output.print(f"  at {frame}")
    _print_notes(outcome)
    output.print(f"reduced from {reduced.before} to {reduced.after} in {reduced.calls} trial runs")
    if not reduced.reproduces:
        output.print("note: the printed IR alone does not fail in the same way, so it is written as it was, unreduced")
    output.print(f"written: {folder}/reduced.mlir, and {folder}/before.mlir as it was")
    if len(reduced.text.splitlines()) <= _SHORT:
        output.print(f"\n{reduced.text}")
    output.print(f"again: {command}")


def _report(
    model: str, finding: Finding, reduced: Reduced, outcome: Outcome, folder: Path, command: str
) -> dict[str, Any]:
    return {
        "model": model,
        "broken": {
            "passes": [step.one_pass.name for step in finding.culprits],
            "stage": finding.culprits[0].stage.name,
            "index": finding.first,
            "kind": finding.broken.kind.name.lower(),
            "message": finding.broken.message,
            "frames": finding.broken.frames,
        },
        "before": asdict(reduced.before),
        "reduced": asdict(reduced.after),
        "trial_runs": reduced.calls,
        "reproduces": reduced.reproduces,
        "folder": str(folder),
        "command": command,
        "notes": outcome.notes,
    }
