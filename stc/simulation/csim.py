"""Run the C simulation of an emitted project and read its report.

The design runs with its real FIFO depths, one fiber per task; the testbench compares its outputs with the golden ones. A
mismatch, a deadlock or a crash of the design is a result; an environment or project that cannot be used is a CompileError.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from stc.diagnostics import CompileError
from stc.simulation.build import DEFAULT_OPTIMISATION, build
from stc.simulation.program_run import ProgramRun, run_program

DEFAULT_TIMEOUT = 600.0  # seconds
MOST_TIMEOUT = 1e6


@dataclass(frozen=True)
class OutputCheck:
    """One output against its reference. Errors are absolute; `tolerance` is relative to the two maxima."""

    name: str
    elements: int
    max_abs_error: float
    max_abs_reference: float
    max_abs_reference_minus_input: float | None
    nan_mismatches: int
    tolerance: float
    passed: bool


@dataclass(frozen=True)
class ChannelUse:
    """What went through one stream or stream of blocks. `depth` is None for an unbounded one of the testbench."""

    name: str
    kind: str
    depth: int | None
    tokens: int
    highest_occupancy: int
    left_over: int
    external: bool
    producer: str
    consumer: str


@dataclass(frozen=True)
class BlockedTask:
    """A task that could not go on: `waits_to` is read, write, join, handover or poll; `peer` the task at the other end.

    `held_back`: tokens of the channel that its writer has computed but keeps in a pipeline that stops as a whole (stp).
    """

    task: str
    waits_to: str
    channel: str
    kind: str
    peer: str
    occupancy: int
    depth: int | None
    tokens_written: int
    tokens_read: int
    uncommitted_reads: int
    loop: str
    line: int
    held_back: int = 0


@dataclass(frozen=True)
class CsimResult:
    """`outcome` is finished, deadlock, livelock, leftover, error, crash or timeout; `seconds` the time inside the top function,
    `cpu_seconds` what this program had of the processor in it."""

    outcome: str
    passed: bool
    explanation: str | None
    seconds: float
    build_seconds: float
    cached: bool
    outputs: list[OutputCheck] = field(default_factory=list)
    channels: list[ChannelUse] = field(default_factory=list)
    blocked: list[BlockedTask] = field(default_factory=list)
    cpu_seconds: float | None = None

    @property
    def deadlock(self) -> str | None:
        """The explanation of a deadlock or livelock, or None."""
        return self.explanation if self.outcome in ("deadlock", "livelock") else None


def csim(
    project_dir: Path,
    timeout: float = DEFAULT_TIMEOUT,
    optimisation: int = DEFAULT_OPTIMISATION,
    depths: Mapping[str, int] | None = None,
) -> CsimResult:
    """Build (at g++'s level `optimisation`) and run the C simulation of `project_dir`, for at most `timeout` seconds of run.

    `depths` replaces the depths of some FIFOs, by name; such a trial leaves the report of the last ordinary run alone.
    """
    check_timeout(timeout)
    directory = project_dir.resolve()
    started = time.perf_counter()
    built = build(directory, optimisation)
    variables: dict[str, str] = {}
    report = "csim_trial.json" if depths else "csim.json"
    if depths:
        table = directory / "build" / "csim_depths.txt"
        table.write_text("".join(f"{name} {depth}\n" for name, depth in depths.items()))
        variables["STC_SIM_DEPTHS"] = str(table)
    build_seconds = time.perf_counter() - started
    run = run_program([str(built.binary)], directory, directory / "build" / report, variables, timeout)
    return csim_result(run, build_seconds, built.cached)


def check_timeout(timeout: float) -> None:
    """CompileError unless `timeout` is a number of seconds that can be waited."""
    if not 0 < timeout <= MOST_TIMEOUT:
        raise CompileError(f"a timeout of {timeout:g} s", accepted=f"a positive number of seconds, at most {MOST_TIMEOUT:g}")


def csim_result(run: ProgramRun, build_seconds: float = 0.0, cached: bool = False) -> CsimResult:
    """What a run says of the values: its report, or why there is none."""
    if run.report is None:
        seconds = run.seconds if run.outcome == "timeout" else 0.0
        return CsimResult(run.outcome, False, run.failure, seconds, build_seconds, cached)
    content = run.report
    return CsimResult(
        outcome=content["outcome"],
        passed=content["passed"],
        explanation=content["explanation"],
        seconds=content["seconds"],
        build_seconds=build_seconds,
        cached=cached,
        outputs=[OutputCheck(**o) for o in content["outputs"]],
        channels=[ChannelUse(**c) for c in content["channels"]],
        blocked=[BlockedTask(**b) for b in content["blocked"]],
        cpu_seconds=content.get("cpu_seconds"),
    )
