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
from dataclasses import dataclass
from functools import partial
from typing import Any

import optuna
from optuna.samplers import NSGAIISampler
from optuna.storages import BaseStorage
from optuna.study import Study, StudyDirection
from optuna.trial import FrozenTrial, Trial, TrialState

from stc.diagnostics import CompileError
from stc.exploration.problem import OBJECTIVES, Choice, Objectives, Origin, Point, Problem, front, point_of
from stc.exploration.storage import GRACE, PROCESS, is_dead, open_storage, reaching, this_process, without_password

IDENTITY, BEYOND, ERROR, BEGUN = "problem", "beyond", "error", "begun_with"
"""What studies and trials say of themselves."""

NAMES = "stc "
"""Begins the names of both studies."""

POPULATION = 32
"""Of a generation: what a search of some hundred trials goes through a few times."""

WORSE = 1.1
"""A point whose estimates are all more than this times those of a point of the front is not worth a build."""

MOST_PRUNED = 50
"""Points in a row that are not worth a build, after which no more are drawn."""


@dataclass(frozen=True)
class Found:
    """A finished trial: its number in its study, the point, and what that is worth."""

    number: int
    point: Point
    objectives: Objectives


@dataclass
class Exploration:
    """A search over `problem` that is kept in a storage. `told`: what it is at. `own`: by origin, how many trials came of this
    process."""

    problem: Problem
    storage: str
    seed: int | None = None
    told: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        self.own: Counter[str] = Counter()
        self._opened = open_storage(self.storage)
        with reaching(self.storage), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._studies: Mapping[Origin, Study] = {origin: self._study(self._opened, origin) for origin in _ORIGINS}
            for study in self._studies.values():
                bury(study)

    def estimate(self, trials: int) -> None:
        """Go on until the study has so many finished estimates, those of others included; CompileError where it is interrupted by
        the storage."""
        study = self._studies["estimated"]
        with reaching(self.storage):
            is_new = not study.get_trials(deepcopy=False)
            self._enqueue(study, self.problem.seeds() if is_new else [self.problem.default()], trials)
            choices = [choice for choice in self.problem.space if choice.is_estimated]
            self._run(study, partial(self._estimated, choices), trials)

    def simulate(self, trials: int) -> None:
        """Go on until so many designs were simulated: the default, those of the front that are best in something, others of it;
        then what the sampler draws, unless estimates are against it."""
        study = self._studies["simulated"]
        with reaching(self.storage):
            self._enqueue(study, self._worth_building(trials), trials)
            self._run(study, self._simulated, trials)

    def found(self, origin: Origin) -> list[Found]:
        """All finished trials, by number."""
        with reaching(self.storage):
            trials = self._studies[origin].get_trials(deepcopy=False, states=(TrialState.COMPLETE,))
        return [self._found(trial, origin) for trial in trials]

    def front(self, origin: Origin) -> list[Found]:
        """Those that fit and that none dominates."""
        return [found for found, _ in front((found, found.objectives) for found in self.found(origin))]

    def failures(self, origin: Origin) -> list[tuple[int, str]]:
        """Trials that no design came of, and why."""
        with reaching(self.storage):
            trials = self._studies[origin].get_trials(deepcopy=False, states=(TrialState.FAIL,))
        return [(trial.number, trial.user_attrs.get(ERROR, "its process ended")) for trial in trials]

    def default(self, origin: Origin) -> Found | None:
        """The trial of what the compiler decides by itself; None where it is not finished."""
        default = self.problem.default()
        return next((found for found in self.found(origin) if found.point == default), None)

    def estimate_of(self, simulated: Found) -> Found | None:
        """The estimate of a design that was simulated; None where there is none, or it is an estimate itself."""
        if simulated.objectives.origin == "estimated":
            return None
        return next((found for found in self.found("estimated") if found.point == simulated.point), None)

    # Studies ----------------------------------------------------------------------------------------------------------

    def _study(self, storage: BaseStorage, origin: Origin) -> Study:
        sampler = NSGAIISampler(population_size=POPULATION, seed=self.seed)
        directions = [StudyDirection.MINIMIZE] * len(OBJECTIVES)
        study = optuna.create_study(
            storage=storage, sampler=sampler, study_name=f"{NAMES}{origin}", directions=directions, load_if_exists=True
        )
        if IDENTITY not in study.user_attrs:
            study.set_metric_names(list(OBJECTIVES))
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
        def stop_where_done(study: Study, _: FrozenTrial | None = None) -> None:
            done = len(finished(study))
            self.told(f"{study.study_name.removeprefix(NAMES)}: {done} of {trials}")
            if done >= trials or _pruned_in_a_row(study) >= MOST_PRUNED:
                study.stop()

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            if len(finished(study)) < trials:
                study.optimize(evaluate, n_trials=None, catch=(CompileError,), callbacks=[stop_where_done])
            self._await_others(study)

    def _await_others(self, study: Study) -> None:
        """Until no trial is running any more: others finish theirs, or are found dead."""
        while left := study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            self.told(f"waiting for {len(left)} trial(s) of other processes")
            bury(study)
            time.sleep(GRACE / 40)

    # Trials -----------------------------------------------------------------------------------------------------------

    def _estimated(self, choices: Sequence[Choice], trial: Trial) -> tuple[int, ...]:
        _say_who(trial)
        return self._told(trial, {choice.name: _drawn(trial, choice) for choice in choices}, simulate=False)

    def _simulated(self, trial: Trial) -> tuple[int, ...]:
        _say_who(trial)
        point = {choice.name: _drawn(trial, choice) for choice in self.problem.space}
        if BEGUN not in trial.user_attrs and not self._is_worth_building(point):
            raise optuna.TrialPruned
        return self._told(trial, point, simulate=True)

    def _told(self, trial: Trial, point: Point, *, simulate: bool) -> tuple[int, ...]:
        try:
            found = self.problem.evaluate(point, simulate)
        except CompileError as error:
            trial.set_user_attr(ERROR, str(error))
            raise
        self.own[found.origin] += 1
        trial.set_user_attr(BEYOND, dict(found.beyond))
        trial.set_constraint("fits", sum(found.beyond.values()))
        return found.values

    def _found(self, trial: FrozenTrial, origin: Origin) -> Found:
        cycles, on_chip, dsp, moved = (round(value) for value in trial.values)
        objectives = Objectives(cycles, on_chip, dsp, moved, origin, trial.user_attrs.get(BEYOND, {}))
        return Found(trial.number, point_of(self.problem.space, trial.params), objectives)

    def _worth_building(self, most: int) -> list[Point]:
        """The default, the best of the front in each objective, then others of the front, evenly along its cycles."""
        known = self.front("estimated")
        best = [min(known, key=lambda found: found.objectives.values[index]) for index in range(len(OBJECTIVES)) if known]
        step = max(1, len(known) // most)
        points = [self.problem.default(), *(found.point for found in (*best, *known[::step], *known))]
        return [point for number, point in enumerate(points) if point not in points[:number]]

    def _is_worth_building(self, point: Point) -> bool:
        """Whether the estimate of a point fits and is near the estimated front."""
        try:
            found = self.problem.evaluate(point)
        except CompileError:
            return False
        return not found.beyond and not any(_is_worse(found, other.objectives) for other in self.front("estimated"))


def _is_worse(found: Objectives, than: Objectives) -> bool:
    """By more than `WORSE` says, in all."""
    return all(own > WORSE * its for own, its in zip(found.values, than.values, strict=True))


_ORIGINS: tuple[Origin, ...] = ("estimated", "simulated")


def finished(study: Study) -> list[FrozenTrial]:
    """Trials that a process has ended itself: with what a design is worth, or why there is none."""
    trials = study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))
    return [trial for trial in trials if trial.state == TrialState.COMPLETE or ERROR in trial.user_attrs]


def bury(study: Study) -> None:
    """Fail the trials whose processes are dead: of this machine where these are not there, of others where their heart stopped."""
    for trial in study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
        if is_dead(trial):
            study.tell(trial.number, state=TrialState.FAIL, skip_if_finished=True)  # another process may be faster
    optuna.storages.fail_stale_trials(study)


def _pruned_in_a_row(study: Study) -> int:
    count = 0
    for trial in reversed(study.get_trials(deepcopy=False)):
        if trial.state != TrialState.PRUNED:
            break
        count += 1
    return count


def _say_who(trial: Trial) -> None:
    trial.set_user_attr(PROCESS, dict(this_process()))


def _drawn(trial: Trial, choice: Choice) -> Any:
    return trial.suggest_categorical(choice.name, choice.values)


def _as_json(value: Mapping[str, Any]) -> dict[str, Any]:
    """As it comes back from a storage."""
    return json.loads(json.dumps(value))


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
