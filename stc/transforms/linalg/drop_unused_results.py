"""Results that nobody uses leave multi-result generics."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import GenericOp, YieldOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from stc.dialects.use_def import values_behind
from stc.transforms.linalg.bodies import simplify_body
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import output_arguments, stc_attributes, yielded


def _needed_results(op: GenericOp) -> list[int]:
    """Results that are used, and those whose accumulators they read."""
    needed = {index for index, result in enumerate(op.results) if result.uses}
    while True:
        read = values_behind((yielded(op)[index] for index in needed), op.body.block)
        reached = {index for index, argument in enumerate(output_arguments(op)) if argument in read}
        if reached <= needed:
            return sorted(needed)
        needed |= reached


class DropUnusedResults(RewritePattern):
    """Rebuild a generic with the results that are needed."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        needed = _needed_results(op)
        if not needed or len(needed) == len(op.results):
            return
        body = op.body.clone()
        dropped = [index for index in range(len(op.results)) if index not in needed]
        terminator = body.block.last_op
        assert isinstance(terminator, YieldOp)
        retained_yields = [terminator.operands[index] for index in needed]
        rewriter.replace(terminator, YieldOp(*retained_yields))
        simplify_body(body.block)
        inputs = len(op.inputs)
        for index in reversed(dropped):
            body.block.erase_arg(body.block.args[inputs + index])
        maps = [*op.indexing_maps.data[:inputs], *(op.indexing_maps.data[inputs + index] for index in needed)]
        smaller = GenericOp(
            op.inputs,
            [op.outputs[index] for index in needed],
            body,
            maps,
            op.iterator_types,
            [op.results[index].type for index in needed],
        )
        smaller.attributes.update(stc_attributes(op))
        results = [smaller.results[needed.index(i)] if i in needed else None for i in range(len(op.results))]
        rewriter.replace(op, smaller, results)


@dataclass(frozen=True)
class DropUnusedResultsPass(ModulePass):
    """Drop results of multi-result generics that nobody uses, with their initial values and their part of the body.

    torch-mlir's softmax computes the i64 position of the maximum beside it.

    Before:

        %m:2 = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%f, %i : tensor<4xf32>, tensor<4xi64>) {
             ^bb0(%a: f32, %b: f32, %c: i64):
               ... linalg.yield %max, %position : f32, i64 }            // %m#1 unused

    After:

        %m = linalg.generic ... ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
             ^bb0(%a: f32, %b: f32):
               %max = arith.maximumf %a, %b : f32
               linalg.yield %max : f32 }
    """

    name = "drop-unused-results"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(DropUnusedResults(), apply_recursively=False).rewrite_module(op)
        erase_dead_ops(op)
