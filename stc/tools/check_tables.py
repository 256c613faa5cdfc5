"""What C simulation says of the values of a design: printed, and as the field "check" of a report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from rich.table import Table

from stc.simulation.csim import CsimResult, DrawCheck, OutputCheck
from stc.simulation.explanation import Explanation
from stc.tools.consoles import output
from stc.tools.explaining import explanation_json

UNDECIDED = (
    "undecided wherever its reference is not 0; accepted: example inputs on which rounding errors do not drown the result, other "
    "--check-inputs, or a module that also returns what it computes before the difference in which it cancels"
)


def check_report(result: CsimResult, explanation: Explanation | None) -> dict[str, Any]:
    """As JSON values."""
    told = explanation_json(result, explanation)
    return {"origin": "executed: C simulation of the emitted C++", **asdict(result), "explanation": told}


def print_check(result: CsimResult, explanation: Explanation | None) -> None:
    """The verdict; for each draw of inputs the errors of each output; of what is wrong the worst entry."""
    draws = result.draws or [DrawCheck("", result.outcome, result.passed, None, result.seconds, result.outputs)]
    seconds = sum(draw.seconds for draw in draws)
    output.print(f"C simulation {_verdict(result, draws)} in {seconds:.1f} s (build {result.build_seconds:.1f} s)")
    checks = [(draw, check) for draw in draws for check in draw.outputs]
    if checks:
        table = Table("inputs", "output", "max error", "of max|out|", "of what is allowed", "", title="errors (executed)")
        for draw, check in checks:
            table.add_row(draw.name, check.name, *_errors(check), check.verdict)
        output.print(table)
    for draw, check in checks:
        for line in _remarks(draw, check):
            output.print(line, markup=False)
    if result.undecided:
        output.print(f"  {', '.join(result.undecided)}: {UNDECIDED}", markup=False)
    if text := explanation.text if explanation is not None else result.explanation:
        output.print(text, markup=False)


def print_quantisation(found: Mapping[str, Any] | None) -> None:
    """How far quantised layers are from the f32 model."""
    if found is None or not found["errors"]:  # of several layers nobody computed those in f32
        return
    table = Table("inputs", "output", "max error", "rms of rms|out|", title=f"{found['format']} against the f32 model (executed)")
    for entry in found["errors"]:
        table.add_row(entry["draw"], entry["output"], f"{entry['max_abs_error']:.3g}", f"{entry['relative_rms']:.2g}")
    output.print(table)


def print_recognised(found: Mapping[str, Any] | None) -> None:
    """Which contractions compute on integers of the model's own, and which that look like it do not."""
    for layer, count in Counter(found["layers"]).items() if found is not None else ():
        output.print(f"integers of the model's own: {_of_layer(layer, count)}", markup=False)
    for entry in found["left"] if found is not None else ():
        output.print(f"stays f32: {_of_layer(entry['layer'], 1)}: {entry['why']}", markup=False)


def _of_layer(layer: str, count: int) -> str:
    """Contractions of one module; '' is outside of modules."""
    return f"{count} contraction{'s' if count > 1 else ''} of {repr(layer) if layer else 'the model itself'}"


def _verdict(result: CsimResult, draws: Sequence[DrawCheck]) -> str:
    if result.failed:
        wrong = any(check.is_wrong for draw in draws for check in draw.outputs)
        ended = "wrong values" if wrong else "its testbench did not pass"
        on = ", ".join(draw.name for draw in draws if draw.name and not draw.passed)
        return f"FAILED ({ended if result.outcome == 'finished' else result.outcome}){on and f' on {on}'}"
    undecided = ", ".join(draw.name or "its inputs" for draw in draws if not draw.passed)
    if result.undecided:
        return f"FAILED (undecided on {undecided})"
    passed = ", ".join(draw.name for draw in draws if draw.passed) or "no draw as a whole"
    return f"passed on {passed}; undecided on {undecided};" if undecided else "passed"


def _errors(check: OutputCheck) -> tuple[str, str, str]:
    share = "infinite" if check.worst.share is None else f"{check.worst.share:.2g}"
    return f"{check.max_abs_error:.3g}", f"{check.relative_error:.2g}", share


def near_ties_told(check: OutputCheck) -> str:
    """What the near-ties of an output explain, in one sentence."""
    count = check.by_own_number
    own = f", {count} by the design's own number, where the reference's is exactly at a tie" if count else ""
    return (
        f"near-ties: {check.near_ties} (integers of activations that rounding errors decide{own}, of which {check.wrong:,} of "
        f"{check.elements:,} entries are another value; with these integers the other way the reference has the design's values)"
    )


def _remarks(draw: DrawCheck, check: OutputCheck) -> Iterator[str]:
    where = f"{check.place} on {draw.name}" if draw.name else check.place
    if check.wrong and check.near_ties:
        yield f"  {check.name} on {draw.name}: {near_ties_told(check)}"
    elif check.wrong:
        worst = check.worst
        yield (
            f"  {where}: got {worst.got}, expected {worst.expected}, allowed error {worst.allowed:.3g}; "
            f"{check.wrong:,} of {check.elements:,} entries are wrong"
        )
    if check.nan_mismatches:
        yield f"  {where}: {check.nan_mismatches:,} of them because a NaN or infinity is not in its place"
    if check.undecided:
        entries = f"{check.undecided:,} of {check.elements:,} entries of the reference"
        yield f"  {check.name} on {draw.name}: undecided, rounding errors alone move {entries} by as much as their size"
    elif check.uncertainty is not None and check.uncertainty > check.tolerance:
        share = f"{check.uncertainty:.2g} of max|out|"
        yield f"  {check.name} on {draw.name}: reference uncertain by {share}, as rounding errors alone show"
