"""Element-wise generics move into the generic that uses them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from stc.analysis.generic_loops import Dims, all_dims, loop_count
from stc.analysis.host_work import host_values
from stc.dialects.facts import ENDS_LAYERS, MODULE
from stc.transforms.linalg.bodies import merge_equal_inputs, simplify_body, with_simplified_inputs
from stc.transforms.linalg.dead_ops import erase_dead_ops, functions_of
from stc.transforms.linalg.generics import build, covers_all, is_contraction, is_elementwise, stc_attributes, yielded


@dataclass
class MergeInputs(RewritePattern):
    """Equal inputs with equal maps are one input; unused inputs go."""

    host: set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        dims = all_dims(op)
        if dims is not None and (simplified := with_simplified_inputs(op, dims)) is not None:
            _stands_for(simplified, op, self.host)
            rewriter.replace(op, simplified)


@dataclass
class FuseProducer(RewritePattern):
    """One element-wise producer into its only consumer.

    `host`: values known once parameters are (stc/analysis/host_work.py). What makes them is host work, and stays apart from
    what is not.
    """

    host: set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        dims = all_dims(op)
        if dims is None or is_contraction(op):
            return
        is_narrowly_used = _widens_for_contractions(op)
        for index, operand in enumerate(op.inputs):
            producer = operand.owner
            if operand in self.host and op.results[0] not in self.host:
                continue
            if is_narrowly_used and not _is_change_of_width(producer):
                continue
            if isinstance(producer, GenericOp) and _may_fuse(producer, op, dims, index):
                fused = _fuse(producer, op, dims, index)
                _stands_for(fused, op, self.host)
                rewriter.replace(op, fused)
                rewriter.erase(producer)
                return


@dataclass
class FuseExtension(RewritePattern):
    """A wider form of narrow integers into each generic that uses it: contractions and packed parameters are of the narrow type.

    It is nothing but wires. `host` as of `FuseProducer`: a wider parameter that only parameters are computed with is the host's.
    """

    host: set[SSAValue]

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: GenericOp, rewriter: PatternRewriter) -> None:
        dims = all_dims(op)
        if dims is None or op.results[0] in self.host:
            return
        for index, operand in enumerate(op.inputs):
            producer = operand.owner
            if isinstance(producer, GenericOp) and _is_extension(producer) and _bounds_all_loops(producer, op, dims, index):
                rewriter.replace(op, _fuse(producer, op, dims, index))
                return


_WIDTHS = (arith.ExtSIOp, arith.ExtUIOp, arith.TruncIOp)


def _is_extension(producer: GenericOp) -> bool:
    """Whether a generic only makes integers wider."""
    if not _is_change_of_width(producer):
        return False
    narrow, wide = (argument.type for argument in producer.body.block.args)
    return isinstance(narrow, IntegerType) and isinstance(wide, IntegerType) and narrow.width.data < wide.width.data


def _is_change_of_width(op: Operation | Block) -> bool:
    """Whether it is a generic that only makes integers wider or narrower."""
    if not isinstance(op, GenericOp) or not is_elementwise(op) or len(op.inputs) != 1 or len(op.results) != 1:
        return False
    *computed, _ = op.body.block.ops
    return bool(computed) and all(isinstance(inner, _WIDTHS) for inner in computed)


def _widens_for_contractions(op: GenericOp) -> bool:
    """Whether all that it does is to change widths for contractions, which will do that themselves (`FuseExtension`)."""
    users = [use.operation for use in op.results[0].uses]
    if not users or not _is_change_of_width(op):
        return False
    return all(isinstance(user, GenericOp) and (is_contraction(user) or _widens_for_contractions(user)) for user in users)


def _stands_for(new: GenericOp, old: GenericOp, host: set[SSAValue]) -> None:
    """The replacement of host work is host work."""
    if old.results[0] in host:
        host.update(new.results)


def _may_fuse(producer: GenericOp, consumer: GenericOp, dims: list[Dims], index: int) -> bool:
    """Whether the producer's body would run exactly as often inside the consumer as it runs now.

    The sum of a broadcast is left alone: without the broadcast no operand would say how often its loop runs. What layers end with
    stays apart from either.
    """
    if ENDS_LAYERS.on(producer) or ENDS_LAYERS.on(consumer):
        return False
    if not is_elementwise(producer) or len(producer.results) != 1 or not covers_all(dims[index], loop_count(consumer)):
        return False
    return producer.results[0].has_one_use() and _bounds_all_loops(producer, consumer, dims, index)


def _bounds_all_loops(producer: GenericOp, consumer: GenericOp, dims: list[Dims], index: int) -> bool:
    """Whether each loop of the consumer still runs along an operand when it reads the producer's."""
    if (below := all_dims(producer)) is None:
        return False
    loop_of = dict(zip(below[-1], dims[index], strict=True))
    entries = [*dims[:index], *(_through(entry, loop_of) for entry in below[:-1]), *dims[index + 1 :]]
    return {loop for entry in entries for loop in entry}.issuperset(range(loop_count(consumer)))


