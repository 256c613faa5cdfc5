"""Insertions into tensors at offsets known at run time, and what is read of these tensors."""

from __future__ import annotations

from xdsl.dialects import arith, cf, func, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue, Use
from xdsl.utils.hints import isa

from stc.dialects.use_def import RESHAPES, through_reshapes, uses_through


def offset_scalar(offset: SSAValue) -> SSAValue:
    """The integer that an offset is."""
    return offset.owner.input if isinstance(offset.owner, arith.IndexCastOp) else offset


def scalar_argument(scalar: SSAValue) -> BlockArgument | None:
    """The argument that an integer is, or the only entry of; None where it is computed."""
    if isinstance(scalar.owner, tensor.ExtractOp) and not scalar.owner.indices:
        scalar = through_reshapes(scalar.owner.tensor)
    return scalar if isinstance(scalar, BlockArgument) else None


def is_update(insert: tensor.InsertSliceOp) -> bool:
    """Whether a slice without strides goes into an argument of the function, at scalars among its arguments."""
    plain = not insert.sizes and not insert.strides and set(insert.static_strides.get_values()) == {1}
    if not insert.offsets or not plain or not isinstance(insert.dest, BlockArgument):
        return False
    return all(scalar_argument(offset_scalar(offset)) is not None for offset in insert.offsets)


def is_updated(value: SSAValue) -> bool:
    """Whether `value` is an argument into which an update goes, or its beginning, reshaped."""
    return any(_is_operand_of_update(use, 1) for use in through_prefixes(value).uses)


def is_inserted(value: SSAValue) -> bool:
    """Whether `value`, reshaped, goes into an argument by an update."""
    return any(_is_operand_of_update(use, 0) for use in uses_through(value))


def _is_operand_of_update(use: Use, index: int) -> bool:
    return isinstance(use.operation, tensor.InsertSliceOp) and use.index == index and is_update(use.operation)


def is_offset(op: tensor.ExtractOp | arith.IndexCastOp) -> bool:
    """Whether a number is where updates, or kernels that make them, begin, and is asserted to be at most."""
    return all(_takes_offset(use.operation) for use in op.result.uses)


def _takes_offset(user: Operation) -> bool:
    match user:
        case tensor.InsertSliceOp():
            return is_update(user)
        case arith.IndexCastOp():
            return is_offset(user)
        case arith.CmpiOp():
            return all(isinstance(use.operation, cf.AssertOp) for use in user.result.uses)
        case _:
            return user.name == "dataflow.kernel"


def is_prefix_read(op: tensor.ExtractSliceOp) -> bool:
    """Whether a slice is the beginning of an argument into which an update goes, and all that is read of it: a kernel that updates
    it reads it there."""
    at_zero = not op.offsets and not op.sizes and not op.strides and set(op.static_offsets.get_values()) == {0}
    source = through_reshapes(op.source)
    if not at_zero or set(op.static_strides.get_values()) != {1} or not isinstance(source, BlockArgument):
        return False
    users = {use.operation for use in uses_through(source)} - {op}
    is_computed_with = not any(isinstance(use.operation, func.ReturnOp) for use in uses_through(op.result))
    return bool(users) and is_computed_with and all(
        isinstance(user, tensor.InsertSliceOp) and user.dest is source and is_update(user) for user in users
    )


def through_prefixes(value: SSAValue) -> SSAValue:
    """The value of which `value` holds the row-major data, or the beginning of an argument that is updated (`is_prefix_read`)."""
    while True:
        owner = value.owner
        if not isinstance(owner, RESHAPES) and not (isinstance(owner, tensor.ExtractSliceOp) and is_prefix_read(owner)):
            return value
        value = owner.operands[0]


def last_offsets(insert: tensor.InsertSliceOp) -> list[tuple[SSAValue, int]]:
    """Each integer that says where `insert` writes, with the largest at which the slice lies in the tensor (of static sizes)."""
    assert isa(insert.dest.type, TensorType)
    extents = insert.dest.type.get_shape()
    entries = zip(insert.static_offsets.get_values(), insert.static_sizes.get_values(), extents, strict=True)
    lasts = [extent - int(size) for at, size, extent in entries if at == DYNAMIC_INDEX]
    return [(offset_scalar(offset), last) for offset, last in zip(insert.offsets, lasts, strict=True)]
