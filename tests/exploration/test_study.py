"""The search: what it finds, and that interrupts, kills and other problems' storages lose nothing."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import optuna
import pytest
from optuna.trial import TrialState
from toys import MOST_DSP, Toy

from stc.diagnostics import CompileError, PassCrashed
from stc.exploration import study as searches
from stc.exploration.problem import CannotEvaluate, Objectives, Point
from stc.exploration.storage import PROCESS, StorageLost, has_ended, open_storage, reaching, this_process, without_password
from stc.exploration.study import ERROR, Exploration


@pytest.fixture
def journal(tmp_path: Path) -> str:
    return str(tmp_path / "trials.journal")


def states(journal: str, origin: str = "estimated") -> list[TrialState]:
    study = optuna.load_study(study_name=f"stc {origin}", storage=open_storage(journal))
    return [trial.state for trial in study.get_trials(deepcopy=False)]


def test_it_finds_the_front(journal: str) -> None:
    search = Exploration(Toy(), journal, seed=1)
    search.estimate(60)
    front = search.results().front("estimated")
    assert {found.objectives.cycles for found in front} == {1024 // lanes for lanes in (1, 2, 4, 8, 16)}
    assert all(found.objectives.dsp <= MOST_DSP for found in front)
    default = search.results().default("estimated")
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
    failures = search.results().failures["estimated"]
    assert len(failures) + len(search.results().designs["estimated"]) == 20
    assert {why for _, why in failures} == {"other lanes; accepted: 4"}


def test_it_goes_on_where_it_was(journal: str) -> None:
    first = Exploration(Toy(), journal, seed=1)
    first.estimate(10)
    begun = [found.point for found in first.results().designs["estimated"]]
    again = Exploration(Toy(), journal, seed=2)
    again.estimate(10)
    assert again.own["estimated"] == 0
    again.estimate(15)
    assert [found.point for found in again.results().designs["estimated"]][: len(begun)] == begun
    assert len(again.results().designs["estimated"]) + len(again.results().failures["estimated"]) == 15


def test_simulations_begin_with_the_default_and_the_best(journal: str) -> None:
    toy = Toy()
    search = Exploration(toy, journal, seed=1)
    search.estimate(60)
    search.simulate(4)
    assert toy.simulated[0] == toy.default()
    best = {min(search.results().front("estimated"), key=lambda found: found.objectives.values[index]).number for index in range(4)}
    numbers = {found.number: found.point for found in search.results().designs["estimated"]}
    assert all(numbers[number] in toy.simulated for number in best)
    assert {found.objectives.origin for found in search.results().designs["simulated"]} == {"simulated"}
    assert {found.objectives.origin for found in search.results().designs["estimated"]} == {"estimated"}


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
    assert again.finished("estimated") == 20


def killed(storage: str, after: int) -> None:
    """A process that searches, killed in the middle of the trial behind so many."""
    process = subprocess.Popen([sys.executable, str(Path(__file__).with_name("toys.py")), storage, "1000", "0", str(after)])
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end and process.poll() is None:
            if Path(storage).exists() and Path(storage).read_bytes().count(f'"{PROCESS}"'.encode()) > after:
                break
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()


@pytest.mark.heavy
def test_a_killed_process_loses_no_finished_trial(journal: str) -> None:
    killed(journal, 3)
    before = states(journal)
    assert before[:2] == [TrialState.COMPLETE] * 2 and before[3:] == [TrialState.RUNNING]
    search = Exploration(Toy(), journal, seed=3)
    assert TrialState.RUNNING not in states(journal)  # at the next start
    search.estimate(12)
    after = states(journal)
    assert after.count(TrialState.COMPLETE) >= before.count(TrialState.COMPLETE)
    assert (before.index(TrialState.RUNNING), "its process ended") in search.results().failures["estimated"]


def test_a_live_process_is_left_alone(journal: str) -> None:
    Exploration(Toy(), journal, seed=3).estimate(3)
    study = optuna.load_study(study_name="stc estimated", storage=open_storage(journal))
    trial = study.ask()
    trial.set_user_attr("process", dict(this_process()))
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.RUNNING
    study.tell(trial, state=TrialState.FAIL)


def test_a_trial_of_nobody_is_dead_after_a_while(journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its process was killed before it said who it is."""
    Exploration(Toy(), journal, seed=3).estimate(3)
    optuna.load_study(study_name="stc estimated", storage=open_storage(journal)).ask()
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.RUNNING
    monkeypatch.setattr(searches, "STALE_SECONDS", 0)
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.FAIL


