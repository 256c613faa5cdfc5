"""The search: NSGA-II over the choices of a problem, by any number of processes that share a storage.

Two studies of one storage: `estimated`, whose trials are estimates, and `simulated`, whose trials are designs that were built and
run, so that figures of both kinds are never mixed. Trials of the second that estimates say are not worth a build are pruned.
"""

from __future__ import annotations

import json
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.samplers import NSGAIISampler
from optuna.storages import BaseStorage, JournalStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from stc.diagnostics import CompileError, PassCrashed
from stc.exploration.problem import CannotEvaluate, Choice, Objectives, Origin, Point, Problem, point_of
from stc.exploration.results import Found, Results
from stc.exploration.storage import (
    PROCESS,
    STALE_SECONDS,
    has_ended,
    heartbeat,
    is_this_process,
    open_storage,
    reaching,
    this_process,
    without_password,
)
from stc.user_files import reason_of

IDENTITY, BEYOND, ERROR, BEGUN, SEEDED = "problem", "beyond", "error", "begun_with", "seeded"
"""What studies and trials say of themselves."""

NAMES = "stc "
"""Begins the names of both studies."""

POPULATION = 32
"""Of a generation: what a search of some hundred trials goes through a few times."""

WORSE = 1.1
"""A point whose estimates are all more than this times those of a point of the front is not worth a build."""

MOST_PRUNED = 50
"""Points in a row that are not worth a build, after which no more are drawn."""


POLL_SECONDS = 0.5
"""Between two looks at trials of others."""


