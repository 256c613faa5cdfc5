"""Sizing the FIFOs of a design by running it: confirm its depths, trim them, compare with the optimum."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path
from typing import Any, Literal

from stc.design_space.fifo_optimum import Optimum, optimal_depths
from stc.design_space.fifo_trimming import (
    MOST_RUNS,
    DepthTest,
    Outcome,
    SizedFifo,
    Trimmed,
    memory_bits,
    trim_depths,
    trimmed_at,
)
from stc.diagnostics import CompileError
from stc.manifest.schema import Stream
from stc.simulation.build import DEFAULT_OPTIMISATION
from stc.simulation.design_runs import DesignRun, DesignRuns
from stc.simulation.projects import origin_of_cycles
from stc.tools.whole_files import write_whole

LARGER_LOOP_DEPTHS = 2.0
"""The emitted design must also end where every estimated loop depth is this many times as large."""
MOST_SLACK = 1000
SIZING, DEPTHS = "fifo_sizing.json", "depths.json"

Progress = Callable[[str], None]
Verdict = Literal["equal", "within slack", "slower", "does not end"]


@dataclass(frozen=True)
class Confirmation:
    """A run at given depths: cycles (None where it did not end) against those without limits, and bits of the FIFOs sized."""

    cycles: int | None
    verdict: Verdict
    bits: int
    memory_bits: int


@dataclass(frozen=True)
class FifoSize:
    """Depths of one FIFO, in tokens of `bits`; `required` by the LP or --trim, None where the manifest has none, `best`: the
    optimum's."""

    name: str
    bits: int
    tokens: int
    required: int | None
    emitted: int
    occupied: int
    trimmed: int
    best: int | None


@dataclass(frozen=True)
class Sizing:
    """What `stc size` finds. FIFOs written by load tasks (`memory_fed`) keep their emitted depth and are not counted in any bits.

    `trimmed_alone`: bits that trimming came to without knowing the optimum, which `trimmed` is at where it is known.

    `worst`: every FIFO holds all its tokens, which is the reference run. `required`: at the depths that the LP, or --trim, asked
    for.
    `larger_loop_depths`: how the emitted design ends with all loop depths doubled. Seconds by what took them.
    """

    slack: float
    worst: Confirmation
    required: Confirmation | None
    emitted: Confirmation
    trimmed: Confirmation
    trimmed_alone: int
    start: str
    optimum: Optimum | None
    larger_loop_depths: str
    values_agree: bool
    memory_fed: tuple[str, ...]
    memory_fed_bits: int
    fifos: tuple[FifoSize, ...]
    runs: int
    surprises: int
    seconds: dict[str, float]
    explanation: str | None
    origin: str

    @property
    def is_confirmed(self) -> bool:
        """The emitted design is as fast as without limits (or within the slack), right, and ends with deeper pipelines."""
        return self.emitted.verdict in ("equal", "within slack") and self.values_agree and self.larger_loop_depths == "finished"

    @property
    def depths(self) -> dict[str, int]:
        return {fifo.name: fifo.trimmed for fifo in self.fifos}

    def as_json(self) -> dict[str, Any]:
        return {"confirmed": self.is_confirmed, **asdict(self)}


def size_project(
    directory: Path,
    slack: float = 0.0,
    most_runs: int = MOST_RUNS,
    with_optimum: bool = True,
    progress: Progress = lambda _: None,
    optimisation: int = DEFAULT_OPTIMISATION,
) -> Sizing:
    """Build DIR with time, at g++'s level `optimisation`, and size its FIFOs.

    CompileError where it is unusable, or does not end even without limits.
    """
    if not 0 <= slack <= MOST_SLACK:
        raise CompileError(f"slack is {slack:g}", accepted=f"0 to {MOST_SLACK}: 0.05 allows 5 % more cycles")
    progress("building the emitted C++ with time")
    runs = DesignRuns.build(directory, optimisation)
    if not runs.streams:
        raise CompileError("the design has no FIFOs", where=str(directory), accepted="a design with streams between its tasks")
    return size_runs(runs, slack, most_runs, with_optimum, progress)


