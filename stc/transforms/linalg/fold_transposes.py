"""Transpositions and broadcasts become indexing maps."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from stc.analysis.generic_loops import Dims, all_dims, loop_count
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import build, covers_all, is_copy, shape_of, stc_attributes, tensor_like
from stc.transforms.linalg.identity_copies import fold_identity_copies


def copy_dims(value: SSAValue) -> tuple[GenericOp, Dims, Dims] | None:
    """(copy, dims of its input, dims of its output) where a value is made by a copying generic."""
    op = value.owner
    if not isinstance(op, GenericOp) or not is_copy(op) or (dims := all_dims(op)) is None:
        return None
    return op, dims[0], dims[1]


class FoldIntoConsumer(RewritePattern):
    """A generic reads the source of a copy, through its own map composed with the copy's."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        dims = all_dims(op)
        if dims is None:
            return
        for index, operand in enumerate(op.inputs):
            if (found := copy_dims(operand)) is None:
                continue
            copy, source, target = found
            through = tuple(None if loop is None else dims[index][target.index(loop)] for loop in source)
            new_dims = [*dims[:index], through, *dims[index + 1 :]]
            if not _bounds_all_loops(new_dims, op):
                continue
            inputs = [*op.inputs[:index], copy.inputs[0], *op.inputs[index + 1 :]]
            body = op.body.clone()
            rewriter.replace(op, build(inputs, op.outputs, body, new_dims, op.iterator_types.data, op.attributes))
            return


def _bounds_all_loops(dims: list[Dims], op: GenericOp) -> bool:
    """A reduction over a broadcast would be left without an operand that says how often it runs."""
    return {loop for entry in dims for loop in entry} >= set(range(loop_count(op)))


class FoldIntoProducer(RewritePattern):
    """A generic whose only user permutes its result, for readers that are no generics, writes the permuted result itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        found = copy_dims(op.results[0]) if len(op.results) == 1 else None
        producer = op.inputs[0].owner if len(op.inputs) else None
        if found is None or not isinstance(producer, GenericOp) or not op.inputs[0].has_one_use():
            return
        copy, source, target = found
        dims = all_dims(producer)
        if dims is None or not covers_all(source, loop_count(copy)) or len(producer.results) != 1:
            return
        permutation = [source.index(loop) for loop in target]
        if all(isinstance(use.operation, GenericOp) for use in op.results[0].uses):
            return
        initial = _permuted_initial(producer.outputs[0], permutation)
        if initial is None:
            return
        output = tuple(dims[-1][dimension] for dimension in permutation)
        rewriter.insert(initial, InsertPoint.before(producer))
        results = [initial[-1].results[0]]
        body = producer.body.clone()
        kinds = producer.iterator_types.data
        new = build(producer.inputs, results, body, [*dims[:-1], output], kinds, stc_attributes(producer))
        rewriter.insert(new, InsertPoint.before(producer))
        rewriter.replace(op, [], [new.results[0]])
        rewriter.erase(producer)


def _permuted_initial(value: SSAValue, permutation: list[int]) -> list[Operation] | None:
    """Operations that make an empty or filled tensor in permuted shape; the last one is the result."""
    if not isinstance(value.owner, tensor.EmptyOp | FillOp):
        return None
    shape = [shape_of(value)[dimension] for dimension in permutation]
    empty = tensor.EmptyOp((), tensor_like(value, shape))
    return [empty, FillOp(value.owner.inputs, empty.results)] if isinstance(value.owner, FillOp) else [empty]


@dataclass(frozen=True)
class FoldTransposesPass(ModulePass):
    """Fold generics that only permute or broadcast their input into the indexing maps of the generics that read them; where
    a permuted result is read by other operations (slices, the function's end), into the generic that makes it.

    Before:

        %t = linalg.generic {indexing_maps = [(d0, d1) -> (d1, d0), (d0, d1) -> (d0, d1)], ...} ins(%w : tensor<4x3xf32>)
               outs(%0 : tensor<3x4xf32>) { ^bb0(%a: f32, %b: f32): linalg.yield %a : f32 }
        %y = linalg.generic {indexing_maps = [(d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d2, d1), ...]} ins(%x, %t) ...

    After:

        %y = linalg.generic {indexing_maps = [(d0, d1, d2) -> (d0, d2), (d0, d1, d2) -> (d1, d2), ...]} ins(%x, %w) ...
    """

    name = "fold-transposes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fold_identity_copies(op)
        pattern = GreedyRewritePatternApplier([FoldIntoConsumer(), FoldIntoProducer()])
        PatternRewriteWalker(pattern).rewrite_module(op)
        fold_identity_copies(op)
        erase_dead_ops(op)
