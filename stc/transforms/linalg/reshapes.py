"""Building `tensor.expand_shape` and `tensor.collapse_shape`, and reading them as groups (stc/iteration/reshape.py)."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import ArrayAttr, DenseIntOrFPElementsAttr, IntegerAttr, TensorType, i64
from xdsl.dialects.linalg.ops import FillOp
from xdsl.ir import Operation, SSAValue

from stc.iteration.reshape import Groups, coarse_shape, fine_shape, is_trivial, outermost, positions
from stc.transforms.linalg.generics import shape_of, started_alike, tensor_like

RESHAPES = (tensor.ExpandShapeOp, tensor.CollapseShapeOp)


def reassociation(indices: Sequence[Sequence[int]]) -> ArrayAttr[ArrayAttr[IntegerAttr]]:
    return ArrayAttr([ArrayAttr([IntegerAttr(index, i64) for index in group]) for group in indices])


def expand_shape(value: SSAValue, groups: Groups) -> tensor.ExpandShapeOp:
    """Split the dimensions of a value."""
    shape = fine_shape(groups)
    return tensor.ExpandShapeOp(value, (), reassociation(positions(groups)), shape, tensor_like(value, shape))


def collapse_shape(value: SSAValue, groups: Groups) -> tensor.CollapseShapeOp:
    """Merge the dimensions of a value, whose shape is the fine one."""
    return tensor.CollapseShapeOp.build(
        operands=[value],
        properties={"reassociation": reassociation(positions(groups))},
        result_types=[tensor_like(value, coarse_shape(groups))],
    )


def groups_of(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> Groups:
    """How a reshape splits (expand_shape) or merges (collapse_shape) dimensions."""
    fine = shape_of(op.result if isinstance(op, tensor.ExpandShapeOp) else op.src)
    return tuple(tuple(fine[index.value.data] for index in group) for group in op.reassociation)


def source_dimension(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp, dimension: int) -> int | None:
    """The dimension of what is reshaped along which equal parts are parts along `dimension` of the reshape, too: which that is the
    outermost part of, or which is the outermost part of that; None where there is none."""
    groups = groups_of(op)
    if isinstance(op, tensor.CollapseShapeOp):
        return outermost(groups, dimension)
    return next((coarse for coarse in range(len(groups)) if outermost(groups, coarse) == dimension), None)


def is_remade(value: SSAValue) -> bool:
    """Whether `split_value` makes a value anew instead of expanding it: empty tensors, fills, dense constants."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp):
        return isinstance(owner.value, DenseIntOrFPElementsAttr)
    return isinstance(owner, tensor.EmptyOp | FillOp)


def split_value(value: SSAValue, groups: Groups) -> tuple[list[Operation], SSAValue]:
    """A value with split dimensions: the operations to insert and the new value.

    Empty tensors, fills and dense constants are made anew in the split shape.
    """
    if is_trivial(groups):
        return [], value
    owner = value.owner
    if isinstance(owner, tensor.EmptyOp | FillOp):
        made = started_alike(value, fine_shape(groups))
        return made, made[-1].results[0]
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        constant = arith.ConstantOp(with_shape(owner.value, fine_shape(groups)))
        return [constant], constant.result
    expand = expand_shape(value, groups)
    return [expand], expand.result


def with_shape(dense: DenseIntOrFPElementsAttr, shape: Sequence[int]) -> DenseIntOrFPElementsAttr:
    """The same entries in another shape."""
    return DenseIntOrFPElementsAttr(TensorType(dense.get_element_type(), shape), dense.data)
