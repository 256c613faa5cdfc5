"""`trim-boundaries`: a kernel takes each tensor once, and gives out what somebody uses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from stc.dialects.dataflow import KernelOp
from stc.dialects.itensor import ItensorType, ReorderOp, complaint_about_reorder
from stc.transforms.dataflow.kernel_results import with_results


@dataclass(frozen=True)
class TrimBoundaries(ModulePass):
    """Let a tensor that a kernel has as several operands enter once, and keep results that nobody uses from leaving.

    The tensor enters in the order of the first operand without temporal reuse, and every reader gets an `itensor.reorder` to its
    own.

        %y, %z = dataflow.kernel @f(%a = %x : tensor<8x8xf32> as !A, %b = %x : tensor<8x8xf32> as !B)
            -> (tensor<8x8xf32> as !Y, tensor<8x8xf32> as !Z) { ... %b ... }
        func.return %y : tensor<8x8xf32>
      becomes
        %y = dataflow.kernel @f(%a = %x : tensor<8x8xf32> as !A) -> (tensor<8x8xf32> as !Y) {
          %b = itensor.reorder %a : !A to !B
          ... %b ...
        }
        func.return %y : tensor<8x8xf32>
    """

    name = "trim-boundaries"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(EnterOnce()).rewrite_module(op)
        PatternRewriteWalker(DropUnusedKernelResults()).rewrite_module(op)


class EnterOnce(RewritePattern):
    """Two operands that are one tensor become one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        pair = next((pair for pair in combinations(range(len(op.inputs)), 2) if _is_one(op, *pair)), None)
        if pair is None:
            return
        first, again = (op.arguments[index] for index in pair)
        kind = first.type
        if isinstance(kind, ItensorType) and kind.order.is_exact:
            kind = ItensorType.from_order(kind.order.without_reuse(), kind.element_type)
        entry = rewriter.insert_block_argument(op.body.block, pair[0], kind)
        entry.name_hint = first.name_hint
        for port in (first, again):
            _reconnect(port, entry, rewriter)
            rewriter.erase_block_argument(port)
        op.operands = [value for index, value in enumerate(op.inputs) if index != pair[1]]
        rewriter.notify_op_modified(op)


def _is_one(kernel: KernelOp, first: int, again: int) -> bool:
    if kernel.in_place is not None or kernel.inputs[first] is not kernel.inputs[again]:
        return False
    kinds = [kernel.arguments[index].type for index in (first, again)]
    return kinds[0] == kinds[1] or complaint_about_reorder(*kinds) is None


def _reconnect(port: BlockArgument, entry: SSAValue, rewriter: PatternRewriter) -> None:
    """Let the users of `port` take `entry`: reorders as they are, others in the order of `port`."""
    rewriter.replace_uses_with_if(port, entry, lambda use: port.type == entry.type or isinstance(use.operation, ReorderOp))
    if not port.uses:
        return
    users = {use.operation for use in port.uses}
    first = next(op for op in port.block.ops if op in users)
    assert isinstance(port.type, ItensorType)
    reorder = rewriter.insert(ReorderOp(entry, port.type), InsertPoint.before(first))
    reorder.result.name_hint = port.name_hint
    rewriter.replace_all_uses_with(port, reorder.result)


class DropUnusedKernelResults(RewritePattern):
    """A result that nobody uses is not yielded."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: KernelOp, rewriter: PatternRewriter) -> None:
        used = [result for result in op.results if result.uses]
        if op.in_place is not None or len(used) == len(op.results):
            return
        smaller = with_results(op, [op.terminator.arguments[result.index] for result in used], [result.type for result in used])
        for old, new in zip(used, smaller.results, strict=True):
            new.name_hint = old.name_hint
            rewriter.replace_all_uses_with(old, new)
        rewriter.erase(op)
