"""Models from a file of linalg on tensors; the reference is MLIR's own execution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from xdsl.dialects.builtin import (
    ArrayAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    IndexType,
    IntegerType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute

from stc.diagnostics import CompileError
from stc.dialects.facts import NAME, PARAMETER, SIZES
from stc.dialects.locations import source_location
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import require_fit
from stc.dialects.printing import print_module
from stc.frontend.draws import EXAMPLE, ONLY_EXAMPLE, Draws, draw_references, moved_by_rounding
from stc.frontend.exported import Arrays, ExportedModel
from stc.frontend.parameters import random_parameter
from stc.frontend.reference import lower_linalg, with_sign, without_sign
from stc.frontend.signature import attribute_name, main_function, refuse_dynamic_shapes, scalar_maxima
from stc.user_files import reason_of

LARGEST_RANDOM_INTEGER = 8
LEAST_COUNT_BITS = 32
"""Wider integers may be counts or positions."""


Compute = Callable[[Sequence[np.ndarray]], Sequence[np.ndarray]]
"""A function on arrays: what a module computes."""


def load_linalg_file(path: Path, draws: Draws = ONLY_EXAMPLE) -> ExportedModel:
    """Read a module with one function over statically shaped tensors, of linalg, which MLIR's own engine executes.

    As `model_of_module`; raises CompileError, with line and column.
    """
    module = parse_module(_read(path), str(path))

    def lowered(named: ModuleOp) -> Compute:
        executable = lower_linalg(print_module(named), "main", str(path))
        kinds = [_tensor(kind, str(path)) for kind in main_function(named).function_type.outputs]
        takes = list(main_function(named).function_type.inputs)

        def run(arrays: Sequence[np.ndarray]) -> Sequence[np.ndarray]:
            results = [np.zeros(kind.get_shape(), _dtype(kind, str(path))) for kind in kinds]
            given = [without_sign(array, kind) for array, kind in zip(arrays, takes, strict=True)]
            pairs = zip(given, takes, strict=True)
            executable.run([array if isinstance(kind, TensorType) else array[()] for array, kind in pairs], results)
            return [with_sign(array, kind) for array, kind in zip(results, kinds, strict=True)]

        return run

    return model_of_module(path, module, draws, "MLIR, executed", lowered)


def model_of_module(
    path: Path, module: ModuleOp, draws: Draws, reference: str, compute_of: Callable[[ModuleOp], Compute]
) -> ExportedModel:
    """The model that a module with one function over tensors is, of any level: random arrays, and what `compute_of` makes of them.

    Arguments are named by `stc.name`, or `arg0`, `arg1`, ...; results `out`, or `out0`, `out1`, .... `draws` says what references
    are made for. Random values follow its seed: N(0, 1), parameters (`stc.parameter`) as in `random_parameter`,
    integers of less than 32 bits anything of their type, others from 0 to 7. `reference` says what `compute_of` computes with.
    CompileError for an unusable function.
    """
    function = main_function(module)
    where = source_location(function) or str(path)
    refuse_dynamic_shapes(module)
    require_fit(module)
    if not scalar_maxima(module) and any(SIZES.on(entry) for entry in function.arg_attrs or ()):
        what = f"{SIZES.name} of an argument: references would be made of all of it"
        raise CompileError(what, where=where, accepted="IR behind size-streams, or a model of PyTorch with --run-time-sizes")
    argument_types = [_argument(kind, where) for kind in function.function_type.inputs]
    result_types = [_tensor(kind, where) for kind in function.function_type.outputs]
    if not result_types:
        raise CompileError("the function returns nothing", where=where, accepted="at least one tensor")
    function.arg_attrs = _named(function.arg_attrs, "arg", len(argument_types), where)
    function.res_attrs = _named(function.res_attrs, "out", len(result_types), where)
    function.sym_name = StringAttr("main")
    generator = torch.Generator().manual_seed(draws.seed)
    try:
        arguments = {
            attribute_name(entry): _random(kind, entry, generator, where)
            for kind, entry in zip(argument_types, function.arg_attrs, strict=True)
        }
        for kind in result_types:
            np.zeros(kind.get_shape(), _dtype(kind, where))
    except (MemoryError, RuntimeError):  # numpy's and PyTorch's
        raise CompileError("no memory for its arguments and results", where=where, accepted="tensors that fit") from None
    names = [attribute_name(entry) for entry in function.arg_attrs]
    maxima = {names[index]: most for index, most in scalar_maxima(module).items()}
    arguments |= {name: np.full_like(arguments[name], most) for name, most in maxima.items()}
    results = [attribute_name(entry) for entry in function.res_attrs]
    parameters = {attribute_name(entry) for entry in function.arg_attrs if PARAMETER.on(entry)}
    compute = compute_of(module)

    def run(inputs: Arrays, noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        values = {**arguments, **inputs}
        moved = values if noise is None else {name: moved_by_rounding(value, noise) for name, value in values.items()}
        computed = compute([np.ascontiguousarray(array).reshape(array.shape) for array in moved.values()])
        return dict(zip(results, computed, strict=True))

    inputs = {name: value for name, value in arguments.items() if name not in parameters}
    drawn = draw_references(draws, module, inputs, run, maxima=maxima)
    example = next((draw.golden for draw in drawn.references if draw.name == EXAMPLE), None)
    return ExportedModel(
        path.stem,
        module,
        inputs,
        {name: value for name, value in arguments.items() if name in parameters},
        run(inputs, None) if example is None else example,
        draws=drawn.references,
        draws_left_out=drawn.left_out,
        reference=reference,
    )


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the file: {reason_of(error)}", where=str(path), accepted="a file of MLIR text") from None


def _argument(kind: Attribute, where: str) -> TensorType:
    """A scalar is a tensor of one."""
    return TensorType(kind, []) if isinstance(kind, IntegerType | IndexType) else _tensor(kind, where)


def _tensor(kind: Attribute, where: str) -> TensorType:
    if not isinstance(kind, TensorType):
        raise CompileError(f"the function has an argument or result of type {kind}", where=where, accepted="tensors")
    return kind


def _named(present: ArrayAttr[DictionaryAttr] | None, stem: str, count: int, where: str) -> ArrayAttr[DictionaryAttr]:
    """The attribute dictionaries, completed by names; CompileError if two are equal."""
    entries = [{} for _ in range(count)] if present is None else [entry.data for entry in present]
    defaults = ["out"] if stem == "out" and count == 1 else [f"{stem}{i}" for i in range(count)]
    named = [DictionaryAttr(NAME.entry(default) | dict(entry)) for default, entry in zip(defaults, entries, strict=True)]
    names = [attribute_name(entry) for entry in named]
    for name in names:
        if names.count(name) > 1:
            raise CompileError(f"two arguments or results are called {name}", where=where)
    return ArrayAttr(named)


def _dtype(kind: TensorType, where: str) -> np.dtype:
    element = kind.get_element_type()
    floats: dict[type[Attribute], type[np.floating]] = {Float16Type: np.float16, Float32Type: np.float32, Float64Type: np.float64}
    if type(element) in floats:
        return np.dtype(floats[type(element)])
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if isinstance(element, IntegerType) and element.bitwidth == 1:
        return np.dtype(np.bool_)
    for width in (8, 16, 32, 64):
        if isinstance(element, IntegerType) and element.bitwidth <= width and element == IntegerType(element.bitwidth):
            return np.dtype(f"int{width}")
    raise CompileError(f"tensors of {element}", where=where, accepted="f64, f32, f16, index, signless i1 to i64")


def _random(kind: TensorType, entry: DictionaryAttr, generator: torch.Generator, where: str) -> np.ndarray:
    dtype, shape = _dtype(kind, where), tuple(kind.get_shape())
    if dtype == np.bool_:
        return torch.randint(0, 2, shape, generator=generator).numpy().astype(dtype)
    if isinstance(element := kind.get_element_type(), IntegerType) and element.bitwidth < LEAST_COUNT_BITS:
        half = 1 << (element.bitwidth - 1)
        return torch.randint(-half, half, shape, generator=generator).numpy().astype(dtype)
    if np.issubdtype(dtype, np.integer):
        return torch.randint(0, LARGEST_RANDOM_INTEGER, shape, generator=generator).numpy().astype(dtype)
    if PARAMETER.on(entry):
        # Without a module class to ask, matrices are taken as [..., in, out], as linalg.matmul uses them.
        return random_parameter(attribute_name(entry), shape, generator, transposed=True).numpy().astype(dtype)
    return torch.randn(shape, generator=generator).numpy().astype(dtype)
