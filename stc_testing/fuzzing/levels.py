"""One random program through the whole compile: every level is executed, and must agree with the linalg it came from."""

from __future__ import annotations

import random
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from xdsl.dialects.builtin import ModuleOp, TensorType

from stc.analysis.generic_loops import generics_in, name_of
from stc.analysis.support import obstacles
from stc.codegen.project import emit_project
from stc.diagnostics import BeyondBudget, CompileError, UnsupportedError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import COPIES, LANES, NAME, PARAMETER, ROWS
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.execution.dtypes import numpy_type
from stc.execution.run import execute, main_function
from stc.frontend.exported import ExportedModel, Reference
from stc.pipeline import PipelineOptions, Stage, run_stages, stages
from stc.platforms.budget import SMALL, Budget
from stc.tools.check_semantics import SemanticsChanged, SemanticsCheck, compare, random_inputs
from stc.transforms.linalg.choose_parallelism import ChooseParallelism
from stc.transforms.linalg.distribute_parallel import DistributeParallel
from stc_testing.fuzzing.generator import random_program
from stc_testing.fuzzing.program import as_double
from stc_testing.fuzzing.schedules import random_options, random_schedule, searched_options

AGREED, REFUSED, FAILED = "agreed", "refused", "failed"
REFERENCE, EMISSION, SIMULATION = "MLIR's execution engine", "code generation", "C simulation"
"""Where a program may fail that is not a pass."""
ILL_CONDITIONED = 1e-6
"""A program whose f32 and f64 results differ by more of the largest magnitude is not used: rounding alone would decide."""
_MOST_ON_CHIP = 1 << 20
_MOST_DSPS = 1 << 10
CHOSEN = ("lanes", "rows", "copies")
"""What a search may give a computation more than one of."""
FOR_SPEED = ("split-slices", "transpose-operands", "split-reductions", "expand-partial-sums", "fuse-reads", "relax-intervals")
"""Passes of a search, and those that speed up what it makes: in how many programs each changes anything is counted."""
_LONGEST = 2000
"""Characters of a message that are kept."""


@dataclass(frozen=True)
class Case:
    """A program and how it is compiled. `redrawn`: how many programs of this seed were ill-conditioned and discarded.

    `schedule`: text of a schedule.toml; None: a random one, which depends on the seed and on the generics after the linalg stage.
    """

    seed: int
    text: str
    kinds: tuple[str, ...]
    options: PipelineOptions
    redrawn: int = 0
    schedule: str | None = None


@dataclass(frozen=True)
class Outcome:
    """What became of a seed. `place`: the pass, or one of the places above; `groups`: kernels after fusion.

    `schedule`: the schedule.toml of the case, as far as it was made; `budget`: within which lanes and copies were searched;
    `sped_up`: what the search gave some computation more than one of, and which of `FOR_SPEED` acted. `simulated`: whether the
    emitted C++ ran; `by_mlir`: whether MLIR's execution engine was asked as well. `seconds`: processor time.
    """

    seed: int
    verdict: str
    place: str = ""
    message: str = ""
    kinds: tuple[str, ...] = ()
    groups: int = 0
    redrawn: int = 0
    on_chip: int = 0
    schedule: str = ""
    budget: str = SMALL
    sped_up: tuple[str, ...] = ()
    simulated: bool = False
    by_mlir: bool = False
    seconds: float = 0.0


def draw_case(seed: int, integers: bool = False, budget: str = SMALL) -> Case:
    """The case of a seed, always the same; `integers`: a program of integers of random widths.

    `budget`: within which it is searched (`searched_options`), then with more of what a search speeds up.
    """
    numbers = random.Random(f"options {seed}")
    options = searched_options(random.Random(f"search {seed}"), random_options(numbers, f"g{seed}"), budget)
    attempt = 0
    while not _well_conditioned((program := random_program(seed, attempt, integers, options.is_searched)).text, seed):
        attempt += 1
    return Case(seed, program.text, program.kinds, options, attempt)


