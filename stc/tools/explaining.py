"""Explanations at the command line: why a run deadlocks, what a task waits for, what the manifest alone tells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from stc.simulation.csim import CsimResult, csim
from stc.simulation.explanation import Explanation, explain
from stc.simulation.projects import project_manifest
from stc.simulation.simulate import SimulationResult, TimedDesign
from stc.simulation.static_checks import StaticReport
from stc.simulation.timing_table import SimulationOptions
from stc.simulation.waiting import Root, Waiting

MOST_PATHS = 20


def explain_csim(directory: Path, result: CsimResult, timeout: float) -> Explanation | None:
    """Why the C simulation of `directory` did not end, with the least FIFO depths that fix it; None where it ended."""
    return explain(project_manifest(directory.resolve()), result, lambda depths: csim(directory, timeout, depths=depths))


def explanation_json(result: CsimResult, explanation: Explanation | None) -> dict[str, Any] | None:
    """The field "explanation" of JSON output: None where nothing went wrong; `cause` and `text` are always there."""
    if explanation is not None:
        return explanation.as_json()
    return {"cause": result.outcome, "text": result.explanation} if result.explanation is not None else None


def explain_simulation(
    design: TimedDesign, options: SimulationOptions, result: SimulationResult, timeout: float
) -> Explanation | None:
    """Why a timed run with `options` did not end, with the least FIFO depths that fix it; None where it ended."""

    def rerun(depths: Mapping[str, int]) -> CsimResult:
        changed = replace(options, depths={**options.depths, **depths}, invocations=options.invocations, limit=None)
        return design.run(changed, timeout, report=None).values

    return explain(design.manifest, result.values, rerun)


def print_waiting(waiting: Waiting, console: Console) -> None:
    """One task: shares of its time and who is to blame, then its phases with the chains of causes."""
    calls = "" if waiting.calls == 1 else f", {waiting.calls} calls"
    lines = [f"{waiting.task}: cycles {waiting.begin:,} to {waiting.end:,}{calls}"]
    shares = {"works": waiting.busy, **waiting.lost}
    lines.append("  " + ", ".join(f"{words} {_percent(share)}" for words, share in shares.items()))
    lines += [f"  {_percent(share)} is lost while {root}" for root, share in list(waiting.roots.items())[:MOST_ROOTS]]
    for phase in waiting.phases:
        lost = f" ({phase.lost:,} cycles)" if phase.lost else ""
        lines.append(f"from {phase.begin:,} to {phase.end:,} it {phase.text}{lost}")
        roots = [root for root in phase.roots[:MOST_ROOTS] if root.chain and root.share >= LEAST_SHARE]
        lines += [f"    {_percent(root.share)} because {_chain(root, index == 0)}" for index, root in enumerate(roots)]
    for line in lines:
        console.print(line, markup=False, soft_wrap=True)


MOST_ROOTS = 5
LEAST_SHARE = 0.01
LONGEST_CHAIN = 8


def _chain(root: Root, whole: bool) -> str:
    """The chain in words: all of it (the middle of a long one left out), or its first and last link."""
    links = [link.text for link in root.chain]
    half = LONGEST_CHAIN // 2 if whole else 1
    if len(links) > 2 * half:
        links[half:-half] = [f"... ({len(links) - 2 * half} more)"]
    return ", because ".join(links)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _listed(names: Sequence[str]) -> str:
    more = len(names) - MOST_PATHS
    return ", ".join(names[:MOST_PATHS]) + (f", and {more} more" if more > 0 else "")


def print_static(report: StaticReport, console: Console) -> None:
    """What the manifest alone tells."""
    for finding in report.findings:
        console.print(f"{finding.severity}: {finding.where}: {finding.text}", markup=False, soft_wrap=True)
    console.print(f"{report.channels} FIFOs and rings of blocks: {len(report.counted)} with token counts that agree on both sides, "
                  f"{len(report.bridges)} on no undirected cycle of tasks (no depth of these can make a deadlock)", soft_wrap=True)
    if report.crossing:
        console.print(f"between several sources or sinks, where depth matters too: {', '.join(report.crossing)}", soft_wrap=True)
    if report.reconvergent_paths:
        console.print(f"paths part and meet again {len(report.reconvergent_paths)} times; there depth decides about deadlocks:")
    for entry in report.reconvergent_paths[:MOST_PATHS]:
        ways = "; or by ".join(", ".join(side) for side in entry.sides)
        console.print(f"  {entry.parts} to {entry.meets}: by {ways}", markup=False, soft_wrap=True)
    if len(report.reconvergent_paths) > MOST_PATHS:
        console.print(f"  and {len(report.reconvergent_paths) - MOST_PATHS} more (--json lists all)")
    if report.doubtful:
        text = "whether it ends, only a run tells: tasks may form a wait-for cycle where one of these is full: "
        console.print(text + _listed(report.doubtful), markup=False, soft_wrap=True)
    if report.ends:
        console.print("it ends, however long its loops take: at these depths there is no wait-for cycle", soft_wrap=True)
    console.print(f"{'passed' if report.passed else 'FAILED'} (computed from the manifest, nothing was run)")
