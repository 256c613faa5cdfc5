"""Canonicalisation patterns of the `stream` dialect."""

from __future__ import annotations

from xdsl.ir import OpResult
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from stc.dialects.stream import CastOp


class CastToSameType(RewritePattern):
    """`stream.cast %s : !A to !A` -> `%s`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])


class CastOfCast(RewritePattern):
    """`stream.cast (stream.cast %s : !A to !B) : !B to !C` -> `stream.cast %s : !A to !C`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.source, OpResult) and isinstance(inner := op.source.op, CastOp):
            rewriter.replace(op, CastOp.create(operands=[inner.source], result_types=[op.result.type]))
