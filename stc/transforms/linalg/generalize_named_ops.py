"""One form for all structured operations."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp, ShapedType
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, FillOp, GenericOp, IndexOp, ReduceOp, YieldOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from stc.diagnostics import CompileError
from stc.transforms.linalg.generics import PARALLEL, REDUCTION, build, is_elementwise, shape_of, stc_attributes, yielded

_FINAL = (GenericOp, FillOp, YieldOp, IndexOp)


class GeneralizeStructured(RewritePattern):
    """Operations with a hidden region and known maps."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LinalgStructuredOperation, rewriter: PatternRewriter) -> None:
        if isinstance(op, _FINAL):
            return
        generic = GenericOp(
            op.inputs, op.outputs, op.body.clone(), op.get_indexing_maps(), op.get_iterator_types(), op.res.types
        )
        generic.attributes.update(stc_attributes(op))
        rewriter.replace(op, generic)


class GeneralizeBroadcast(RewritePattern):
    """`linalg.broadcast` to a copy whose input does not use the added loops."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BroadcastOp, rewriter: PatternRewriter) -> None:
        rank = len(shape_of(op.init))
        source = tuple(loop for loop in range(rank) if loop not in op.dimensions.get_values())
        dims = [source, tuple(range(rank))]
        body = op.hidden_region.clone()
        rewriter.replace(op, build([op.input], [op.init], body, dims, [PARALLEL] * rank, stc_attributes(op)))


class GeneralizeReduce(RewritePattern):
    """`linalg.reduce`, whose loops are the input's dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReduceOp, rewriter: PatternRewriter) -> None:
        loops = range(len(shape_of(op.input)))
        reduced = op.dimensions.get_values()
        dims = [tuple(loops), tuple(loop for loop in loops if loop not in reduced)]
        kinds = [REDUCTION if loop in reduced else PARALLEL for loop in loops]
        rewriter.replace(op, build([op.input], [op.init], op.region.clone(), dims, kinds, stc_attributes(op)))


class SplatToFill(RewritePattern):
    """`tensor.splat` to a fill of an empty tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.SplatOp, rewriter: PatternRewriter) -> None:
        empty = tensor.EmptyOp(op.dynamicSizes, op.result.type)
        rewriter.replace(op, [empty, FillOp((op.input,), empty.results)])


class FillLikeToFill(RewritePattern):
    """A generic that writes one scalar everywhere (upstream's generalisation of a fill) to `linalg.fill`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) != 1 or len(op.outputs) != 1 or isinstance(op.inputs[0].type, ShapedType):
            return
        if is_elementwise(op) and yielded(op)[0] is op.body.block.args[0]:
            rewriter.replace(op, FillOp(op.inputs, op.outputs))


@dataclass(frozen=True)
class GeneralizeNamedOpsPass(ModulePass):
    """Rewrite every named linalg op to `linalg.generic`; `linalg.fill` stays, `tensor.splat` and what else fills become one.

    Attributes of ours (`stc.*`) are kept. CompileError for a linalg op whose maps are not known.

    Before:

        %1 = linalg.matmul {stc.module = "fc"} ins(%x, %w : tensor<2x3xf32>, tensor<3x4xf32>)
               outs(%0 : tensor<2x4xf32>) -> tensor<2x4xf32>

    After:

        %1 = linalg.generic {indexing_maps = [(d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d2, d1), (d0, d1, d2) -> (d0, d1)],
                             iterator_types = ["parallel", "parallel", "reduction"]}
               ins(%x, %w) outs(%0) attrs = {stc.module = "fc"} {
             ^bb0(%a: f32, %b: f32, %c: f32):
               %p = arith.mulf %a, %b : f32
               %s = arith.addf %p, %c : f32
               linalg.yield %s : f32 }
    """

    name = "generalize-named-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [GeneralizeStructured(), GeneralizeBroadcast(), GeneralizeReduce()]
        patterns += [SplatToFill(), FillLikeToFill()]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns), apply_recursively=False).rewrite_module(op)
        for nested in op.walk():
            _require_final(nested)


def _require_final(op: Operation) -> None:
    if op.name.startswith("linalg.") and not isinstance(op, _FINAL):
        raise CompileError("named operation has no general form", where=op.name, accepted="structured linalg ops")
