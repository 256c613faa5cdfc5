"""What `stc fuzz` does around a campaign: progress, files of failing programs, tables."""

from __future__ import annotations

import os
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from stc.diagnostics import CompileError
from stc.tools.fuzzing.campaign import Campaign, CampaignReport, run_campaign
from stc.tools.fuzzing.levels import AGREED, FAILED, REFUSED, Outcome
from stc.transforms import all_passes

MOST_LISTED = 20
"""Failures that the table shows."""
MOST_REASONS = 30
"""Reasons of refusals that the table shows, the most frequent ones."""
_COLOURS = {AGREED: "green", REFUSED: "yellow", FAILED: "red"}


def run_with_progress(campaign: Campaign, out: Path, console: Console) -> CampaignReport:
    """Run a campaign; failures are printed as they come and written into `out`. CompileError where there is no C++ compiler."""
    _require_writable(out)
    for load in all_passes().values():
        load()
    campaign.prepare()
    counts: dict[str, int] = dict.fromkeys((AGREED, REFUSED, FAILED), 0)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    # No thread that refreshes: processes are forked while the bar is shown.
    with Progress(*columns, console=console, auto_refresh=False) as progress:
        task = progress.add_task("fuzz", total=campaign.count)

        def heard(outcome: Outcome) -> None:
            counts[outcome.verdict] += 1
            if outcome.verdict == FAILED:
                campaign.store(outcome, out)
                console.print(Text(_line(outcome), style=_COLOURS[FAILED]))
            label = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
            progress.update(task, advance=1, description=label, refresh=True)

        return run_campaign(campaign, heard)


def _require_writable(out: Path) -> None:
    """Refuse a folder that failing programs could not be written to, before hours of work rather than after."""
    nearest = next(folder for folder in (out.absolute(), *out.absolute().parents) if folder.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise CompileError(f"cannot write to {nearest}", where="--out", accepted="a folder, new or not, that can be written")


def _line(outcome: Outcome) -> str:
    return f"seed {outcome.seed}: {outcome.place}: {' '.join(outcome.message.split())[:300]}"


def print_report(campaign: Campaign, report: CampaignReport, out: Path, console: Console) -> None:
    """The final tables."""
    figures = report.as_json()
    table = Table("", campaign.what, title=f"{figures['programs']} {campaign.what} in {report.seconds:.0f} s")
    for verdict in (AGREED, REFUSED, FAILED):
        table.add_row(verdict, str(figures[verdict]))
    table.add_section()
    for label, key in _FIGURES:
        if figures[key]:
            table.add_row(label, str(figures[key]))
    console.print(table)
    if report.refusals:
        reasons = Table("refused because", campaign.what, "for example seed", title="refusals")
        for reason, seeds in report.refusals[:MOST_REASONS]:
            reasons.add_row(Text(reason), str(len(seeds)), str(seeds[0]))
        console.print(reasons)
    if report.failed:
        failures = Table("seed", "place", "message", title=f"failures (files are in {out})")
        for outcome in report.failed[:MOST_LISTED]:
            failures.add_row(str(outcome.seed), outcome.place, Text(" ".join(outcome.message.split())[:300]))
        console.print(failures)
        console.print(f"again: {campaign.again(report.failed[0].seed)}", markup=False)


_FIGURES = (
    ("emitted C++ built and run", "simulated"),
    ("executed by MLIR as well", "executed_by_mlir"),
    ("with several groups", "several_groups"),
    ("with a random schedule", "with_schedule"),
    ("drawn again because ill-conditioned", "redrawn"),
)
