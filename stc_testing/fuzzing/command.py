"""`stc fuzz`: a campaign with progress, files of failing programs, tables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import SMALL, searched_limits
from stc.tools.consoles import messages, output, print_json
from stc.transforms import our_passes
from stc_testing.fuzzing.campaign import Campaign, CampaignReport, IntegerCampaign, run_campaign
from stc_testing.fuzzing.levels import AGREED, CHOSEN, FAILED, REFUSED, Outcome
from stc_testing.fuzzing.mutants import MutationCampaign
from stc_testing.fuzzing.run_time_sizes import RunTimeCampaign
from stc_testing.fuzzing.schedules import RANDOM

PROGRAM_FAILED = 1
LIT_TESTS = Path("filecheck_tests")
MOST_LISTED = 20
"""Failures that the table shows."""
MOST_REASONS = 30
"""Reasons of refusals that the table shows, the most frequent ones."""
_COLOURS = {AGREED: "green", REFUSED: "yellow", FAILED: "red"}


def fuzz_command(
    count: Annotated[int, typer.Option(help="How many random programs, or mutants.", min=1)] = 100,
    seed: Annotated[int, typer.Option(help="Seed of the first; the others follow.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes at a time.", min=1)] = 1,
    csim_every: Annotated[int, typer.Option(help="Build and run the emitted C++ of every Kth; 0: of none.", min=0)] = 1,
    mlir_every: Annotated[int, typer.Option(help="Ask MLIR's execution engine about every Kth; 0: none.", min=0)] = 1,
    run_time_sizes: Annotated[
        bool, typer.Option("--run-time-sizes", help="Programs of which as many rows are there as a scalar says: 0, 1, some, all.")
    ] = False,
    integers: Annotated[
        bool, typer.Option("--integers", help="Programs of integers of 2 to 63 bits, products of narrow ones among them.")
    ] = False,
    budget: Annotated[
        str,
        typer.Option(
            help="As in stc compile: small, plan, 'dsp=60%,ports=29'; programs with more to speed up, by either strategy. "
            "random: any of several for each program."
        ),
    ] = SMALL,
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

    Examples: stc fuzz --count 100 --seed 0 --jobs 2, stc fuzz --integers --count 100, stc fuzz --budget random --count 100,
    stc fuzz --mutate --count 5000
    """
    if integers and (run_time_sizes or mutate):
        raise CompileError("--integers is given with other programs", accepted="one of --integers, --run-time-sizes, --mutate")
    if mutate and budget != SMALL:
        raise CompileError("--budget is given with --mutate", accepted="--budget with random programs")
    _require_budget(budget)
    kind = RunTimeCampaign if run_time_sizes else IntegerCampaign if integers else Campaign
    campaign = kind(count, seed, jobs, csim_every, mlir_every, budget=budget)
    if mutate:
        sources = tuple(source or [_own_lit_tests()])
        campaign = MutationCampaign(count, seed, jobs, csim_every=0, mlir_every=0, sources=sources)
    report = run_with_progress(campaign, out, messages)
    if as_json:
        print_json(report.as_json())
    else:
        print_report(campaign, report, out, output)
    if report.failed:
        raise typer.Exit(PROGRAM_FAILED)


def _require_budget(budget: str) -> None:
    """CompileError for what is no budget of the platform."""
    if budget != RANDOM:
        searched_limits(budget, PipelineOptions.platform)


def _own_lit_tests() -> Path:
    """Those of stc, where it runs in its checkout."""
    if not LIT_TESTS.is_dir():
        accepted = "--source with a folder of lit tests (*.mlir with RUN lines), or the folder of stc's own checkout"
        raise CompileError(f"no folder '{LIT_TESTS}' here to mutate", where=str(Path.cwd()), accepted=accepted)
    return LIT_TESTS


def run_with_progress(campaign: Campaign, out: Path, console: Console) -> CampaignReport:
    """Run a campaign; failures are printed as they come and written into `out`. CompileError where there is no C++ compiler."""
    _require_writable(out)
    for load in our_passes().values():
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
    table.add_section()
    for what, count in report.sped_up.items():
        table.add_row(f"with {what}" if what in CHOSEN else f"changed by {what}", str(count))
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
    ("searched within a budget", "searched"),
    ("with a result in place", "in_place"),
    ("agreed, with a result in place", "in_place_agreed"),
    ("drawn again because ill-conditioned", "redrawn"),
)
