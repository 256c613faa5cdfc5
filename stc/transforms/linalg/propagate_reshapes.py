"""Reshapes travel through the program until they meet and cancel, or reach its boundary."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from stc.iteration.reshape import fine_shape, is_trivial, refinement
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import shape_of
from stc.transforms.linalg.reshapes import RESHAPES, collapse_shape, expand_shape, groups_of, is_remade, split_value
from stc.transforms.linalg.split_loops import Split, is_argument, split_by_operand, split_by_result


class MergeReshapes(RewritePattern):
    """Two reshapes in a row become none, one, or a split to the common refinement followed by a merge."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: tensor.ExpandShapeOp | tensor.CollapseShapeOp, rewriter: PatternRewriter
    ) -> None:
        inner = op.src.owner
        if shape_of(op.src) == shape_of(op.result):
            rewriter.replace(op, [], [op.src])
            return
        if not isinstance(inner, RESHAPES):
            return
        source, shape = inner.src, shape_of(op.result)
        if shape_of(source) == shape:
            rewriter.replace(op, [], [source])
            return
        if 1 in shape_of(source) or 1 in shape or (found := refinement(shape_of(source), shape)) is None:
            return
        split, merged = found
        if is_trivial(split):
            rewriter.replace(op, collapse_shape(source, merged))
        elif is_trivial(merged):
            rewriter.replace(op, expand_shape(source, split))
        elif fine_shape(split) != shape_of(inner.result):
            expand = expand_shape(source, split)
            rewriter.replace(op, [expand, collapse_shape(expand.result, merged)])


class SplitConstant(RewritePattern):
    """Empty, filled and constant tensors are made in the split shape at once."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExpandShapeOp, rewriter: PatternRewriter) -> None:
        if is_remade(op.src) and not is_trivial(groups_of(op)):
            rewriter.replace(op, split_value(op.src, groups_of(op))[0])


class RaiseExpand(RewritePattern):
    """expand_shape of a result: the producer works on split dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExpandShapeOp, rewriter: PatternRewriter) -> None:
        producer = op.src.owner
        if not isinstance(producer, Operation) or _only_returned(op.result) or _has_units(op):
            return
        result = list(producer.results).index(op.src)  # pyright: ignore[reportArgumentType]
        split = split_by_result(producer, result, groups_of(op))
        if split is not None and not _dropped(split):
            _replace(producer, split, rewriter)


class SinkCollapse(RewritePattern):
    """collapse_shape of an operand: the consumer works on split dimensions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.CollapseShapeOp, rewriter: PatternRewriter) -> None:
        if is_argument(op.src) or _has_units(op):
            return
        for use in list(op.result.uses):
            split = split_by_operand(use.operation, use.index, groups_of(op))
            if split is not None and (_is_between_reshapes(use.operation, split) or not _dropped(split)):
                _replace(use.operation, split, rewriter)
                return


def _is_between_reshapes(consumer: Operation, split: Split) -> bool:
    """Whether all who read `consumer` split its results as `split` has them, and of what the function updates only what is read
    together with new rows would come with dimensions cut: rather that than a reshape in front and one behind."""
    for result, made in zip(consumer.results, split.results, strict=True):
        readers = {use.operation for use in result.uses}
        if not readers or not isinstance(made.owner, tensor.CollapseShapeOp):
            return False
        wanted = shape_of(made.owner.src)
        if not all(isinstance(reader, tensor.ExpandShapeOp) and shape_of(reader.result) == wanted for reader in readers):
            return False
    cut = [op.src.owner for op in split.ops if isinstance(op, tensor.ExpandShapeOp) and _is_updated(op.src)]
    return all(isinstance(made, tensor.ConcatOp) for made in cut)


def _dropped(split: Split) -> bool:
    """Whether an argument that the function updates, or a part of it, would come with dimensions cut: then `split` is dropped."""
    if not any(isinstance(op, tensor.ExpandShapeOp) and _is_updated(op.src) for op in split.ops):
        return False
    for op in reversed(split.ops):
        op.erase()
    return True


def _is_updated(value: SSAValue) -> bool:
    if isinstance(value, BlockArgument):
        return any(isinstance(use.operation, tensor.InsertSliceOp) and use.operation.dest is value for use in value.uses)
    match value.owner:
        case tensor.ExtractSliceOp() | tensor.ConcatOp() | tensor.ExpandShapeOp() | tensor.CollapseShapeOp() as op:
            return any(_is_updated(operand) for operand in op.operands)
        case _:
            return False


def _only_returned(value: SSAValue) -> bool:
    """Whether only the function's end uses a value: its shape belongs to the signature, and stays there."""
    return all(isinstance(use.operation, func.ReturnOp) for use in value.uses)


def _has_units(op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> bool:
    """Reshapes around dimensions of extent 1 would travel forever; `drop-unit-dims` brings them to the boundary."""
    return 1 in shape_of(op.src) or 1 in shape_of(op.result)


def _replace(op: Operation, split: Split, rewriter: PatternRewriter) -> None:
    rewriter.insert(split.ops, InsertPoint.before(op))
    rewriter.replace(op, [], split.results)


@dataclass(frozen=True)
class PropagateReshapesPass(ModulePass):
    """Move `tensor.expand_shape` up and `tensor.collapse_shape` down through generics, slices and concatenations, whose
    loops and dimensions are split for it. They cancel where they meet. What stays: reshapes of function arguments and of
    function results (layout of external memory), those with dimensions of extent 1, those without a common refinement
    ([2, 3] to [3, 2]), which really reorder loops, and those that would cut an argument that the function updates (a cache,
    `tensor.insert_slice`): it has one shape for what is read and for what is written. Where what reads it together with new rows
    stands between two reshapes that cancel, these rows are split there, behind the concatenation.

    For attention, heads become loops of their own: the projection yields [token, head, entry] with its weight expanded.

    Before:

        %1 = linalg.generic {matmul} ins(%x, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%0 : tensor<4x8xf32>) ...
        %s = tensor.extract_slice %1[0, 4] [4, 4] [1, 1] : tensor<4x8xf32> to tensor<4x4xf32>
        %h = tensor.expand_shape %s [[0], [1, 2]] output_shape [4, 2, 2] : tensor<4x4xf32> into tensor<4x2x2xf32>

    After:

        %v = tensor.expand_shape %w [[0], [1, 2]] output_shape [6, 4, 2] : tensor<6x8xf32> into tensor<6x4x2xf32>
        %1 = linalg.generic {indexing_maps = [(d0, d1, d2, d3) -> (d0, d3), (d0, d1, d2, d3) -> (d3, d1, d2), ...]}
               ins(%x, %v : tensor<4x6xf32>, tensor<6x4x2xf32>) outs(%0 : tensor<4x4x2xf32>) ...
        %h = tensor.extract_slice %1[0, 2, 0] [4, 2, 2] [1, 1, 1] : tensor<4x4x2xf32> to tensor<4x2x2xf32>
    """

    name = "propagate-reshapes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [MergeReshapes(), SplitConstant(), RaiseExpand(), SinkCollapse()]
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)
        erase_dead_ops(op)
