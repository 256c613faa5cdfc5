"""Translation of `memref` and `vector`: buffers are numpy arrays that are written in place, vectors are values."""

from __future__ import annotations

from typing import cast

import numpy as np
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType, VectorType
from xdsl.ir import Attribute, SSAValue

from stc.diagnostics import CompileError
from stc.execution.dtypes import numpy_type
from stc.execution.source import Source
from stc.execution.subscripts import (
    checked,
    element_subscript,
    mixed,
    retained_dimensions,
    row_subscript,
    slice_subscript,
    static_entries,
)
from stc.execution.translation import emits
from stc.execution.undefined import undefined


def _memref(value: SSAValue) -> MemRefType:
    assert isinstance(value.type, MemRefType)
    return value.type


def _lanes(kind: Attribute) -> tuple[int, ...]:
    return kind.get_shape() if isinstance(kind, VectorType) else ()


def blank_memory(kind: MemRefType) -> np.ndarray:
    """A buffer whose contents nobody may use, [*shape, *lanes of a vector entry]."""
    element = kind.element_type
    scalar = element.element_type if isinstance(element, VectorType) else element
    return undefined((*kind.get_shape(), *_lanes(element)), numpy_type(scalar))


@emits(memref.AllocOp, memref.AllocaOp)
def emit_alloc(source: Source, op: memref.AllocOp | memref.AllocaOp) -> None:
    kind = _memref(op.memref)
    if DYNAMIC_INDEX in kind.get_shape():
        raise CompileError("memref of dynamic size cannot be executed", where=source.at(op))
    source.assign(op.memref, f"{source.refer(blank_memory(kind), 'blank')}.copy()")


@emits(memref.DeallocOp)
def emit_dealloc(_source: Source, _op: memref.DeallocOp) -> None:
    """Nothing: Python gives memory back."""


@emits(memref.LoadOp)
def emit_load(source: Source, op: memref.LoadOp) -> None:
    kind = _memref(op.memref)
    text = f"{source.name(op.memref)}[{element_subscript(source, op, op.indices, kind.get_shape())}]"
    source.assign(op.res, f"{text}.copy()" if isinstance(kind.element_type, VectorType) else text)


@emits(memref.StoreOp)
def emit_store(source: Source, op: memref.StoreOp) -> None:
    subscript = element_subscript(source, op, op.indices, _memref(op.memref).get_shape())
    source.line(f"{source.name(op.memref)}[{subscript}] = {source.name(op.value)}")


@emits(memref.CopyOp)
def emit_copy(source: Source, op: memref.CopyOp) -> None:
    source.line(f"{source.name(op.destination)}[...] = {source.name(op.source)}")


@emits(memref.SubviewOp)
def emit_subview(source: Source, op: memref.SubviewOp) -> None:
    sizes = static_entries(source, op, mixed(op.static_sizes, op.sizes), "subview size")
    strides = static_entries(source, op, mixed(op.static_strides, op.strides), "subview stride")
    retained = retained_dimensions(sizes, _memref(op.result).get_shape())
    offsets = mixed(op.static_offsets, op.offsets)
    subscript = slice_subscript(source, op, offsets, sizes, strides, _memref(op.source).get_shape(), retained)
    source.assign(op.result, f"{source.name(op.source)}[{subscript or '...'}]")


@emits(memref.CastOp)
def emit_cast(source: Source, op: memref.CastOp) -> None:
    source.names[op.results[0]] = source.name(op.operands[0])


@emits(memref.ExpandShapeOp, memref.CollapseShapeOp)
def emit_reshape(source: Source, op: memref.ExpandShapeOp | memref.CollapseShapeOp) -> None:
    """A view, never a copy: numpy raises ValueError where the buffer is not contiguous enough, which MLIR does not accept."""
    source.assign(op.results[0], f"np.reshape({source.name(op.operands[0])}, {_memref(op.results[0]).get_shape()}, copy=False)")


@emits(vector.LoadOp)
def emit_vector_load(source: Source, op: vector.LoadOp) -> None:
    (width,) = op.result.type.get_shape()
    subscript = row_subscript(source, op, op.indices, _memref(op.base).get_shape(), width)
    source.assign(op.result, f"{source.name(op.base)}[{subscript}].copy()")


@emits(vector.StoreOp)
def emit_vector_store(source: Source, op: vector.StoreOp) -> None:
    (width,) = cast(VectorType, op.vector.type).get_shape()
    subscript = row_subscript(source, op, op.indices, _memref(op.base).get_shape(), width)
    source.line(f"{source.name(op.base)}[{subscript}] = {source.name(op.vector)}")


@emits(vector.ExtractOp)
def emit_extract(source: Source, op: vector.ExtractOp) -> None:
    source.assign(op.result, f"{source.name(op.vector)}[{_position(source, op, op.vector)}]")


@emits(vector.InsertOp)
def emit_insert(source: Source, op: vector.InsertOp) -> None:
    position = _position(source, op, op.dest)
    source.assign(op.result, f"{source.name(op.dest)}.copy()")
    source.line(f"{source.name(op.result)}[{position}] = {source.name(op.source)}")


def _position(source: Source, op: vector.ExtractOp | vector.InsertOp, full: SSAValue) -> str:
    """The subscript of an entry, or of a part, of a vector."""
    extents = cast(VectorType, full.type).get_shape()
    entries = mixed(op.static_position, op.dynamic_position)
    texts = [checked(source, op, entry, 1, extent) for entry, extent in zip(entries, extents, strict=False)]
    return ", ".join(texts) or "()"


@emits(vector.BroadcastOp)
def emit_broadcast(source: Source, op: vector.BroadcastOp) -> None:
    kind = op.vector.type
    dtype = source.refer(numpy_type(kind.element_type), "dtype")
    name = source.define(op.vector)
    source.line(f"{name} = np.empty({kind.get_shape()}, {dtype})")
    source.line(f"{name}[...] = {source.name(op.source)}")
