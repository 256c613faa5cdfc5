"""What C simulation says of the values of a design: printed, and as the field "check" of a report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from rich.table import Table

from stc.simulation.csim import CsimResult, DrawCheck, OutputCheck
from stc.simulation.explanation import Explanation
from stc.tools.consoles import output
from stc.tools.explaining import explanation_json


def check_report(result: CsimResult, explanation: Explanation | None) -> dict[str, Any]:
    """As JSON values."""
    told = explanation_json(result, explanation)
    return {"origin": "executed: C simulation of the emitted C++", **asdict(result), "explanation": told}


def print_check(result: CsimResult, explanation: Explanation | None) -> None:
    """The verdict; for each draw of inputs the errors of each output; of what is wrong the worst entry."""
    verdict = "passed" if result.passed else f"FAILED ({result.outcome if result.outcome != 'finished' else 'wrong values'})"
    draws = result.draws or [DrawCheck("", result.outcome, result.passed, None, result.seconds, result.outputs)]
    seconds = sum(draw.seconds for draw in draws)
    output.print(f"C simulation {verdict} in {seconds:.1f} s (build {result.build_seconds:.1f} s)")
    checks = [(draw, check) for draw in draws for check in draw.outputs]
    if checks:
        table = Table("inputs", "output", "max error", "of max|out|", "of what is allowed", "", title="errors (executed)")
        for draw, check in checks:
            table.add_row(draw.name, check.name, *_errors(check), "ok" if check.passed else "WRONG")
        output.print(table)
    for draw, check in checks:
        for line in _remarks(draw, check):
            output.print(line, markup=False)
    if text := explanation.text if explanation is not None else result.explanation:
        output.print(text, markup=False)


def _errors(check: OutputCheck) -> tuple[str, str, str]:
    share = "infinite" if check.worst.share is None else f"{check.worst.share:.2g}"
    return f"{check.max_abs_error:.3g}", f"{check.relative_error:.2g}", share


def _remarks(draw: DrawCheck, check: OutputCheck) -> Iterator[str]:
    where = f"{check.place} on {draw.name}" if draw.name else check.place
    if not check.passed:
        worst = check.worst
        yield (
            f"  {where}: got {worst.got}, expected {worst.expected}, allowed error {worst.allowed:.3g}; "
            f"{check.wrong:,} of {check.elements:,} entries are wrong"
        )
    if check.nan_mismatches:
        yield f"  {where}: {check.nan_mismatches:,} of them because a NaN or infinity is not in its place"
    if check.uncertainty is not None and check.uncertainty > check.tolerance:
        share = f"{check.uncertainty:.2g} of max|out|"
        yield f"  {check.name} on {draw.name}: reference uncertain by {share}, as rounding errors alone show"
