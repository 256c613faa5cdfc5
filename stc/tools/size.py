"""Sizing the FIFOs of a design by running it: confirm its depths, minimise them, compare with the optimum."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from math import floor
from pathlib import Path
from typing import Any, Literal

from stc.diagnostics import CompileError
from stc.fifo.depth_search import (
    MOST_RUNS,
    DepthTest,
    MinimalDepths,
    Outcome,
    SizedFifo,
    memory_bits,
    minimal_at,
    minimal_depths,
)
from stc.fifo.depths import DEEPER
from stc.fifo.depths_file import depths_text
from stc.fifo.optimum import Optimum, optimal_depths
from stc.manifest.schema import Stream
from stc.simulation.build import TIMED_OPTIMISATION
from stc.simulation.design_runs import DesignRun, DesignRuns, without_cycles
from stc.simulation.projects import origin_of_cycles
from stc.simulation.timing_table import NO_PLATFORM
from stc.tools.atomic_files import write_atomically

MOST_SLACK = 1000
SIZING, DEPTHS = "fifo_sizing.json", "depths.json"

Progress = Callable[[str], None]
Stated = Literal["emitted", "given"]
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
    """Depths of one FIFO, in tokens of `bits`; `required` by the LP or --minimise-depths, None where the manifest has none, `best`:
    the optimum's."""

    name: str
    bits: int
    tokens: int
    required: int | None
    emitted: int
    occupied: int
    minimal: int
    best: int | None


@dataclass(frozen=True)
class DeeperLoops:
    """The emitted design with loop depths doubled, all at once and one of `loops` at a time, which shows differences between paths.

    `outcome`: "finished", else that of the first run that did not end. Cycles lost against unlimited FIFOs with the same loop
    depths: `lost_by_all`, and `lost_by_one` by the `loop` (task and label) that loses most; None where a run did not end.
    """

    outcome: str
    loops: int
    lost_by_all: int | None
    lost_by_one: int | None
    loop: str | None

    def __str__(self) -> str:
        if self.lost_by_all is None or self.lost_by_one is None:
            return self.outcome
        worst = f", at most {self.lost_by_one:,} with one of {self.loops} at a time ({self.loop})" if self.loop is not None else ""
        return f"{self.outcome}, {self.lost_by_all:,} cycles slower than with unlimited FIFOs{worst}"


@dataclass(frozen=True)
class Sizing:
    """What `stc size` finds. FIFOs written by load tasks (`memory_fed`) keep their emitted depth and are not counted in any bits.

    `descent_alone`: bits that minimisation came to without knowing the optimum, which `minimal` is at where it is known.

    `stated`: `emitted` are the depths of C++ that stc wrote, or those given with C++ that it did not write.

    `worst`: every FIFO holds all its tokens, which is the reference run. `required`: at the depths that the LP, or
    --minimise-depths, asked for.
    `larger_loop_depths`: how the emitted design ends with loop depths doubled, of which `deeper_loops` says more. Seconds by what
    took them.
    """

    slack: float
    worst: Confirmation
    required: Confirmation | None
    emitted: Confirmation
    minimal: Confirmation
    descent_alone: int
    start: str
    optimum: Optimum | None
    larger_loop_depths: str
    deeper_loops: DeeperLoops
    values_agree: bool
    memory_fed: tuple[str, ...]
    memory_fed_bits: int
    fifos: tuple[FifoSize, ...]
    runs: int
    surprises: int
    seconds: dict[str, float]
    explanation: str | None
    origin: str
    stated: Stated

    @property
    def failures(self) -> tuple[str, ...]:
        """Why the design is not confirmed: it is slower than without limits (beyond the slack), wrong, or does not end with deeper
        pipelines."""
        found: list[str] = []
        if self.emitted.verdict == "slower":
            found.append(f"{self.emitted.cycles:,} cycles at the {self.stated} depths, {self.worst.cycles:,} with unlimited FIFOs")
        elif self.emitted.cycles is None:
            found.append(f"at the {self.stated} depths it does not end")
        if not self.values_agree:
            found.append("its results are wrong")
        if self.larger_loop_depths != "finished":
            found.append(f"with loop depths doubled it ends otherwise: {self.larger_loop_depths}")
        return tuple(found)

    @property
    def is_confirmed(self) -> bool:
        return not self.failures

    @property
    def proof(self) -> str:
        """What is known of the design at `depths`, as a sentence."""
        least = "with a slot less in any FIFO of more than one it is slower or does not end"
        if self.optimum is not None and self.optimum.bits is not None:
            least += "; the bits are the least of all"
        return (
            f"executed with loop depths as they are: {self.minimal.cycles:,} cycles, {self.worst.cycles:,} with unlimited FIFOs; "
            f"{least}; that it ends with deeper loops is not known here "
            "(stc compile --minimise-depths and --fifo-depths make sure of it)"
        )

    @property
    def depths(self) -> dict[str, int]:
        return {fifo.name: fifo.minimal for fifo in self.fifos}

    def as_json(self) -> dict[str, Any]:
        return {"confirmed": self.is_confirmed, "failures": self.failures, **asdict(self)}


