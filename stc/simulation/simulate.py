"""Run an emitted project with time: values, cycles, and what every task waited for."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest, repeated_name
from stc.manifest.sizes import at_values, of_launch
from stc.simulation.build import TIMED_OPTIMISATION, Build, build
from stc.simulation.cross_check import check_against_manifest
from stc.simulation.csim import DEFAULT_TIMEOUT, CsimResult, csim_result
from stc.simulation.memory_traffic import measured_channels
from stc.simulation.program_run import run_program
from stc.simulation.projects import origin_of_cycles, project_manifest, scalars_of_draw
from stc.simulation.simulation_result import MEMORY, FifoTime, LoopRan, SimulationResult, TaskTime, Wait
from stc.simulation.timing_table import NO_PLATFORM, SimulationOptions, linked_table, timing_table, unknown_fifo
from stc.simulation.utilisation import Utilisation, measured_utilisation

REPORT = "simulate.json"
"""What a run leaves in DIR/build."""


@dataclass(frozen=True)
class TimedDesign:
    """A project whose C++ has been built with time, for any number of runs, with the loops and FIFOs of `manifest`.

    `emitted`: the manifest that came with the C++, which what runs is checked against.
    """

    directory: Path
    manifest: Manifest
    built: Build
    build_seconds: float
    emitted: Manifest | None = None

    def run(
        self, options: SimulationOptions | None = None, timeout: float = DEFAULT_TIMEOUT, report: str | None = REPORT
    ) -> SimulationResult:
        """One run of at most `timeout` seconds, which writes DIR/build/`report` (None: nothing).

        CompileError for unusable options, and for a manifest that does not describe what ran: then there is no report either.
        """
        options = options or SimulationOptions()
        table = timing_table(self.manifest, options)
        variables = {"STC_SIM_INVOCATIONS": str(options.invocations)}
        tables = {"STC_SIM_TIMING": table, "STC_SIM_LINKED": linked_table(self.manifest)}
        at_values(self.manifest, options.at)  # refused before anything is run
        variables |= {"STC_SIM_AT": ",".join(f"{name}={value}" for name, value in options.at.items())} if options.at else {}
        run = run_program([str(self.built.binary)], self.directory, report, variables, timeout, tables=tables)
        values = csim_result(run, self.build_seconds, self.built.cached)
        if run.report is None:
            return SimulationResult(values, {}, None, 0, None, (), ())
        result = _result(self.manifest, values, run.report["timing"])
        try:
            self._check(result, options)
        except CompileError:
            if report is not None:
                (self.directory / "build" / report).unlink(missing_ok=True)
            raise
        notes = (*self.built.notes, *self.manifest.notes)
        return replace(result, origin=origin_of_cycles(self.manifest), notes=notes, compared=not options.at)

    def check(self) -> None:
        """CompileError if the manifest does not describe what runs; nothing of the run is kept."""
        self.run(report=None)

    def utilisation(self, result: SimulationResult, options: SimulationOptions) -> Utilisation | None:
        """What a run with `options` used of multipliers and ports; None where that is not known."""
        return measured_utilisation(self.as_run(self.manifest, options), result)

    def as_run(self, manifest: Manifest, options: SimulationOptions) -> Manifest:
        """`manifest` where scalars have the values that they have in a run, all steps of a launch together."""
        return of_launch(manifest, scalars_of_draw(self.directory, manifest) | dict(options.at))

    def _check(self, result: SimulationResult, options: SimulationOptions) -> None:
        if self.emitted is not None and self.emitted.platform != NO_PLATFORM:
            check_against_manifest(self.as_run(self.emitted, options), result, options.invocations, str(self.directory))
        if self.manifest.platform != NO_PLATFORM:
            return
        known = {fifo.name for fifo in result.fifos}
        for fifo in options.depths:
            if fifo not in known:
                raise unknown_fifo(fifo, known)


def timed_design(project_dir: Path, optimisation: int = TIMED_OPTIMISATION, report: Path | None = None) -> TimedDesign:
    """Build `project_dir` with time, at g++'s level `optimisation`, a foreign design with the figures of a vendor's `report`.
    CompileError for unusable projects."""
    directory = project_dir.resolve()
    manifest = project_manifest(directory, report)
    started = time.perf_counter()
    built = build(directory, optimisation, timed=True, report=report)
    return TimedDesign(directory, manifest, built, time.perf_counter() - started, manifest)


def simulate(
    project_dir: Path,
    options: SimulationOptions | None = None,
    timeout: float = DEFAULT_TIMEOUT,
    optimisation: int = TIMED_OPTIMISATION,
) -> SimulationResult:
    """Build and run `project_dir` with time, for at most `timeout` seconds of run.

    CompileError for unusable projects or options.
    """
    options = options or SimulationOptions()
    timing_table(project_manifest(project_dir.resolve()), options)   # refused before anything is built
    return timed_design(project_dir, optimisation).run(options, timeout)


def _result(manifest: Manifest, values: CsimResult, timing: dict[str, Any]) -> SimulationResult:
    channels = [entry["channel"] for entry in timing["channels"]]
    releases = timing.get("releases", [])
    units = [unit.name for kernel in manifest.kernels for unit in kernel.units]
    tops = {*(kernel.name for kernel in manifest.kernels), *units, *map(repeated_name, units)}
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
            kind=uses[entry["channel"]].kind,
            declared_depth=entry.get("declared_depth", 0),
            latency=entry["latency"],
            lead=entry.get("lead", 0),
            crossing=entry.get("crossing", 0),
        )
        for entry in timing["channels"]
        if entry["channel"] in uses
    )
    clock = manifest.memory.clock_mhz if manifest.memory is not None else None
    launch = round(manifest.memory.launch_us * manifest.memory.clock_mhz) if manifest.memory is not None else 0
    return SimulationResult(
        values=values,
        ends=ends,
        first_output=first_output(manifest, timing, ends),
        launch_cycles=launch * len(manifest.kernels),
        clock_mhz=clock,
        tasks=tuple(_task(entry, channels, releases) for entry in timing["tasks"] if entry["task"] not in tops),
        fifos=fifos,
        loops=tuple(
            LoopRan(entry["function"], entry["label"], entry["line"], entry["pragma_ii"], entry["ii"], entry["depth"])
            for entry in timing.get("loops", [])
        ),
        memory=measured_channels(manifest, timing, ends) if values.outcome == "finished" and ends else None,
        steps=max((kernel.steps for kernel in manifest.kernels), default=1),
        kernel_tasks={kernel.name: tuple(task.name for task in kernel.tasks) for kernel in manifest.kernels},
    )


def first_output(manifest: Manifest, timing: Mapping[str, Any], ends: Mapping[str, Sequence[int]]) -> int | None:
    """The cycle of the first word that is written to an output, counted as `cycles` are: kernels run one after the other.

    `timing`: of the run's report, with times in each kernel's own cycles; `ends`: of the kernels that ended, in that order. A word
    that is written outside loops is there when its task returns. None where nothing was written, as far as is known.
    """
    written = {entry["port"]: entry["first_write"] for entry in timing["ports"] if entry["first_write"] is not None}
    if manifest.platform == NO_PLATFORM:
        return min(written.values(), default=None)
    returned = {entry["task"]: entry["calls"][0][1] for entry in timing["tasks"] if entry["calls"]}
    found: list[int] = []
    before = 0
    for kernel in map(manifest.kernel, dict.fromkeys([*ends, *(kernel.name for kernel in manifest.kernels)])):
        outputs = {port.name for port in kernel.ports if port.kind == "output"}
        stores = [(task.name, port) for task in kernel.tasks for port in task.writes if port in outputs]
        found += [before + written[port] for _, port in stores if port in written]
        if kernel.name not in ends:
            break
        found += [before + returned[task] for task, port in stores if port not in written and task in returned]
        before += ends[kernel.name][0]
    return min(found, default=None)


def _task(entry: dict[str, Any], channels: list[str], releases: list[list[str]]) -> TaskTime:
    waits = tuple(
        _wait(number, channels, releases, (kind == "read", begin, end, cycles))
        for number, kind, begin, end, cycles in entry["stalls"]
    )
    calls = tuple((begin, end) for begin, end in entry["calls"])
    return TaskTime(entry["task"], calls, entry["stalled_reading"], entry["stalled_writing"], waits)


def _wait(number: int, channels: list[str], releases: list[list[str]], rest: tuple[bool, int, int, int]) -> Wait:
    """`number` as in clock.h: of a channel, -1 for external memory, below that a release."""
    if number >= 0:
        return Wait(channels[number], *rest)
    if number == -1:
        return Wait(MEMORY, *rest)
    name, peer = releases[-2 - number]
    return Wait(name, *rest, peer)
