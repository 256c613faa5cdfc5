"""Whether a pass changes what a module computes: the module is executed before and after it, on the same random inputs.

    difference = check_pass(before, after, random_inputs(before, seed=0))
    if difference is not None:
        print(difference)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import IntegerType, ModuleOp, TensorType
from xdsl.ir import Attribute

from stc.analysis.run_time_sizes import symbols_of
from stc.diagnostics import CompileError
from stc.dialects.facts import NAME, PARAMETER
from stc.dialects.stream import CreateOp
from stc.execution.dtypes import numpy_type
from stc.execution.run import execute, main_function
from stc.execution.work import TooLong
from stc.pipeline import REPEAT_LAYERS
from stc.transforms.linalg.quantize_linear import QuantizeLinear
from stc.transforms.stream.set_fifo_depths import SetFifoDepths

TOLERANCE = 1e-5
"""Relative to the largest finite magnitude of the result: reassociated sums of floats stay well below it."""
ROUNDINGS = 16
"""What a reassociated sum of short floats may differ by, in units of their last place: `TOLERANCE` is below one of f16."""
OTHER_ARITHMETIC = frozenset({QuantizeLinear.name})
"""Passes of a pipeline that are asked for another arithmetic: `--check` compares with a reference that has it."""
_LARGEST_INTEGER = 4


@dataclass(frozen=True)
class Difference:
    """The first entry of a result that differs. `index` is empty for a scalar and where shapes or types differ already."""

    result: int
    name: str
    index: tuple[int, ...]
    before: str
    after: str

    def __str__(self) -> str:
        named = f"result {self.result}" + (f" ({self.name})" if self.name else "")
        return f"{named} differs first at {list(self.index)}: {self.before} before, {self.after} after"


def check_pass(before: ModuleOp, after: ModuleOp, inputs: Sequence[np.ndarray]) -> Difference | None:
    """Execute both modules on `inputs`; the first difference of their results, None where they agree.

    Integers must agree bit for bit, floats within `TOLERANCE`, infinities and NaN in place. CompileError where a module cannot be
    executed.
    """
    return compare(execute(before, inputs), execute(after, inputs), result_names(before))


def compare(before: Sequence[np.ndarray], after: Sequence[np.ndarray], names: Sequence[str] = ()) -> Difference | None:
    """The first difference between two lists of results."""
    for index, (old, new) in enumerate(zip(before, after, strict=False)):
        name = names[index] if index < len(names) else ""
        if old.shape != new.shape or old.dtype != new.dtype:
            return Difference(index, name, (), _described(old), _described(new))
        wrong = np.argwhere(_differs(old, new))
        if len(wrong):
            place = tuple(int(entry) for entry in wrong[0])
            return Difference(index, name, place, repr(old[place].item()), repr(new[place].item()))
    if len(before) != len(after):
        return Difference(min(len(before), len(after)), "", (), f"{len(before)} results", f"{len(after)} results")
    return None


def _described(array: np.ndarray) -> str:
    return f"{array.dtype}{list(array.shape)}"


def _differs(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """For each entry whether it is another value."""
    if not np.issubdtype(old.dtype, np.floating):
        return old != new
    finite = np.isfinite(old)
    scale = np.max(np.abs(old), where=finite, initial=0.0)
    same_elsewhere = (old == new) | (np.isnan(old) & np.isnan(new))
    with np.errstate(invalid="ignore"):
        close = np.abs(old - new) <= max(TOLERANCE, ROUNDINGS * np.finfo(old.dtype).eps) * scale
    return ~np.where(finite, close, same_elsewhere)


# Inputs ---------------------------------------------------------------------------------------------------------------


def random_inputs(module: ModuleOp, seed: int = 0) -> list[np.ndarray]:
    """Inputs of the module's function: floats N(0, 1), integers from -4 to 4, i1 and index 0 or 1.

    Parameters (`stc.parameter`) that are matrices are N(0, 1 / their largest extent), so that values neither vanish nor grow from
    layer to layer. Sizes that `stc.sizes` speaks of are the largest: there levels for these and for all sizes agree. CompileError
    for arguments that are neither tensors nor scalars.
    """
    function = main_function(module)
    random = np.random.default_rng(seed)
    attributes = function.arg_attrs.data if function.arg_attrs is not None else ()
    maxima = {symbol.name: symbol.maximum for entry in attributes for symbol in symbols_of(entry)}
    inputs: list[np.ndarray] = []
    for index, argument in enumerate(function.body.block.args):
        array = _random(random, argument.type)
        entry = attributes[index] if index < len(attributes) else None
        if (most := maxima.get(NAME.of(entry) or "")) is not None and not isinstance(argument.type, TensorType):
            array = np.asarray(most, array.dtype)
        if index < len(attributes) and PARAMETER.on(attributes[index]) and array.ndim > 1 and array.dtype.kind == "f":
            array = (array / np.sqrt(max(array.shape))).astype(array.dtype)
        inputs.append(array)
    return inputs


def _random(random: np.random.Generator, kind: Attribute) -> np.ndarray:
    shape = kind.get_shape() if isinstance(kind, TensorType) else ()
    element = kind.element_type if isinstance(kind, TensorType) else kind
    dtype = numpy_type(element)
    if np.issubdtype(dtype, np.floating):
        return np.asarray(random.standard_normal(shape)).astype(dtype)
    if dtype == np.bool_ or not isinstance(kind, TensorType):
        return np.asarray(random.integers(0, 2, shape)).astype(dtype)
    half = 1 << (element.width.data - 1) if isinstance(element, IntegerType) else _LARGEST_INTEGER + 1
    least, most = max(-half, -_LARGEST_INTEGER), min(half - 1, _LARGEST_INTEGER)
    return np.asarray(random.integers(least, most, shape, endpoint=True)).astype(dtype)


def result_names(module: ModuleOp) -> list[str]:
    """The model's names of the results, empty where they have none."""
    function: func.FuncOp = main_function(module)
    if function.res_attrs is None:
        return []
    return [NAME.of(attributes) or "" for attributes in function.res_attrs.data]


