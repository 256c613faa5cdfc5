"""Emission with depths that runs have found: `stc compile --minimise-depths`.

The design is emitted to a temporary folder, sized there by running it, its FIFOs get the minimal depths as required ones (margin
and rounding are those of `size-fifos`, which also makes sure that the design ends whatever time its loops take), and it is
emitted once more.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console

from stc.simulation.design_runs import DesignRuns
from stc.simulation.projects import ORIGIN
from stc.tools.size import Confirmation, Progress, Sizing, confirm, size_project


def minimised_sizing(emit: Callable[[Path], None], slack: float, progress: Progress) -> Sizing:
    """What sizing finds for the design that `emit` writes into a new folder."""
    with tempfile.TemporaryDirectory(prefix="stc-minimise-") as folder:
        emit(Path(folder) / "project")
        return size_project(Path(folder) / "project", slack, progress=progress)


def minimisation_report(sizing: Sizing) -> dict[str, Any]:
    """For report.json: from what to what, in bits and cycles."""
    optimum = sizing.optimum
    return {
        "origin": ORIGIN,
        "slack": sizing.slack,
        "cycles": {"unlimited": sizing.worst.cycles, "before": sizing.emitted.cycles, "minimal": sizing.minimal.cycles},
        "bits": {
            "emitted_before": sizing.emitted.bits,
            "required_before": None if sizing.required is None else sizing.required.bits,
            "minimal": sizing.minimal.bits,
            "optimum": None if optimum is None else optimum.bits,
        },
        "depths": sizing.depths,
        "runs": sizing.runs,
        "seconds": sizing.seconds,
    }


@dataclass(frozen=True)
class MinimisationCheck:
    """The design that was emitted in the end: cycles at its depths and without limits; how it ends with loop depths doubled."""

    emitted: Confirmation
    unlimited: int
    larger_loop_depths: str

    @property
    def passed(self) -> bool:
        return self.emitted.verdict in ("equal", "within slack") and self.larger_loop_depths == "finished"


def print_minimisation(report: dict[str, Any], check: MinimisationCheck, console: Console) -> None:
    """Two lines: what minimisation found, and what the design that was emitted with it does."""
    bits, emitted = report["bits"], check.emitted
    before = f"{bits['required_before']:,} bits by the LP, " if bits["required_before"] is not None else ""
    console.print(f"FIFOs minimised by {report['runs']} runs: {before}{bits['minimal']:,} bits, without margin and rounding")
    cycles = "does not end" if emitted.cycles is None else f"{emitted.cycles:,} cycles"
    sized = f"{emitted.bits:,} bits with margin and rounding ({bits['emitted_before']:,} before)"
    console.print(f"emitted so: {cycles}, {emitted.verdict} ({check.unlimited:,} with unlimited FIFOs), {sized}; "
                  f"with loop depths doubled: {check.larger_loop_depths} ({ORIGIN})")


def check_minimised(out: Path, slack: float, progress: Progress) -> MinimisationCheck:
    """Build and run the emitted design."""
    progress("building and running the minimal design")
    runs = DesignRuns.build(out)
    judge, emitted, larger = confirm(runs, slack)
    return MinimisationCheck(emitted, judge.cycles, larger.outcome)
