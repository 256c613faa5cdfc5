"""Divisions by constants whose reciprocal is exact become multiplications."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import AnyFloat, FloatAttr, ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from stc.analysis.reciprocals import exact_factor
from stc.transforms.linalg.dead_ops import erase_dead_ops


class MultiplyByReciprocal(RewritePattern):
    """arith.divf of scalars"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: arith.DivfOp, rewriter: PatternRewriter) -> None:
        factor = exact_factor(op)
        if factor is None or not isinstance(kind := op.result.type, AnyFloat):
            return
        constant = arith.ConstantOp(FloatAttr(factor, kind))
        rewriter.replace(op, [constant, arith.MulfOp(op.lhs, constant.result, op.fastmath)])


@dataclass(frozen=True)
class MultiplyByReciprocalsPass(ModulePass):
    """Divide scalars by a constant power of two by multiplying: a multiplier has 4 stages and 3 DSPs, a divider 12 stages and some
    thousand LUTs. The product is the same float for every dividend, subnormal or not; the reciprocal must be a normal number, since
    hardware may take others for zero. Other constants stay: x * (1 / 3) rounds twice.

    Before:

        %n = arith.constant 1.024e+03 : f32
        %mean = arith.divf %sum, %n : f32

    After:

        %r = arith.constant 9.765625e-04 : f32
        %mean = arith.mulf %sum, %r : f32
    """

    name = "multiply-by-reciprocals"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(MultiplyByReciprocal(), apply_recursively=False).rewrite_module(op)
        erase_dead_ops(op)
