"""Two workers and a real PostgreSQL; one is killed in the middle."""

from __future__ import annotations

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import optuna
import pytest
from optuna.study import Study
from optuna.trial import TrialState
from postgresql import server
from toys import Toy

from stc.diagnostics import CompileError
from stc.exploration import storage as storages
from stc.exploration.problem import Objectives, Point
from stc.exploration.storage import PROCESS, StorageLost, open_storage
from stc.exploration.study import Exploration

pytestmark = pytest.mark.heavy

WORKER = str(Path(__file__).with_name("toys.py"))
TRIALS, SECONDS = 24, 0.4
FAST = "import os, runpy, sys, stc.exploration.storage as s; s.HEARTBEAT_SECONDS, s.STALE_SECONDS = 1, 3; "
ALONE = "s._machine = lambda: str(os.getpid()); "
"""Each of them takes itself for alone on its machine, so that only heartbeats tell of others."""
RUN = FAST + ALONE + "sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"


def worker(url: str, last: str = "inf") -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", RUN, WORKER, url, str(TRIALS), str(SECONDS), last])


def running(study: Study) -> dict[int, int]:
    """The trials that are running, by process."""
    found = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return {trial.user_attrs[PROCESS]["pid"]: trial.number for trial in found if PROCESS in trial.user_attrs}


def test_one_of_two_workers_is_killed_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(storages, "HEARTBEAT_SECONDS", 1)
    monkeypatch.setattr(storages, "STALE_SECONDS", 3)
    with server() as url:
        Exploration(Toy(), url).estimate(1)
        study = optuna.load_study(study_name="stc estimated", storage=open_storage(url))
        first, second = worker(url, last="0"), worker(url)
        try:
            end = time.monotonic() + 60
            numbers = running(study)
            while time.monotonic() < end and not {first.pid, second.pid} <= numbers.keys():
                time.sleep(0.05)
                numbers = running(study)
            assert {first.pid, second.pid} <= numbers.keys(), "both workers take part"
            first.kill()
            first.wait()
            complete = {trial.number for trial in study.get_trials(states=(TrialState.COMPLETE,))}
            assert second.wait(timeout=90) == 0
        finally:
            for process in (first, second):
                process.kill()
                process.wait()
        trials = {trial.number: trial for trial in study.get_trials()}
        assert all(trials[number].state == TrialState.COMPLETE for number in complete), "no finished trial is lost"
        assert trials[numbers[first.pid]].state == TrialState.FAIL
        assert not [trial for trial in trials.values() if trial.state == TrialState.RUNNING]
        joined = Exploration(Toy(), url)
        assert joined.finished("estimated") >= TRIALS
        with pytest.raises(CompileError, match="trials of another problem") as caught:
            Exploration(Toy(model="other"), url)
        assert url in str(caught.value)


def test_a_server_that_goes_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as url:
        search = Exploration(Toy(), url)
        search.estimate(2)
    with pytest.raises(CompileError, match="the storage cannot be reached"):
        search.estimate(10)


def test_a_server_that_goes_away_during_a_trial_is_told(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    """In one sentence, also by the thread that gives heartbeats."""
    monkeypatch.setattr(storages, "HEARTBEAT_SECONDS", 0.05)
    with ExitStack() as stack:
        url = stack.enter_context(server())

        class Losing(Toy):
            def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
                stack.close()
                time.sleep(0.3)
                return super().evaluate(point, simulate)

        search = Exploration(Losing(), url)
        with pytest.raises(StorageLost, match="the storage cannot be reached"):
            search.estimate(10)
    assert "Traceback" not in "".join(capfd.readouterr())
