"""Dialect `tensor` on numpy arrays.

Contents of `tensor.empty` are NaN (floats) or the smallest integer, so that reading them shows.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, DenseArrayBase, IntegerType, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from stc.execution.dtypes import numpy_type
from stc.execution.machine import Machine, Value, implements


def _shape(kind: Attribute) -> tuple[int, ...]:
    assert isinstance(kind, TensorType)
    return kind.get_shape()


_CONTENTS: ContextVar[int | None] = ContextVar("contents of undefined arrays", default=None)


@contextmanager
def undefined_as(value: int) -> Generator[None]:
    """While in the `with` block, arrays whose contents nobody may use hold `value`: a result that depends on it uses them."""
    token = _CONTENTS.set(value)
    try:
        yield
    finally:
        _CONTENTS.reset(token)


def undefined(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array whose contents nobody may use."""
    if (value := _CONTENTS.get()) is not None:
        return np.full(shape, value, dtype)
    if np.issubdtype(dtype, np.floating):
        return np.full(shape, np.nan, dtype)
    return np.full(shape, True if dtype == np.bool_ else np.iinfo(dtype).min, dtype)


@implements(tensor.EmptyOp)
def run_empty(machine: Machine, op: tensor.EmptyOp) -> Sequence[Value]:
    kind = op.tensor.type
    assert isinstance(kind, TensorType)
    sizes = iter(machine.values[size] for size in op.dynamic_sizes)
    shape = [int(next(sizes)) if extent == DYNAMIC_INDEX else extent for extent in kind.get_shape()]
    return [undefined(shape, numpy_type(kind.element_type))]


@implements(tensor.ExpandShapeOp, tensor.CollapseShapeOp)
def run_reshape(machine: Machine, op: Operation) -> Sequence[Value]:
    return [machine.operands(op)[0].reshape(_shape(op.results[0].type))]


@implements(tensor.CastOp)
def run_cast(machine: Machine, op: tensor.CastOp) -> Sequence[Value]:
    return machine.operands(op)


def _mixed(machine: Machine, static: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[int]:
    values = iter(machine.values[value] for value in dynamic)
    return [int(next(values)) if entry == DYNAMIC_INDEX else int(entry) for entry in static.get_values()]


def slices(machine: Machine, op: tensor.ExtractSliceOp | tensor.InsertSliceOp) -> tuple[slice, ...]:
    """The numpy slices that an extract_slice or insert_slice addresses."""
    offsets = _mixed(machine, op.static_offsets, op.offsets)
    sizes = _mixed(machine, op.static_sizes, op.sizes)
    strides = _mixed(machine, op.static_strides, op.strides)
    return tuple(
        slice(offset, offset + (size - 1) * stride + 1, stride)
        for offset, size, stride in zip(offsets, sizes, strides, strict=True)
    )


@implements(tensor.ExtractSliceOp)
def run_extract_slice(machine: Machine, op: tensor.ExtractSliceOp) -> Sequence[Value]:
    return [machine.values[op.source][slices(machine, op)].reshape(_shape(op.result.type))]


@implements(tensor.InsertSliceOp)
def run_insert_slice(machine: Machine, op: tensor.InsertSliceOp) -> Sequence[Value]:
    result = np.array(machine.values[op.dest])
    region = slices(machine, op)
    result[region] = machine.values[op.source].reshape(result[region].shape)
    return [result]


@implements(tensor.ConcatOp)
def run_concat(machine: Machine, op: tensor.ConcatOp) -> Sequence[Value]:
    return [np.concatenate(machine.operands(op), axis=op.dim.value.data)]


@implements(tensor.PadOp)
def run_pad(machine: Machine, op: tensor.PadOp) -> Sequence[Value]:
    """Low and high padding; the region gives the value at each coordinate of the result, all at once here."""
    source = machine.values[op.source]
    low = _mixed(machine, op.static_low, op.low)
    high = _mixed(machine, op.static_high, op.high)
    shape = [size + before + after for size, before, after in zip(source.shape, low, high, strict=True)]
    (value,) = machine.run(op.region.block, list(np.indices(shape, dtype=np.int64, sparse=True)))
    result = np.array(np.broadcast_to(np.asarray(value, dtype=source.dtype), shape))
    result[tuple(slice(start, start + size) for start, size in zip(low, source.shape, strict=True))] = source
    return [result]


@implements(tensor.SplatOp)
def run_splat(machine: Machine, op: tensor.SplatOp) -> Sequence[Value]:
    return [np.full(_shape(op.result.type), machine.values[op.input])]


@implements(tensor.FromElementsOp)
def run_from_elements(machine: Machine, op: tensor.FromElementsOp) -> Sequence[Value]:
    return [np.array(machine.operands(op)).reshape(_shape(op.result.type))]


@implements(tensor.ExtractOp)
def run_extract(machine: Machine, op: tensor.ExtractOp) -> Sequence[Value]:
    source, *indices = machine.operands(op)
    return [source[tuple(indices)]]


@implements(tensor.InsertOp)
def run_insert(machine: Machine, op: tensor.InsertOp) -> Sequence[Value]:
    scalar, destination, *indices = machine.operands(op)
    result = np.array(destination)
    result[tuple(int(index) for index in indices)] = scalar
    return [result]


@implements(tensor.DimOp)
def run_dim(machine: Machine, op: tensor.DimOp) -> Sequence[Value]:
    source, dimension = machine.operands(op)
    return [np.int64(source.shape[int(dimension)])]
