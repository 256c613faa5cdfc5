"""Dimensions of extent 1 leave tensors and iteration spaces."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IndexType, IntegerAttr, ModuleOp, TensorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import Dims, all_dims, extents_of
from stc.iteration.reshape import Groups, groups_with_units, is_trivial, without_units
from stc.transforms.linalg.dead_ops import erase_dead_ops, functions_of
from stc.transforms.linalg.generics import build, shape_of, stc_attributes, tensor_like
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape, groups_of, reassociation, with_shape
from stc.xdsl_gaps.rank_zero_reshapes import ExpandShapeOp


@dataclass(frozen=True)
class DropUnitDimsPass(ModulePass):
    """Remove dimensions of extent 1 from tensors, and loops of extent 1 from generics, so that maps have no constant results.

    The function's signature stays; arguments are collapsed and results expanded at the boundary.

    Before:

        func.func @main(%x: tensor<1x4x8xf32>) -> tensor<1x4x1xf32> {
          %2 = linalg.generic {indexing_maps = [(d0, d1, d2) -> (d0, d1, d2), (d0, d1, d2) -> (d0, d1, 0)], ...}
                 ins(%x : tensor<1x4x8xf32>) outs(%1 : tensor<1x4x1xf32>) { ... }

    After:

          %y = tensor.collapse_shape %x [[0, 1], [2]] : tensor<1x4x8xf32> into tensor<4x8xf32>
          %2 = linalg.generic {indexing_maps = [(d0, d1) -> (d0, d1), (d0, d1) -> (d0)], ...}
                 ins(%y : tensor<4x8xf32>) outs(%1 : tensor<4xf32>) { ... }
          %3 = tensor.expand_shape %2 [[0, 1, 2]] output_shape [1, 4, 1] : tensor<4xf32> into tensor<1x4x1xf32>
    """

    name = "drop-unit-dims"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            _Narrowing(function.body.block).run()
        erase_dead_ops(op)


@dataclass
class _Narrowing:
    """One walk over a function: each value of a shape with units gets a narrow twin; old operations die with their users."""

    block: Block
    twins: dict[SSAValue, SSAValue] = field(default_factory=dict)

    def run(self) -> None:
        for op in list(self.block.ops):
            new = self._rewrite(op)
            if new is None:
                for nested in op.walk():
                    self._widen_operands(nested, op)
                continue
            if not new:
                continue
            Rewriter.insert_op(new, InsertPoint.before(op))
            for body in (region for made in new for region in made.regions):
                for nested in body.walk():
                    self._widen_operands(nested, new[-1])
            for old, twin in zip(op.results, new[-1].results, strict=True):
                self._stand_for(old, twin)

    def _stand_for(self, old: SSAValue, twin: SSAValue) -> None:
        if old.type == twin.type:
            old.replace_all_uses_with(twin)
        else:
            self.twins[old] = twin

    def narrow(self, value: SSAValue) -> SSAValue:
        """The twin of a value without unit dimensions; the value itself where it has none."""
        shape = shape_of(value)
        if 1 not in shape:
            return value
        if value not in self.twins:
            collapse = collapse_shape(value, groups_with_units(shape))
            owner = value.owner
            at = InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
            Rewriter.insert_op(collapse, at)
            self.twins[value] = collapse.result
        return self.twins[value]

    def _widen_operands(self, op: Operation, outer: Operation) -> None:
        """An operation that stays as it is, inside `outer` or `outer` itself, sees the values in their old shapes."""
        for index, operand in enumerate(op.operands):
            twin = self.twins.get(operand)
            if twin is None or (isinstance(twin.owner, tensor.CollapseShapeOp) and twin.owner.src is operand):
                continue
            ops = _with_units(twin, operand)
            Rewriter.insert_op(ops, InsertPoint.before(outer))
            op.operands[index] = ops[-1].results[0]

    def _rewrite(self, op: Operation) -> list[Operation] | None:
        """Operations that compute the narrow results (none if a twin is there already), or None to leave the operation as it is."""
        if not any(1 in shape_of(value) for value in (*op.operands, *op.results)) and not _has_unit_loops(op):
            return None
        match op:
            case GenericOp():
                return self._generic(op)
            case FillOp():
                return [FillOp(op.inputs, [self.narrow(op.outputs[0])])]
            case tensor.EmptyOp():
                return [tensor.EmptyOp((), _narrow_type(op.tensor))]
            case arith.ConstantOp():
                return _constant(op)
            case tensor.ExpandShapeOp() | tensor.CollapseShapeOp():
                return self._reshape(op)
            case tensor.ExtractSliceOp():
                return self._extract_slice(op)
            case tensor.ConcatOp():
                return self._concat(op)
            case _:
                return None

    def _generic(self, op: GenericOp) -> list[Operation] | None:
        dims, extents = all_dims(op), extents_of(op)
        if dims is None or not _narrowable(op, dims, extents):
            return None
        retained = [loop for loop, extent in enumerate(extents) if extent != 1]
        narrow_dims = [tuple(retained.index(loop) for loop in entry if loop in retained) for entry in dims]
        body = op.body.clone()
        _renumber_indices(body, retained)
        operands = [self.narrow(operand) for operand in op.operands]
        inputs, outputs = operands[: len(op.inputs)], operands[len(op.inputs) :]
        iterators = [op.iterator_types.data[loop] for loop in retained]
        return [build(inputs, outputs, body, narrow_dims, iterators, stc_attributes(op))]

    def _reshape(self, op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> list[Operation] | None:
        groups: Groups = tuple(group for entry in groups_of(op) if (group := without_units(entry)))
        source = self.narrow(op.src)
        if is_trivial(groups):
            self._stand_for(op.result, source)
            return []
        return [expand_shape(source, groups) if isinstance(op, tensor.ExpandShapeOp) else collapse_shape(source, groups)]

    def _extract_slice(self, op: tensor.ExtractSliceOp) -> list[Operation] | None:
        if op.offsets or op.sizes or op.strides or len(shape_of(op.source)) != len(op.static_sizes):
            return None
        source = self.narrow(op.source)
        retained = [index for index, extent in enumerate(shape_of(op.source)) if extent != 1]
        result = _narrow_type(op.result)
        entries = (op.static_offsets.get_values(), op.static_sizes.get_values(), op.static_strides.get_values())
        offsets, sizes, strides = ([int(values[index]) for index in retained] for values in entries)
        slice_op = tensor.ExtractSliceOp(source, offsets, sizes, strides, result)
        slice_op.attributes.update(stc_attributes(op))
        return [slice_op]

    def _concat(self, op: tensor.ConcatOp) -> list[Operation] | None:
        """Pieces of extent 1 keep the dimension along which they stand side by side."""
        dim = op.dim.value.data
        if 1 not in (*shape_of(op.result)[:dim], *shape_of(op.result)[dim + 1 :]):
            return None
        position = sum(extent != 1 for extent in shape_of(op.result)[:dim])
        made: list[Operation] = []
        inputs: list[SSAValue] = []
        for operand in op.inputs:
            value = self.narrow(operand)
            if shape_of(operand)[dim] == 1:
                made.append(_with_unit_at(value, position))
                value = made[-1].results[0]
            inputs.append(value)
        return [*made, tensor.ConcatOp(inputs, position, _narrow_type(op.result), stc_attributes(op))]


def _has_unit_loops(op: Operation) -> bool:
    return isinstance(op, GenericOp) and 1 in extents_of(op)


def _narrow_type(value: SSAValue) -> TensorType:
    return tensor_like(value, without_units(shape_of(value)))


def _with_units(twin: SSAValue, wide: SSAValue) -> list[Operation]:
    """The narrow value in its old shape."""
    shape = shape_of(wide)
    if groups := groups_with_units(shape):
        return [expand_shape(twin, groups)]
    return [ExpandShapeOp(twin, (), reassociation(()), shape, tensor_like(wide, shape))]


def _with_unit_at(value: SSAValue, position: int) -> Operation:
    """A narrow value with one dimension of extent 1 more."""
    shape = shape_of(value)
    if not shape:
        return ExpandShapeOp(value, (), reassociation(()), (1,), tensor_like(value, (1,)))
    neighbour = max(position - 1, 0)
    pair = (1, shape[neighbour]) if position == 0 else (shape[neighbour], 1)
    return expand_shape(value, tuple(pair if dim == neighbour else (extent,) for dim, extent in enumerate(shape)))


def _constant(op: arith.ConstantOp) -> list[Operation] | None:
    if not isinstance(op.value, DenseIntOrFPElementsAttr):
        return None
    return [arith.ConstantOp(with_shape(op.value, without_units(op.value.get_shape())))]


def _narrowable(op: GenericOp, dims: Sequence[Dims], extents: Sequence[int]) -> bool:
    """Whether every operand dimension that no longer has a loop is of extent 1."""
    for operand, entry in zip(op.operands, dims, strict=True):
        for size, loop in zip(shape_of(operand), entry, strict=True):
            if size != 1 and (loop is None or extents[loop] == 1):
                return False
    return True


def _renumber_indices(body: Region, retained: Sequence[int]) -> None:
    for op in list(body.block.ops):
        if isinstance(op, IndexOp):
            loop = op.dim.value.data
            zero = arith.ConstantOp(IntegerAttr(0, IndexType()))
            Rewriter.replace_op(op, IndexOp(retained.index(loop)) if loop in retained else zero)
