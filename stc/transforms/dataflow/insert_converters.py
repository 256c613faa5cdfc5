"""`insert-converters`: each change of a stream's order becomes nothing, a cast or a converter."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from stc.dialects.itensor import ItensorType, ReorderOp
from stc.transforms.dataflow.connections import connect


@dataclass(frozen=True)
class InsertConverters(ModulePass):
    """Turn each `itensor.reorder` into as little hardware as its two orders allow (docs/design/method.md section 5).

    Equal types meet directly, types that are the same sequence (by normal form or z3) through a cast, others through the smallest
    `itensor.converter`. Readers that want one stream in one order share what brings it there.

        %p = itensor.reorder %h : !H to !P
      becomes
        %p = itensor.converter %h {shared_loops = 1, buffer_shape = [2, 8], blocks = 2} : !H to !P
    """

    name = "insert-converters"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(ShareReorder()).rewrite_module(op)
        PatternRewriteWalker(ConnectOrders()).rewrite_module(op)


class ShareReorder(RewritePattern):
    """A reorder to the type that an earlier one of the same stream has already is that one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        block = op.parent_block()
        for use in op.source.uses:
            other = use.operation
            same = isinstance(other, ReorderOp) and other.result.type == op.result.type and other.parent_block() is block
            if same and other is not op and block is not None and block.get_operation_index(other) < block.get_operation_index(op):
                rewriter.replace(op, [], other.results)
                return


class ConnectOrders(RewritePattern):
    """A reorder becomes nothing, a cast, or a converter between casts."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReorderOp, rewriter: PatternRewriter) -> None:
        assert isinstance(op.result.type, ItensorType)
        rewriter.replace(op, [], [connect(rewriter, op.source, op.result.type)])
