"""`fuse-fills`: a sum is set by the first addition to it, not by a nest of its own (loop fusion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.accumulators import Accumulator, accumulators, fill_nest, is_covered
from stc.analysis.loop_schedules import entry_of
from stc.analysis.loops import constant_of, is_unrolled, loops_between, trip_count
from stc.analysis.stream_transfers import loops_around, perfect_nest
from stc.dialects.dataflow import TaskOp
from stc.transforms.stream.loops import all_equal


@dataclass(frozen=True)
class FuseFills(ModulePass):
    """Fuse the nest that sets sums to a constant with the nest that adds to them.

    In the first iteration of the loops that reduce, an addition takes the constant in place of what the buffer holds. A tile of
    sums then takes one pipeline less, and the nest that adds has one statement before it less, so that it may become one pipeline
    with the loops outside (`sink-reads`). Values are the same, bit for bit.

    Fused where each nest sets all of the buffer, and the one that adds does so to each entry once in each iteration of the loops
    that reduce, whatever the data. Sums, products, minima and maxima are, that begin with what changes nothing, in loops of
    constant bounds; what is summed up to a run-time position is set before. Where no loop reduces, as behind an adder tree of all
    terms (`build-adder-trees`), a sum of integers is its one term. The pass stands behind `expand-partial-sums`, which knows sums
    by what sets them.

        scf.for %j = %c0 to %c8 step %c1 { memref.store %zero, %sum[%j] : memref<8xf32> }
        scf.for %k = %c0 to %c4 step %c1 {
          scf.for %j = %c0 to %c8 step %c1 { ... %s = memref.load %sum[%j]  %t = arith.addf %s, %v  memref.store %t, %sum[%j] }
        }
      becomes
        scf.for %k = %c0 to %c4 step %c1 {
          scf.for %j = %c0 to %c8 step %c1 {
            %first = arith.cmpi eq, %k, %c0 : index
            ... %s = memref.load %sum[%j]  %b = arith.select %first, %zero, %s  %t = arith.addf %b, %v  memref.store %t, %sum[%j]
          }
        }
    """

    name = "fuse-fills"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            for sums in accumulators(task):
                if (nests := _nests(sums)) is not None:
                    _fuse(sums, *nests)


def _nests(sums: Accumulator) -> tuple[scf.ForOp, tuple[scf.ForOp, ...]] | None:
    """The nest that sets the buffer, and the loops of the one that adds to it; None where they are not so simple."""
    if len(sums.fills) != 1 or not isinstance(fill := fill_nest(sums.fills[0]), scf.ForOp) or is_unrolled(fill):
        return None
    nest = _behind(fill, sums)
    loops = loops_around(sums.store, nest) if nest is not None else None
    if loops is None or perfect_nest(fill) is None or not all(trip_count(loop) for loop in loops):
        return None
    is_simple = _adds_once(sums, loops) and is_covered(sums, fill, sums.fills[0]) and is_covered(sums, loops[0], sums.store)
    return (fill, loops) if is_simple else None


def _behind(fill: scf.ForOp, sums: Accumulator) -> scf.ForOp | None:
    """The loop behind `fill` in which the sums are added to, where they are not read before."""
    op = fill.next_op
    while op is not None and not op.is_ancestor(sums.store):
        if any(op.is_ancestor(reader) for reader in sums.readers):
            return None
        op = op.next_op
    return op if isinstance(op, scf.ForOp) and not any(op.is_ancestor(reader) for reader in sums.readers) else None


def _adds_once(sums: Accumulator, loops: Sequence[scf.ForOp]) -> bool:
    """Whether each entry is added to exactly once in an iteration of the loops that reduce, whatever the data."""
    lanes = loops_between(sums.store, loops[-1])[1:]
    if sums.store.parent_op() is not (lanes or loops)[-1]:
        return False
    added = prod(trip_count(loop) for loop in (*loops, *lanes)) // prod(trip_count(loop) for loop in _reducing(sums, loops))
    return added == prod(sums.type.get_shape())


def _reducing(sums: Accumulator, loops: Sequence[scf.ForOp]) -> list[scf.ForOp]:
    """The loops of several iterations that an entry does not depend on."""
    variables = entry_of(sums.store, {}).variables
    return [loop for loop in loops if trip_count(loop) > 1 and loop.body.block.args[0] not in variables]


def _fuse(sums: Accumulator, fill: scf.ForOp, loops: Sequence[scf.ForOp]) -> None:
    if not (reducing := _reducing(sums, loops)) and isinstance(sums.combiner, arith.AddiOp):   # of floats, 0.0 + -0.0 is another
        Rewriter.replace_op(sums.combiner, [], [value for value in sums.combiner.operands if value is not sums.load.res])
    else:
        begun = _begun(sums, loops[-1], reducing)
        sums.combiner.operands = [begun if value is sums.load.res else value for value in sums.combiner.operands]
    if not sums.load.res.uses:   # a sum of one term
        Rewriter.erase_op(sums.load)
    Rewriter.erase_op(fill)


def _begun(sums: Accumulator, innermost: scf.ForOp, reducing: Sequence[scf.ForOp]) -> SSAValue:
    """What is added to: the constant in the first iteration of the loops that reduce, then what the buffer holds; the constant
    where no loop reduces."""
    builder = Builder(InsertPoint.at_start(innermost.body.block))
    constant = builder.insert(sums.begin.clone()).result
    firsts = [(loop.body.block.args[0], constant_of(loop.lb)) for loop in reducing]
    if not firsts:
        return constant
    first = all_equal(builder, firsts)
    first.name_hint = "first"
    begun = Builder(InsertPoint.after(sums.load)).insert(arith.SelectOp(first, constant, sums.load.res)).result
    begun.name_hint = sums.load.res.name_hint
    return begun