def size_runs(
    runs: DesignRuns, slack: float = 0.0, most_runs: int = MOST_RUNS, with_optimum: bool = True, progress: Progress = lambda _: None
) -> Sizing:
    """The same for a design that is built."""
    begin = time.perf_counter()
    progress("running with unlimited FIFOs and at the emitted depths")
    judge, emitted, larger = confirm(runs, slack)
    confirmed = time.perf_counter()
    sizer = _Sizer(runs, judge.reference, slack, progress)
    trimmed = trim_depths(sizer.test, most_runs)
    descended = time.perf_counter()
    sizer.purpose = "looking for the optimum"
    optimum = optimal_depths(sizer.test, most_runs, trimmed.depths) if with_optimum else None
    optimum_at = time.perf_counter()
    sizer.purpose = "trimming"
    alone = trimmed.bits
    if optimum is not None and optimum.depths is not None:
        trimmed = trimmed_at(sizer.test, trimmed, optimum.depths)
    best = optimum.depths if optimum is not None and optimum.depths is not None else {}
    return Sizing(
        slack=slack,
        worst=judge.confirmation(runs.unlimited, judge.reference),
        required=judge.at({s.name: s.required or s.depth for s in runs.sized}) if sizer.has_required else None,
        emitted=emitted,
        trimmed=judge.at(trimmed.depths),
        trimmed_alone=alone,
        start=_start(sizer, trimmed),
        optimum=optimum,
        larger_loop_depths=larger,
        values_agree=judge.reference.values_agree and runs.emitted.values_agree,
        memory_fed=tuple(sorted(runs.memory_fed)),
        memory_fed_bits=sum(stream.bits * stream.depth for stream in runs.streams if stream.name in runs.memory_fed),
        fifos=tuple(
            FifoSize(s.name, s.bits, s.tokens, s.required, s.depth, judge.reference.occupancies[s.name], trimmed.depths[s.name],
                     best.get(s.name))
            for s in runs.sized
        ),
        runs=runs.count,
        surprises=sizer.test.surprises,
        seconds={
            "build": runs.build_seconds,
            "confirmation": confirmed - begin,
            "trimming": descended - confirmed + time.perf_counter() - optimum_at,
            "optimum": optimum_at - descended,
            "per_run": runs.seconds / runs.count,
        },
        explanation=runs.emitted.explanation,
        origin=origin_of_cycles(runs.manifest),
    )


@dataclass(frozen=True)
class Judge:
    """Judges runs of a design against its reference run, in which no FIFO that is sized is ever full."""

    runs: DesignRuns
    reference: DesignRun
    cycles: int
    slack: float

    def at(self, depths: Mapping[str, int]) -> Confirmation:
        """Of a run at these depths."""
        return self.confirmation(depths, self.runs.run(depths))

    def confirmation(self, depths: Mapping[str, int], run: DesignRun) -> Confirmation:
        streams = self.runs.sized
        bits = sum(stream.bits * depths[stream.name] for stream in streams)
        memory = sum(memory_bits(stream.bits, depths[stream.name]) for stream in streams)
        return Confirmation(run.cycles, self._verdict(run), bits, memory)

    def _verdict(self, run: DesignRun) -> Verdict:
        if run.cycles is None:
            return "does not end"
        if run.cycles <= self.cycles:
            return "equal"
        return "within slack" if run.cycles <= floor(self.cycles * (1 + self.slack)) else "slower"


def confirm(runs: DesignRuns, slack: float) -> tuple[Judge, Confirmation, str]:
    """The emitted depths against unlimited FIFOs, and how the emitted design ends with larger loop depths."""
    reference = runs.run(runs.unlimited)
    if reference.cycles is None:
        raise CompileError(
            f"the design does not end even with unlimited FIFOs: {reference.outcome}. {reference.explanation or ''}".strip(),
            where=str(runs.directory),
            accepted="a design that ends",
        )
    judge = Judge(runs, reference, reference.cycles, slack)
    emitted = judge.confirmation({stream.name: stream.depth for stream in runs.sized}, runs.emitted)
    return judge, emitted, runs.run({}, depth_error=LARGER_LOOP_DEPTHS).outcome


def _start(sizer: _Sizer, trimmed: Trimmed) -> str:
    """Where trimming began, in words."""
    given = "the required depths" if sizer.has_required else "the emitted depths"
    return {
        "given": given,
        "occupancies": f"the highest occupancies without limits ({given} do not suffice)",
        "given and occupancies": f"the larger of the highest occupancies without limits and {given}",
        "tokens": "all tokens",
    }[trimmed.start]


def _sized_fifo(stream: Stream) -> SizedFifo:
    tokens = max(1, stream.tokens)
    return SizedFifo(stream.name, stream.bits, tokens, min(stream.required or stream.depth, tokens))


class _Sizer:
    """The depth test of one design. Trimming starts from what the LP asked for, where it was asked. `purpose`: of the next runs."""

    def __init__(self, runs: DesignRuns, reference: DesignRun, slack: float, progress: Progress):
        self.has_required = any(stream.required is not None for stream in runs.sized)
        self.purpose = "trimming"
        fifos = [_sized_fifo(stream) for stream in runs.sized]

        def run(depths: Mapping[str, int]) -> Outcome:
            progress(f"{self.purpose}: run {self.test.runs}")
            found = runs.run(depths, limit=self.test.allowed)
            return Outcome(found.cycles, found.occupancies)

        self.test = DepthTest(fifos, run, Outcome(reference.cycles, reference.occupancies), slack)


def write_sizing(sizing: Sizing, directory: Path) -> None:
    """DIR/build/fifo_sizing.json, and DIR/build/depths.json: the trimmed depths by name."""
    folder = directory / "build"
    for name, content in ((SIZING, sizing.as_json()), (DEPTHS, sizing.depths)):
        write_whole(folder / name, json.dumps(content, indent=2) + "\n")
