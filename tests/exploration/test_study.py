"""The search: what it finds, and that interrupts, kills and other problems' storages lose nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import optuna
import pytest
from optuna.trial import TrialState
from toys import MOST_DSP, Toy

from stc.diagnostics import CompileError
from stc.exploration import storage
from stc.exploration.problem import Objectives, Point
from stc.exploration.storage import open_storage, without_password
from stc.exploration.study import Exploration


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return str(tmp_path / "trials.journal")


def states(journal: str, origin: str = "estimated") -> list[TrialState]:
    study = optuna.load_study(study_name=f"stc {origin}", storage=open_storage(journal))
    return [trial.state for trial in study.get_trials(deepcopy=False)]


def test_it_finds_the_front(journal: str) -> None:
    search = Exploration(Toy(), journal, seed=1)
    search.estimate(60)
    front = search.front("estimated")
    assert {found.objectives.cycles for found in front} == {1024 // lanes for lanes in (1, 2, 4, 8, 16)}
    assert all(found.objectives.dsp <= MOST_DSP for found in front)
    default = search.default("estimated")
    assert default is not None and default.number == 0
    for index in range(4):
        assert min(found.objectives.values[index] for found in front) <= default.objectives.values[index]


def test_what_is_refused_is_told_and_counted(journal: str) -> None:
    class Refusing(Toy):
        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            if point["lanes"] != 4:
                raise CompileError("other lanes", accepted="4")
            return super().evaluate(point, simulate)

    search = Exploration(Refusing(), journal, seed=1)
    search.estimate(20)
    failures = search.failures("estimated")
    assert len(failures) + len(search.found("estimated")) == 20
    assert {why for _, why in failures} == {"other lanes; accepted: 4"}


def test_it_goes_on_where_it_was(journal: str) -> None:
    first = Exploration(Toy(), journal, seed=1)
    first.estimate(10)
    begun = [found.point for found in first.found("estimated")]
    again = Exploration(Toy(), journal, seed=2)
    again.estimate(10)
    assert again.own["estimated"] == 0
    again.estimate(15)
    assert [found.point for found in again.found("estimated")][: len(begun)] == begun
    assert len(again.found("estimated")) + len(again.failures("estimated")) == 15


def test_simulations_begin_with_the_default_and_the_best(journal: str) -> None:
    toy = Toy()
    search = Exploration(toy, journal, seed=1)
    search.estimate(60)
    search.simulate(4)
    assert toy.simulated[0] == toy.default()
    best = {min(search.front("estimated"), key=lambda found: found.objectives.values[index]).number for index in range(4)}
    numbers = {found.number: found.point for found in search.found("estimated")}
    assert all(numbers[number] in toy.simulated for number in best)
    assert {found.objectives.origin for found in search.found("simulated")} == {"simulated"}
    assert {found.objectives.origin for found in search.found("estimated")} == {"estimated"}


def test_estimates_prune_simulations(journal: str) -> None:
    """Beyond the front the sampler draws; what does not fit by its estimate is never built."""
    toy = Toy()
    search = Exploration(toy, journal, seed=1)
    search.estimate(60)
    search.simulate(30)
    assert all(int(point["lanes"]) * 3 <= MOST_DSP for point in toy.simulated)
    assert TrialState.PRUNED in states(journal, "simulated")
    assert any(point["style"] == "flp" for point in toy.simulated)


def test_an_interrupt_loses_nothing(journal: str) -> None:
    class Interrupted(Toy):
        left = 5

        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            self.left -= 1
            if self.left == 0:
                raise KeyboardInterrupt
            return super().evaluate(point, simulate)

    with pytest.raises(KeyboardInterrupt):
        Exploration(Interrupted(), journal, seed=3).estimate(20)
    assert TrialState.RUNNING not in states(journal)
    assert states(journal).count(TrialState.COMPLETE) >= 3
    again = Exploration(Toy(), journal, seed=4)
    again.estimate(20)
    assert len(again.found("estimated")) + len([why for _, why in again.failures("estimated") if "two lanes" in why]) == 20


def killed(storage: str, after: int) -> None:
    """A process that searches, killed once so many trials are finished, in the middle of the next."""
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name("toys.py")), storage, "1000", "0.2"])
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            if Path(storage).exists() and Path(storage).read_bytes().count(b'"state":1,') >= after:
                break
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()


@pytest.mark.heavy
def test_a_killed_process_loses_no_finished_trial(journal: str) -> None:
    killed(journal, 3)
    before = states(journal)
    assert before.count(TrialState.RUNNING) == 1 and before.count(TrialState.COMPLETE) >= 2
    search = Exploration(Toy(), journal, seed=3)
    assert TrialState.RUNNING not in states(journal)  # at the next start
    search.estimate(12)
    after = states(journal)
    assert after.count(TrialState.COMPLETE) >= before.count(TrialState.COMPLETE)
    assert (before.index(TrialState.RUNNING), "its process ended") in search.failures("estimated")


def test_a_live_process_is_left_alone(journal: str) -> None:
    Exploration(Toy(), journal, seed=3).estimate(3)
    study = optuna.load_study(study_name="stc estimated", storage=open_storage(journal))
    trial = study.ask()
    trial.set_user_attr("process", {"host": "elsewhere", "pid": os.getpid(), "started": "0"})
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.RUNNING
    study.tell(trial, state=TrialState.FAIL)


def test_a_trial_of_nobody_is_dead_after_a_while(journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process was killed before it said who it is."""
    Exploration(Toy(), journal, seed=3).estimate(3)
    optuna.load_study(study_name="stc estimated", storage=open_storage(journal)).ask()
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.RUNNING
    monkeypatch.setattr(storage, "NAMELESS", 0)
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.FAIL


def test_a_torn_line_is_cut_off(journal: str) -> None:
    Exploration(Toy(), journal, seed=3).estimate(5)
    with Path(journal).open("ab") as file:
        file.write(b'{"op_code": 5, "worker_id"')
    search = Exploration(Toy(), journal, seed=3)
    search.estimate(8)
    assert len(states(journal)) >= 8
    assert all(json.loads(line) for line in Path(journal).read_text().splitlines())


# Bad input ----------------------------------------------------------------------------------------------------------------


def test_another_problem_is_refused(journal: str) -> None:
    Exploration(Toy(), journal).estimate(3)
    with pytest.raises(CompileError, match=r"trials of another problem: its model \(toy\) is not that asked for \(other\)"):
        Exploration(Toy(model="other"), journal)
    assert len(states(journal)) >= 3


@pytest.mark.parametrize(
    ("url", "complaint"),
    [
        ("mysql://root@127.0.0.1/x", "the storage is 'mysql://...'; accepted: the path of a journal file, or postgresql"),
        ("postgresql://me:secret@127.0.0.1:1/x", r"^postgresql://me@127.0.0.1:1/x: the storage cannot be reached: .*refused"),
        ("{folder}", "the storage is a folder"),
        ("{text}", "the file is no journal of trials"),
        ("{text}/x", "the storage cannot be opened"),
    ],
)
def test_a_storage_that_is_none(url: str, complaint: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("no journal\nat all\n")
    with pytest.raises(CompileError, match=complaint) as caught:
        Exploration(Toy(), url.format(folder=tmp_path, text=tmp_path / "text"))
    assert "secret" not in str(caught.value)
    assert (tmp_path / "text").read_text() == "no journal\nat all\n"


def test_passwords_are_not_shown() -> None:
    assert without_password("postgresql://me:a@b@host/x") == "postgresql://me@host/x"
    assert without_password("postgresql://host/x") == "postgresql://host/x"

