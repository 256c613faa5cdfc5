"""The one function of an exported module: its names, and what its signature may not contain."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from xdsl.builder import Builder
from xdsl.dialects import tensor
from xdsl.dialects.arith import IndexCastOp
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AffineMapAttr,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    IndexType,
    ModuleOp,
    TensorType,
    i32,
)
from xdsl.dialects.func import CallOp, FuncOp, ReturnOp
from xdsl.dialects.linalg.attrs import IteratorTypeAttr
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Block, Operation, Region
from xdsl.ir.affine import AffineMap
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError, Obstacle, UnsupportedError
from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import BEGINS, ENDS_LAYERS, HOST, MODULE, NAME, PARAMETER, SIZES, UNSUPPORTED, VALUES
from stc.dialects.locations import source_location
from stc.dialects.updates import last_offsets, scalar_argument
from stc.iteration.size import Size, Symbol
from stc.names import identifier

ONE_FUNCTION = "one function with a body and without calls"


def main_function(module: ModuleOp) -> FuncOp:
    """The one function of a module; CompileError if there is not exactly one, or if it calls another or itself."""
    functions = [op for op in module.ops if isinstance(op, FuncOp)]
    for function in functions:
        if function.is_declaration:
            what = f"@{function.sym_name.data} is declared but has no body"
            raise CompileError(what, where=source_location(function), accepted=ONE_FUNCTION)
    calls = [(function, op) for function in functions for op in function.walk() if isinstance(op, CallOp)]
    for function, op in calls:
        kind = "recursion" if _calls(calls, op.callee.string_value(), function.sym_name.data) else "a call"
        what = f"{kind}: @{function.sym_name.data} calls @{op.callee.string_value()}"
        raise CompileError(what, where=source_location(op), accepted=ONE_FUNCTION)
    if len(functions) != 1:
        names = ", ".join(f"@{function.sym_name.data}" for function in functions)
        raise CompileError(f"the module has functions {names}" if names else "the module has no function", accepted=ONE_FUNCTION)
    return functions[0]


def _calls(calls: Sequence[tuple[FuncOp, CallOp]], caller: str, callee: str) -> bool:
    """Whether `caller` is `callee`, or calls it, through any number of others."""
    reached, pending = {caller}, [caller]
    while pending:
        name = pending.pop()
        called = {op.callee.string_value() for function, op in calls if function.sym_name.data == name}
        pending.extend(called - reached)
        reached |= called
    return callee in reached


def argument_names(module: ModuleOp) -> tuple[str, ...]:
    """The `stc.name` of each argument, in the order of the signature."""
    return tuple(attribute_name(entry) for entry in main_function(module).arg_attrs or ())


def scalar_maxima(module: ModuleOp) -> dict[int, int]:
    """The largest value of each argument that is a symbol of a kernel, or an offset of an insertion, by its position."""
    kernels = [op for op in module.walk() if isinstance(op, KernelOp)]
    bound = [(kernel.inputs[port.index], symbol) for kernel in kernels for symbol, port in kernel.symbols.items()]
    found = [(value, symbol.maximum) for value, symbol in bound]
    found += [last for op in module.walk() if isinstance(op, tensor.InsertSliceOp) for last in last_offsets(op)]
    maxima: dict[int, int] = {}
    for value, most in found:
        argument = scalar_argument(value)
        if argument is not None and isinstance(argument.block.parent_op(), FuncOp):
            maxima[argument.index] = min(most, maxima.get(argument.index, most))
    return maxima


def attribute_name(entry: DictionaryAttr) -> str:
    """The `stc.name` in an argument's or result's attributes; CompileError unless it is a string."""
    name = NAME.of(entry)
    if name is None:
        raise CompileError(f"{NAME.name} is {entry.data.get(NAME.name)}", accepted="a string")
    return name


def annotate(module: ModuleOp, inputs: Sequence[str], state: Sequence[str], outputs: Sequence[str]) -> None:
    """Name the arguments (inputs, then parameters) and results of the function.

    CompileError if their numbers differ from the signature's.
    """
    function = main_function(module)
    counts = (len(function.function_type.inputs), len(function.function_type.outputs))
    if counts != (len(inputs) + len(state), len(outputs)):
        raise CompileError(f"the exported function has {counts[0]} arguments and {counts[1]} results", where="main")
    arguments = [_named(key) for key in inputs] + [_named(key, parameter=True) for key in state]
    function.arg_attrs = ArrayAttr(arguments)
    function.res_attrs = ArrayAttr([_named(key) for key in outputs])
    for argument, key in zip(function.body.block.args, (*inputs, *state), strict=True):
        argument.name_hint = identifier(key)


def end_layers(module: ModuleOp, output: str) -> None:
    """Let a copy that says so (`stc.ends_layers`) hand on what the layer returns as `output`, to all that it is used for."""
    function = main_function(module)
    names = [attribute_name(entry) for entry in function.res_attrs or ()]
    end = function.body.block.last_op
    assert end is not None
    value = end.operands[names.index(output)]
    kind, made = value.type, value.owner
    assert isa(kind, TensorType) and isinstance(made, Operation)
    uses, loops = list(value.uses), kind.get_num_dims()
    body = Block(arg_types=[kind.element_type, kind.element_type])
    body.add_op(YieldOp(body.args[0]))
    maps = ArrayAttr([AffineMapAttr(AffineMap.identity(loops))] * 2)
    empty = tensor.EmptyOp([], kind)
    copy = GenericOp([value], [empty.tensor], Region(body), maps, ArrayAttr([IteratorTypeAttr.parallel()] * loops), [kind])
    ENDS_LAYERS.put(copy, None)
    NAME.put(copy, "end_of_layers")
    Rewriter.insert_op([empty, copy], InsertPoint.after(made))
    for use in uses:
        use.operation.operands[use.index] = copy.results[0]


def mark_host_parts(module: ModuleOp, sides: Iterable[tuple[str, Collection[str], Collection[str]]]) -> None:
    """Say which results parts on the host take, and which arguments they give: of each its name, and theirs."""
    function = main_function(module)
    sides = list(sides)
    if not sides:
        return
    taken = {name: part for part, takes, _ in sides for name in takes}
    given = {name: part for part, _, gives in sides for name in gives}
    function.arg_attrs = ArrayAttr([_with_part(entry, given) for entry in function.arg_attrs or ()])
    function.res_attrs = ArrayAttr([_with_part(entry, taken) for entry in function.res_attrs or ()])


def _with_part(entry: DictionaryAttr, parts: Mapping[str, str]) -> DictionaryAttr:
    name = attribute_name(entry)
    return DictionaryAttr({**entry.data, **HOST.entry(parts[name])}) if name in parts else entry


def add_values(module: ModuleOp, parameters: Mapping[str, np.ndarray]) -> None:
    """Say what parameters of integers hold that are of fewer bits than their type: 4 bits in bytes, zero points that are all 0."""
    function = main_function(module)
    entries = list(function.arg_attrs or ())
    for index, entry in enumerate(entries):
        array = parameters.get(attribute_name(entry))
        if array is not None and (held := held_range(array)) is not None:
            entries[index] = DictionaryAttr({**entry.data, **VALUES.entry(held)})
    function.arg_attrs = ArrayAttr(entries)


def held_range(array: np.ndarray) -> tuple[int, int] | None:
    """The least and the largest number that is said of a parameter that holds this; None where nothing is."""
    if not np.issubdtype(array.dtype, np.integer):
        return None
    least, most = int(array.min()), int(array.max())
    held = next((least_most for least_most in _RANGES if least_most[0] <= least and most <= least_most[1]), None)
    return held if held is not None and held[1] < np.iinfo(array.dtype).max else None


_RANGES = ((0, 0), *(bounds for n in (4, 8, 16, 32) for bounds in ((-(1 << n - 1), (1 << n - 1) - 1), (0, (1 << n) - 1))))
"""What is said of values: few things, so that layers of one model have the same said of them."""


def add_sizes(
    module: ModuleOp, sizes: Mapping[str, tuple[Size, ...]], begins: Mapping[str, tuple[Size, ...]], symbols: Iterable[Symbol]
) -> None:
    """Say how much of arguments is there at run time, and where it begins, and add a scalar argument for each of `symbols`, behind
    all others."""
    function = main_function(module)
    entries = list(function.arg_attrs or ())
    for index, entry in enumerate(entries):
        if (own := sizes.get(attribute_name(entry))) is not None:
            begin = begins.get(attribute_name(entry))
            entries[index] = DictionaryAttr({**entry.data, **SIZES.entry(own), **(BEGINS.entry(begin) if begin else {})})
    block = function.body.block
    for symbol in symbols:
        block.insert_arg(i32, len(block.args)).name_hint = symbol.name
        entries.append(_named(symbol.name))
    function.arg_attrs = ArrayAttr(entries)
    types = [argument.type for argument in block.args]
    function.function_type = FunctionType.from_lists(types, function.function_type.outputs.data)


def return_updated(module: ModuleOp, result: str, name: str, into: str, dimension: int, at: str) -> None:
    """Instead of rows, the function returns as `name` all of the argument `into` with these rows, along `dimension` from the scalar
    `at` on."""
    function = main_function(module)
    arguments = dict(zip(argument_names(module), function.body.block.args, strict=True))
    entries, terminator = list(function.res_attrs or ()), function.body.block.last_op
    assert isinstance(terminator, ReturnOp)
    index = [attribute_name(entry) for entry in entries].index(result)
    rows, whole = terminator.operands[index], arguments[into]
    assert isa(rows.type, TensorType)
    shape = rows.type.get_shape()
    offsets = [DYNAMIC_INDEX if d == dimension else 0 for d in range(len(shape))]
    builder = Builder(InsertPoint.before(terminator))
    begin = builder.insert(IndexCastOp(arguments[at], IndexType()))
    updated = builder.insert(tensor.InsertSliceOp.get(rows, whole, shape, offsets, offsets=[begin.result])).result
    updated.name_hint = identifier(name)
    terminator.operands[index] = updated
    entries[index] = _named(name)
    function.res_attrs = ArrayAttr(entries)
    function.function_type = FunctionType.from_lists(function.function_type.inputs.data, [op.type for op in terminator.operands])


def annotate_rest(module: ModuleOp, inputs: Sequence[str], state: Sequence[str], outputs: Sequence[str]) -> None:
    """As `annotate`, where further arguments stand for what could not be imported (`stc.unsupported`)."""
    function = main_function(module)
    missing = len(function.function_type.inputs) - len(inputs) - len(state)
    arguments = [_named(key) for key in inputs] + [_named(key, parameter=True) for key in state]
    function.arg_attrs = ArrayAttr([*arguments, *(DictionaryAttr(UNSUPPORTED.entry(None)) for _ in range(missing))])
    function.res_attrs = ArrayAttr([_named(key) for key in outputs])


def _named(name: str, *, parameter: bool = False) -> DictionaryAttr:
    return DictionaryAttr(NAME.entry(name) | (PARAMETER.entry(None) if parameter else {}))


def refuse_dynamic_shapes(module: ModuleOp) -> None:
    """UnsupportedError for all values with a dynamic dimension, naming their operations and module paths."""
    found: list[Obstacle] = []
    for operation in module.walk():
        types = [result.type for result in operation.results]
        if isinstance(operation, FuncOp):
            types = [*operation.function_type.inputs, *operation.function_type.outputs]
        for kind in types:
            if isinstance(kind, TensorType) and any(size < 0 for size in kind.get_shape()):
                path = MODULE.of(operation)
                place = source_location(operation) if path is None else path
                where = operation.name if place is None else f"{place} ({operation.name})"
                found.append(Obstacle(where, f"dynamic shape {kind}", "static shapes"))
    if found:
        raise UnsupportedError(list(dict.fromkeys(found)))
