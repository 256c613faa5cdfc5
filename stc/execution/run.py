"""Reference semantics of every level on numpy: `execute(module, inputs)`.

    outputs = execute(module, [x, weight])                    # unbounded streams
    outputs = execute(module, [x, weight], depths=True)       # streams as deep as their types say

Linalg, tiled linalg, kernels over itensors before and after fusion, tasks over streams and buffers: the function keeps PyTorch's
signature at every level, and so does this.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from stc.diagnostics import CompileError
from stc.dialects.facts import VALUES
from stc.execution import (
    emit_control,
    emit_memory,
    emit_scalars,
    emit_structured,
    emit_tensors,
    emit_tokens,
    functions,
    kernels,
    own_kernels,
    scalars,
)
from stc.execution.dtypes import numpy_type
from stc.execution.source import Source
from stc.execution.translation import emit_block
from stc.execution.work import MOST_STEPS, refuse_long_runs

LEVELS = (
    emit_control, emit_memory, emit_scalars, emit_structured, emit_tensors, emit_tokens, functions, kernels, own_kernels, scalars
)
"""The files that give operations their meaning, imported for it."""


def execute(
    target: ModuleOp | func.FuncOp, inputs: Sequence[np.ndarray], *, depths: bool = False, most_steps: int = MOST_STEPS
) -> list[np.ndarray]:
    """Run a function on arrays, one per argument, of exactly the argument's shape and element type; returns its results.

    A module is run from @main, or from its only function. With `depths`, streams and rings have the depth of their types.
    CompileError names the operation that has no semantics, the access out of bounds, or the task, stream and token where reads
    and writes do not agree; `Deadlock` and `TooLong` (more than `most_steps` operations) are CompileErrors of their own.
    """
    function = main_function(target)
    _check_inputs(function, inputs)
    refuse_long_runs(function, most_steps)
    with np.errstate(all="ignore"):
        return [np.asarray(value) for value in translate(function, depths)(*inputs)]


def _check_inputs(function: func.FuncOp, inputs: Sequence[np.ndarray]) -> None:
    """CompileError naming the input that does not fit its argument."""
    arguments = function.body.block.args
    if len(inputs) != len(arguments):
        raise CompileError(
            f"{len(inputs)} inputs given", where=f"@{function.sym_name.data}", accepted=f"{len(arguments)} inputs"
        )
    for index, (argument, array) in enumerate(zip(arguments, inputs, strict=True)):
        _check_input(function, index, argument, array)


def _check_input(function: func.FuncOp, index: int, argument: SSAValue, array: np.ndarray) -> None:
    shape_of = getattr(argument.type, "get_shape", tuple)
    element = getattr(argument.type, "element_type", argument.type)
    expected = (tuple(shape_of()), numpy_type(element))
    if (np.shape(array), np.asarray(array).dtype) != expected:
        raise CompileError(
            f"input {index} is {np.asarray(array).dtype}{list(np.shape(array))}",
            where=f"@{function.sym_name.data}",
            accepted=f"{expected[1]}{list(expected[0])}",
        )
    said = VALUES.of(function.arg_attrs.data[index]) if function.arg_attrs is not None else None
    if said is not None and array.size and not said[0] <= array.min() <= array.max() <= said[1]:
        found = f"input {index} has entries from {array.min()} to {array.max()}"
        raise CompileError(found, where=f"@{function.sym_name.data}", accepted=f"{said[0]} to {said[1]}, as {VALUES.name} says")


def translate(function: func.FuncOp, depths: bool) -> Callable[..., Sequence[np.ndarray]]:
    """A function as a Python function of arrays; kernels are translated when it runs."""
    source = Source(f"@{function.sym_name.data}", bounded=depths)
    parameters = [source.define(argument) for argument in function.body.block.args]
    results = emit_block(source, function.body.block)
    source.line(f"return [{', '.join(source.name(value) for value in results)}]")
    source.forget(result for op in function.body.block.ops for result in op.results)
    return source.compile(parameters)


def main_function(target: ModuleOp | func.FuncOp) -> func.FuncOp:
    """@main of a module, or its only function with a body; CompileError where it is not clear which."""
    if isinstance(target, func.FuncOp):
        return target
    functions = [op for op in target.body.block.ops if isinstance(op, func.FuncOp) and op.body.blocks]
    named = [function for function in functions if function.sym_name.data == "main"]
    if len(named or functions) != 1:
        raise CompileError(f"module has {len(functions)} functions with a body", accepted="a function @main, or just one")
    return (named or functions)[0]