@dataclass
class Exploration:
    """A search over `problem` that is kept in a storage. `progress`: is told what the search is at. `own`: by origin, how many
    trials came of this process."""

    problem: Problem
    storage: str
    seed: int | None = None
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.own: Counter[str] = Counter()
        self._unnamed_since: dict[tuple[str, int], float] = {}
        self._opened = open_storage(self.storage)
        with reaching(self.storage), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._studies: Mapping[Origin, Study] = {origin: self._study(self._opened, origin) for origin in _ORIGINS}
            for study in self._studies.values():
                self._fail_abandoned(study)

    def estimate(self, trials: int) -> None:
        """Go on until the study has so many finished estimates, those of others included; CompileError where it is interrupted by
        the storage."""
        study = self._studies["estimated"]
        with reaching(self.storage):
            seeds = [self.problem.default()] if SEEDED in study.user_attrs else self.problem.seeds()
            self._enqueue(study, seeds, trials)
            if len(seeds) <= trials:
                study.set_user_attr(SEEDED, True)
            choices = [choice for choice in self.problem.space if choice.is_estimated]
            self._run(study, partial(self._estimated, choices), trials)

    def simulate(self, trials: int) -> None:
        """Go on until so many designs were simulated: the default, those of the front that are best in something, others of it;
        then what the sampler draws, unless estimates are against it."""
        study = self._studies["simulated"]
        with reaching(self.storage):
            self._enqueue(study, self._worth_building(trials), trials)
            self._run(study, self._simulated, trials)

    def results(self) -> Results:
        """All that is finished now."""
        designs: dict[Origin, list[Found]] = {}
        failures: dict[Origin, list[tuple[int, str]]] = {}
        for origin in _ORIGINS:
            with reaching(self.storage):
                own = self._studies[origin].get_trials(deepcopy=False)
            designs[origin] = [self._found(trial, origin) for trial in own if trial.state == TrialState.COMPLETE]
            failures[origin] = [_failure(trial) for trial in own if trial.state == TrialState.FAIL]
        return Results(self.problem, designs, failures)

    def finished(self, origin: Origin) -> int:
        """How many trials a process has ended itself: with what a design is worth, or why there is none."""
        with reaching(self.storage):
            return len(finished(self._studies[origin]))

    # Studies ----------------------------------------------------------------------------------------------------------

    def _study(self, storage: BaseStorage, origin: Origin) -> Study:
        sampler = NSGAIISampler(population_size=POPULATION, seed=self.seed)
        directions = [StudyDirection.MINIMIZE] * len(self.problem.objectives)
        study = optuna.create_study(
            storage=storage, sampler=sampler, study_name=f"{NAMES}{origin}", directions=directions, load_if_exists=True
        )
        if IDENTITY not in study.user_attrs:
            study.set_metric_names(list(self.problem.objectives))
            study.set_user_attr(IDENTITY, dict(self.problem.identity))
        self._require_same(study.user_attrs[IDENTITY])
        return study

    def _require_same(self, known: Mapping[str, Any]) -> None:
        """CompileError where a study is of another problem."""
        own = _as_json(self.problem.identity)
        for name in {**own, **known}:
            if own.get(name) != known.get(name):
                theirs, ours = ("" if value is None else f" ({_short(value)})" for value in (known.get(name), own.get(name)))
                what = f"the storage has trials of another problem: its {name}{theirs} is not that asked for{ours}"
                accepted = "another --storage or --out, or what it is of"
                raise CompileError(what, where=without_password(self.storage), accepted=accepted)

    def _enqueue(self, study: Study, points: Sequence[Point], trials: int) -> None:
        """Points to begin with, each once; what its process did not finish is tried again."""
        known = [trial for trial in study.get_trials(deepcopy=False) if trial.state != TrialState.FAIL or ERROR in trial.user_attrs]
        begun = [trial.system_attrs.get("fixed_params", trial.params) for trial in known]
        for point in points[:trials]:
            params = {name: value for name, value in point.items() if self._is_of(study, name)}
            if params not in begun:
                study.enqueue_trial(params, {BEGUN: True})

    def _is_of(self, study: Study, name: str) -> bool:
        return study is self._studies["simulated"] or any(each.name == name and each.is_estimated for each in self.problem.space)

    def _run(self, study: Study, evaluate: Callable[[Trial], tuple[int, ...]], trials: int) -> None:
        """Until so many trials are finished, or estimates are against all that is drawn; then until those of others are over."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            first = len(study.get_trials(deepcopy=False))
            while (done := len(finished(study))) < trials and pruned_in_a_row(study, first) < MOST_PRUNED:
                self.progress(f"{study.study_name.removeprefix(NAMES)}: {done} of {trials}")
                if done + len(_of_others(study)) < trials:
                    self._run_one(study, evaluate)
                else:
                    self._wait(study)
            left = {trial.number for trial in _of_others(study)}
            while left := left & {trial.number for trial in _of_others(study)}:
                self.progress(f"waiting for {len(left)} trial(s) of other processes")
                self._wait(study)

    def _wait(self, study: Study) -> None:
        time.sleep(POLL_SECONDS)
        self._fail_abandoned(study)

    def _fail_abandoned(self, study: Study) -> None:
        """Fail the trials whose processes have ended, or have not said for a while who they are, or give no heartbeat."""
        for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if self._is_abandoned(study, trial):
                _tell(study, trial.number, TrialState.FAIL)
        optuna.storages.fail_stale_trials(study)

    def _is_abandoned(self, study: Study, trial: FrozenTrial) -> bool:
        if isinstance(process := trial.user_attrs.get(PROCESS), dict):
            return has_ended(process, in_journal=isinstance(self._opened, JournalStorage))
        since = self._unnamed_since.setdefault((study.study_name, trial.number), time.monotonic())
        return time.monotonic() - since >= STALE_SECONDS

    # Trials -----------------------------------------------------------------------------------------------------------

    def _run_one(self, study: Study, evaluate: Callable[[Trial], tuple[int, ...]]) -> None:
        """A trial of this process. Where others have failed it meanwhile, as of a process that has ended, it stays so."""
        trial = study.ask()
        try:
            with heartbeat(self._opened, _number_in_storage(self._opened, study, trial)):
                trial.set_user_attr(PROCESS, dict(this_process()))
                values = evaluate(trial)
            _tell(study, trial.number, TrialState.COMPLETE, values)
        except UpdateFinishedTrialError:
            return
        except optuna.TrialPruned:
            _tell(study, trial.number, TrialState.PRUNED)
        except _NoDesign:
            _tell(study, trial.number, TrialState.FAIL)
        except BaseException:
            with suppress(Exception):  # where that fails as well, the next start fails the trial
                _tell(study, trial.number, TrialState.FAIL)
            raise

    def _estimated(self, choices: Sequence[Choice], trial: Trial) -> tuple[int, ...]:
        return self._evaluated(trial, {choice.name: _drawn(trial, choice) for choice in choices}, simulate=False)

    def _simulated(self, trial: Trial) -> tuple[int, ...]:
        point = {choice.name: _drawn(trial, choice) for choice in self.problem.space}
        if BEGUN not in trial.user_attrs and not self._is_worth_building(point):
            raise optuna.TrialPruned
        return self._evaluated(trial, point, simulate=True)

    def _evaluated(self, trial: Trial, point: Point, *, simulate: bool) -> tuple[int, ...]:
        try:
            found = self.problem.evaluate(point, simulate)
        except CannotEvaluate:
            raise
        except (CompileError, PassCrashed, OSError) as error:
            trial.set_user_attr(ERROR, _sentence(error))
            raise _NoDesign from error
        trial.set_user_attr(BEYOND, dict(found.beyond))
        trial.set_constraint("fits", sum(found.beyond.values()))
        self.own[found.origin] += 1
        return found.values

    def _found(self, trial: FrozenTrial, origin: Origin) -> Found:
        objectives = Objectives.of([round(value) for value in trial.values], origin, trial.user_attrs.get(BEYOND, {}))
        return Found(trial.number, point_of(self.problem.space, trial.params), objectives)

    def _worth_building(self, most: int) -> list[Point]:
        """The default, the best of the front in each objective, then others of the front, evenly along its cycles."""
        known = self.results().front("estimated")
        indices = range(len(self.problem.objectives)) if known else ()
        best = [min(known, key=lambda found: found.objectives.values[index]) for index in indices]
        step = max(1, len(known) // most)
        points = [self.problem.default(), *(found.point for found in (*best, *known[::step], *known))]
        return [point for number, point in enumerate(points) if point not in points[:number]]

    def _is_worth_building(self, point: Point) -> bool:
        """Whether the estimate of a point fits and is near the estimated front."""
        try:
            found = self.problem.evaluate(point)
        except CannotEvaluate:
            raise
        except CompileError:
            return False
        return not found.beyond and not any(_is_worse(found, other.objectives) for other in self.results().front("estimated"))


def _is_worse(found: Objectives, than: Objectives) -> bool:
    """By more than `WORSE` says, in all."""
    return all(own > WORSE * its for own, its in zip(found.values, than.values, strict=True))


_ORIGINS: tuple[Origin, ...] = ("estimated", "simulated")


def finished(study: Study) -> list[FrozenTrial]:
    """Trials that a process has ended itself: with what a design is worth, or why there is none."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))
    return [trial for trial in trials if trial.state == TrialState.COMPLETE or ERROR in trial.user_attrs]


