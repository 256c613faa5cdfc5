"""Translation of `tensor`: slices are views, insertions overwrite their destination where nobody can tell (`ownership.py`)."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue

from stc.diagnostics import CompileError
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import scalar_type
from stc.execution.ownership import may_overwrite, slice_outlives
from stc.execution.source import Source
from stc.execution.subscripts import checked, mixed, retained_dimensions, slice_subscript, static_entries
from stc.execution.translation import emit_block, emits, free_values
from stc.execution.undefined import undefined


def shape_of(kind: Attribute) -> tuple[int, ...]:
    assert isinstance(kind, TensorType)
    return kind.get_shape()


def is_placeholder(value: SSAValue) -> bool:
    """Whether `value` is an empty tensor that only says where results go, so that it need not exist."""
    return isinstance(value.owner, tensor.EmptyOp) and all(_ignores_contents(use.operation, use.index) for use in value.uses)


def _ignores_contents(op: Operation, index: int) -> bool:
    if isinstance(op, linalg.FillOp):
        return index > 0
    if not isinstance(op, LinalgStructuredOperation):
        return False
    return index >= len(op.inputs) and not op.body.block.args[index].uses


@emits(tensor.EmptyOp)
def emit_empty(source: Source, op: tensor.EmptyOp) -> None:
    if is_placeholder(op.tensor):
        return
    source.assign(op.tensor, f"{blank_tensor(source, op.tensor.type)}.copy()")


def blank_tensor(source: Source, kind: Attribute) -> str:
    """An array of undefined contents; CompileError where its shape is not static."""
    assert isinstance(kind, TensorType)
    if DYNAMIC_INDEX in kind.get_shape():
        raise CompileError(f"values of type {kind} cannot be executed", where=source.where, accepted="static shapes")
    return source.refer(undefined(kind.get_shape(), numpy_type(kind.element_type)), "blank")


@emits(linalg.FillOp)
def emit_fill(source: Source, op: linalg.FillOp) -> None:
    value = source.name(op.inputs[0])
    if not op.results:
        source.line(f"{source.name(op.outputs[0])}[...] = {value}")
        return
    kind = op.results[0].type
    assert isinstance(kind, TensorType)
    dtype = source.refer(numpy_type(kind.element_type), "dtype")
    name = source.define(op.results[0])
    source.line(f"{name} = np.empty({kind.get_shape()}, {dtype})")
    source.line(f"{name}.fill({value})")


@emits(tensor.ExtractSliceOp)
def emit_extract_slice(source: Source, op: tensor.ExtractSliceOp) -> None:
    sizes = static_entries(source, op, mixed(op.static_sizes, op.sizes), "slice size")
    strides = static_entries(source, op, mixed(op.static_strides, op.strides), "slice stride")
    retained = retained_dimensions(sizes, shape_of(op.result.type))
    offsets = mixed(op.static_offsets, op.offsets)
    subscript = slice_subscript(source, op, offsets, sizes, strides, shape_of(op.source.type), retained)
    text = f"{source.name(op.source)}[{subscript}]" if subscript else source.name(op.source)
    source.assign(op.result, f"{text}.copy()" if slice_outlives(op) else text)


@emits(tensor.InsertSliceOp)
def emit_insert_slice(source: Source, op: tensor.InsertSliceOp) -> None:
    sizes = static_entries(source, op, mixed(op.static_sizes, op.sizes), "slice size")
    strides = static_entries(source, op, mixed(op.static_strides, op.strides), "slice stride")
    retained = retained_dimensions(sizes, shape_of(op.source.type))
    offsets = mixed(op.static_offsets, op.offsets)
    subscript = slice_subscript(source, op, offsets, sizes, strides, shape_of(op.dest.type), retained)
    name = _rewritten(source, op, op.dest, op.result)
    source.line(f"{name}[{subscript or '...'}] = {source.name(op.source)}")


def _rewritten(source: Source, op: Operation, destination: SSAValue, result: SSAValue) -> str:
    """The variable of `result`, which starts as the contents of `destination`."""
    name = source.name(destination)
    if may_overwrite(destination, op):
        source.names[result] = name
        return name
    source.assign(result, f"{name}.copy()")
    return source.name(result)


@emits(tensor.ExpandShapeOp, tensor.CollapseShapeOp)
def emit_reshape(source: Source, op: Operation) -> None:
    source.assign(op.results[0], f"np.reshape({source.name(op.operands[0])}, {shape_of(op.results[0].type)})")


@emits(tensor.CastOp)
def emit_cast(source: Source, op: tensor.CastOp) -> None:
    source.names[op.dest] = source.name(op.source)


@emits(linalg.BroadcastOp)
def emit_broadcast(source: Source, op: linalg.BroadcastOp) -> None:
    spread = f"np.expand_dims({source.name(op.input)}, {tuple(op.dimensions.get_values())})"
    source.assign(op.results[0], f"np.array(np.broadcast_to({spread}, {shape_of(op.init.type)}))")


@emits(tensor.ConcatOp)
def emit_concat(source: Source, op: tensor.ConcatOp) -> None:
    parts = ", ".join(source.name(part) for part in op.operands)
    source.assign(op.result, f"np.concatenate([{parts}], axis={op.dim.value.data})")


@emits(tensor.PadOp)
def emit_pad(source: Source, op: tensor.PadOp) -> None:
    """The region gives the value at each coordinate of the result, all at once here."""
    low = static_entries(source, op, mixed(op.static_low, op.low), "padding")
    shape, inner = shape_of(op.result.type), shape_of(op.source.type)
    padding = Source(source.where, in_arrays=True)
    captured = free_values(op)
    parameters = [padding.define(value) for value in (*op.region.block.args, *captured)]
    (value,) = emit_block(padding, op.region.block)
    padding.line(f"return np.array(np.broadcast_to({padding.name(value)}, {shape}))")
    coordinates = [source.refer(index, "index") for index in np.indices(shape, dtype=np.int64, sparse=True)]
    arguments = ", ".join([*coordinates, *(source.name(value) for value in captured)])
    source.assign(op.result, f"{source.refer(padding.compile(parameters), 'padded')}({arguments})")
    inside = ", ".join(f"{start}:{start + size}" for start, size in zip(low, inner, strict=True))
    source.line(f"{source.name(op.result)}[{inside or '()'}] = {source.name(op.source)}")


@emits(tensor.SplatOp)
def emit_splat(source: Source, op: tensor.SplatOp) -> None:
    source.assign(op.result, f"np.full({shape_of(op.result.type)}, {source.name(op.input)})")


@emits(tensor.FromElementsOp)
def emit_from_elements(source: Source, op: tensor.FromElementsOp) -> None:
    entries = ", ".join(source.name(entry) for entry in op.operands)
    dtype = source.refer(numpy_type(scalar_type(op.result.type)), "dtype")
    source.assign(op.result, f"np.array([{entries}], {dtype}).reshape({shape_of(op.result.type)})")


@emits(tensor.DimOp)
def emit_dim(source: Source, op: tensor.DimOp) -> None:
    source.assign(op.result, f"{source.name(op.source)}.shape[{source.name(op.index)}]")


@emits(tensor.ExtractOp)
def emit_extract(source: Source, op: tensor.ExtractOp) -> None:
    indices = [checked(source, op, index, 1, extent) for index, extent in zip(op.indices, shape_of(op.tensor.type), strict=True)]
    source.assign(op.result, f"{source.name(op.tensor)}[{', '.join(indices) or '()'}]")


@emits(tensor.InsertOp)
def emit_insert(source: Source, op: tensor.InsertOp) -> None:
    shape = shape_of(op.dest.type)
    indices = [checked(source, op, index, 1, extent) for index, extent in zip(op.indices, shape, strict=True)]
    name = _rewritten(source, op, op.dest, op.result)
    source.line(f"{name}[{', '.join(indices) or '()'}] = {source.name(op.scalar)}")
