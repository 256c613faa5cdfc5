"""Many random programs: processes that check them in batches, and the sum of what they found.

    report = run_campaign(Campaign(count=100, seed=0, jobs=2), on_outcome=print)
    assert report.failed == []

The seeds of a batch are checked one after the other in a process of their own, and their emitted C++ is built as one program: most
of the time of a small build goes into the headers. A process that dies or does not end is run again seed by seed, so that the
seed at fault is known.
"""

from __future__ import annotations

import importlib
import multiprocessing
import re
import signal
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from multiprocessing.connection import wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from resource import RLIMIT_CPU, RUSAGE_CHILDREN, RUSAGE_SELF, getrusage, setrlimit
from typing import Any, ClassVar

from stc.diagnostics import CompileError
from stc.platforms.budget import SMALL
from stc.simulation.batch import simulate
from stc.simulation.build import find_compiler
from stc.simulation.csim import CsimResult
from stc_testing.fuzzing.levels import (
    AGREED,
    CHOSEN,
    FAILED,
    FOR_SPEED,
    REFUSED,
    SIMULATION,
    Case,
    Outcome,
    check_case,
    draw_case,
)
from stc_testing.fuzzing.run_time_programs import APPEND

SECONDS_OF_A_SEED = 120
"""A seed that has not ended after this processor time has failed. A batch may take a quarter of it for each of its seeds."""
PATIENCE = 10
"""How many times as long a process may take by the clock: other work slows it down, but it must not wait for ever."""


@dataclass(frozen=True)
class Campaign:
    """`count` seeds from `seed` on, checked by `jobs` processes at a time, `batch` seeds each.

    `csim_every`: every how many seeds the emitted C++ is built and run (0: never). `mlir_every`: the same for MLIR's execution.
    `budget`: within which lanes and copies are searched (`stc_testing.fuzzing.schedules`).
    """

    count: int
    seed: int = 0
    jobs: int = 1
    csim_every: int = 1
    mlir_every: int = 1
    batch: int = 10
    budget: str = SMALL

    what: ClassVar[str] = "random programs"

    @property
    def seeds(self) -> range:
        return range(self.seed, self.seed + self.count)

    def prepare(self) -> None:
        """Load once what every process would load for itself; CompileError where something is missing."""
        if self.csim_every:
            find_compiler()
        if self.mlir_every:
            importlib.import_module("stc.frontend.reference")

    def outcomes(self, seeds: Sequence[int]) -> Iterator[Outcome]:
        """Check seeds, one after the other."""
        return check_batch(self, seeds)

    def check(self, seed: int, project: Path | None, with_mlir: bool) -> Outcome:
        """Check one seed; emit it to `project` unless that is None."""
        return check_case(self.case(seed), project, with_mlir)

    def case(self, seed: int) -> Case:
        """What is checked for a seed."""
        return draw_case(seed, budget=self.budget)

    def again(self, seed: int) -> str:
        """The command that checks one seed again."""
        budget = "" if self.budget == SMALL else f" --budget '{self.budget}'"
        return f"stc fuzz --count 1 --seed {seed}{budget}"

    def store(self, outcome: Outcome, out: Path) -> None:
        """Write OUT/SEED.mlir, its schedule SEED.toml if it has one, and SEED.txt: what failed, and how to see it again."""
        write_failure(outcome, self.case(outcome.seed), out, self.again(outcome.seed))


@dataclass(frozen=True)
class IntegerCampaign(Campaign):
    """Of programs of integers of random widths."""

    what: ClassVar[str] = "random programs of integers"

    def case(self, seed: int) -> Case:
        return draw_case(seed, integers=True, budget=self.budget)

    def again(self, seed: int) -> str:
        return f"{super().again(seed)} --integers"


