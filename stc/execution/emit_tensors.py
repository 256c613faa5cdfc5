"""Translation of `tensor`: slices are views, insertions overwrite their destination where nobody can tell (`ownership.py`)."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.ir import Attribute, Operation, SSAValue

from stc.execution.dtypes import numpy_type
from stc.execution.ownership import may_overwrite, slice_outlives
from stc.execution.source import Source
from stc.execution.subscripts import checked, mixed, retained_dimensions, slice_subscript, static_entries
from stc.execution.tensors import undefined
from stc.execution.translation import emit_call, emits


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
    kind = op.tensor.type
    assert isinstance(kind, TensorType)
    if DYNAMIC_INDEX in kind.get_shape():
        emit_call(source, op)
        return
    blank = source.refer(undefined(kind.get_shape(), numpy_type(kind.element_type)), "blank")
    source.assign(op.tensor, f"{blank}.copy()")


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
