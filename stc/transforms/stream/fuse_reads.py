"""`fuse-reads`: an operand is consumed as it arrives, instead of filling a buffer first (loop fusion)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import IndexType, MemRefType, ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.loops import constant_bounds
from stc.analysis.recurrences import nest_cycles
from stc.analysis.stream_transfers import Transfer, Use, fills
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import BEHIND_LAYERS, LABEL
from stc.platforms.platform import load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator, total, where_equal
from stc.transforms.stream.set_fifo_depths import grow_depths
from stc.transforms.stream.token_buffers import access_lane, token_buffer, within_token


@dataclass(frozen=True)
class FuseReads(ModulePass):
    """Fuse the nest that fills a local buffer from a stream with the nest that uses it.

    Where each entry is used once, the buffer becomes one token (array contraction), which is read where an iteration needs it: an
    iteration that takes several tokens reads them all, and of several iterations that share a token the first reads it. So a task
    takes a word in every cycle instead of every other one. Streams of several ports that fill a buffer side by side are one token.

    Where entries are used again by other loops, in the first iteration of all of these, a token is read and stored, and the others
    find it in the buffer, which keeps the dimensions that move inside those loops.

    Where the nest that computes runs in another order than the tokens come in, its loops are interchanged, if each entry of
    memory then sees the same accesses in the same order (sums add up as before, bit for bit), and if waiting for sums, or for
    several tokens of one stream, does not cost more than the fill did (`stc.analysis.recurrences`), and the pipeline that drains
    after each tile, where tiles behind each other become one loop. Otherwise nothing changes;
    nor where a buffer is used in two nests, or entries that are used again come in another order than they are used first, or
    where tokens of the same stream are moved in between; nor where iterations share a token whose width is no power of two,
    unless it is a whole row (to know which iteration reads it would take a divider, emission rule 16).

    A task that reads two streams in turn, instead of one tile after the other, may need more of one to be waiting: FIFOs grow until
    a run of the token model ends, as in `set-fifo-depths`.

    Options: `platform` (default u55c), whose cycle sums are scheduled for.

        scf.for %k = %c0 to %c8 step %c1 {
          %v = stream.read %p
          vector.store %v, %w[%k, %c0] : memref<8x4xf32>, vector<4xf32>
        }
        scf.for %k = %c0 to %c8 step %c1 { scf.for %j = %c0 to %c4 step %c1 { ... memref.load %w[%k, %j] ... } {stc.unroll = 0} }
      becomes
        scf.for %k = %c0 to %c8 step %c1 {
          %v = stream.read %p
          vector.store %v, %w[%c0] : memref<4xf32>, vector<4xf32>
          scf.for %j = %c0 to %c4 step %c1 { ... memref.load %w[%j] ... } {stc.unroll = 0}
        }
    """

    name = "fuse-reads"

    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        clock_ns = load_platform(self.platform).cycle_ns
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            tasks = [found for found in kernel.walk() if isinstance(found, TaskOp)]
            if [task for task in tasks if _fuse_all(task, clock_ns) is not task]:
                grow_depths(kernel)   # operands that were read one after the other come in turn


def _fuse_all(task: TaskOp, clock_ns: float) -> TaskOp:
    """The task with all fills fused for which that is no slower, in place of `task`; `task` itself where there are none."""
    kept, number = 0, len(list(fills(task)))
    while number > kept:
        task = _fused(task, kept, clock_ns)
        left = len(list(fills(task)))
        kept, number = kept + (left >= number), left
    return task


def _fused(task: TaskOp, number: int, clock_ns: float) -> TaskOp:
    """The task with the fill of this number fused, in place of `task`; `task` itself where that is slower. As fast, it fills a
    pipeline less."""
    trial = task.clone()
    Rewriter.insert_op(trial, InsertPoint.after(task))
    fill, use = list(fills(trial))[number]
    before = fill.iterations + nest_cycles(use.loops[-1], use.iterations, clock_ns)
    after = nest_cycles(_fuse(fill, use), use.iterations, clock_ns)
    slower, faster = (trial, task) if after > before else (task, trial)
    Rewriter.erase_op(slower)
    return faster


def _fuse(fill: Transfer, use: Use) -> scf.ForOp:
    """The pipelined loop of the fused nest."""
    use = _interchanged(use)
    innermost = use.loops[-1]
    if use.again:
        _keep_tokens(fill, use)
    else:
        buffer = token_buffer(fill, use)
        _read_tokens(fill, use, buffer)
        for load in use.accesses:
            access_lane(fill, use, buffer, load)
    Rewriter.erase_op(fill.root)
    Rewriter.erase_op(fill.buffer)
    return innermost


def _read_tokens(fill: Transfer, use: Use, buffer: SSAValue) -> None:
    """At the beginning of each iteration that needs tokens which are not there."""
    builder = _where_tokens_are_read(fill, use)
    for lane in range(0, use.entries, fill.width):
        _read_lanes(fill, builder, buffer, [], [], lane)


def _where_tokens_are_read(fill: Transfer, use: Use) -> Builder:
    """A builder for what happens in iterations that need tokens which are not there, before anything else."""
    builder = Builder(InsertPoint.at_start(use.loops[-1].body.block))
    firsts: list[SSAValue] = [loop.body.block.args[0] for loop in use.again]
    if use.entries < fill.width:
        firsts.append(within_token(fill, use, builder))
    return where_equal(builder, [(first, 0) for first in firsts])


def _read_lanes(
    fill: Transfer, builder: Builder, buffer: SSAValue, outer: Sequence[SSAValue], position: Sequence[SSAValue], lane: int
) -> None:
    """What an iteration of the fill reads, stored in row `outer` from `lane` entries behind the sum of `position`."""
    for number, read in enumerate(fill.moves):
        assert isinstance(read, stream.ReadOp)
        token = builder.insert(stream.ReadOp(read.stream))
        token.location, token.result.name_hint = read.location, read.result.name_hint
        behind = lane + number * (fill.width // len(fill.moves))
        terms = [*position, index_constant(builder, behind)] if behind or not position else position
        builder.insert(vector.StoreOp(token.result, buffer, [*outer, total(builder, terms)]))


def _keep_tokens(fill: Transfer, use: Use) -> None:
    """Store tokens as they are first used, in a buffer of the dimensions that move inside the loops which use them again."""
    inside = use.loops[use.loops.index(use.again[0]) :]
    kept = {place: loop for place, loop in enumerate(use.along) if loop is not None and loop in inside}
    kind = fill.buffer.memref.type
    assert isinstance(kind, MemRefType)
    shape = [*(fill.shape[place] for place in kept), fill.shape[-1]]
    buffer = Builder(InsertPoint.before(fill.buffer)).insert(memref.AllocOp([], [], MemRefType(kind.element_type, shape))).memref
    buffer.name_hint = fill.buffer.memref.name_hint
    builder = _where_tokens_are_read(fill, use)
    indices: list[SSAValue] = [loop.body.block.args[0] for loop in kept.values()]
    for lane in range(0, use.entries, fill.width):
        first = [] if use.moving is None or fill.width == fill.shape[-1] else [_aligned(fill, use, builder)]
        _read_lanes(fill, builder, buffer, indices, first, lane)
    for load in use.accesses:
        load.operands = [buffer, *(load.indices[place] for place in kept), load.indices[-1]]


def _aligned(fill: Transfer, use: Use, builder: Builder) -> SSAValue:
    """Where the token of an iteration begins, as a multiple of its width for whoever does not read the guard."""
    assert use.moving is not None
    position = use.moving.body.block.args[0]
    if use.entries >= fill.width:
        return position
    return builder.insert(arith.AndIOp(position, index_constant(builder, -fill.width))).result


# Interchange ------------------------------------------------------------------------------------------------------------


def _interchanged(use: Use) -> Use:
    """The same use once its loops are in the order of the tokens; what the outer ones computed, the innermost body does."""
    if use.order == use.loops:
        return use
    outermost, innermost = use.loops[0], use.loops[-1]
    around = [op for loop in use.loops[:-1] for op in loop.body.block.ops if not isinstance(op, scf.ForOp | scf.YieldOp)]
    moved = [*around, *(op for op in innermost.body.block.ops if not isinstance(op, scf.YieldOp))]
    builder = Builder(InsertPoint.before(outermost))
    new: dict[scf.ForOp, scf.ForOp] = {}
    for old in use.order:
        new[old], builder = _same_loop(old, builder)
    for op in moved:
        op.detach()
        builder.insert(op)
    Rewriter.erase_op(outermost)
    order = tuple(new[loop] for loop in use.order)
    along = tuple(None if loop is None else new[loop] for loop in use.along)
    return replace(use, loops=order, order=order, along=along, moving=None if use.moving is None else new[use.moving])


def _same_loop(old: scf.ForOp, builder: Builder) -> tuple[scf.ForOp, Builder]:
    """An empty loop in place of `old`, and a builder for its body."""
    bounds = constant_bounds(old)
    assert bounds is not None
    lower, upper, step = (index_constant(builder, value) for value in (bounds.lower, bounds.upper, bounds.step))
    block = Block([scf.YieldOp()], arg_types=[IndexType()])
    block.args[0].name_hint = old.body.block.args[0].name_hint
    old.body.block.args[0].replace_all_uses_with(block.args[0])
    loop = builder.insert(scf.ForOp(lower, upper, step, [], block))
    loop.attributes |= LABEL.retained(old) | BEHIND_LAYERS.retained(old)
    return loop, before_terminator(block)
