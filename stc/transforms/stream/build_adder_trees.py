"""`build-adder-trees`: terms that are made at once are added up in a tree, integers with a register behind each adder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import AnyFloat, IndexType, IntegerAttr, IntegerType, MemRefType, ModuleOp
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure

from stc.analysis.loop_schedules import entry_of
from stc.analysis.loops import Bounds, constant_bounds, is_unrolled
from stc.analysis.operator_library import is_added_by_multiplier
from stc.design_space.adder_trees import chain_length, tree_strides
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, REGISTERED, UNROLL
from stc.scalars.table import EXTREMES, ROWS
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

    Trees come before `expand-partial-sums` and `fuse-reads`, which would take other decisions with a chain of so many stages
    between one iteration and the next, and before `fuse-fills`: a sum of integers has a single term once a tree has added all.

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
            for found in [found for loop in task.walk() if (found := _lane_sum(loop)) is not None]:
                if found.chain < found.count and (self.reassociate or not isinstance(found.add, arith.AddfOp)):
                    _build(found)


# What is added up at once ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _LaneSum:
    """A nest of unrolled `loops`, outermost first, along one of which (`terms`) all that is done is `store`: sum[...] + `term`.

    `computed`: all operations of the nest in front of the sum, in order, those of outer loops included.
    """

    loops: tuple[scf.ForOp, ...]
    terms: scf.ForOp
    computed: tuple[Operation, ...]
    load: memref.LoadOp
    add: Operation
    store: memref.StoreOp

    @property
    def term(self) -> SSAValue:
        left, right = self.add.operands
        return right if left is self.load.res else left

    @property
    def kind(self) -> Attribute:
        """The type of the sum, and of its terms."""
        return self.add.results[0].type

    @property
    def count(self) -> int:
        """Terms that are there at once."""
        return _bounds(self.terms).trip

    @property
    def chain(self) -> int:
        """As many of them as are added up one after the other."""
        return chain_length(self.count, adds_in_dsp=is_added_by_multiplier(self.add))


def _lane_sum(outermost: Operation) -> _LaneSum | None:
    """The sum that the unrolled nest in `outermost` makes of terms that are there at once; None where it is none."""
    if not isinstance(outermost, scf.ForOp) or not is_unrolled(outermost) or _is_in_nest(outermost):
        return None
    nest = _unrolled_nest(outermost)
    if nest is None:
        return None
    loops, ops = nest
    match ops[-1] if ops else None:
        case memref.StoreOp() as store if isinstance(add := store.value.owner, (arith.AddiOp, arith.AddfOp, *EXTREMES)):
            load = next((side.owner for side in add.operands if _continues(side, store)), None)
        case _:
            return None
    others = [op for op in ops if op not in (load, add, store)]
    if not isinstance(load, memref.LoadOp) or not all(_is_computed(op) for op in others):
        return None
    if not (add.results[0].has_one_use() and load.res.has_one_use()) or not isinstance(add.results[0].type, IntegerType | AnyFloat):
        return None
    if any(isinstance(op, memref.LoadOp) and op.memref is store.memref for op in others):
        return None
    variables = {value for index in entry_of(store, {}).indices for value in index.variables()}
    along = [loop for loop in loops if loop.body.block.args[0] not in variables and _bounds(loop).trip > 1]
    if len(along) != 1 or _bounds(along[0]).lower != 0 or _bounds(along[0]).step != 1:
        return None
    lane = along[0].body.block.args[0]
    if any(lane in op.operands for op in _behind([*store.indices, *load.indices], others)):
        return None  # an entry that is looked up for each lane
    return _LaneSum(loops, along[0], tuple(others), load, add, store)


def _is_computed(op: Operation) -> bool:
    """Whether `op` changes nothing (an operation on scalars, which xDSL does not call pure in every case) or loads."""
    return type(op) in ROWS or op.has_trait(Pure) or isinstance(op, memref.LoadOp)


def _is_in_nest(loop: scf.ForOp) -> bool:
    around = loop.parent_op()
    return isinstance(around, scf.ForOp) and is_unrolled(around) and _unrolled_nest(around) is not None


def _unrolled_nest(outermost: scf.ForOp) -> tuple[tuple[scf.ForOp, ...], list[Operation]] | None:
    """The loops of a nest that is unrolled altogether, with nothing but pure operations around the innermost body, and what is
    computed in it, in order; None where it is no such nest."""
    loops, ops, loop = list[scf.ForOp](), list[Operation](), outermost
    while True:
        if not is_unrolled(loop) or loop.iter_args or constant_bounds(loop) is None:
            return None
        loops.append(loop)
        own = [op for op in loop.body.block.ops if not isinstance(op, scf.YieldOp)]
        inner = [op for op in own if isinstance(op, scf.ForOp)]
        ops += [op for op in own if op not in inner]
        if not inner:
            return tuple(loops), ops
        if len(inner) > 1 or not all(op.has_trait(Pure) for op in own if op not in inner):
            return None
        loop = inner[0]


def _continues(value: SSAValue, store: memref.StoreOp) -> bool:
    """Whether `value` is what the entry held to which `store` goes."""
    return isinstance(load := value.owner, memref.LoadOp) and entry_of(load, {}) == entry_of(store, {})


def _bounds(loop: scf.ForOp) -> Bounds:
    bounds = constant_bounds(loop)
    assert bounds is not None
    return bounds


# Rewriting ------------------------------------------------------------------------------------------------------------


def _build(found: _LaneSum) -> None:
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
    bounds = _bounds(loop)
    made, inner = _unrolled(builder, (bounds.lower, bounds.upper, bounds.step), loop.body.block.args[0].name_hint or "lane")
    made.attributes |= LABEL.retained(loop)
    new[loop.body.block.args[0]] = made.body.block.args[0]
    return inner


def _make_terms(found: _LaneSum, terms: SSAValue, new: dict[SSAValue, SSAValue], builder: Builder) -> None:
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


def _accumulate(found: _LaneSum, total: SSAValue, new: dict[SSAValue, SSAValue], builder: Builder) -> None:
    """What the accumulator held, and `total`: where the nest added its terms one by one."""
    behind = set[Operation](_behind([*found.store.indices, *found.load.indices], found.computed))
    _clone([op for op in found.computed if op in behind], new, builder)
    for op in (found.load, found.add, found.store):
        new[found.term] = total
        _clone([op], new, builder)


def _behind(values: Sequence[SSAValue], among: Sequence[Operation]) -> Iterator[Operation]:
    """Those operations of `among` that `values` are computed from."""
    waiting = list(values)
    while waiting:
        if isinstance(op := waiting.pop().owner, Operation) and op in among:
            yield op
            waiting += op.operands


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
