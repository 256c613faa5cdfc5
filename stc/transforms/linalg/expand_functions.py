"""Functions become arithmetic where that is cheaper, or where the vendor documents no such function (UG1399, HLS Math Library)."""

from __future__ import annotations

from dataclasses import dataclass
from math import e, log2

from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.inline_constants import scalar_constant

LARGEST_EXPONENT = 8
"""Beyond this a chain of multiplications is no longer clearly better than the function."""


def _power(base: SSAValue, exponent: int) -> list[Operation]:
    """Operations that compute base ** exponent for |exponent| <= LARGEST_EXPONENT; the last one is the result."""
    kind = base.type
    assert isinstance(kind, AnyFloat)
    one = arith.ConstantOp(FloatAttr(1.0, kind))
    if exponent == 0:
        return [one]
    ops, result = _positive_power(base, abs(exponent))
    if exponent > 0:
        return ops
    return [*ops, one, arith.DivfOp(one.result, result)]


def _positive_power(base: SSAValue, exponent: int) -> tuple[list[Operation], SSAValue]:
    """By repeated squaring, from the exponent's highest binary digit."""
    ops: list[Operation] = []
    result = base
    for digit in bin(exponent)[3:]:
        ops.append(square := arith.MulfOp(result, result))
        result = square.result
        if digit == "1":
            ops.append(step := arith.MulfOp(result, base))
            result = step.result
    return ops, result


def _replace_by_power(op: Operation, base: SSAValue, exponent: int, rewriter: PatternRewriter) -> None:
    if exponent == 1:
        rewriter.replace(op, [], [base])
    elif abs(exponent) <= LARGEST_EXPONENT:
        rewriter.replace(op, _power(base, exponent))


class ExpandIntegerPower(RewritePattern):
    """math.fpowi"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: math.FPowIOp, rewriter: PatternRewriter) -> None:
        exponent = scalar_constant(op.rhs)
        if isinstance(exponent, IntegerAttr):
            _replace_by_power(op, op.lhs, exponent.value.data, rewriter)


class ExpandFloatPower(RewritePattern):
    """math.powf"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: math.PowFOp, rewriter: PatternRewriter) -> None:
        exponent = scalar_constant(op.rhs)
        if not isinstance(exponent, FloatAttr):
            return
        value = exponent.value.data
        if value == 0.5:
            rewriter.replace(op, math.SqrtOp(op.lhs))
        elif value == -0.5:
            rewriter.replace(op, math.RsqrtOp(op.lhs))
        elif value.is_integer():
            _replace_by_power(op, op.lhs, int(value), rewriter)


class ExpandBinaryLogarithm(RewritePattern):
    """math.log2"""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: math.Log2Op, rewriter: PatternRewriter) -> None:
        kind = op.result.type
        assert isinstance(kind, AnyFloat)
        natural = math.LogOp(op.operand, op.fastmath)
        factor = arith.ConstantOp(FloatAttr(log2(e), kind))
        rewriter.replace(op, [natural, factor, arith.MulfOp(natural.result, factor.result, op.fastmath)])


@dataclass(frozen=True)
class ExpandFunctionsPass(ModulePass):
    """Expand `math.fpowi` and `math.powf` by constant exponents: integers up to 8 in magnitude to multiplications, 0.5 to
    `math.sqrt`, -0.5 to `math.rsqrt`. Other exponents stay. Expand `math.log2` to `math.log` times a constant: the vendor's manual
    lists no binary logarithm. The product is within 2.5 units in the last place of log2, and need not be whole for a power of two.

    Before:

        %three = arith.constant 3 : i64
        %p = math.fpowi %x, %three : f32, i64

    After:

        %s = arith.mulf %x, %x : f32
        %p = arith.mulf %s, %x : f32
    """

    name = "expand-functions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = GreedyRewritePatternApplier([ExpandIntegerPower(), ExpandFloatPower(), ExpandBinaryLogarithm()])
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
        erase_dead_ops(op)
