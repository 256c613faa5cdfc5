"""A `torch.nn.Module` and example inputs to an `ExportedModel`.

Parameters and buffers become named arguments of the function rather than constants of the IR: a real model's constants are
gigabytes of text, and parameters are memory-mapped inputs of the accelerator anyway.
"""

from __future__ import annotations

import inspect
import keyword
import time
import warnings
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, nullcontext

import numpy as np
import torch
from torch._subclasses.fake_tensor import FakeTensor
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation

from stc.diagnostics import CompileError, UnsupportedError
from stc.dialects.parsing import parse_module
from stc.frontend.arrays import ACCEPTED as FLOATS_ACCEPTED
from stc.frontend.arrays import as_numpy, to_numpy, to_tensor
from stc.frontend.draws import ALL_THERE, EXAMPLE, ONLY_EXAMPLE, Draws, PartSizes, draw_references, moved_by_rounding
from stc.frontend.eager_run import module_state, named_tensors, reference_results, run_eagerly
from stc.frontend.exported import ExportedModel
from stc.frontend.host_parts import Factory, HostCut
from stc.frontend.rounding_noise import RoundingNoise
from stc.frontend.signature import (
    add_sizes,
    add_values,
    annotate,
    annotate_rest,
    argument_names,
    mark_host_parts,
    refuse_dynamic_shapes,
    return_updated,
    scalar_maxima,
)
from stc.frontend.silent_torch import silent_torch
from stc.frontend.torch_import import INTEGERS_ACCEPTED, UNSUPPORTED_INTEGERS, lower_to_linalg
from stc.frontend.user_code import UserCode
from stc.frontend.wrapped_tensors import unwrapped, wrapping_of
from stc.quantisation.formats import read_quantisation
from stc.quantisation.reference import quantised_model
from stc.quantisation.rows import attention_in_f32, rows_unrounded

ROOT = "layer"


class _WithArguments(torch.nn.Module):
    """Calls `layer` with its state taken from trailing arguments, and in front of them what parts on the host give; what these take
    it returns behind the results.

    The layer is a submodule, because only then do the nodes of the exported graph carry its module paths.
    """

    def __init__(
        self, layer: torch.nn.Module, inputs: Sequence[str], positional: int, state: Mapping[str, torch.Tensor], cut: HostCut
    ):
        super().__init__()
        self.layer = layer
        self._cut = cut
        self._given = len(cut.gives)
        self._inputs = tuple(inputs)
        self._positional = positional
        self._state = tuple(unwrapped(state))
        self._wrappings = {name: wrapping_of(tensor) for name, tensor in state.items()}

    def forward(self, *arguments: torch.Tensor) -> tuple[torch.Tensor, ...]:
        count = len(self._inputs)
        behind = count + self._given
        plain = dict(zip(self._state, arguments[behind:], strict=True))
        state = {name: wrapping.around(name, plain) for name, wrapping in self._wrappings.items()}
        keywords = dict(zip(self._inputs[self._positional :], arguments[self._positional : count], strict=True))
        with self._cut.given(arguments[count:behind]) as takes:
            result = torch.func.functional_call(self.layer, state, arguments[: self._positional], keywords)
        return (*(tensor for _, tensor in named_tensors(result)), *takes)


