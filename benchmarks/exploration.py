"""How many designs per minute one worker of `stc explore` estimates, and how many two do, one thread each.

    python benchmarks/exploration.py [MODEL] [--seq N] [--trials N] [--write]

Each worker is a process of `stc explore MODEL --worker` on a journal of its own machine. What they take to begin (export, the
search for the default) is left out: counted are the estimates that are finished while all workers take part, by the clock. On a
machine that others use as well the clock says little about two workers; the CPU seconds of an estimate, in which each reads what
the other writes, say what sharing takes, but for waiting. `--write` puts the table into docs/exploration.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import optuna
from measured_at import measured_at, write_between
from optuna.trial import FrozenTrial, TrialState

from stc.exploration.storage import PROCESS, open_storage

DOCUMENT = Path(__file__).parents[1] / "docs" / "exploration.md"
BEGIN, END = "<!-- benchmarks/exploration.py -->\n", "<!-- end -->\n"
ALONE: Mapping[str, str] = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
BEGUN = 8
"""Estimates that are made before: those that a search begins with, and the search for them."""

STC = "from stc.tools.stc import main; main()"


@dataclass(frozen=True)
class Measured:
    """Of so many workers: `estimates` in `seconds` by the clock, while all took part; CPU seconds of one estimate."""

    workers: int
    estimates: int
    seconds: float
    cpu_seconds: float

    @property
    def per_minute(self) -> float:
        return 60 * self.estimates / self.seconds


def measure(model: str, seq: int, workers: int, trials: int) -> Measured:
    """Let so many workers make about `trials` estimates each."""
    with tempfile.TemporaryDirectory(prefix="stc-explore-") as folder:
        journal = Path(folder) / "trials.journal"
        run(model, seq, journal, 1, BEGUN)
        run(model, seq, journal, workers, BEGUN + workers * trials)
        study = optuna.load_study(study_name="stc estimated", storage=open_storage(str(journal)))
        done = [trial for trial in study.get_trials(states=(TrialState.COMPLETE,)) if trial.number >= BEGUN]
    by_process: dict[int, list[FrozenTrial]] = {}
    for trial in done:
        by_process.setdefault(trial.user_attrs[PROCESS]["pid"], []).append(trial)
    assert len(by_process) == workers, f"{len(by_process)} of {workers} workers took part: take more --trials"
    begin = max(min(_begin(trial) for trial in own) for own in by_process.values())
    end = min(max(_end(trial) for trial in own) for own in by_process.values())
    counted = [trial for trial in done if begin <= _begin(trial) and _end(trial) <= end]
    spent = [own[-1].user_attrs[PROCESS]["cpu_seconds"] - own[0].user_attrs[PROCESS]["cpu_seconds"] for own in by_process.values()]
    return Measured(workers, len(counted), end - begin, sum(spent) / (len(done) - workers))


def run(model: str, seq: int, journal: Path, workers: int, trials: int) -> None:
    """Workers that go on until the journal has so many estimates."""
    command = [sys.executable, "-c", STC, "explore", model, "--seq", str(seq), "--trials", str(trials)]
    command += ["--storage", str(journal), *(["--worker"] if journal.exists() else ["--out", str(journal.with_name("out"))])]
    processes = [subprocess.Popen(command, stdout=subprocess.DEVNULL, env={**os.environ, **ALONE}) for _ in range(workers)]
    if any(process.wait() for process in processes):
        sys.exit("a worker failed")


def _begin(trial: FrozenTrial) -> float:
    assert trial.datetime_start is not None
    return trial.datetime_start.timestamp()


def _end(trial: FrozenTrial) -> float:
    assert trial.datetime_complete is not None
    return trial.datetime_complete.timestamp()


def table(model: str, seq: int, found: list[Measured], load: float) -> str:
    """Markdown: what was found, and how busy the machine was before."""
    one, two = found
    lines = ["| workers | estimates per minute | CPU seconds of an estimate |", "|---|---|---|"]
    lines += [f"| {each.workers} | {each.per_minute:.0f} | {each.cpu_seconds:.3f} |" for each in found]
    ratio = two.per_minute / one.per_minute
    busy = f"{os.cpu_count()} cores with a load of {load:.1f} by others before it began"
    lines += ["", f"`{model} --seq {seq}`, {busy}: two workers estimate {ratio:.2f} times as many as one by the clock."]
    lines += [measured_at(), ""]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("model", nargs="?", default="gpt2-tiny")
    parser.add_argument("--seq", type=int, default=5)
    parser.add_argument("--trials", type=int, default=150, help="estimates of each worker")
    parser.add_argument("--write", action="store_true", help="write the table into docs/exploration.md")
    asked = parser.parse_args()
    load, begin = os.getloadavg()[0], time.perf_counter()
    text = table(asked.model, asked.seq, [measure(asked.model, asked.seq, count, asked.trials) for count in (1, 2)], load)
    print(text)
    print(f"({time.perf_counter() - begin:.0f} s)", file=sys.stderr)
    if asked.write:
        write_between(DOCUMENT, BEGIN, text, END)


if __name__ == "__main__":
    main()