def _well_conditioned(text: str, seed: int) -> bool:
    """Whether every float result in f32 is finite and near the one computed in f64; also where integers follow from floats."""
    module = parse_module(text)
    inputs = random_inputs(module, seed)
    results = zip(execute(module, inputs), executed_in_double(text, inputs), strict=True)
    return all(is_near(narrow, wide) for narrow, wide in results)


def executed_in_double(text: str, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The results of a program with f64 for f32."""
    return execute(parse_module(as_double(text)), [a.astype(np.float64) if a.dtype == np.float32 else a for a in inputs])


def is_near(narrow: np.ndarray, wide: np.ndarray) -> bool:
    if narrow.dtype != np.float32:
        return bool(np.array_equal(narrow, wide))
    if not np.isfinite(narrow).all():
        return False
    return bool(np.max(np.abs(narrow - wide), initial=0) <= ILL_CONDITIONED * np.max(np.abs(narrow), initial=0))


# One case -------------------------------------------------------------------------------------------------------------


def check_case(case: Case, project: Path | None, with_mlir: bool = True) -> Outcome:
    """Compile a case, execute it after every pass; emit it to `project` unless that is None.

    Agreed means that all levels agree: the C simulation of `project` is another matter.
    """
    return outcome_of(CaseRun(case, project), with_mlir)


def outcome_of(run: CaseRun, with_mlir: bool) -> Outcome:
    """What becomes of a run."""
    begin = time.process_time()
    try:
        outcome = _checked(run, with_mlir)
    except SemanticsChanged as error:
        outcome = run.outcome(FAILED, str(error))
    except CompileError as error:
        outcome = run.outcome(REFUSED, str(error))
    except Exception as error:  # whatever is not a CompileError is a defect of stc
        outcome = run.outcome(FAILED, described(error))
    return replace(outcome, by_mlir=with_mlir, seconds=time.process_time() - begin)


def emit_case(case: Case, project: Path) -> Outcome:
    """Compile a case and emit it to `project`, without executing the levels in between. CompileError where it is refused."""
    return _checked(CaseRun(case, project, every_level=False), with_mlir=False)


def described(error: Exception) -> str:
    """Type, message and innermost places; of a verifier's message, which contains the whole module, the marked lines."""
    frames = [f"{Path(f.filename).name}:{f.lineno} in {f.name}" for f in traceback.extract_tb(error.__traceback__)]
    lines = str(error).splitlines()
    marked = [line.strip(" |^-") for line in lines if line.lstrip().startswith("|")]
    text = "; ".join(dict.fromkeys(marked)) if marked else " ".join(lines)[:_LONGEST]
    return f"{type(error).__name__}: {text} [{' < '.join(reversed(frames[-4:]))}]"


def _checked(run: CaseRun, with_mlir: bool) -> Outcome:
    """Bytes on chip that a kernel alone exceeds are doubled, and DSPs that one point of each computation does: the tightest ones
    are wanted, not refusals of them."""
    while True:
        try:
            run.start(with_mlir)
            run.compile()
            run.emit()
            return run.outcome(AGREED, "")
        except BeyondBudget:
            if (more := _with_more_dsps(run.options.budget)) is None:
                raise
            run.options = replace(run.options, budget=more)
        except CompileError as error:
            too_small = run.place == "choose-groups" and "bytes of on-chip memory" in str(error)
            if isinstance(error, SemanticsChanged) or not too_small or run.options.on_chip in range(_MOST_ON_CHIP, 1 << 62):
                raise
            if run.options.on_chip == 0:
                raise
            run.options = replace(run.options, on_chip=2 * run.options.on_chip)


def _with_more_dsps(budget: str) -> str | None:
    """`budget` with twice the DSPs; None where it names none, or many."""
    said = Budget.parse(budget)
    if said.dsp is None or said.dsp.is_share or not 0 < said.dsp.number < _MOST_DSPS:
        return None
    return str(replace(said, dsp=replace(said.dsp, number=2 * said.dsp.number)))


class CaseRun:
    """A case on its way through the compile. `every_level`: whether the module is executed after every pass."""

    def __init__(self, case: Case, project: Path | None, every_level: bool = True):
        self.case, self.project, self.options, self.every_level = case, project, case.options, every_level
        self.place, self.schedule, self.groups = "input", "", 0
        self.sped_up: list[str] = []

    def outcome(self, verdict: str, message: str) -> Outcome:
        case, place = self.case, "" if verdict == AGREED else self.place
        return Outcome(
            case.seed, verdict, place, message, case.kinds, self.groups, case.redrawn, self.options.on_chip, self.schedule,
            self.options.budget, tuple(self.sped_up),
        )

    def start(self, with_mlir: bool) -> None:
        """Read the program and execute it, here and by MLIR."""
        self.place = "input"
        self.module = parse_module(self.case.text)
        self.module.verify()
        self.check = SemanticsCheck(self.case.seed)
        self.check.begin(self.module, self.inputs())
        assert self.check.results is not None
        self.reference = self.check.results
        if with_mlir:
            self.place = REFERENCE
            self._agree(executed_by_mlir(self.case.text, self.module, self.check.inputs), "MLIR computes something else")
        self.place = "input"
        if found := obstacles(self.module):
            raise UnsupportedError(found)

    def inputs(self) -> list[np.ndarray] | None:
        """What the module is executed on; None: on random inputs of the case's seed."""
        return None

    def _agree(self, results: Sequence[np.ndarray], complaint: str, reference: Sequence[np.ndarray] | None = None) -> None:
        if (difference := compare(self.reference if reference is None else reference, results, self.check.names)) is not None:
            raise SemanticsChanged(f"{complaint}: {difference}")

    def compile(self) -> None:
        numbers = random.Random(f"schedule {self.case.seed}")
        linalg, *rest = stages(self.options)
        self.round_trip = numbers.randrange(60)
        self.count = 0
        self.sped_up = []
        self._run([linalg])
        given = self.case.schedule
        self.schedule = random_schedule(numbers, self._scheduled(rest[0])) if given is None else given
        with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
            file.write(self.schedule)
            file.flush()
            if self.schedule:
                linalg, *rest = stages(replace(self.options, schedule=file.name))
            self._run(rest)
        self._agree(self.check.results or [], "the last level differs from the first")

    def _scheduled(self, tiling: Stage) -> ModuleOp:
        """The module with the generics that a schedule is about: as the search leaves them, if there is one."""
        if not self.options.is_searched:
            return self.module
        module, names = self.module.clone(), [str(entry).partition("{")[0] for entry in tiling.passes]
        until = names.index(DistributeParallel.name) + 1
        run_stages(module, make_context(), [Stage("before the schedule", tiling.passes[:until])])
        names = Counter(map(name_of, generics_in(module)))
        if twice := [name for name, count in names.items() if count > 1]:
            raise AssertionError(f"a schedule cannot tell apart what is called {' or '.join(map(str, twice))}")
        return module

    def _run(self, sequence: Sequence[Stage]) -> None:
        run_stages(self.module, make_context(), sequence, [self._after], begin_pass=self._begin)

    def _begin(self, stage: Stage, name: str) -> None:
        self.place = name
        self.before = self.module.clone() if name in FOR_SPEED and self.options.is_searched else None

    def _after(self, stage: Stage, name: str, module: ModuleOp) -> None:
        if name == "merge-kernels":
            self.groups = sum(isinstance(op, KernelOp) for op in module.walk())
        if name == ChooseParallelism.name:
            self.sped_up += _chosen(module)
        if self.before is not None and not self.before.is_structurally_equivalent(module):
            self.sped_up.append(name)
        if not self.every_level:
            return
        self.check.after(name, module)
        if name in ("set-fifo-depths", "size-fifos"):
            self._agree(self._with_depths(name, module), f"pass '{name}' chose depths that change a value")
        if self.count == self.round_trip:
            _require_round_trip(name, module)
        self.count += 1

    def _with_depths(self, name: str, module: ModuleOp) -> list[np.ndarray]:
        """The results with streams as deep as their types say: that the execution ends is the point."""
        try:
            return execute(module, self.check.inputs, depths=True)
        except CompileError as error:
            raise SemanticsChanged(f"pass '{name}' chose depths that do not suffice: {error}") from None

    def emit(self) -> None:
        if self.project is None:
            return
        self.place = EMISSION
        emit_project(self.module, self._model(), self.project, {"platform": self.options.platform}, {})

    def _model(self) -> ExportedModel:
        """The arrays by name, as emission wants them; the reference gives the expected outputs."""
        names, parameters = arguments_of(self.module)
        arrays = dict(zip(names, self.check.inputs, strict=True))
        references = self._references()
        return ExportedModel(
            self.options.kernel_name,
            self.module,
            references[0].inputs,
            {name: array for name, array in arrays.items() if name in parameters},
            references[0].golden,
            draws=references,
        )

    def _references(self) -> tuple[Reference, ...]:
        names, parameters = arguments_of(self.module)
        inputs = {name: array for name, array in zip(names, self.check.inputs, strict=True) if name not in parameters}
        golden = dict(zip(self.check.names, self.reference, strict=True))
        uncertainty = {
            name: np.abs(narrow - wide)
            for (name, narrow), wide in zip(golden.items(), executed_in_double(self.case.text, self.check.inputs), strict=True)
            if narrow.dtype == np.float32
        }
        return (Reference("example", inputs, golden, lambda: uncertainty),)


def _chosen(module: ModuleOp) -> list[str]:
    """What the search gave some computation more than one of."""
    given = [(LANES.of(op) or 1, ROWS.of(op) or 1, max(COPIES.of(op) or (1,))) for op in generics_in(module)]
    return [name for name, counts in zip(CHOSEN, zip(*given, strict=True), strict=False) if max(counts) > 1]


def arguments_of(module: ModuleOp) -> tuple[list[str], set[str]]:
    """Names of all arguments of its function, and of those that are parameters."""
    function = main_function(module)
    assert function.arg_attrs is not None
    names: list[str] = []
    parameters: set[str] = set()
    for attributes in function.arg_attrs.data:
        name = NAME.of(attributes)
        assert name is not None
        names.append(name)
        if PARAMETER.on(attributes):
            parameters.add(name)
    return names, parameters


def _require_round_trip(name: str, module: ModuleOp) -> None:
    """Every level prints, parses and verifies; only names may change."""
    again = parse_module(print_module(module), f"<after {name}>")
    again.verify()
    if not again.is_structurally_equivalent(module):
        raise AssertionError(f"what pass '{name}' leaves is something else after it was printed and parsed")


def executed_by_mlir(text: str, module: ModuleOp, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The program's results by MLIR's execution engine; `module` is the program, whose signature is used."""
    from stc.frontend.reference import execute_linalg, with_sign, without_sign

    results = [np.zeros(kind.get_shape(), numpy_type(kind.get_element_type())) for kind in _result_types(module)]
    takes = main_function(module).function_type.inputs
    given = [without_sign(array, kind) for array, kind in zip(inputs, takes, strict=True)]
    execute_linalg(text, "main", [np.ascontiguousarray(a).reshape(a.shape) for a in given], results, "the program")
    return [with_sign(array, kind) for array, kind in zip(results, _result_types(module), strict=True)]


def _result_types(module: ModuleOp) -> list[TensorType]:
    return [kind for kind in main_function(module).function_type.outputs if isinstance(kind, TensorType)]
