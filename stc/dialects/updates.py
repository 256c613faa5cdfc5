"""Insertions into tensors at offsets known at run time."""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import BlockArgument, SSAValue
from xdsl.utils.hints import isa


def offset_scalar(offset: SSAValue) -> SSAValue:
    """The integer that an offset is."""
    return offset.owner.input if isinstance(offset.owner, arith.IndexCastOp) else offset


def is_update(insert: tensor.InsertSliceOp) -> bool:
    """Whether a slice without strides goes into an argument of the function, at scalars among its arguments."""
    values = [insert.dest, *map(offset_scalar, insert.offsets)]
    plain = not insert.sizes and not insert.strides and set(insert.static_strides.get_values()) == {1}
    return bool(insert.offsets) and plain and all(isinstance(value, BlockArgument) for value in values)


def last_offsets(insert: tensor.InsertSliceOp) -> list[tuple[SSAValue, int]]:
    """Each integer that says where `insert` writes, with the largest at which the slice lies in the tensor (of static sizes)."""
    assert isa(insert.dest.type, TensorType)
    extents = insert.dest.type.get_shape()
    entries = zip(insert.static_offsets.get_values(), insert.static_sizes.get_values(), extents, strict=True)
    lasts = [extent - int(size) for at, size, extent in entries if at == DYNAMIC_INDEX]
    return [(offset_scalar(offset), last) for offset, last in zip(insert.offsets, lasts, strict=True)]
