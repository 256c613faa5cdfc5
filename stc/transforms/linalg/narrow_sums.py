"""Sums of products of integers of which only the lower bits are used are computed in as many bits."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import all_dims
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import build, filled, is_contraction, shape_of, starts_at_zero, stc_attributes

_MODULAR = (arith.AddiOp, arith.MuliOp)
_EXTENSIONS = (arith.ExtSIOp, arith.ExtUIOp)


class NarrowSum(RewritePattern):
    """linalg.generic that sums products"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if not is_contraction(op) or not starts_at_zero(op) or (kind := _used_of(op)) is None:
            return
        if (body := _narrowed(op.body.block, kind)) is None or (dims := all_dims(op)) is None:
            return
        zero = filled(IntegerAttr(0, kind), shape_of(op.results[0]))
        narrow = build(op.inputs, [zero[-1].results[0]], body, dims, op.iterator_types.data, stc_attributes(op))
        readers = _readers(op)
        rewriter.replace(op, [*zero, narrow])
        for user, argument in readers:
            cut_already = Rewriter.replace_value_with_new_type(argument, kind)
            for cut in [use.operation for use in cut_already.uses]:
                rewriter.replace(cut, [], [cut_already])
            rewriter.notify_op_modified(user)


def _readers(op: GenericOp) -> list[tuple[GenericOp, BlockArgument]]:
    """The generics that read the sum, each with what it is inside."""
    return [(user, user.body.block.args[use.index]) for use in op.results[0].uses if isinstance(user := use.operation, GenericOp)]


def _used_of(op: GenericOp) -> IntegerType | None:
    """The one narrower type that every use of the sum cuts it to."""
    readers = _readers(op)
    if len(readers) != len(list(op.results[0].uses)) or any(argument.index >= len(user.inputs) for user, argument in readers):
        return None
    cuts = [use.operation for _, argument in readers for use in argument.uses]
    kinds = {cut.result.type for cut in cuts if isinstance(cut, arith.TruncIOp)}
    if len(kinds) != 1 or not all(isinstance(cut, arith.TruncIOp) for cut in cuts):
        return None
    (kind,) = kinds
    assert isinstance(kind, IntegerType)
    return kind


def _narrowed(block: Block, kind: IntegerType) -> Region | None:
    """The body with all sums and products of `kind`; None where there is anything else than these, of factors that are extended or
    as wide as the sum."""
    result = Block(arg_types=[*(argument.type for argument in block.args[:-1]), kind])
    values: dict[SSAValue, SSAValue] = dict(zip(block.args, result.args, strict=True))
    for argument in block.args[:-1]:
        if argument.type == block.args[-1].type and argument.uses:
            result.add_op(cut := arith.TruncIOp(values[argument], kind))
            values[argument] = cut.result
    for op in block.ops:
        if isinstance(op, YieldOp):
            continue
        if isinstance(op, _MODULAR):
            made: Operation | SSAValue = type(op)(values[op.lhs], values[op.rhs])
        elif isinstance(op, _EXTENSIONS) and op.result.type == block.args[-1].type:  # narrower ones wrap around
            made = _of_width(op, values[op.input], kind)
        else:
            return None
        if isinstance(made, Operation):
            result.add_op(made)
            made = made.results[0]
        values[op.results[0]] = made
    terminator = block.last_op
    assert terminator is not None
    result.add_op(YieldOp(values[terminator.operands[0]]))
    return Region(result)


def _of_width(extension: arith.ExtSIOp | arith.ExtUIOp, value: SSAValue, kind: IntegerType) -> Operation | SSAValue:
    """The lower bits of what is extended."""
    assert isinstance(value.type, IntegerType)
    width, wanted = value.type.width.data, kind.width.data
    if width == wanted:
        return value
    return type(extension)(value, kind) if width < wanted else arith.TruncIOp(value, kind)


@dataclass(frozen=True)
class NarrowSumsPass(ModulePass):
    """Compute a sum of products of integers in the type to which every use cuts it: the lower bits of sums and products depend on
    the lower bits of what is added and multiplied alone. PyTorch's products of i32, and of narrower integers, come as sums of i64.

    Before:

        %s = linalg.generic ... ins(%a, %b : tensor<4x8xi8>, tensor<8x3xi8>) outs(%zero : tensor<4x3xi64>) {
          %m = arith.muli (extsi %in0 : i8 to i64), (extsi %in1 : i8 to i64)  %t = arith.addi %out, %m : i64 ... }
        %y = linalg.generic ... ins(%s : tensor<4x3xi64>) { %n = arith.trunci %in : i64 to i32 ... }

    After:

        %s = linalg.generic ... ins(%a, %b : tensor<4x8xi8>, tensor<8x3xi8>) outs(%zero : tensor<4x3xi32>) {
          %m = arith.muli (extsi %in0 : i8 to i32), (extsi %in1 : i8 to i32)  %t = arith.addi %out, %m : i32 ... }
        %y = linalg.generic ... ins(%s : tensor<4x3xi32>) { ... }
    """

    name = "narrow-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(NarrowSum(), apply_recursively=False).rewrite_module(op)
        erase_dead_ops(op)