def export(
    module: torch.nn.Module,
    example_inputs: Sequence[torch.Tensor] | Mapping[str, torch.Tensor],
    *,
    name: str = "model",
    input_names: Sequence[str] | None = None,
    output_names: Sequence[str] | None = None,
    draws: Draws = ONLY_EXAMPLE,
    sizes: PartSizes = ALL_THERE,
    host: Sequence[str] = (),
    factory: Factory | None = None,
    is_ours: bool = False,
) -> ExportedModel:
    """Export `module` for the shapes of `example_inputs`; the reference is PyTorch's eager result.

    A mapping is passed by keyword, a sequence by position (named after the parameters of `forward` unless `input_names` says
    otherwise). Module paths are kept in `stc.module`. Raises CompileError for inputs that are no tensors, dynamic shapes, and
    operations that torch-mlir cannot lower, naming the module path or operation. `draws`: what references are made for. `sizes`:
    how much of the inputs is there at run time, and which outputs are rows of inputs; the module is exported for all of them, and
    run on what is there. Where `draws` ask for quantised layers, those of floats are exported as they are, for `quantize-linear` to
    rewrite; of those that have integers, activations are quantised and dequantised, for `recognize-quantization`. `host`: the paths
    of submodules that PyTorch runs between kernels (stc.frontend.host_parts), `factory` where the module comes from. `is_ours`:
    whether nobody else has the module, who might change it; its parameters are not copied then.
    """
    _refuse_scripts(module, name)
    inputs = _named_inputs(module, example_inputs, input_names)
    cut = HostCut(module, host, name)
    owned = cut.without_own(module_state(module))
    state = unwrapped(owned)
    caches = {rows.into for rows in sizes.appends.values()}
    _refuse_tensors({f"input {key}": value for key, value in inputs.items()} | state, name)
    _refuse_bf16({key: value for key, value in inputs.items() if key not in caches} | state, name)
    _refuse_names(state, name)
    clash = sorted(inputs.keys() & state.keys())
    if clash:
        raise CompileError(f"{clash[0]} names both an input and a parameter", where=name)
    positional = 0 if isinstance(example_inputs, Mapping) else len(inputs)
    timings: dict[str, float] = {}
    with warnings.catch_warnings(), torch.no_grad(), _persistent_buffers(module):
        warnings.simplefilter("ignore")
        golden = reference_results(module, inputs, positional, name)
        _refuse_bf16({key: value for key, value in golden.items() if key not in sizes.appends}, name)
        cut.examine(lambda: run_eagerly(module, inputs, positional, name), (*inputs, *state, *golden))
        _refuse_tensors(cut.takes | cut.gives, name)
        _refuse_bf16(cut.takes | cut.gives, name)
        quantised = quantised_model(module, read_quantisation(draws.quantize), name) if draws.quantize else None
        start = time.perf_counter()
        wrapper = _WithArguments(module, tuple(inputs), positional, owned, cut).eval()
        # One tensor given twice is still two inputs, which tracing tells apart by the tensors.
        arguments = (*(value.clone() for value in (*inputs.values(), *cut.gives.values())), *state.values())
        with quantised.exported() if quantised is not None else nullcontext():
            program = _export_program(wrapper, arguments, name)
        timings["export"] = time.perf_counter() - start
        start = time.perf_counter()
        text = _lowered(program, name, (*inputs, *cut.gives), tuple(state), (*golden, *cut.takes))
        timings["torch_import"] = time.perf_counter() - start
    start = time.perf_counter()
    ir = parse_module(text, f"{name}.mlir")
    timings["parse"] = time.perf_counter() - start
    outputs = _rename(golden, output_names)
    annotate(ir, (*inputs, *cut.gives), tuple(state), (*outputs, *cut.takes))
    mark_host_parts(ir, cut.sides)
    if cut.sides and not any(isinstance(op, LinalgStructuredOperation) for op in ir.walk()):
        what = "nothing is left to compile: submodules on the host compute everything"
        raise CompileError(what, where=f"--host {cut.sides[0][0]}", accepted="submodules with something before or behind them")
    held = as_numpy if is_ours else to_numpy
    parameters = {key: held(value, key) for key, value in state.items()}
    add_values(ir, parameters)
    add_sizes(ir, sizes.of, sizes.begins, sizes.symbols)
    for key, rows in sizes.appends.items():
        return_updated(ir, key, rows.name, rows.into, rows.dimension, rows.at.name)
    refuse_dynamic_shapes(ir)
    example = {key: to_numpy(value, key) for key, value in inputs.items()}

    def run(arrays: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        with quantised.replaced() if quantised is not None else nullcontext():
            return run_unquantised(arrays, noise)

    def run_unquantised(arrays: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        moved = arrays if noise is None else {key: moved_by_rounding(array, noise) for key, array in arrays.items()}
        tensors = {key: to_tensor(np.ascontiguousarray(moved[key]), inputs[key]) for key in inputs}
        noisy = RoundingNoise(noise) if noise is not None else nullcontext()
        with warnings.catch_warnings(), torch.no_grad(), rows_unrounded(), noisy, cut.recorded() as calls:
            warnings.simplefilter("ignore")
            results = run_eagerly(module, tensors, positional, name, frozenset(sizes.of))
        return {key: to_numpy(value, key) for key, value in zip(outputs, results.values(), strict=True)} | cut.arrays(calls)

    def run_in_f32(arrays: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        with attention_in_f32():
            return run_unquantised(arrays, noise)

    def again(arrays: Mapping[str, np.ndarray], noise: np.random.Generator | None) -> dict[str, np.ndarray]:
        there = sizes.there(arrays, {symbol.name: int(arrays[symbol.name]) for symbol in sizes.symbols})
        return sizes.returned({key: value for key, value in run(there, noise).items() if key not in cut.gives}, arrays)

    start = time.perf_counter()
    example |= sizes.scalars(EXAMPLE)
    names = argument_names(ir)
    sized = {symbol.name for symbol in sizes.symbols}  # which have values in each draw of their own
    known = {key: most for index, most in scalar_maxima(ir).items() if (key := names[index]) not in sized}
    maxima = {key: most for key, most in known.items() if key not in cut.gives}
    brain = frozenset(key for key, value in inputs.items() if value.dtype == torch.bfloat16)
    drawn = draw_references(draws, ir, example, run, sizes, maxima, None if quantised is None else run_in_f32, brain)
    timings["references"] = time.perf_counter() - start
    references = tuple(map(cut.moved, drawn.references))
    computed = next((draw.golden for draw in references if draw.name == EXAMPLE), None) if quantised is not None else None
    returned = {key: to_numpy(value, key) for key, value in (outputs | cut.takes).items()}
    return ExportedModel(
        name,
        ir,
        example | {key: to_numpy(value, key) for key, value in cut.gives.items()},
        parameters,
        computed or sizes.returned(returned, example),
        timings,
        references,
        drawn.left_out,
        quantised=frozenset() if quantised is None else quantised.used - quantised.packed,
        packed=frozenset() if quantised is None else quantised.used & quantised.packed,
        host_parts=cut.parts(factory),
        again=again,
    )


def _lowered(
    program: torch.export.ExportedProgram, name: str, inputs: Sequence[str], state: Sequence[str], outputs: Sequence[str]
) -> str:
    """Linalg text of a program. An UnsupportedError leaves with the rest of the program as a module."""
    try:
        return lower_to_linalg(program, ROOT)
    except UnsupportedError as error:
        if isinstance(error.rest, str):
            error.rest = parse_module(error.rest, f"{name}.mlir")
            annotate_rest(error.rest, inputs, state, outputs)
        raise


@contextmanager
def _persistent_buffers(module: torch.nn.Module) -> Generator[None]:
    """Treat all buffers as persistent meanwhile: torch-mlir does not find the others, such as a rotary embedding's `inv_freq`."""
    saved = [(owner, owner._non_persistent_buffers_set) for owner in module.modules()]  # pyright: ignore[reportPrivateUsage]
    for owner, _ in saved:
        owner._non_persistent_buffers_set = set()  # pyright: ignore[reportPrivateUsage]
    try:
        yield
    finally:
        for owner, names in saved:
            owner._non_persistent_buffers_set = names  # pyright: ignore[reportPrivateUsage]


def _named_inputs(
    module: torch.nn.Module, example: Sequence[torch.Tensor] | Mapping[str, torch.Tensor], names: Sequence[str] | None
) -> dict[str, torch.Tensor]:
    if isinstance(example, Mapping):
        named = dict(example)
    else:
        found = _forward_names(module, len(example)) if names is None else list(names)
        if len(found) != len(example):
            raise CompileError(f"{len(found)} input names for {len(example)} inputs")
        named = dict(zip(found, example, strict=True))
    for key, value in named.items():
        if not isinstance(value, torch.Tensor):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise CompileError(f"input {key} is a {type(value).__name__}", accepted="tensors")
    return named


def _refuse_scripts(module: torch.nn.Module, name: str) -> None:
    """CompileError for TorchScript, whose calls can be neither watched nor traced."""
    for path, part in module.named_modules():
        if isinstance(part, torch.jit.ScriptModule):
            raise CompileError("a TorchScript module", where=path or name, accepted="modules whose forward is Python")


def _refuse_tensors(tensors: Mapping[str, torch.Tensor], name: str) -> None:
    """CompileError for a tensor without values of its own, or whose values are not one array."""
    for key, value in tensors.items():
        if (complaint := _complaint(value)) is not None:
            raise CompileError(f"{key} {complaint[0]}", where=name, accepted=complaint[1])


def _refuse_bf16(tensors: Mapping[str, torch.Tensor], name: str) -> None:
    """CompileError for tensors of a type that numpy lacks: who gives or gets them would have to know that they are bits."""
    for key, value in tensors.items():
        if value.dtype == torch.bfloat16:
            raise CompileError(f"{key} has dtype {value.dtype}", where=name, accepted=FLOATS_ACCEPTED)


def _complaint(tensor: torch.Tensor) -> tuple[str, str] | None:
    if torch.nn.parameter.is_lazy(tensor):
        return "is not initialised (of a lazy module)", "a module that has run once on its inputs"
    if tensor.is_meta or isinstance(tensor, FakeTensor):
        return "has no values (a meta or fake tensor)", "tensors with values"
    if tensor.dtype in UNSUPPORTED_INTEGERS:
        return f"has dtype {tensor.dtype}", INTEGERS_ACCEPTED
    if tensor.layout != torch.strided or tensor.is_nested or tensor.is_quantized:
        kind = "nested" if tensor.is_nested else "quantised" if tensor.is_quantized else str(tensor.layout)
        return f"is no dense tensor ({kind})", "dense tensors of floats, integers or bool"
    return None


def _refuse_names(state: Mapping[str, torch.Tensor], name: str) -> None:
    """CompileError for names that PyTorch writes into the Python of an exported program unquoted."""
    for key in state:
        if not key.isprintable() or any(character in key for character in "\"\\"):
            what = f"a parameter or buffer is called {key!r}"
            raise CompileError(what, where=name, accepted="names without quotation marks, backslashes and control characters")
        if word := next((part for part in key.split(".") if keyword.iskeyword(part)), None):
            raise CompileError(f"{key} has the Python keyword '{word}' in its name", where=name, accepted="other names of modules")


def _forward_names(module: torch.nn.Module, count: int) -> list[str]:
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    names = [entry.name for entry in inspect.signature(module.forward).parameters.values() if entry.kind in kinds]
    return [names[i] if i < len(names) else f"input{i}" for i in range(count)]


def _export_program(wrapper: _WithArguments, arguments: tuple[torch.Tensor, ...], name: str) -> torch.export.ExportedProgram:
    purpose = "torch.export cannot trace this module"
    with UserCode(name, "PyTorch operations on tensors", purpose=purpose, module=wrapper.layer), silent_torch():
        return torch.export.export(wrapper, arguments, strict=False)


def _rename(golden: dict[str, torch.Tensor], names: Sequence[str] | None) -> dict[str, torch.Tensor]:
    if names is None:
        return golden
    if len(names) != len(golden):
        raise CompileError(f"{len(names)} output names for {len(golden)} outputs")
    return dict(zip(names, golden.values(), strict=True))