def joined(journal: str) -> optuna.Study:
    """The estimates, as another process of this machine has them."""
    return optuna.load_study(study_name="stc estimated", storage=open_storage(journal))


@pytest.fixture
def other() -> Iterator[Mapping[str, Any]]:
    """What a trial says that another process is running, which lives until the end of the test."""
    process = subprocess.Popen(["sleep", "60"])
    started = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()[19]
    yield {**this_process(), "pid": process.pid, "started": started}
    process.kill()
    process.wait()


@pytest.mark.parametrize("process", [{"machine": "before it was booted", "pid": os.getpid(), "started": "0"}, {"host": "this"}])
def test_in_a_journal_only_this_machine_runs_trials(process: Mapping[str, Any], journal: str) -> None:
    Exploration(Toy(), journal, seed=3).estimate(3)
    joined(journal).ask().set_user_attr(PROCESS, dict(process))
    Exploration(Toy(), journal)
    assert states(journal)[-1] == TrialState.FAIL


def test_of_other_machines_only_a_database_tells(other: Mapping[str, Any]) -> None:
    elsewhere = {**other, "machine": "another"}
    assert not has_ended(elsewhere, in_journal=False) and has_ended(elsewhere, in_journal=True)
    assert not has_ended(other, in_journal=False) and not has_ended(other, in_journal=True)
    assert has_ended({**other, "started": "1"}, in_journal=False)


