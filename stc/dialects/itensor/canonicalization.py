"""Canonicalisation patterns of the `itensor` dialect: operations that change nothing disappear.

An unused `itensor.empty` needs no pattern: its only effect is to make its result, so dead-code elimination takes it.
"""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from stc.dialects.itensor import CastOp, ChunkOp, ConcatOp, ConverterOp, ForkOp, MergeOp, ReassociateOp, ReorderOp


class CastToSameType(RewritePattern):
    """`itensor.cast %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])


class CastOfCast(RewritePattern):
    """`itensor.cast (itensor.cast %x : !A to !B) : !B to !C` -> `itensor.cast %x : !A to !C`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CastOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.source, OpResult) and isinstance(inner := op.source.op, CastOp):
            rewriter.replace(op, CastOp.create(operands=[inner.source], result_types=[op.result.type]))


class ReassociateToSameType(RewritePattern):
    """`itensor.reassociate %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReassociateOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])


class ReorderToSameType(RewritePattern):
    """`itensor.reorder %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])


class ReorderOfReorder(RewritePattern):
    """`itensor.reorder (itensor.reorder %x : !A to !B) : !B to !C` -> `itensor.reorder %x : !A to !C`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.source, OpResult) and isinstance(inner := op.source.op, ReorderOp):
            rewriter.replace(op, ReorderOp.create(operands=[inner.source], result_types=[op.result.type]))


class ConverterBetweenEqualTypes(RewritePattern):
    """`itensor.converter %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConverterOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])


class ChunkOfEverything(RewritePattern):
    """A chunk whose only result is the whole source, in the same type -> the source."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ChunkOp, rewriter: PatternRewriter) -> None:
        if len(op.slices) == 1 and op.slices[0].type == op.source.type:
            rewriter.replace(op, [], [op.source])


class ConcatOfOne(RewritePattern):
    """`itensor.concat %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        _replace_by_only_input(op, list(op.inputs), rewriter)


class MergeOfOne(RewritePattern):
    """`itensor.merge %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MergeOp, rewriter: PatternRewriter) -> None:
        _replace_by_only_input(op, list(op.inputs), rewriter)


def _replace_by_only_input(op: ConcatOp | MergeOp, inputs: list[SSAValue], rewriter: PatternRewriter) -> None:
    if len(inputs) == 1 and inputs[0].type == op.result.type:
        rewriter.replace(op, [], inputs)


class ForkToOne(RewritePattern):
    """`itensor.fork %x : !A to !A` -> `%x`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForkOp, rewriter: PatternRewriter) -> None:
        if len(op.copies) == 1:
            rewriter.replace(op, [], [op.source])
