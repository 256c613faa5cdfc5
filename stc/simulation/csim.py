"""Run the C simulation of an emitted project and read its report.

The design runs with its real FIFO depths, one fiber per task, once for each draw of inputs in golden/; the testbench compares its
outputs with the golden ones. A mismatch, a deadlock or a crash of the design is a result; an environment or project that cannot be
used is a CompileError.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError
from stc.simulation import sanitizers
from stc.simulation.build import DEFAULT_OPTIMISATION, build, read_sources
from stc.simulation.design_file import is_foreign
from stc.simulation.program_run import ProgramRun, run_program
from stc.simulation.projects import sound_manifest
from stc.simulation.taps import Taps

DEFAULT_TIMEOUT = 600.0  # seconds
MOST_TIMEOUT = 1e6


@dataclass(frozen=True)
class WorstEntry:
    """The entry of an output whose error is the largest `share` of what is `allowed` (absolute; an infinite share is None).

    `got` and `expected` as text with all digits of an integer; `index` counts entries in row-major order.
    """

    index: int
    error: float | None
    allowed: float
    share: float | None
    got: str
    expected: str


@dataclass(frozen=True)
class OutputCheck:
    """One output against its reference. Errors are absolute; `tolerance` is relative, see docs/manual.md, What is checked.

    `wrong` entries are beyond what is allowed, `nan_mismatches` of them because a NaN or infinity is not in its place. Of
    `undecided` ones the reference says nothing: rounding errors alone move it by as much as its size. `passed`: none of either.
    `decided`: it passed where a design that loses its inputs would not.
    `near_ties`: how many integers of activations, which rounding errors decide (stc.tools.near_ties), explain all that is wrong,
    `by_own_number` of them exactly at a tie in the reference, where the number that the design rounds is not.
    `shape`: of the output, empty where nobody has said it. `uncertainty`: how much of what was allowed is due to the reference's
    own rounding errors, in parts of the output's largest magnitude; None where it is not known.
    """

    name: str
    elements: int
    max_abs_error: float
    max_abs_reference: float
    max_abs_reference_minus_input: float | None
    nan_mismatches: int
    wrong: int
    worst: WorstEntry
    tolerance: float
    passed: bool
    shape: tuple[int, ...] = ()
    uncertainty: float | None = None
    undecided: int = 0
    decided: bool = False
    near_ties: int = 0
    by_own_number: int = 0

    @property
    def is_wrong(self) -> bool:
        """Whether there is an entry that nothing explains."""
        return self.wrong > 0 and not self.near_ties

    @property
    def verdict(self) -> str:
        return "WRONG" if self.is_wrong else "near-tie" if self.wrong else "undecided" if self.undecided else "ok"

    @property
    def relative_error(self) -> float:
        """The largest error in parts of the largest magnitude."""
        return self.max_abs_error / self.max_abs_reference if self.max_abs_reference else self.max_abs_error

    @property
    def place(self) -> str:
        """The worst entry as Python indexes it."""
        index, text = self.worst.index, []
        for extent in reversed(self.shape):
            index, rest = divmod(index, extent)
            text.insert(0, str(rest))
        return f"{self.name}[{', '.join(text) if self.shape else index}]"


@dataclass(frozen=True)
class DrawCheck:
    """What came out for one draw of inputs; `outcome` and `explanation` as in CsimResult. `passed`: all outputs are."""

    name: str
    outcome: str
    passed: bool
    explanation: str | None
    seconds: float
    outputs: list[OutputCheck]

    @property
    def failed(self) -> bool:
        """The run did not end, or an entry is wrong."""
        return self.outcome != "finished" or any(check.is_wrong for check in self.outputs)


@dataclass(frozen=True)
class ChannelUse:
    """What went through one stream or stream of blocks. `depth` is None for an unbounded one of the testbench; `bits` of a token
    are 0 where the C++ does not say."""

    name: str
    kind: str
    depth: int | None
    tokens: int
    highest_occupancy: int
    left_over: int
    external: bool
    producer: str
    consumer: str
    bits: int = 0


@dataclass(frozen=True)
class BlockedTask:
    """A task that could not go on: `waits_to` is read, write, join, acquire or poll; `peer` the task at the other end.

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
    `cpu_seconds` what this program had of the processor in it.

    Where several draws of inputs ran, `draws` has them all, and the rest is that of the first one that failed, or of the first.
    `passed`: nothing failed, and each output is decided on some draw. `undecided`: the outputs that are not.
    """

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
    draws: list[DrawCheck] = field(default_factory=list[DrawCheck])
    undecided: list[str] = field(default_factory=list[str])

    @property
    def failed(self) -> bool:
        """A run did not end, or an entry is wrong: what is merely undecided has not failed."""
        return not self.passed and not self.undecided

    @property
    def deadlock(self) -> str | None:
        """The explanation of a deadlock or livelock, or None."""
        return self.explanation if self.outcome in ("deadlock", "livelock") else None


def csim(
    project_dir: Path,
    timeout: float = DEFAULT_TIMEOUT,
    optimisation: int = DEFAULT_OPTIMISATION,
    depths: Mapping[str, int] | None = None,
    draws: Sequence[str] | None = None,
    sanitized: bool = False,
    taps: Taps | None = None,
) -> CsimResult:
    """Build (at g++'s level `optimisation`) and run the C simulation of `project_dir`, each run for at most `timeout` seconds.

    It runs once for each of `draws` (None: all that golden/ has), as far as the first that does not end. `depths` replaces the
    depths of some FIFOs, by name; such a trial runs on one draw and leaves the report of the last ordinary run alone.
    `sanitized`: under AddressSanitizer and UndefinedBehaviorSanitizer, some ten times slower. `taps`: what is written of each draw.
    """
    check_timeout(timeout)
    directory = project_dir.resolve()
    chosen = _chosen(draws, draws_of(directory), directory)
    started = time.perf_counter()
    built = build(directory, optimisation, sanitized=sanitized, tapped=taps is not None)
    build_seconds = time.perf_counter() - started
    program = [str(built.binary)]
    if depths:
        table = "".join(f"{name} {depth}\n" for name, depth in depths.items())
        result = _run_draw(directory, program, chosen[0], None, timeout, tables={"STC_SIM_DEPTHS": table})
    else:
        result = run_draws(directory, program, chosen, timeout, sanitizers.ENVIRONMENT if sanitized else {}, taps)
    return replace(result, build_seconds=build_seconds, cached=built.cached)


def run_draws(
    directory: Path,
    program: Sequence[str],
    draws: Sequence[DrawOfInputs],
    timeout: float,
    variables: Mapping[str, str] | None = None,
    taps: Taps | None = None,
) -> CsimResult:
    """What `program` makes of each of `draws`, as far as the first that does not end; writes DIR/build/csim*.json.

    `variables` are added to its environment.
    """
    results: list[CsimResult] = []
    for draw in draws:
        report = f"csim_{draw.name}.json" if len(draws) > 1 else "csim.json"
        tables = {} if taps is None else taps.tables(draw.name)
        results.append(_run_draw(directory, program, draw, report, timeout, variables, tables))
        if results[-1].outcome != "finished":
            break
    told = next((result for result in results if result.failed), results[0])
    draws_run = [draw for result in results for draw in result.draws]
    undecided = [] if told.failed else undecided_outputs([result.outputs for result in results])
    return replace(told, draws=draws_run, undecided=undecided, passed=not told.failed and not undecided)


def undecided_outputs(draws: Sequence[Sequence[OutputCheck]]) -> list[str]:
    """The outputs with undecided entries in some draw that no draw decides."""
    by_name: dict[str, list[OutputCheck]] = {}
    for check in (check for outputs in draws for check in outputs):
        by_name.setdefault(check.name, []).append(check)
    return [
        name
        for name, checks in by_name.items()
        if any(check.undecided for check in checks) and not any(check.decided for check in checks)
    ]


@dataclass(frozen=True)
class DrawOfInputs:
    """A draw as the manifest has it; `shapes` and `uncertainty` by output. `decides` None: every output that is not all zeros."""

    name: str
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict[str, tuple[int, ...]])
    uncertainty: Mapping[str, float] = field(default_factory=dict[str, float])
    decides: tuple[str, ...] | None = None


NO_DRAW = DrawOfInputs("")
"""Of a testbench that brings its own inputs."""


def draws_of(directory: Path) -> list[DrawOfInputs]:
    """What golden/ of an emitted project has; nothing where the testbench brings its own inputs."""
    if is_foreign(directory):
        return [NO_DRAW]
    read_sources(directory)
    manifest = sound_manifest(directory)
    shapes = {tensor.name: tensor.shape for tensor in manifest.tensors}
    return [DrawOfInputs(draw.name, shapes, draw.uncertainty, draw.decides) for draw in manifest.draws] or [NO_DRAW]


def _chosen(names: Sequence[str] | None, known: Sequence[DrawOfInputs], directory: Path) -> list[DrawOfInputs]:
    by_name = {draw.name: draw for draw in known}
    for name in names or ():
        if name not in by_name:
            accepted = ", ".join(filter(None, by_name)) or "no choice of inputs: the testbench brings its own"
            raise CompileError(f"no draw of inputs is called '{name}'", where=str(directory), accepted=accepted)
    return [by_name[name] for name in names] if names else list(known)


def _run_draw(
    directory: Path,
    program: Sequence[str],
    draw: DrawOfInputs,
    report: str | None,
    timeout: float,
    variables: Mapping[str, str] | None = None,
    tables: Mapping[str, str] | None = None,
) -> CsimResult:
    arguments = [draw.name] if draw.name else []
    run = run_program(program, directory, report, variables or {}, timeout, arguments, tables)
    return csim_result(sanitizers.told(run), draw=draw)


def check_timeout(timeout: float) -> None:
    """CompileError unless `timeout` is a number of seconds that can be waited."""
    if not 0 < timeout <= MOST_TIMEOUT:
        raise CompileError(f"a timeout of {timeout:g} s", accepted=f"a positive number of seconds, at most {MOST_TIMEOUT:g}")


def csim_result(
    run: ProgramRun, build_seconds: float = 0.0, cached: bool = False, draw: DrawOfInputs = NO_DRAW
) -> CsimResult:
    """What a run says of the values: its report, or why there is none."""
    result = _result(run, build_seconds, cached, draw)
    if not draw.name:
        return result
    passed = not result.failed and all(check.passed for check in result.outputs)
    check = DrawCheck(draw.name, result.outcome, passed, result.explanation, result.seconds, result.outputs)
    return replace(result, draws=[check])


def _result(run: ProgramRun, build_seconds: float, cached: bool, draw: DrawOfInputs) -> CsimResult:
    if run.report is None:
        seconds = run.seconds if run.outcome == "timeout" else 0.0
        return CsimResult(run.outcome, False, run.failure, seconds, build_seconds, cached)
    content = run.report
    explanation = content["explanation"]
    if content.get("aborted") and run.message:
        explanation = f"{explanation}: {run.message}"
    outputs = [_output(entry, draw) for entry in content["outputs"]]
    undecided = undecided_outputs([outputs]) if content["passed"] else []
    return CsimResult(
        outcome=content["outcome"],
        passed=content["passed"] and not undecided,
        explanation=explanation,
        seconds=content["seconds"],
        build_seconds=build_seconds,
        cached=cached,
        outputs=outputs,
        channels=[ChannelUse(**c) for c in content["channels"]],
        blocked=[BlockedTask(**b) for b in content["blocked"]],
        cpu_seconds=content.get("cpu_seconds"),
        undecided=undecided,
    )


def _output(content: Mapping[str, Any], draw: DrawOfInputs) -> OutputCheck:
    name = content["name"]
    known: dict[str, Any] = dict(content) | {"worst": WorstEntry(**content["worst"]), "shape": draw.shapes.get(name, ())}
    passed = content["passed"] and not content.get("undecided")
    decides = content["max_abs_reference"] > 0 if draw.decides is None else name in draw.decides
    known |= {"uncertainty": draw.uncertainty.get(name), "passed": passed, "decided": passed and decides}
    return OutputCheck(**known)
