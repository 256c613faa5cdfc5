"""Random programs with run-time sizes through the compile: no, one, some and all rows are there, what is not there is NaN.

Up to the pass that gives streams their sizes a program is one of the largest sizes; from there on each level, and the emitted C++,
is executed at all four values, and must compute what the program written for so many rows does. Of a cache all is compared, with
the NaN behind what was appended.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import ClassVar

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.parsing import parse_module
from stc.execution.run import execute
from stc.frontend.exported import Reference
from stc.pipeline import Stage
from stc.platforms.budget import SMALL
from stc.tools.check_semantics import SemanticsCheck, random_inputs
from stc.transforms.dataflow.size_streams import SizeStreams
from stc_testing.fuzzing.campaign import Campaign
from stc_testing.fuzzing.levels import (
    Case,
    CaseRun,
    Outcome,
    arguments_of,
    executed_by_mlir,
    executed_in_double,
    is_near,
    outcome_of,
)
from stc_testing.fuzzing.run_time_programs import Kind, Rows, RunTimeProgram, draw_run_time_program
from stc_testing.fuzzing.schedules import random_options, searched_options


@dataclass(frozen=True)
class Draw:
    """A value of the symbol: the module's arguments, with NaN where nothing is, and what it returns; `wide`: computed in f64.

    `is_sound`: what there is of the results is finite and near to that.
    """

    position: int
    inputs: list[np.ndarray]
    golden: list[np.ndarray]
    wide: list[np.ndarray]
    is_sound: bool


@dataclass(frozen=True)
class RunTimeCase(Case):
    """A case whose program has run-time sizes, with its four draws, the largest first."""

    program: RunTimeProgram = field(kw_only=True)

    @cached_property
    def draws(self) -> tuple[Draw, ...]:
        most = self.program.symbol.maximum
        return tuple(_draw(self.program, position) for position in sorted({most, most // 2, 1, 0}, reverse=True))


def draw_run_time_case(seed: int, budget: str = SMALL) -> RunTimeCase:
    """The case of a seed, always the same: rows, tiles and lanes at random, but one kernel, without a schedule of its own."""
    options = replace(random_options(random.Random(f"run time options {seed}"), f"g{seed}"), on_chip=0)
    options = searched_options(random.Random(f"search {seed}"), options, budget)
    attempt = 0
    while True:
        program = draw_run_time_program(seed, attempt)
        case = RunTimeCase(seed, program.text, program.kinds, options, attempt, schedule="", program=program)
        if all(draw.is_sound for draw in case.draws):
            return case
        attempt += 1


def _draw(program: RunTimeProgram, position: int) -> Draw:
    """The reference is the program of so many rows, which knows nothing of run-time sizes."""
    *wholes, scalar = random_inputs(parse_module(program.text), program.seed)
    rows, text = program.rows(position), program.static(position)
    there = [_part(array, kind, rows) for array, kind in zip(wholes, program.inputs.values(), strict=True)]
    inputs = [_padded(array, whole.shape) for array, whole in zip(there, wholes, strict=True)]
    narrow, wide = execute(parse_module(text), there), executed_in_double(text, there)
    is_sound = all(map(is_near, narrow, wide))
    golden, exact = (_returned(found, inputs, program, position) for found in (narrow, wide))
    return Draw(position, [*inputs, np.asarray(position, scalar.dtype)], golden, exact, is_sound)


def _returned(
    found: Sequence[np.ndarray], inputs: Sequence[np.ndarray], program: RunTimeProgram, position: int
) -> list[np.ndarray]:
    """What the program returns where its text for so many rows returns `found`: results in part, and all of an updated cache."""
    returned = [_padded(array, program.shape(kind)) for array, kind in zip(found, program.results, strict=True)]
    if program.append is not None:
        returned[-1] = program.append.onto(inputs[0].astype(found[-1].dtype), found[-1], position)
    return returned


def _part(array: np.ndarray, kind: Kind, rows: int) -> np.ndarray:
    return np.ascontiguousarray(array[tuple(slice(rows + label.more if isinstance(label, Rows) else label) for label in kind)])


def _padded(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """With NaN for what is not there."""
    whole = np.full(shape, np.nan, array.dtype)
    whole[tuple(map(slice, array.shape))] = array
    return whole


class _Run(CaseRun):
    """`check` follows the largest size, `others` the other ones, once sizes are there."""

    def __init__(self, case: RunTimeCase, project: Path | None):
        super().__init__(case, project)
        self.draws, self.program = case.draws, case.program
        self.others: list[SemanticsCheck] | None = None

    def inputs(self) -> list[np.ndarray]:
        return self.draws[0].inputs

    def start(self, with_mlir: bool) -> None:
        super().start(with_mlir=False)
        self._agree(self.draws[0].golden, "written for all rows it computes something else")
        if with_mlir:
            self._ask_mlir(self.draws[1])

    def _ask_mlir(self, draw: Draw) -> None:
        """About the reference, of the rows that are there in a draw."""
        rows, text = self.program.rows(draw.position), self.program.static(draw.position)
        there = [_part(array, kind, rows) for array, kind in zip(draw.inputs, self.program.inputs.values(), strict=False)]
        found = executed_by_mlir(text, parse_module(text), there)
        self._agree(_returned(found, draw.inputs, self.program, draw.position), "MLIR computes something else", draw.golden)

    def _after(self, stage: Stage, name: str, module: ModuleOp) -> None:
        super()._after(stage, name, module)
        for check in self.others or ():
            check.after(name, module)
        if name == SizeStreams.name:
            self.others = [self._sized(draw, name, module) for draw in self.draws[1:]]

    def _sized(self, draw: Draw, name: str, module: ModuleOp) -> SemanticsCheck:
        check = SemanticsCheck(self.case.seed)
        check.inputs, check.names, check.results = draw.inputs, self.check.names, draw.golden
        check.after(name, module)
        return check

    def _references(self) -> tuple[Reference, ...]:
        names, parameters = arguments_of(self.module)
        return tuple(self._reference(draw, names, parameters) for draw in self.draws)

    def _reference(self, draw: Draw, names: Sequence[str], parameters: set[str]) -> Reference:
        inputs = {name: array for name, array in zip(names, draw.inputs, strict=True) if name not in parameters}
        golden = dict(zip(self.check.names, draw.golden, strict=True))
        moved = {name: np.abs(np.nan_to_num(narrow) - np.nan_to_num(wide))
                 for (name, narrow), wide in zip(golden.items(), draw.wide, strict=True)}
        in_place = self.check.names[-1:] if self.program.append is not None else []
        missing = {name: np.isnan(array) for name, array in golden.items() if name not in in_place}
        return Reference(f"at_{draw.position}", inputs, golden, lambda: moved, unspecified=missing)


@dataclass(frozen=True)
class RunTimeCampaign(Campaign):
    """`count` seeds of programs with run-time sizes."""

    what: ClassVar[str] = "random programs with run-time sizes"

    def check(self, seed: int, project: Path | None, with_mlir: bool) -> Outcome:
        return check_run_time_case(draw_run_time_case(seed, self.budget), project, with_mlir)

    def case(self, seed: int) -> Case:
        return draw_run_time_case(seed, self.budget)

    def again(self, seed: int) -> str:
        return f"{super().again(seed)} --run-time-sizes"


def check_run_time_case(case: RunTimeCase, project: Path | None, with_mlir: bool = True) -> Outcome:
    """As `check_case`: agreed means that all levels agree, at every value."""
    return outcome_of(_Run(case, project), with_mlir)