def size_project(
    directory: Path,
    slack: float = 0.0,
    most_runs: int = MOST_RUNS,
    with_optimum: bool = True,
    progress: Progress = lambda _: None,
    optimisation: int = TIMED_OPTIMISATION,
) -> Sizing:
    """Build DIR with time, at g++'s level `optimisation`, and size its FIFOs.

    CompileError where it is unusable, or does not end even without limits.
    """
    if not 0 <= slack <= MOST_SLACK:
        raise CompileError(f"slack is {slack:g}", accepted=f"0 to {MOST_SLACK}: 0.05 allows 5 % more cycles")
    progress("building the C++ with time")
    runs = DesignRuns.build(directory, optimisation)
    if not runs.streams:
        raise CompileError("the design has no FIFOs", where=str(directory), accepted="a design with streams between its tasks")
    return size_runs(runs, slack, most_runs, with_optimum, progress)


def size_runs(
    runs: DesignRuns, slack: float = 0.0, most_runs: int = MOST_RUNS, with_optimum: bool = True, progress: Progress = lambda _: None
) -> Sizing:
    """The same for a design that is built."""
    begin = time.perf_counter()
    progress("running with unlimited FIFOs and at the depths of the C++")
    judge, emitted, larger = confirm(runs, slack)
    confirmed = time.perf_counter()
    sizer = _Sizer(runs, judge, progress)
    stated: Stated = "given" if runs.manifest.platform == NO_PLATFORM else "emitted"
    minimal = minimal_depths(sizer.test, most_runs)
    descended = time.perf_counter()
    sizer.purpose = "looking for the optimum"
    optimum = optimal_depths(sizer.test, most_runs, minimal.depths) if with_optimum else None
    optimum_at = time.perf_counter()
    sizer.purpose = "minimisation"
    alone = minimal.bits
    if optimum is not None and optimum.depths is not None:
        minimal = minimal_at(sizer.test, minimal, optimum.depths)
    best = optimum.depths if optimum is not None and optimum.depths is not None else {}
    return Sizing(
        slack=slack,
        worst=judge.confirmation(runs.unlimited, judge.reference),
        required=judge.at({s.name: s.required or s.depth for s in runs.sized}) if sizer.has_required else None,
        emitted=emitted,
        minimal=judge.at(minimal.depths),
        descent_alone=alone,
        start=_start("required" if sizer.has_required else stated, minimal),
        optimum=optimum,
        larger_loop_depths=larger.outcome,
        deeper_loops=larger,
        values_agree=judge.reference.values_agree and runs.emitted.values_agree,
        memory_fed=tuple(sorted(runs.memory_fed)),
        memory_fed_bits=sum(stream.bits * stream.depth for stream in runs.streams if stream.name in runs.memory_fed),
        fifos=tuple(
            FifoSize(s.name, s.bits, s.tokens, s.required, s.depth, judge.reference.occupancies[s.name], minimal.depths[s.name],
                     best.get(s.name))
            for s in runs.sized
        ),
        runs=runs.count,
        surprises=sizer.test.surprises,
        seconds={
            "build": runs.build_seconds,
            "confirmation": confirmed - begin,
            "minimisation": descended - confirmed + time.perf_counter() - optimum_at,
            "optimum": optimum_at - descended,
            "per_run": runs.seconds / runs.count,
        },
        explanation=runs.emitted.explanation,
        origin=origin_of_cycles(runs.manifest),
        stated=stated,
    )