def _fuse(producer: GenericOp, consumer: GenericOp, dims: list[Dims], index: int) -> GenericOp:
    """The consumer with the producer's body in front of its own."""
    producer_dims = all_dims(producer)
    assert producer_dims is not None
    loop_of = dict(zip(producer_dims[-1], dims[index], strict=True))
    body = consumer.body.clone()
    block = body.block
    count = len(consumer.inputs)
    added = [block.insert_arg(argument.type, index + n) for n, argument in enumerate(producer.body.block.args[:-1])]
    replaced = block.args[index + len(added)]
    replaced.replace_all_uses_with(_inline(producer, body, added, loop_of))
    block.erase_arg(replaced)
    inputs = [*consumer.inputs[:index], *producer.inputs, *consumer.inputs[index + 1 :]]
    moved = (_through(entry, loop_of) for entry in producer_dims[:-1])
    input_dims = [*dims[:index], *moved, *dims[index + 1 : count]]
    simplify_body(block)
    inputs, input_dims = merge_equal_inputs(inputs, input_dims, block)
    attributes = stc_attributes(consumer) | _module_of(producer, consumer)
    kinds = consumer.iterator_types.data
    return build(inputs, consumer.outputs, body, [*input_dims, *dims[count:]], kinds, attributes)


def _through(dims: Dims, loop_of: dict[int | None, int | None]) -> Dims:
    return tuple(None if loop is None else loop_of[loop] for loop in dims)


def _inline(
    producer: GenericOp, body: Region, arguments: Sequence[SSAValue], loop_of: dict[int | None, int | None]
) -> SSAValue:
    """Copy the producer's body in front of the consumer's; returns the value it yields."""
    mapping: dict[SSAValue, SSAValue] = dict(zip(producer.body.block.args, arguments, strict=False))
    copies = []
    for op in producer.body.block.ops:
        if op is producer.body.block.last_op:
            break
        copy = op.clone(mapping)
        if isinstance(copy, IndexOp):
            loop = loop_of[copy.dim.value.data]
            assert loop is not None
            copy = IndexOp(loop)
        mapping.update(zip(op.results, copy.results, strict=True))
        copies.append(copy)
    first = body.block.first_op
    assert first is not None
    body.block.insert_ops_before(copies, first)
    return mapping.get(yielded(producer)[0], yielded(producer)[0])


def _module_of(producer: GenericOp, consumer: GenericOp) -> dict[str, Attribute]:
    """The consumer's module, unless it is only the surroundings of the producer's."""
    above, below = MODULE.of(consumer), MODULE.of(producer)
    if below is None:
        return {}
    return MODULE.entry(below) if not above or below.startswith(above + ".") else {}


@dataclass(frozen=True)
class FuseElementwisePass(ModulePass):
    """Fuse element-wise generics into the generic that uses their result, where no work is repeated:

    * the result has one user (an op may use it as several operands with the same map),
    * the user reads it through a permutation of all its loops (no broadcast, no reduction that reads it again),
    * the user is no contraction: what is computed there per output column would be computed for every one of them,
    * the producer is no host work (dependent on parameters and constants alone), or the user is too.

    What only makes integers wider is nothing to compute: it moves into every user, contractions too, also of a parameter, which
    stays narrow in memory, and of what is computed in front of a contraction, which stays narrow in its stream. A change of width
    behind another is one.

    Equal operands with equal maps are merged. The fused op belongs to the user's `stc.module`, or to the producer's where
    that lies inside the user's.

    Before:

        %1 = linalg.generic ... ins(%x, %bias) outs(%0) { %s = arith.addf %a, %b ... }
        %3 = linalg.generic ... ins(%1) outs(%2) { %t = math.tanh %a ... }

    After:

        %3 = linalg.generic ... ins(%x, %bias) outs(%2) { %s = arith.addf %a, %b : f32
                                                          %t = math.tanh %s : f32 ... }
    """

    name = "fuse-elementwise"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            host = host_values(function)
            pattern = GreedyRewritePatternApplier([MergeInputs(host), FuseExtension(host), FuseProducer(host)])
            PatternRewriteWalker(pattern).rewrite_region(function.body)
        erase_dead_ops(op)


