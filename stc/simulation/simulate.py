"""Run an emitted project with time: values, cycles, and what every task waited for."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stc.manifest.files import read_manifest
from stc.manifest.schema import Manifest
from stc.simulation.build import DEFAULT_OPTIMISATION, build
from stc.simulation.csim import DEFAULT_TIMEOUT, CsimResult, run_simulation
from stc.simulation.timing_table import SimulationOptions, timing_table

MEMORY = "external memory"
REPORT = "simulate.json"


@dataclass(frozen=True)
class Wait:
    """From cycle `begin` to `end` a task waited, mostly, to read or write `channel`; `cycles` of them were lost."""

    channel: str
    reads: bool
    begin: int
    end: int
    cycles: int


@dataclass(frozen=True)
class TaskTime:
    """One task over all its calls. `busy` are the cycles between first start and last end in which it did not wait."""

    name: str
    calls: tuple[tuple[int, int], ...]
    stalled_reading: int
    stalled_writing: int
    waits: tuple[Wait, ...]

    @property
    def begin(self) -> int:
        return self.calls[0][0]

    @property
    def end(self) -> int:
        return self.calls[-1][1]

    @property
    def busy(self) -> int:
        return sum(until - begin for begin, until in self.calls) - self.stalled_reading - self.stalled_writing


@dataclass(frozen=True)
class FifoTime:
    """One FIFO or ring of blocks. Curves are (cycle, count from then on), thinned to at most 1024 points."""

    name: str
    depth: int | None
    tokens: int
    highest_occupancy: int
    stalled_reader: int
    stalled_writer: int
    producer: str
    consumer: str
    produced: tuple[tuple[int, int], ...]
    consumed: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class SimulationResult:
    """`ends`: for each kernel the cycle in which each of its invocations ended. `launch_cycles`: what launches cost besides."""

    values: CsimResult
    ends: dict[str, tuple[int, ...]]
    first_output: int | None
    launch_cycles: int
    clock_mhz: float | None
    tasks: tuple[TaskTime, ...]
    fifos: tuple[FifoTime, ...]

    @property
    def passed(self) -> bool:
        return self.values.passed

    @property
    def cycles(self) -> int | None:
        """Of one invocation of every kernel, one after the other, launches apart; None where the run did not end."""
        return sum(ends[0] for ends in self.ends.values()) if self.values.outcome == "finished" else None

    @property
    def interval(self) -> int | None:
        """Cycles between the last two ends, summed over kernels; None after a single invocation."""
        if any(len(ends) < 2 for ends in self.ends.values()):
            return None
        return sum(ends[-1] - ends[-2] for ends in self.ends.values())


def simulate(
    project_dir: Path,
    options: SimulationOptions | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    optimisation: int = DEFAULT_OPTIMISATION,
) -> SimulationResult:
    """Build and run `project_dir` with time, for at most `timeout` seconds of run.

    CompileError for unusable projects or options.
    """
    options = options or SimulationOptions()
    directory = project_dir.resolve()
    manifest = read_manifest(directory)
    table = timing_table(manifest, options)
    started = time.perf_counter()
    built = build(directory, optimisation, timed=True)
    build_seconds = time.perf_counter() - started
    timing = directory / "build" / "timing.txt"
    timing.write_text(table)
    variables = {"STC_SIM_TIMING": str(timing), "STC_SIM_INVOCATIONS": str(options.invocations)}
    values = run_simulation(built, directory, REPORT, variables, build_seconds, timeout)
    report = directory / "build" / REPORT
    if not report.is_file():
        return SimulationResult(values, {}, None, 0, None, (), ())
    return _result(manifest, values, json.loads(report.read_text())["timing"])


def _result(manifest: Manifest, values: CsimResult, timing: dict[str, Any]) -> SimulationResult:
    channels = [entry["channel"] for entry in timing["channels"]]
    kernels = {kernel.name for kernel in manifest.kernels}
    ends: dict[str, tuple[int, ...]] = {}
    for kernel, end in timing["invocations"]:
        ends[kernel] = (*ends.get(kernel, ()), end)
    uses = {use.name: use for use in values.channels}
    fifos = tuple(
        FifoTime(
            name=entry["channel"],
            depth=uses[entry["channel"]].depth,
            tokens=uses[entry["channel"]].tokens,
            highest_occupancy=entry["highest_occupancy"],
            stalled_reader=entry["stalled_reader"],
            stalled_writer=entry["stalled_writer"],
            producer=uses[entry["channel"]].producer,
            consumer=uses[entry["channel"]].consumer,
            produced=tuple((at, count) for at, count in entry["produced"]),
            consumed=tuple((at, count) for at, count in entry["consumed"]),
        )
        for entry in timing["channels"]
        if entry["channel"] in uses
    )
    outputs = [entry["first_write"] for entry in timing["ports"] if entry["first_write"] is not None]
    clock = manifest.memory.clock_mhz if manifest.memory is not None else None
    launch = round(manifest.memory.launch_us * manifest.memory.clock_mhz) if manifest.memory is not None else 0
    return SimulationResult(
        values=values,
        ends=ends,
        first_output=min(outputs, default=None),
        launch_cycles=launch * len(manifest.kernels),
        clock_mhz=clock,
        tasks=tuple(_task(entry, channels) for entry in timing["tasks"] if entry["task"] not in kernels),
        fifos=fifos,
    )


def _task(entry: dict[str, Any], channels: list[str]) -> TaskTime:
    waits = tuple(
        Wait(channels[channel] if channel >= 0 else MEMORY, kind == "read", begin, end, cycles)
        for channel, kind, begin, end, cycles in entry["stalls"]
    )
    calls = tuple((begin, end) for begin, end in entry["calls"])
    return TaskTime(entry["task"], calls, entry["stalled_reading"], entry["stalled_writing"], waits)