# A pipeline -----------------------------------------------------------------------------------------------------------


class SemanticsChanged(CompileError):
    """A pass changed what the module computes, or left it in a state that cannot be executed."""

    exit_code = 1


class SemanticsCheck:
    """Watches one module go through a pipeline: `begin` with the input, then `after` each pass."""

    def __init__(self, seed: int = 0):
        self.seed = seed
        self.checked = 0
        """Passes that were."""
        self.inputs: list[np.ndarray] = []
        self.names: list[str] = []
        self.results: list[np.ndarray] | None = None
        """Of the last module that was executed."""
        self.notes: list[str] = []
        """Passes that were not checked, and why."""
        self.has_depths = False
        """Whether the depths in the types are decided: from then on streams are as deep as they say."""

    def begin(self, module: ModuleOp, inputs: Sequence[np.ndarray] | None = None) -> None:
        """Execute the input, on random inputs if none are given; CompileError where it cannot be executed."""
        self.inputs = random_inputs(module, self.seed) if inputs is None else list(inputs)
        self.names = result_names(module)
        self.results = execute(module, self.inputs)
        self.has_depths = any(isinstance(op, CreateOp) for op in module.walk()) and self._ends_at_depths(module)

    def _ends_at_depths(self, module: ModuleOp) -> bool:
        try:
            execute(module, self.inputs, depths=True)
        except CompileError:
            return False
        return True

    def after(self, name: str, module: ModuleOp) -> None:
        """Execute what pass `name` left, and compare with what it got; SemanticsChanged where they differ."""
        assert self.results is not None
        if name == REPEAT_LAYERS:
            self.notes.append(f"pass '{name}' is not checked: what it leaves computes several layers")
            self.begin(module)
            return
        self.has_depths = self.has_depths or name == SetFifoDepths.name
        try:
            results = execute(module, self.inputs, depths=self.has_depths)
        except TooLong as refusal:
            self.notes.append(f"pass '{name}' is not checked: {refusal}")
            return
        except CompileError as error:
            raise SemanticsChanged(f"pass '{name}' left a module that cannot be executed: {error}") from None
        except Exception as error:  # the executor met IR that nobody should have left
            complaint = f"{type(error).__name__}: {error}"
            raise SemanticsChanged(f"pass '{name}' left a module that cannot be executed: {complaint}") from None
        if name in OTHER_ARITHMETIC:
            self.notes.append(f"pass '{name}' is not checked: it computes otherwise, as the reference does")
            self.results = results
            return
        difference = compare(self.results, results, self.names)
        if difference is not None:
            raise SemanticsChanged(f"pass '{name}' changes what the module computes: {difference}")
        self.results = results
        self.checked += 1
