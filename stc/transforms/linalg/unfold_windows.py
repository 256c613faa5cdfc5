"""Sliding windows become dimensions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineBinaryOpKind, AffineConstantExpr, AffineDimExpr, AffineExpr, AffineMap
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import extents_of
from stc.dialects.facts import MODULE
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import shape_of, stc_attributes, tensor_like
from stc.transforms.linalg.reshapes import expand_shape


@dataclass(frozen=True)
class Window:
    """An operand dimension read at `outer * stride + inner * dilation`."""

    outer: int
    stride: int
    inner: int
    dilation: int


@dataclass(frozen=True)
class UnfoldWindowsPass(ModulePass):
    """Give operands that are read at sums of two loops (convolution, pooling) a dimension for each of the loops.

    The shorter loop's values become slices at constant offsets, strided as the other loop is, side by side in a new dimension.
    Every map is a projected permutation afterwards; the operand grows by the size of the window.

    Before:

        %y = linalg.generic {indexing_maps = [(d0, d1) -> (d0 + d1), (d0, d1) -> (d1), (d0, d1) -> (d0)], ...}
               ins(%x, %w : tensor<10xf32>, tensor<3xf32>) outs(%0 : tensor<8xf32>) { ... }

    After:

        %s0 = tensor.extract_slice %x[0] [8] [1] : tensor<10xf32> to tensor<8xf32>         // and at 1 and 2
        %e0 = tensor.expand_shape %s0 [[0, 1]] output_shape [1, 8] : tensor<8xf32> into tensor<1x8xf32>
        %u = tensor.concat dim(0) %e0, %e1, %e2 : ... -> tensor<3x8xf32>
        %y = linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d1), (d0, d1) -> (d0)], ...}
               ins(%u, %w : tensor<3x8xf32>, tensor<3xf32>) outs(%0 : tensor<8xf32>) { ... }
    """

    name = "unfold-windows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in [nested for nested in op.walk() if isinstance(nested, GenericOp)]:
            if any(_windows(generic, index) for index in range(len(generic.inputs))):
                _unfold(generic)
        erase_dead_ops(op)


def _windows(op: GenericOp, operand: int) -> dict[int, Window]:
    """The dimensions of an operand that are read at sums of two loops."""
    extents = extents_of(op)
    found: dict[int, Window] = {}
    for dimension, expression in enumerate(op.indexing_maps.data[operand].data.results):
        terms = _terms(expression)
        if terms is not None and len(terms) == 2 and terms[0][0] != terms[1][0]:
            outer, inner = sorted(terms, key=lambda term: -extents[term[0]])
            found[dimension] = Window(*outer, *inner)
    return found


def _terms(expression: AffineExpr) -> list[tuple[int, int]] | None:
    """(loop, coefficient) of each summand; None for anything but a sum of scaled loops."""
    match expression:
        case AffineDimExpr():
            return [(expression.position, 1)]
        case AffineBinaryOpExpr(AffineBinaryOpKind.Add, left, right):
            first, second = _terms(left), _terms(right)
            return None if first is None or second is None else first + second
        case AffineBinaryOpExpr(AffineBinaryOpKind.Mul, AffineDimExpr() as loop, AffineConstantExpr() as factor):
            return [(loop.position, factor.value)] if factor.value > 0 else None
        case _:
            return None


def _unfold(op: GenericOp) -> None:
    maps = list(op.indexing_maps.data)
    inputs = list(op.inputs)
    for index, value in enumerate(inputs):
        results = list(maps[index].data.results)
        for dimension, window in sorted(_windows(op, index).items(), reverse=True):
            value = _side_by_side(op, value, dimension, window)
            results[dimension : dimension + 1] = [AffineExpr.dimension(window.inner), AffineExpr.dimension(window.outer)]
        inputs[index] = value
        maps[index] = type(maps[index])(AffineMap(maps[index].data.num_dims, 0, tuple(results)))
    new = GenericOp(inputs, op.outputs, op.body.clone(), maps, op.iterator_types, op.result_types)
    new.attributes.update(stc_attributes(op))
    Rewriter.replace_op(op, new)


def _side_by_side(op: GenericOp, value: SSAValue, dimension: int, window: Window) -> SSAValue:
    """`value` with `dimension` replaced by (position in the window, window)."""
    extents, shape = extents_of(op), shape_of(value)
    windows, count = extents[window.outer], extents[window.inner]
    sizes = [*shape[:dimension], windows, *shape[dimension + 1 :]]
    groups = tuple((1, extent) if dim == dimension else (extent,) for dim, extent in enumerate(sizes))
    strides = [window.stride if dim == dimension else 1 for dim in range(len(shape))]
    pieces: list[SSAValue] = []
    made: list[Operation] = []
    for position in range(count):
        offsets = [position * window.dilation if dim == dimension else 0 for dim in range(len(shape))]
        piece = tensor.ExtractSliceOp(value, offsets, sizes, strides, tensor_like(value, sizes))
        expanded = expand_shape(piece.result, groups)
        made += [piece, expanded]
        pieces.append(expanded.result)
    if count > 1:
        full = [*sizes[:dimension], count, *sizes[dimension:]]
        made.append(tensor.ConcatOp(pieces, dimension, tensor_like(value, full)))
    for new in made:
        new.attributes |= MODULE.retained(op)
    Rewriter.insert_op(made, InsertPoint.before(op))
    return made[-1].results[0]