def test_what_others_run_counts(journal: str, other: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody evaluates more than was asked for because another one is not ready yet."""
    search = Exploration(Toy(), journal, seed=1)
    search.estimate(2)
    study = joined(journal)
    trial = study.ask()
    trial.set_user_attr(PROCESS, dict(other))
    trial.set_user_attr(ERROR, "no design")
    monkeypatch.setattr(searches.time, "sleep", lambda _: study.tell(trial, state=TrialState.FAIL, skip_if_finished=True))
    search.estimate(5)
    assert len(states(journal)) == 5 and states(journal)[2] == TrialState.FAIL


def test_only_trials_that_run_in_the_end_are_waited_for(
    journal: str, other: Mapping[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    search = Exploration(Toy(), journal, seed=1)
    search.estimate(3)
    study = joined(journal)
    begun: list[optuna.Trial] = []

    def begin() -> None:
        begun.append(study.ask())
        begun[-1].set_user_attr(PROCESS, dict(other))

    def go_on(_: float) -> None:
        assert len(begun) < 5, "it waits for ever"
        begin()
        study.tell(begun[-2], state=TrialState.FAIL)

    begin()
    monkeypatch.setattr(searches.time, "sleep", go_on)
    search.estimate(3)
    assert len(begun) == 2


def test_a_trial_that_others_fail_meanwhile_stays_so(journal: str) -> None:
    class Slow(Toy):
        left = 3

        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            self.left -= 1
            if self.left == 0:
                study = joined(journal)
                study.tell(study.get_trials()[-1].number, state=TrialState.FAIL)
            return super().evaluate(point, simulate)

    search = Exploration(Slow(), journal, seed=1)
    search.estimate(6)
    assert search.results().failures["estimated"][0] == (2, "its process ended")
    assert search.finished("estimated") == 6 and search.own["estimated"] <= 6


def test_a_journal_that_is_lost_during_a_trial(journal: str) -> None:
    class Losing(Toy):
        left = 4

        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            self.left -= 1
            if self.left == 0:
                Path(journal).unlink()
            return super().evaluate(point, simulate)

    with pytest.raises(StorageLost, match=f"^{journal}: the storage is lost: No such file or directory; accepted: ") as caught:
        Exploration(Losing(), journal).estimate(9)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (PassCrashed("pass 'x' crashes: KeyError"), "pass 'x' crashes: KeyError"),
        (FileNotFoundError(2, "No such file or directory", "kernel.cpp"), "kernel.cpp: No such file or directory"),
    ],
)
def test_what_breaks_one_design(error: Exception, why: str, journal: str) -> None:
    class Broken(Toy):
        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            if point["lanes"] == 1:
                raise error
            return super().evaluate(point, simulate)

    search = Exploration(Broken(), journal, seed=1)
    search.estimate(8)
    assert search.finished("estimated") == 8
    assert why in [said for _, said in search.results().failures["estimated"]]


def test_what_lets_nothing_be_evaluated_fails_no_design(journal: str) -> None:
    class Unable(Toy):
        def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
            raise CannotEvaluate("no room")

    search = Exploration(Unable(), journal, seed=1)
    with pytest.raises(CannotEvaluate, match="no room"):
        search.estimate(8)
    assert search.finished("estimated") == 0
    again = Exploration(Toy(), journal, seed=1)
    again.estimate(3)
    assert again.results().default("estimated") is not None


def test_running_trials_do_not_interrupt_a_row_of_pruned_ones(journal: str, other: Mapping[str, Any]) -> None:
    search = Exploration(Toy(), journal, seed=1)
    search.estimate(3)
    study = joined(journal)
    first = len(study.get_trials())
    for _ in range(3):
        study.tell(study.ask(), state=TrialState.PRUNED)
        study.ask().set_user_attr(PROCESS, dict(other))
    assert searches.pruned_in_a_row(study, 0) == searches.pruned_in_a_row(study, first) == 3


def test_seeds_are_all_tried_where_the_first_process_was_killed(journal: str, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = optuna.Study.enqueue_trial

    def once(study: optuna.Study, *given: Any) -> None:
        whole(study, *given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(optuna.Study, "enqueue_trial", once)
        Exploration(Toy(), journal, seed=1).estimate(4)
    again = Exploration(Toy(), journal, seed=1)
    again.estimate(4)
    assert [found.point["lanes"] for found in again.results().designs["estimated"]][:2] == [4, 1]


def test_a_torn_first_line_is_cut_off(journal: str) -> None:
    Path(journal).write_text('{"op_code":0,"wor')
    Exploration(Toy(), journal, seed=3).estimate(2)
    assert all(json.loads(line) for line in Path(journal).read_text().splitlines())


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
        ("postgresql://me:secret@127.0.0.1:port/x", "^postgresql://me@127.0.0.1:port/x: the URL cannot be read; accepted: "),
        ("postgresql://me:secret{{0}}{{x@127.0.0.1:1/x", "^postgresql://me@127.0.0.1:1/x: .* reached: .*refused"),
        ("/dev/null", "^/dev/null: the storage is no file"),
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


@pytest.mark.parametrize("text", ['{"mine": 1}', '{"mine": 1}\n', "[1, 2]\n", "mine", "mine\n", "{\n", '{"op_code":1}', "\0"])
def test_a_file_of_somebody_else_stays_as_it_is(text: str, journal: str) -> None:
    Path(journal).write_text(text)
    with pytest.raises(CompileError, match=f"^{journal}: the file is no journal of trials; accepted: the path of a journal file"):
        Exploration(Toy(), journal)
    assert Path(journal).read_text() == text


def test_a_file_that_is_exchanged_is_not_cut(journal: str) -> None:
    search = Exploration(Toy(), journal)
    Path(journal).write_text("mine")
    with pytest.raises(CompileError, match="no journal of trials"):
        search.estimate(3)
    assert Path(journal).read_text() == "mine"


def test_a_database_that_says_nothing_of_its_error() -> None:
    complaint = "^postgresql://me@host/x: the storage cannot be reached: StorageInternalError; accepted"
    with pytest.raises(StorageLost, match=complaint), reaching("postgresql://me:secret@host/x"):
        raise optuna.exceptions.StorageInternalError("")


def test_passwords_are_not_shown() -> None:
    assert without_password("postgresql://me:a@b@host/x") == "postgresql://me@host/x"
    assert without_password("postgresql://host/x") == "postgresql://host/x"

