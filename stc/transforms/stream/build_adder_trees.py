"""`build-adder-trees`: terms that are made at once are added up in a tree, integers with a register behind each adder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, MemRefType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.lane_sums import LaneSum, behind, lane_sum, trips_of
from stc.design_space.adder_trees import tree_strides
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, REGISTERED, UNROLL
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator


@dataclass(frozen=True)
class BuildAdderTrees(ModulePass):
    """Add up the terms that an unrolled loop makes in a balanced tree, and its sum to the accumulator.

    As loops of points leave it, each lane adds its term to what the lane before it left in the accumulator: as many adders in a row
    as there are lanes, all of them between one iteration and the next. In a tree of n terms no number passes more than log2(n)
    adders, rounded up; each of integers has a register behind it (`stc.registered`, a stage of the pipeline), those of floats have
    stages of their own, and only the last addition goes on with what an earlier iteration left. There may be any number of terms:
    one without a neighbour on a level goes to the next.

    Products that a DSP multiplies are added by it, too: up to 8 of them make a chain of DSPs, and the chains a tree.
    Integers wrap around, so that any order gives the same sum. Of floats the order is fixed, but another one: (t0 + t1) + (t2 + t3)
    and so on, rounded no worse. The largest or smallest of numbers is found in a tree as well, whose comparisons have stages of
    their own.

    Options: `reassociate` (default true), without which sums of floats keep their order.

        scf.for %k = %c0 to %c3 step %c1 {
          %p = ...
          %s = memref.load %sum[%i]  %t = arith.addi %s, %p : i32  memref.store %t, %sum[%i]
        } {stc.unroll = 0}
      becomes
        %terms = memref.alloc() : memref<3xi32>
        scf.for %k = %c0 to %c3 step %c1 { %p = ...  memref.store %p, %terms[%k] } {stc.unroll = 0}
        scf.for %lane = %c0 to %c2 step %c2 { ... %terms[%lane] + %terms[%lane + 1], stc.registered ... } {stc.unroll = 0}
        scf.for %lane = %c0 to %c1 step %c4 { ... %terms[%lane] + %terms[%lane + 2], stc.registered ... } {stc.unroll = 0}
        %all = memref.load %terms[%c0]
        %s = memref.load %sum[%i]  %t = arith.addi %s, %all : i32  memref.store %t, %sum[%i]
    """

    name = "build-adder-trees"

    reassociate: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            for found in [found for loop in task.walk() if (found := lane_sum(loop)) is not None]:
                if found.chain < found.count and (self.reassociate or not isinstance(found.add, arith.AddfOp)):
                    _build(found)


# Rewriting ------------------------------------------------------------------------------------------------------------


def _build(found: LaneSum) -> None:
    stem = (LABEL.of(found.loops[0]) or "sum_i").rpartition("_")[0]
    new: dict[SSAValue, SSAValue] = {}
    builder = Builder(InsertPoint.before(found.loops[0]))
    for loop in found.loops:
        if loop is not found.terms:
            builder = _like(loop, builder, new)
    leaves = found.count // found.chain
    terms = builder.insert(memref.AllocOp([], [], MemRefType(found.kind, (leaves,)))).memref
    terms.name_hint = f"{found.store.memref.name_hint or 'sum'}_terms"
    _make_terms(found, terms, new, builder)
    for level, stride in enumerate(tree_strides(leaves), 1):
        _add_neighbours(found.add, terms, leaves, stride, f"{stem}_level{level}", builder)
    total = builder.insert(memref.LoadOp.get(terms, [index_constant(builder, 0)])).res
    _accumulate(found, total, new, builder)
    Rewriter.erase_op(found.loops[0])


def _like(loop: scf.ForOp, builder: Builder, new: dict[SSAValue, SSAValue]) -> Builder:
    """A loop as `loop` is, without its body; a builder for that."""
    bounds = trips_of(loop)
    made, inner = _unrolled(builder, (bounds.lower, bounds.upper, bounds.step), loop.body.block.args[0].name_hint or "lane")
    made.attributes |= LABEL.retained(loop)
    new[loop.body.block.args[0]] = made.body.block.args[0]
    return inner


def _make_terms(found: LaneSum, terms: SSAValue, new: dict[SSAValue, SSAValue], builder: Builder) -> None:
    """Each entry of `terms` becomes a term, or the sum of a chain of so many, as far apart as there are entries."""
    chain, leaves = found.chain, found.count // found.chain
    hint = found.terms.body.block.args[0].name_hint or "term"
    made, inner = _unrolled(builder, (0, leaves, 1), hint if chain == 1 else "chain")
    made.attributes |= LABEL.retained(found.terms)
    index = number = made.body.block.args[0]
    if chain > 1:
        assert isinstance(found.kind, IntegerType)
        zero = inner.insert(arith.ConstantOp(IntegerAttr(0, found.kind))).result
        inner.insert(memref.StoreOp.get(zero, terms, [number]))
        along, inner = _unrolled(inner, (0, found.count, leaves), hint)
        along.attributes |= LABEL.retained(found.terms)
        index = inner.insert(arith.AddiOp(number, along.body.block.args[0])).result
    new = new | {found.terms.body.block.args[0]: index}
    _clone(found.computed, new, inner)
    term = new.get(found.term, found.term)
    if chain > 1:
        before = inner.insert(memref.LoadOp.get(terms, [number])).res
        term = inner.insert(arith.AddiOp(before, term)).result
    inner.insert(memref.StoreOp.get(term, terms, [number]))


def _add_neighbours(add: Operation, terms: SSAValue, leaves: int, stride: int, stem: str, builder: Builder) -> None:
    """One level of the tree: its sums lie where the first of both numbers was."""
    loop, inner = _unrolled(builder, (0, leaves - stride, 2 * stride), "lane")
    LABEL.put(loop, f"{stem}_lane")
    lane = loop.body.block.args[0]
    other = inner.insert(arith.AddiOp(lane, index_constant(inner, stride))).result
    left, right = (inner.insert(memref.LoadOp.get(terms, [index])).res for index in (lane, other))
    both = inner.insert(add.clone())
    both.operands = [left, right]
    if isinstance(both, arith.AddiOp):
        REGISTERED.put(both, None)
    inner.insert(memref.StoreOp.get(both.results[0], terms, [lane]))


def _accumulate(found: LaneSum, total: SSAValue, new: dict[SSAValue, SSAValue], builder: Builder) -> None:
    """What the accumulator held, and `total`: where the nest added its terms one by one."""
    needed = set[Operation](behind([*found.store.indices, *found.load.indices], found.computed))
    _clone([op for op in found.computed if op in needed], new, builder)
    for op in (found.load, found.add, found.store):
        new[found.term] = total
        _clone([op], new, builder)


def _clone(ops: Sequence[Operation], new: dict[SSAValue, SSAValue], builder: Builder) -> None:
    for op in ops:
        copy = op.clone()
        copy.operands = [new.get(operand, operand) for operand in op.operands]
        copy.location = op.location
        builder.insert(copy)
        for before, after in zip(op.results, copy.results, strict=True):
            after.name_hint = before.name_hint
            new[before] = after


def _unrolled(builder: Builder, bounds: tuple[int, int, int], hint: str) -> tuple[scf.ForOp, Builder]:
    """A loop of which every iteration is hardware of its own, and a builder for its body."""
    block = Block([scf.YieldOp()], arg_types=[IndexType()])
    block.args[0].name_hint = hint
    lower, upper, step = (index_constant(builder, value) for value in bounds)
    loop = builder.insert(scf.ForOp(lower, upper, step, [], block))
    UNROLL.put(loop, 0)
    return loop, before_terminator(block)