@dataclass
class CampaignReport:
    """What became of the seeds, in their order. `seconds`: from begin to end."""

    outcomes: list[Outcome] = field(default_factory=list[Outcome])
    seconds: float = 0.0

    def of(self, verdict: str) -> list[Outcome]:
        return [outcome for outcome in self.outcomes if outcome.verdict == verdict]

    @property
    def failed(self) -> list[Outcome]:
        return self.of(FAILED)

    @property
    def refusals(self) -> list[tuple[str, list[int]]]:
        """Reasons, names and numbers left out, each with the seeds refused for it; the most frequent first."""
        seeds: dict[str, list[int]] = {}
        for outcome in self.of(REFUSED):
            seeds.setdefault(f"{outcome.place}: {reason_of(outcome.message)}", []).append(outcome.seed)
        return sorted(seeds.items(), key=lambda entry: (-len(entry[1]), entry[0]))

    @property
    def kinds(self) -> dict[str, int]:
        """In how many programs each kind of operation occurs."""
        counts = Counter(kind for outcome in self.outcomes for kind in set(outcome.kinds))
        return dict(sorted(counts.items()))

    @property
    def sped_up(self) -> dict[str, int]:
        """In how many programs a computation got lanes, rows and copies, and each of some passes changed something."""
        counts = Counter(what for outcome in self.outcomes for what in outcome.sped_up)
        return {what: counts[what] for what in (*CHOSEN, *FOR_SPEED) if what in counts}

    def as_json(self) -> dict[str, Any]:
        return {
            "programs": len(self.outcomes),
            **{verdict: len(self.of(verdict)) for verdict in (AGREED, REFUSED, FAILED)},
            "simulated": sum(outcome.simulated for outcome in self.outcomes),
            "executed_by_mlir": sum(outcome.by_mlir for outcome in self.outcomes),
            "several_groups": sum(outcome.groups > 1 for outcome in self.outcomes),
            "with_schedule": sum(bool(outcome.schedule) for outcome in self.outcomes),
            "in_place": sum(APPEND in outcome.kinds for outcome in self.outcomes),
            "in_place_agreed": sum(APPEND in outcome.kinds for outcome in self.of(AGREED)),
            "searched": sum(outcome.budget != SMALL for outcome in self.outcomes),
            "sped_up": self.sped_up,
            "redrawn": sum(outcome.redrawn for outcome in self.outcomes),
            "seconds": self.seconds,
            "processor_seconds": sum(outcome.seconds for outcome in self.outcomes),
            "refusals": [{"reason": reason, "count": len(seeds), "seeds": seeds} for reason, seeds in self.refusals],
            "failures": [{"seed": o.seed, "place": o.place, "message": o.message} for o in self.failed],
            "kinds": self.kinds,
        }


def reason_of(message: str) -> str:
    """A message without the names, types and numbers of one program, so that equal reasons can be counted."""
    text = re.sub(r"'[^']*'|@\w+|<[^<>]*>", "…", message)
    return re.sub(r"-?\d+", "N", re.sub(r"\b[a-z_]+_\d+\b", "…", text))


def write_failure(outcome: Outcome, case: Case, out: Path, again: str) -> None:
    """`Campaign.store` for a random program."""
    out.mkdir(parents=True, exist_ok=True)
    stem = out / str(outcome.seed)
    stem.with_suffix(".mlir").write_text(case.text)
    flags = [f"--tile {case.options.tile}", f"--rows {case.options.rows}", f"--lanes {case.options.lanes}"]
    flags += [f"--budget '{outcome.budget}'", f"--parallelism {case.options.parallelism}"]
    flags += [] if case.options.propagate_orders else ["--uniform-tiles"]
    flags += [f"--on-chip {outcome.on_chip}"] if outcome.on_chip else []
    if outcome.schedule:
        stem.with_suffix(".toml").write_text(outcome.schedule)
        flags.append(f"--schedule {stem.with_suffix('.toml')}")
    lines = [
        f"{outcome.place}: {outcome.message}",
        "",
        again,
        f"stc compile {stem.with_suffix('.mlir')} {' '.join(flags)} --emit-ir --check --out {stem}",
        "",
        *(f"{name} = {value}" for name, value in asdict(case.options).items()),
        "",
    ]
    stem.with_suffix(".txt").write_text("\n".join(lines))


# One batch, in a process of its own -----------------------------------------------------------------------------------


def check_batch(campaign: Campaign, seeds: Sequence[int]) -> Iterator[Outcome]:
    """The outcomes of seeds: at once what did not get as far as the C simulation, then the rest."""
    waiting: list[Outcome] = []
    with tempfile.TemporaryDirectory(prefix="stc-fuzz-") as name:
        folder = Path(name)
        for seed in seeds:
            project = folder / f"g{seed}" if _is_due(seed, campaign.csim_every) else None
            outcome = campaign.check(seed, project, _is_due(seed, campaign.mlir_every))
            if outcome.verdict == AGREED and project is not None:
                waiting.append(outcome)
            else:
                yield outcome
        yield from _simulated(waiting, folder)


def _is_due(seed: int, every: int) -> bool:
    return every > 0 and seed % every == 0


def _simulated(outcomes: Sequence[Outcome], folder: Path) -> Iterator[Outcome]:
    """The outcomes with the verdict of the C simulation; where g++ rejects the program, each is built alone."""
    if not outcomes:
        return
    begin = _processor_seconds()
    try:
        results = simulate([folder / f"g{outcome.seed}" for outcome in outcomes], folder)
    except CompileError as error:
        if len(outcomes) == 1:
            yield replace(outcomes[0], verdict=FAILED, place=SIMULATION, message=str(error))
        else:
            for outcome in outcomes:
                yield from _simulated([outcome], folder)
        return
    share = (_processor_seconds() - begin) / len(outcomes)
    for outcome in outcomes:
        judged = _judged(outcome, results[f"g{outcome.seed}"])
        yield replace(judged, simulated=True, seconds=outcome.seconds + share)


