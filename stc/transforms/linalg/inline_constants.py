"""Constants move into the bodies that use them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, FloatAttr, IntegerAttr, ModuleOp
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import all_dims
from stc.dialects.use_def import through_reshapes
from stc.transforms.linalg.bodies import with_simplified_inputs
from stc.transforms.linalg.dead_ops import erase_dead_ops


@dataclass(frozen=True)
class InlineConstantsPass(ModulePass):
    """Make every generic carry the scalar constants it uses.

    Scalars from outside the body are repeated inside; inputs that hold one value everywhere (rank 0 or splat `arith.constant`,
    `linalg.fill` of a constant, `tensor.from_elements` of one) become such scalars. Other dense constants stay tensors.

    Before:

        %two = arith.constant dense<2.0> : tensor<f32>
        %1 = linalg.generic {indexing_maps = [(d0) -> (d0), (d0) -> (), (d0) -> (d0)], ...} ins(%x, %two) outs(%0) {
             ^bb0(%a: f32, %b: f32, %c: f32):
               %p = arith.mulf %a, %b : f32
               linalg.yield %p : f32 }

    After:

        %1 = linalg.generic {indexing_maps = [(d0) -> (d0), (d0) -> (d0)], ...} ins(%x) outs(%0) {
             ^bb0(%a: f32, %c: f32):
               %two = arith.constant 2.0 : f32
               %p = arith.mulf %a, %two : f32
               linalg.yield %p : f32 }
    """

    name = "inline-constants"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for nested in list(op.walk()):
            if isinstance(nested, GenericOp):
                _inline_into(nested)
        erase_dead_ops(op)


def _inline_into(op: GenericOp) -> None:
    block = op.body.block
    for nested in list(block.ops):
        for index, operand in enumerate(nested.operands):
            if operand.owner.parent is not block and (value := scalar_constant(operand)) is not None:
                nested.operands[index] = _insert(op, value)
    for argument, operand in zip(block.args, op.inputs, strict=False):
        if argument.uses and (value := uniform_value(operand)) is not None:
            argument.replace_all_uses_with(_insert(op, value))
    dims = all_dims(op)
    if dims is not None and (simplified := with_simplified_inputs(op, dims)) is not None:
        Rewriter.replace_op(op, simplified)


def _insert(op: GenericOp, value: FloatAttr | IntegerAttr) -> SSAValue:
    constant = arith.ConstantOp(value)
    Rewriter.insert_op(constant, InsertPoint.at_start(op.body.block))
    return constant.result


def scalar_constant(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """The value of a scalar `arith.constant`."""
    owner = value.owner
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, FloatAttr | IntegerAttr):
        return owner.value
    return None


def uniform_value(value: SSAValue) -> FloatAttr | IntegerAttr | None:
    """The constant that a tensor (or scalar) holds everywhere, if it is known to."""
    value = through_reshapes(value)
    owner = value.owner
    if not isinstance(owner, Operation):
        return None
    if isinstance(owner, FillOp):
        return scalar_constant(owner.inputs[0])
    if isinstance(owner, tensor.FromElementsOp) and len(owner.elements) == 1:
        return scalar_constant(owner.elements[0])
    if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, DenseIntOrFPElementsAttr):
        return _splat(owner.value)
    return scalar_constant(value)


def _splat(dense: DenseIntOrFPElementsAttr) -> FloatAttr | IntegerAttr | None:
    if not len(dense) or not dense.is_splat():
        return None
    return next(iter(dense.iter_attrs()))
