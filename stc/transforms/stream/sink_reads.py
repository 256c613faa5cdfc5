"""`sink-reads`: what a loop reads before its only nest is read in the first iteration of that nest: one pipeline."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref, scf, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint
from xdsl.traits import Pure

from stc.analysis.loop_schedules import buffer_of
from stc.analysis.loops import constant_of, is_before, is_unrolled, trip_count
from stc.analysis.recurrences import accumulation_interval, pipeline_schedule
from stc.analysis.stream_transfers import perfect_nest
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.platforms.platform import load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import where_equal


@dataclass(frozen=True)
class SinkReads(ModulePass):
    """Move the reads in front of a loop's only nest into that nest's first iteration (code sinking).

    A loop that reads a token and then runs a nest waits in each iteration until the nest's pipeline has drained. With the read in
    there, under a guard, all loops are one perfect nest, which the vendor's tool makes one pipeline of.

    Only tokens that go to local buffers are moved, where nothing follows the nest, and where the pipeline saves more than sums wait
    for if they come up again across iterations of the loop (`stc.analysis.recurrences`). A vector that the nest stores in each
    iteration again, to a buffer that holds nothing else, is stored where it is read, wherever that is.

    Options: `platform` (default u55c), whose cycle operators are scheduled for.

        scf.for %i = %c0 to %c8 step %c1 {
          %v = stream.read %p
          vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
          scf.for %j = %c0 to %c4 step %c1 { ... memref.load %x[%c0] ... }
        }
      becomes
        scf.for %i = %c0 to %c8 step %c1 {
          scf.for %j = %c0 to %c4 step %c1 {
            %first = arith.cmpi eq, %j, %c0 : index
            scf.if %first {
              %v = stream.read %p
              vector.store %v, %x[%c0] : memref<1xf32>, vector<1xf32>
            }
            ... memref.load %x[%c0] ...
          }
        }
    """

    name = "sink-reads"

    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        clock_ns = load_platform(self.platform).cycle_ns
        for task in [found for found in op.walk() if isinstance(found, TaskOp)]:
            for loop in reversed([found for found in task.walk() if isinstance(found, scf.ForOp)]):
                if (found := _reads_before_nest(loop)) is not None:
                    _sink(*found, clock_ns)


def _reads_before_nest(loop: scf.ForOp) -> tuple[list[Operation], tuple[scf.ForOp, ...]] | None:
    """What `loop` reads before the nest that ends its body, with what stores it, there or in the nest, and the loops of that nest;
    None where it does anything else."""
    effects = [op for op in loop.body.block.ops if not op.has_trait(Pure) and not isinstance(op, scf.YieldOp)]
    if len(effects) < 2 or loop.iter_args or is_unrolled(loop) or not isinstance(nest := effects[-1], scf.ForOp):
        return None
    loops = perfect_nest(nest)
    tokens = {op.result for op in effects[:-1] if isinstance(op, stream.ReadOp)}
    moved = [op for op in loop.body.block.ops if op in effects[:-1] or _is_taken_from(op, tokens, effects[:-1])]
    if loops is None or any(trip_count(inner) == 0 for inner in loops) or not all(map(_is_read, moved)):
        return None
    moved += _stored_inside(tokens, loops[-1].body.block)
    users = [use.operation for op in moved for result in op.results for use in result.uses]
    return (moved, loops) if all(user in moved for user in users) else None


def _is_taken_from(op: Operation, tokens: Collection[SSAValue], stores: Sequence[Operation]) -> bool:
    """Whether it takes a lane of one of `tokens`, or of one that was read before the loop, for `stores` alone."""
    if not isinstance(op, vector.ExtractOp):
        return False
    users = [use.operation for use in op.result.uses]
    is_for_stores = bool(users) and all(user in stores for user in users)
    return op.vector in tokens or (is_for_stores and isinstance(op.vector.owner, stream.ReadOp))


def _stored_inside(tokens: Collection[SSAValue], body: Block) -> list[Operation]:
    """What stores one of `tokens`, which are read outside, in each iteration again: to a buffer that holds nothing else, before
    that is loaded."""
    return [op for op in body.ops if isinstance(op, vector.StoreOp) and op.vector in tokens and _is_read(op) and _is_kept(op, body)]


def _is_kept(store: vector.StoreOp, body: Block) -> bool:
    """Whether nothing else changes the buffer, which is there before `body`, and what loads from it in there comes later."""
    others = {use.operation for use in store.base.uses} - {store}
    is_around = isinstance(made := store.base.owner, memref.AllocOp) and not body.is_ancestor(made)
    are_loads = all(isinstance(other, memref.LoadOp | vector.LoadOp) for other in others)
    return is_around and are_loads and all(is_before(store, other) for other in others if body.is_ancestor(other))


def _is_read(op: Operation) -> bool:
    """Whether `op` is part of reading a token into a buffer of its size, whose entries are registers."""
    match op:
        case stream.ReadOp() | vector.ExtractOp():
            return True
        case vector.StoreOp() | memref.StoreOp():
            value = op.vector if isinstance(op, vector.StoreOp) else op.value
            return isinstance(value.owner, stream.ReadOp | vector.ExtractOp) and _entries(buffer_of(op)) == _entries(value)
        case _:
            return False


def _entries(value: SSAValue) -> int:
    """Of an array, or lanes of a vector; 1 of a scalar."""
    return prod(value.type.get_shape()) if isinstance(value.type, MemRefType | VectorType) else 1


def _sink(moved: Sequence[Operation], loops: Sequence[scf.ForOp], clock_ns: float) -> None:
    """Move the reads, unless sums that come up again in the next iteration of the loop around then wait for longer."""
    innermost, iterations = loops[-1], prod(trip_count(loop) for loop in loops)
    before = iterations * accumulation_interval(innermost, clock_ns) + pipeline_schedule(innermost, clock_ns).depth
    for op in moved:
        op.detach()
    is_faster = iterations > 1 and iterations * accumulation_interval(innermost, clock_ns) < before
    builder = _in_first_iteration(loops) if is_faster else Builder(InsertPoint.before(loops[0]))
    for op in moved:
        if isinstance(op, vector.StoreOp):   # of all of a buffer, where constants of the nest may have said
            op.operands = [op.vector, op.base, *(index_constant(builder, 0) for _ in op.indices)]
        builder.insert(op)


def _in_first_iteration(loops: Sequence[scf.ForOp]) -> Builder:
    """A builder for what runs where every loop is in its first iteration."""
    builder = Builder(InsertPoint.at_start(loops[-1].body.block))
    begins = [(loop.body.block.args[0], constant_of(loop.lb)) for loop in loops if trip_count(loop) > 1]
    return where_equal(builder, begins)