@dataclass(frozen=True)
class Judge:
    """Judges runs of a design against its reference run, in which no FIFO that is sized is ever full."""

    runs: DesignRuns
    reference: DesignRun
    cycles: int
    slack: float

    @property
    def allowed(self) -> int:
        """The most cycles that are enough."""
        return floor(self.cycles * (1 + self.slack))

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
        return "within slack" if run.cycles <= self.allowed else "slower"


def confirm(runs: DesignRuns, slack: float) -> tuple[Judge, Confirmation, DeeperLoops]:
    """The emitted depths against unlimited FIFOs, and how the emitted design ends with larger loop depths."""
    reference = runs.run(runs.unlimited)
    if reference.cycles is None:
        raise without_cycles(reference.outcome, reference.explanation, str(runs.directory))
    judge = Judge(runs, reference, reference.cycles, slack)
    emitted = judge.confirmation({stream.name: stream.depth for stream in runs.sized}, runs.emitted)
    return judge, emitted, deeper_loops(runs)


def deeper_loops(runs: DesignRuns) -> DeeperLoops:
    """Doubled loop depths, at the emitted depths of FIFOs and with unlimited ones."""
    lost: dict[tuple[str, str] | None, int] = {}
    for loop in (None, *runs.loops):
        found, unlimited = (runs.run(depths, None, DEEPER, loop) for depths in ({}, runs.unlimited))
        if found.cycles is None or unlimited.cycles is None:
            which = "" if loop is None else f" (loop {'/'.join(loop)})"
            return DeeperLoops(found.outcome + which, len(runs.loops), lost.get(None), None, None)
        lost[loop] = found.cycles - unlimited.cycles
    worst = max(runs.loops, key=lambda loop: lost[loop], default=None)
    most = 0 if worst is None else lost[worst]
    return DeeperLoops("finished", len(runs.loops), lost[None], most, "/".join(worst) if worst is not None else None)


def _start(depths: str, minimal: MinimalDepths) -> str:
    """Where minimisation began, in words; `depths` are those that it was given."""
    given = f"the {depths} depths"
    return {
        "given": given,
        "occupancies": f"the highest occupancies without limits ({given} do not suffice)",
        "given and occupancies": f"the larger of the highest occupancies without limits and {given}",
        "tokens": "all tokens",
    }[minimal.start]


def _sized_fifo(stream: Stream) -> SizedFifo:
    tokens = max(1, stream.tokens)
    return SizedFifo(stream.name, stream.bits, tokens, min(stream.required or stream.depth, tokens))


class _Sizer:
    """The depth test of one design. Minimisation starts from what the LP asked for, if it was. `purpose`: of the next runs."""

    def __init__(self, runs: DesignRuns, judge: Judge, progress: Progress):
        self.has_required = any(stream.required is not None for stream in runs.sized)
        self.purpose = "minimisation"
        fifos = [_sized_fifo(stream) for stream in runs.sized]

        def run(depths: Mapping[str, int]) -> Outcome:
            progress(f"{self.purpose}: run {self.test.runs}")
            found = runs.run(depths, limit=judge.allowed)
            return Outcome(found.cycles, found.occupancies)

        reference = judge.reference
        self.test = DepthTest(fifos, run, Outcome(reference.cycles, reference.occupancies), judge.allowed)


def write_sizing(sizing: Sizing, directory: Path) -> None:
    """DIR/build/fifo_sizing.json, and DIR/build/depths.json: the minimal depths by name and what is known of them."""
    write_atomically(directory / "build" / SIZING, json.dumps(sizing.as_json(), indent=2) + "\n")
    write_atomically(directory / "build" / DEPTHS, depths_text(sizing.depths, sizing.proof))