def _processor_seconds() -> float:
    """Of this process and of the children it waited for."""
    used = [getrusage(who) for who in (RUSAGE_SELF, RUSAGE_CHILDREN)]
    return sum(entry.ru_utime + entry.ru_stime for entry in used)


def _judged(outcome: Outcome, result: CsimResult) -> Outcome:
    if not result.failed:
        return outcome
    wrong = [f"{o.name}: largest error {o.max_abs_error:.3g} of {o.max_abs_reference:.3g}" for o in result.outputs if o.wrong]
    message = "; ".join([result.outcome, *wrong, *([result.explanation] if result.explanation else [])])
    return replace(outcome, verdict=FAILED, place=SIMULATION, message=message)


# All batches ----------------------------------------------------------------------------------------------------------


@dataclass
class _Worker:
    """A process that checks `seeds`, and those of which nothing has been heard yet."""

    process: ForkProcess
    connection: Any
    missing: list[int]
    deadline: float


def run_campaign(campaign: Campaign, on_outcome: Callable[[Outcome], None] = lambda outcome: None) -> CampaignReport:
    """Check all seeds; `on_outcome` is told of each as soon as it is known."""
    begin = time.perf_counter()
    size = max(1, min(campaign.batch, -(-campaign.count // campaign.jobs)))
    queue = [list(campaign.seeds[k : k + size]) for k in range(0, campaign.count, size)]
    outcomes: dict[int, Outcome] = {}
    workers: list[_Worker] = []
    try:
        while queue or workers:
            while queue and len(workers) < campaign.jobs:
                workers.append(_start(campaign, queue.pop(0)))
            for worker in _ready(workers):
                outcome = _received(worker)
                if outcome is not None:
                    worker.missing.remove(outcome.seed)
                    outcomes[outcome.seed] = outcome
                    on_outcome(outcome)
                    continue
                workers.remove(worker)
                for lost in _ended(worker, queue):
                    outcomes[lost.seed] = lost
                    on_outcome(lost)
    finally:
        for worker in workers:
            worker.process.kill()
            worker.process.join()
    return CampaignReport([outcomes[seed] for seed in campaign.seeds], time.perf_counter() - begin)


def _start(campaign: Campaign, seeds: list[int]) -> _Worker:
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(campaign, seeds, there), daemon=True)
    process.start()
    there.close()
    return _Worker(process, here, list(seeds), time.monotonic() + PATIENCE * _seconds_of(seeds))


def _seconds_of(seeds: Sequence[int]) -> int:
    return SECONDS_OF_A_SEED * max(4, len(seeds)) // 4


def _work(campaign: Campaign, seeds: Sequence[int], connection: Any) -> None:
    seconds = _seconds_of(seeds)
    setrlimit(RLIMIT_CPU, (seconds, seconds + 5))
    for outcome in campaign.outcomes(seeds):
        connection.send(outcome)


def _ready(workers: Sequence[_Worker]) -> list[_Worker]:
    """Those that have something to say, ended, or are out of time."""
    timeout = max(0.0, min(worker.deadline for worker in workers) - time.monotonic())
    heard = wait([worker.connection for worker in workers], timeout)
    return [worker for worker in workers if worker.connection in heard or time.monotonic() > worker.deadline]


def _received(worker: _Worker) -> Outcome | None:
    try:
        return worker.connection.recv() if worker.connection.poll() else None
    except (EOFError, OSError):
        return None


def _ended(worker: _Worker, queue: list[list[int]]) -> list[Outcome]:
    """What a worker that says nothing more leaves: nothing, a failure, or seeds that are run again one by one."""
    late = time.monotonic() > worker.deadline
    if late:
        worker.process.kill()
    worker.process.join()
    worker.connection.close()
    if len(worker.missing) > 1:
        queue[:0] = [[seed] for seed in worker.missing]
        return []
    code = worker.process.exitcode
    is_hung = late or code == -signal.SIGXCPU
    message = f"did not end within {SECONDS_OF_A_SEED} s" if is_hung else f"the process {_how_it_died(code)}"
    return [Outcome(seed, FAILED, "process", message) for seed in worker.missing]


def _how_it_died(code: int | None) -> str:
    if code is not None and code < 0:
        return f"died of {signal.Signals(-code).name}"
    return f"ended with code {code}"
