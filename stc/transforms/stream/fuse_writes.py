"""`fuse-writes`: a result leaves as it is computed, instead of waiting in a buffer for the rest of its tile (loop fusion)."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref, vector
from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.loops import trip_count
from stc.analysis.recurrences import issue_interval
from stc.analysis.stream_transfers import Transfer, Use, drains, fills
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.platforms.platform import load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator, where_equal
from stc.transforms.stream.set_fifo_depths import grow_depths
from stc.transforms.stream.token_buffers import access_lane, token_buffer, within_token


@dataclass(frozen=True)
class FuseWrites(ModulePass):
    """Fuse the nest that computes a local buffer with the nest that writes it to a stream (the counterpart of `fuse-reads`).

    The buffer becomes one token (array contraction): an iteration that computes several tokens writes them all, and of several
    iterations that share a token the last writes it. A task that computes on what it reads then takes one nest instead of two, and
    its reader can begin with the first token. Streams of several ports that drain a buffer side by side are one token.

    Fused where each entry is stored once, whatever the data, in the order in which the tokens leave. A sum, which is stored again
    in each iteration of other loops (of constant bounds), leaves in the last of them; its buffer stays, the token is filled beside
    it. Nothing changes where that takes longer: an iteration that completes several tokens of a sum would write several in every
    other one as well, as far as the pipeline's interval goes; nor where iterations share a token whose width is no
    power of two, unless it is a whole row (to know which iteration writes it would take a divider, emission rule 16); nor where
    operands come in another order, for which the nest is interchanged instead (`fuse-reads`) if filling them takes longer.

    A task that writes while it reads may need more room in its output before all of its input has come: FIFOs grow until a run of
    the token model ends, as in `set-fifo-depths` (of sums, beside their buffer).

    Options: `platform` (default u55c), whose cycle sums are scheduled for.

        scf.for %i = %c0 to %c8 step %c1 { ... memref.store %r, %t[%i, %j] : memref<8x4xf32> ... }
        scf.for %i = %c0 to %c8 step %c1 {
          %v = vector.load %t[%i, %c0] : memref<8x4xf32>, vector<4xf32>
          stream.write %v into %p
        }
      becomes
        scf.for %i = %c0 to %c8 step %c1 {
          ... memref.store %r, %t[%j] : memref<4xf32> ...
          %v = vector.load %t[%c0] : memref<4xf32>, vector<4xf32>
          stream.write %v into %p
        }
    """

    name = "fuse-writes"

    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        clock_ns = load_platform(self.platform).cycle_ns
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            if sum(_fuse_all(found, clock_ns) for found in kernel.walk() if isinstance(found, TaskOp)):
                grow_depths(kernel)


def _fuse_all(task: TaskOp, clock_ns: float) -> int:
    """How many drains of `task` there were."""
    fused = 0
    while (pair := next((pair for pair in drains(task) if _is_faster(task, *pair, clock_ns)), None)) is not None:
        _fuse(*pair)
        fused += 1
    return fused


def _is_faster(task: TaskOp, drain: Transfer, use: Use, clock_ns: float) -> bool:
    """Whether one nest takes no longer than both: it does only where iterations that complete nothing have to leave time for the
    tokens of those that do."""
    if use.again and use.entries > drain.width:
        interval = issue_interval(use.loops[-1], clock_ns)
        if use.iterations * max(0, use.entries // drain.width - interval) > drain.iterations:
            return False
    return not _is_better_interchanged(task, drain, use)


def _is_better_interchanged(task: TaskOp, drain: Transfer, use: Use) -> bool:
    """Whether operands of the nest that come in another order would take longer to fill than the drain takes: to be consumed as
    they arrive they need the nest in their order, which a nest that writes tokens may not take any more."""
    others = [(fill, other.loops[0]) for fill, other in fills(task) if other.loops[0] in use.loops and other.order != other.loops]
    around = {nest: use.loops[: use.loops.index(nest)] for _, nest in others}
    return sum(fill.iterations * prod(map(trip_count, around[nest])) for fill, nest in others) > drain.iterations


def _fuse(drain: Transfer, use: Use) -> None:
    (store,) = use.accesses
    buffer = token_buffer(drain, use)
    if use.is_sum:
        buffer.name_hint, store = f"{buffer.name_hint or 'sum'}_token", _stored_beside(store)
    access_lane(drain, use, buffer, store)
    builder = before_terminator(use.loops[-1].body.block)
    lasts = use.last_again
    if use.entries < drain.width:
        lasts.append((within_token(drain, use, builder), drain.width - use.entries))
    builder = where_equal(builder, lasts)
    for lane in range(0, use.entries, drain.width):
        _write_lanes(drain, builder, buffer, lane)
    Rewriter.erase_op(drain.root)
    if not use.is_sum:
        Rewriter.erase_op(drain.buffer)


def _stored_beside(store: memref.LoadOp | memref.StoreOp) -> memref.LoadOp | memref.StoreOp:
    """The same once more."""
    other = store.clone()
    Rewriter.insert_op(other, InsertPoint.after(store))
    return other


def _write_lanes(drain: Transfer, builder: Builder, buffer: SSAValue, lane: int) -> None:
    """What an iteration of the drain writes, loaded from `lane` entries on."""
    width = drain.width // len(drain.moves)
    for number, move in enumerate(drain.moves):
        assert isinstance(move, stream.WriteOp) and isinstance(move.value.type, VectorType)
        begin = index_constant(builder, lane + number * width)
        token = builder.insert(vector.LoadOp(buffer, [begin], move.value.type))
        write = builder.insert(stream.WriteOp(token.result, move.stream))
        write.location = move.location
