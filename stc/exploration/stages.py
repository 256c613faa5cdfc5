"""Several stages that write text together, as one problem: they lie in one binary, and share the budget.

Each stage is a problem of its own; a point of all has a point of each. What a stage takes of the budget is up to the search, where
`stc compile --stage model` gives each an equal part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any, TypeVar

from stc.diagnostics import CompileError
from stc.exploration.problem import OF_STAGES, CannotEvaluate, Choice, Objectives, Point, Problem, point_of
from stc.platforms.budget import Counts, in_one_binary

Result = TypeVar("Result")


@dataclass(frozen=True)
class StageProblem:
    """A stage, and how often it is launched: for each token behind the first, and until the first. `kind`: of its layers, those
    stages of which share what they keep between launches."""

    problem: Problem
    of_token: int
    of_first_token: int
    kind: str = ""


@dataclass
class StagesProblem:
    """The problem of all `stages`, by their names, within `limits` together."""

    name: str
    stages: Mapping[str, StageProblem]
    limits: Counts

    @property
    def objectives(self) -> Mapping[str, str]:
        return OF_STAGES

    @property
    def identity(self) -> Mapping[str, Any]:
        own = {name: dict(stage.problem.identity) for name, stage in self.stages.items()}
        launches = {name: [stage.of_token, stage.of_first_token] for name, stage in self.stages.items()}
        return {"stages": list(self.stages), "limits": self.limits._asdict(), "launches": launches, **own}

    @property
    def space(self) -> Sequence[Choice]:
        return self._space

    @cached_property
    def _space(self) -> list[Choice]:
        pairs = [(name, choice) for name, stage in self.stages.items() for choice in stage.problem.space]
        return [replace(choice, name=f"{name}.{choice.name}") for name, choice in pairs]

    def default(self) -> Point:
        return self._joined({name: stage.problem.default() for name, stage in self.stages.items()})

    def seeds(self) -> Sequence[Point]:
        """The default, and the stages' seeds together: the first of each, the second of each, ..."""
        default, rows = self.default(), zip_longest(*(stage.problem.seeds() for stage in self.stages.values()))
        found = [default, *({**default, **self._joined(dict(zip(self.stages, row, strict=True)))} for row in rows)]
        return [point for number, point in enumerate(found) if point not in found[:number]]

    def evaluate(self, point: Point, simulate: bool = False) -> Objectives:
        found = self._of_each(point, lambda problem, own: problem.evaluate(own, simulate))
        self._require_layouts(found)
        taken = in_one_binary(Counts(**each.taken) for each in found.values())
        tokens = [(self.stages[name], each) for name, each in found.items()]
        return Objectives(
            sum(stage.of_token * each.cycles for stage, each in tokens),
            sum(each.on_chip_bytes for each in found.values()),
            sum(each.dsp for each in found.values()),
            sum(stage.of_token * each.bytes_moved for stage, each in tokens),
            tokens[0][1].origin,
            taken.beyond(self.limits),
            sum(stage.of_first_token * each.cycles for stage, each in tokens),
            taken._asdict(),
        )

    def schedules(self, point: Point) -> Mapping[str, str]:
        found = self._of_each(point, lambda problem, own: problem.schedules(own))
        return {f"{name}/{path}": text for name, own in found.items() for path, text in own.items()}

    def _require_layouts(self, found: Mapping[str, Objectives]) -> None:
        """CompileError where two stages of a kind of layers read a cache in different layouts."""
        known: dict[tuple[str, str], tuple[str, str]] = {}
        for stage, each in found.items():
            for name, layout in each.layouts.items():
                other, its = known.setdefault((self.stages[stage].kind, name), (stage, layout))
                if layout != its:
                    what = f"{other} and {stage} have {name} in different layouts"
                    raise CompileError(what, accepted="equal tokens and loops of what both read")

    def _joined(self, points: Mapping[str, Point | None]) -> dict[str, Any]:
        return {f"{name}.{key}": value for name, point in points.items() for key, value in (point or {}).items()}

    def _of_each(self, point: Point, asked: Callable[[Problem, Point], Result]) -> dict[str, Result]:
        """What is asked of each stage with its own part of `point`; of a stage that refuses, the sentence names it."""
        whole, found = point_of(self.space, point), dict[str, Result]()
        for name, stage in self.stages.items():
            own = {key.removeprefix(f"{name}."): value for key, value in whole.items() if key.startswith(f"{name}.")}
            try:
                found[name] = asked(stage.problem, own)
            except CannotEvaluate:
                raise
            except CompileError as error:
                raise CompileError(f"{name}: {error.what}", where=error.where, accepted=error.accepted) from error
        return found
