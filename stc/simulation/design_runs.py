"""Many runs of one built design with other FIFO depths: what a search for depths asks.

    runs = DesignRuns.build(DIR)
    runs.emitted.cycles                                     # at the depths in the source
    unlimited = runs.run(runs.unlimited)                    # every FIFO that is sized holds all its tokens
    runs.run({**runs.unlimited, "h": 3}, limit=unlimited.cycles)

A run costs the start of a process and the simulation itself: 4 ms for a small design. *Memory-fed* FIFOs, written by a load task,
keep their depth in every run: a stalled DMA costs nothing, and how far it runs ahead has its own budget.

A FIFO in RAM is read a cycle later than one of registers, so that another depth could change a run by its latency rather than by
its slots. All runs keep the latency that each FIFO has at its emitted depth (timing_table.fifo_latency).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError
from stc.manifest.schema import Manifest, Stream
from stc.simulation.build import TIMED_OPTIMISATION
from stc.simulation.csim import BlockedTask
from stc.simulation.program_run import run_program
from stc.simulation.projects import sound_manifest
from stc.simulation.simulate import timed_design
from stc.simulation.simulation_result import SimulationResult
from stc.simulation.task_graphs import memory_fed
from stc.simulation.timing_table import NO_PLATFORM, SimulationOptions, timing_table

TIMEOUT = 600.0
"""Seconds that one run may take."""


@dataclass(frozen=True)
class DesignRun:
    """One run. `outcome` as in CsimResult, or "limit"; `cycles` is None unless it is "finished".

    `occupancies`: most tokens in each FIFO at one time, as far as the run went.
    `values_agree`: with the expected outputs; `stalled_writers`: cycles that the writer of each FIFO waited for room.
    """

    outcome: str
    cycles: int | None
    values_agree: bool
    occupancies: Mapping[str, int]
    blocked: tuple[BlockedTask, ...]
    explanation: str | None
    seconds: float
    stalled_writers: Mapping[str, int]


@dataclass
class DesignRuns:
    """`program`, followed by `directory`, runs the design; `build_seconds`: what it took to make it."""

    manifest: Manifest
    directory: Path
    program: Sequence[str]
    build_seconds: float = 0.0
    timeout: float = TIMEOUT
    count: int = field(default=0, init=False)
    seconds: float = field(default=0.0, init=False)
    """Of all runs so far."""

    @staticmethod
    def build(project_dir: Path, optimisation: int = TIMED_OPTIMISATION) -> DesignRuns:
        """Of an emitted project, or of one with a design file, built with time unless it is. CompileError where it is not usable:
        also where its manifest does not describe the C++, because depths found for other FIFOs than those that run would be worth
        nothing. The FIFOs of a design file are those of a first run."""
        sound_manifest(project_dir.resolve())
        design = timed_design(project_dir, optimisation)
        manifest = design.manifest
        if manifest.platform == NO_PLATFORM:
            manifest = _with_fifos(manifest, design.run(SimulationOptions(unbounded=True), TIMEOUT, report=None))
        else:
            design.check()
        return DesignRuns(manifest, design.directory, [str(design.built.binary)], design.build_seconds)

    @property
    def streams(self) -> list[Stream]:
        return [stream for kernel in self.manifest.kernels for stream in kernel.streams]

    @cached_property
    def memory_fed(self) -> frozenset[str]:
        """Names of the FIFOs that a task writes which loads, or holds what was loaded."""
        return memory_fed(self.manifest)

    @cached_property
    def sized(self) -> list[Stream]:
        """The FIFOs whose depth can be chosen."""
        return [stream for stream in self.streams if stream.name not in self.memory_fed]

    @property
    def unlimited(self) -> dict[str, int]:
        """Depths at which no FIFO to be sized is ever full."""
        return {stream.name: max(1, stream.tokens) for stream in self.sized}

    @cached_property
    def emitted(self) -> DesignRun:
        """The run at the depths in the source."""
        return self.run({})

    @property
    def loops(self) -> list[tuple[str, str]]:
        """Task and label of every pipelined loop."""
        return [(loop.task, loop.label) for kernel in self.manifest.kernels for loop in kernel.schedule if loop.ii is not None]

    def run(
        self,
        depths: Mapping[str, int],
        limit: int | None = None,
        depth_error: float = 1.0,
        deeper_loop: tuple[str, str] | None = None,
    ) -> DesignRun:
        """A run with `depths` by name; FIFOs not named keep theirs. `depth_error` multiplies the depths of pipelined loops, or of
        the one that is named."""
        options = SimulationOptions(depths=depths, depth_error=depth_error, deeper_loop=deeper_loop, limit=limit)
        tables = {"STC_SIM_TIMING": timing_table(self.manifest, options)}
        run = run_program(self.program, self.directory, None, {"STC_SIM_BRIEF": "1"}, self.timeout, tables=tables)
        self.count += 1
        self.seconds += run.seconds
        if run.report is None:
            raise CompileError(run.failure or run.outcome, where=str(self.directory))
        return _design_run(run.report, run.seconds)


def _with_fifos(manifest: Manifest, run: SimulationResult) -> Manifest:
    """The manifest of a foreign design with the FIFOs that a run without limits used, at the depths that the C++ declares."""
    if run.cycles is None:
        raise without_cycles(run.values.outcome, run.values.explanation)
    widths = {use.name: use.bits for use in run.values.channels}
    (kernel,) = manifest.kernels
    streams = tuple(
        Stream(fifo.name, "token", 1, widths[fifo.name], fifo.declared_depth, "", fifo.producer, fifo.consumer, fifo.tokens)
        for fifo in run.fifos if fifo.kind == "fifo" and fifo.tokens > 0
    )
    return replace(manifest, kernels=(replace(kernel, streams=streams),))


def without_cycles(outcome: str, explanation: str | None, where: str | None = None) -> CompileError:
    """What to raise for a run that has no cycles although all its FIFOs are unlimited."""
    told = explanation or ""
    ended = told if outcome == "finished" else f"{outcome}. {told}".strip()
    return CompileError(f"no cycles are known even with unlimited FIFOs: {ended}", where=where, accepted="a design that ends")


def _design_run(content: Mapping[str, Any], seconds: float) -> DesignRun:
    timing = content["timing"]
    last: dict[str, int] = dict(timing["invocations"])   # a testbench may call the design more than once
    return DesignRun(
        outcome=content["outcome"],
        cycles=sum(last.values()) if content["outcome"] == "finished" else None,
        values_agree=content["passed"],
        occupancies={entry["channel"]: entry["highest_occupancy"] for entry in timing["channels"]},
        blocked=tuple(BlockedTask(**entry) for entry in content["blocked"]),
        explanation=content["explanation"],
        seconds=seconds,
        stalled_writers={entry["channel"]: entry["stalled_writer"] for entry in timing["channels"]},
    )