class _NoDesign(Exception):
    """A point that no design came of; its trial says why."""


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError):
        reason = reason_of(error)
        return reason if error.filename is None else f"{error.filename}: {reason}"
    return str(error)


def _failure(trial: FrozenTrial) -> tuple[int, str]:
    return trial.number, trial.user_attrs.get(ERROR, "its process ended")


def _tell(study: Study, number: int, state: TrialState, values: Sequence[int] | None = None) -> None:
    """End a trial, unless another process has ended it."""
    with suppress(UpdateFinishedTrialError):
        study.tell(number, values, state=state, skip_if_finished=True)


def _number_in_storage(storage: BaseStorage, study: Study, trial: Trial) -> int:
    return storage.get_trial_id_from_study_id_trial_number(storage.get_study_id_from_name(study.study_name), trial.number)


def _of_others(study: Study) -> list[FrozenTrial]:
    """Trials that other processes are said to be running."""
    running = study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    return [trial for trial in running if not is_this_process(trial)]


def pruned_in_a_row(study: Study, first: int) -> int:
    """Of the trials from number `first` on that are finished, how many of the last ones were pruned."""
    count = 0
    for trial in reversed(study.get_trials(deepcopy=False)[first:]):
        if trial.state.is_finished():
            if trial.state != TrialState.PRUNED:
                break
            count += 1
    return count


def _drawn(trial: Trial, choice: Choice) -> Any:
    return trial.suggest_categorical(choice.name, choice.values)


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a storage."""
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
