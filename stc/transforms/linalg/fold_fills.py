"""One form for the initial values of generics."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import AnyFloat, FloatAttr, IntegerAttr, IntegerType, ModuleOp, TensorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp, YieldOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from stc.analysis.generic_loops import all_dims, reduction_loops
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import (
    PARALLEL,
    build,
    combining,
    filled,
    output_arguments,
    shape_of,
    stc_attributes,
    tensor_like,
)
from stc.transforms.linalg.inline_constants import uniform_value

_NEUTRAL: dict[type[Operation], float | int] = {
    arith.AddfOp: 0.0,
    arith.AddiOp: 0,
    arith.MulfOp: 1.0,
    arith.MuliOp: 1,
    arith.MaximumfOp: float("-inf"),
    arith.MinimumfOp: float("inf"),
}


class ElementwiseInitial(RewritePattern):
    """A generic without reduction: an initial value that is read becomes a constant or an input, then `tensor.empty`."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if reduction_loops(op) or _keeps_empties(op):
            return
        dims = all_dims(op)
        if dims is None:
            return
        body = op.body.clone()
        count = len(op.inputs)
        inputs, input_dims = list(op.inputs), list(dims[:count])
        for index, output in enumerate(op.outputs):
            argument = body.block.args[len(inputs) + index]
            if not argument.uses:
                continue
            if (value := uniform_value(output)) is not None:
                constant = arith.ConstantOp(value)
                rewriter.insert(constant, InsertPoint.at_start(body.block))
                argument.replace_all_uses_with(constant.result)
                continue
            added = body.block.insert_arg(argument.type, len(inputs))
            argument.replace_all_uses_with(added)
            inputs.append(output)
            input_dims.append(dims[count + index])
        empties = [tensor.EmptyOp((), tensor_like(output, shape_of(output))) for output in op.outputs]
        results = [empty.tensor for empty in empties]
        new = build(inputs, results, body, [*input_dims, *dims[count:]], op.iterator_types.data, stc_attributes(op))
        rewriter.replace(op, [*empties, new])


def _keeps_empties(op: GenericOp) -> bool:
    """Whether nothing is to be done; several outputs cannot all stand directly before the op."""
    if len(op.outputs) == 1:
        return _is_private_empty(op.outputs[0], op)
    arguments = output_arguments(op)
    return all(isinstance(v.owner, tensor.EmptyOp) and v.has_one_use() for v in op.outputs) and not any(
        argument.uses for argument in arguments
    )


def _is_private_empty(value: SSAValue, op: GenericOp) -> bool:
    """An empty tensor made just before this generic, only for it, and not read by it."""
    argument = output_arguments(op)[list(op.outputs).index(value)]
    owner = value.owner
    return isinstance(owner, tensor.EmptyOp) and owner.next_op is op and value.has_one_use() and not argument.uses


class ReductionInitial(RewritePattern):
    """A reduction: initial values become private fills; what is no constant is combined afterwards."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        if not reduction_loops(op):
            return
        for index, output in enumerate(op.outputs):
            if _is_private_fill(output):
                continue
            value = uniform_value(output)
            if value is None and (value := self._split_off(op, index, rewriter)) is None:
                continue
            ops = filled(value, shape_of(output))
            rewriter.insert(ops, InsertPoint.before(op))
            op.operands[len(op.inputs) + index] = ops[-1].results[0]
            rewriter.notify_op_modified(op)

    def _split_off(self, op: GenericOp, index: int, rewriter: PatternRewriter) -> FloatAttr | IntegerAttr | None:
        """Combine the initial value with the result in a generic of its own; returns the neutral value to start from."""
        found = combining(op, index)
        if found is None or (neutral := neutral_value(found[0])) is None:
            return None
        if not output_arguments(op)[index].has_one_use():  # another result depends on it (the place of a maximum)
            return None
        result = op.results[index]
        ops = _combine(found[0], result, op.outputs[index], stc_attributes(op))
        rewriter.insert(ops, InsertPoint.after(op))
        combine = ops[-1]
        result.replace_uses_with_if(combine.results[0], lambda use: use.operation is not combine)
        return neutral


def neutral_value(op: Operation) -> FloatAttr | IntegerAttr | None:
    """The value that changes nothing when combined by `op`."""
    value, kind = _NEUTRAL.get(type(op)), op.results[0].type
    if value is None:
        return None
    if isinstance(kind, AnyFloat):
        return FloatAttr(float(value), kind)
    assert isinstance(kind, IntegerType)
    return IntegerAttr(int(value), kind)


def _combine(
    combiner: Operation, result: SSAValue, initial: SSAValue, attributes: dict[str, Attribute]
) -> list[Operation]:
    kind = result.type
    assert isinstance(kind, TensorType)
    empty = tensor.EmptyOp((), kind)
    block = Block(arg_types=[kind.element_type] * 3)
    step = combiner.clone({combiner.operands[0]: block.args[0], combiner.operands[1]: block.args[1]})
    block.add_ops([step, YieldOp(step.results[0])])
    dims = tuple(range(len(kind.get_shape())))
    generic = build(
        [result, initial], [empty.tensor], Region(block), [dims] * 3, [PARALLEL] * len(dims), attributes
    )
    return [empty, generic]


def _is_private_fill(value: SSAValue) -> bool:
    fill = value.owner
    if not isinstance(fill, FillOp) or not value.has_one_use():
        return False
    empty = fill.outputs[0]
    return isinstance(empty.owner, tensor.EmptyOp) and empty.has_one_use()


@dataclass(frozen=True)
class FoldFillsPass(ModulePass):
    """Make every reduction start from its own fill of a `tensor.empty`, and every other generic write its own `tensor.empty`.

    An initial value that is no constant is added (multiplied, ...) by an element-wise generic behind the reduction, so that a
    bias is no accumulator. Initial values that an element-wise generic reads become constants or inputs.

    Before:

        %1 = linalg.generic {... iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>)
               outs(%bias : tensor<4xf32>) { ... %s = arith.addf %a, %b ... }

    After:

        %0 = tensor.empty() : tensor<4xf32>
        %f = linalg.fill ins(%zero : f32) outs(%0 : tensor<4xf32>) -> tensor<4xf32>
        %1 = linalg.generic {... iterator_types = ["parallel", "reduction"]} ins(%x) outs(%f) { ... %s = arith.addf %a, %b ... }
        %2 = tensor.empty() : tensor<4xf32>
        %3 = linalg.generic {... iterator_types = ["parallel"]} ins(%1, %bias) outs(%2) { %s = arith.addf %a, %b ... }
    """

    name = "fold-fills"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        pattern = GreedyRewritePatternApplier([ElementwiseInitial(), ReductionInitial()])
        PatternRewriteWalker(pattern, apply_recursively=False).rewrite_module(op)
        erase_dead_ops(op)
