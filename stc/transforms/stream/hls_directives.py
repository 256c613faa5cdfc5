"""`hls-directives`: labels, pipelines and array partitions, as attributes that the printer turns into pragmas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.hints import isa

from stc.analysis.loop_estimates import innermost_loops, loop_estimate
from stc.analysis.loops import constant_of, declared_depth, is_unrolled, trip_count
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import TaskOp
from stc.dialects.facts import LABEL, PARTITION, PIPELINE, STYLE
from stc.iteration.pipeline_style import STYLES, Style
from stc.platforms.platform import load_platform
from stc.transforms.stream.names import UniqueNames


@dataclass(frozen=True)
class HlsDirectives(ModulePass):
    """Decide the directives of every task.

    * Each loop gets a label that is unique in its task and says what the loop does.
    * Each innermost loop is pipelined. Its initiation interval is the estimate of stc.analysis.loop_estimates: 1, or as many
      tokens as one iteration moves through one stream, or what a float accumulation that returns to the same entry while the
      pipeline runs needs (the stages of its operators, with load and store where it is in memory, over the iterations in
      between), or what the two ports of each bank of a buffer need for the accesses of one iteration (a buffer of one entry, or
      with a bank for each, is registers).
    * A buffer of the task that is accessed in vectors, or by an unrolled loop, is partitioned so that all lanes are reached in one
      cycle. (A block of a ring cannot be: its entries are whole tokens.)

    * Each pipeline gets the style that is asked for. `stp`, which stops as a whole, has no constraint in the vendor's manual; `frp`
      is for loops without a memory port, so that others stay `stp`; `flp` is for function pipelines, says the manual, though loops
      with it have been published: for experiments. A loop that fills a block in every iteration is `frp` where `stp` is asked for:
      stopped as a whole it would keep the very blocks whose return it waits for.

    Options: `platform` (default u55c), whose cycle the adder is scheduled for; `style` (stp, frp, flp; default stp).

        scf.for %i = %c0 to %c16 step %c1 { %v = stream.read %p ... vector.store %v, %tile[%i, %c0] ... }
      becomes
        scf.for ... {stc.label = "read_p_i", stc.pipeline = 1 : i32}, and memref.alloc() {stc.partition = [[1, 0]]}
    """

    name = "hls-directives"

    platform: str = "u55c"
    style: str = "stp"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.style not in STYLES:
            raise CompileError(f"style is '{self.style}'", where=self.name, accepted=", ".join(STYLES))
        cycle_ns = load_platform(self.platform).cycle_ns
        direct([found for found in op.walk() if isinstance(found, TaskOp)], cycle_ns, STYLES[self.style])


def direct(tasks: Sequence[TaskOp], cycle_ns: float, style: Style = "stp") -> None:
    """Decide the directives of `tasks`, for cycles of `cycle_ns`; all of them have the pipelines' `style`, where that may be."""
    for task in tasks:
        _label_loops(task)
        _partition_buffers(task)
    for task in tasks:
        for loop in innermost_loops(task):
            if declared_depth(loop) is not None:
                continue
            PIPELINE.put(loop, loop_estimate(loop, task, cycle_ns).ii)
            if (own := _style_of(loop, task, style)) != "stp":
                STYLE.put(loop, own)


def _style_of(loop: scf.ForOp, task: TaskOp, asked: Style) -> Style:
    ports = task.body.block.args
    if asked == "frp" and any(op.memref in ports for op in loop.walk() if isinstance(op, memref.LoadOp | memref.StoreOp)):
        return "stp"
    fills_blocks = any(isinstance(op, stream.AcquireOp) and op.block in task.output_ports for op in loop.walk())
    return "frp" if asked == "stp" and fills_blocks else asked


def _loops(op: Operation) -> list[scf.ForOp]:
    """The loops that are ours to name: not those of an own kernel, which its C++ names."""
    return [found for found in op.walk() if isinstance(found, scf.ForOp) and declared_depth(found) is None]


# Labels ---------------------------------------------------------------------------------------------------------------


def _label_loops(task: TaskOp) -> None:
    names = UniqueNames()
    for loop in _loops(task):
        iv = (loop.body.block.args[0].name_hint or "i").removeprefix("first_")
        LABEL.put(loop, names.fresh(f"{_purpose(loop)}_{iv}"))


def _purpose(loop: scf.ForOp) -> str:
    """What a loop is for, from the nest right below it."""
    body = loop.body.block
    inner = [op for op in body.ops if isinstance(op, scf.ForOp)]
    guarded = [op for op in body.ops if isinstance(op, scf.IfOp)]
    if (inner and len(inner) + len(guarded) > 1) or any(isinstance(op, stream.AcquireOp) for op in body.ops):
        return "tile"
    if inner and not is_unrolled(inner[0]):
        return _purpose(inner[0])
    if (label := LABEL.of(loop)) is not None:
        return label.rsplit("_", 1)[0]
    reads = [op for op in loop.walk() if isinstance(op, stream.ReadOp)]
    writes = [op for op in loop.walk() if isinstance(op, stream.WriteOp)]
    if reads and not writes:
        return f"read_{reads[0].stream.name_hint or 'in'}"
    if writes and not reads:
        return f"write_{writes[0].stream.name_hint or 'out'}"
    if reads and writes:
        return "move"
    return "loop"


# Partitions -----------------------------------------------------------------------------------------------------------


def _partition_buffers(task: TaskOp) -> None:
    at_once: dict[SSAValue, tuple[int, ...]] = {}
    for op in task.walk():
        if isinstance(op, vector.LoadOp | vector.StoreOp):
            reached = [*map(_unrolled_entries, op.indices[:-1]), _lanes(op)]
            buffer = op.base
        elif isinstance(op, memref.LoadOp | memref.StoreOp) and op.indices:
            reached = [*map(_unrolled_entries, op.indices)]
            buffer = op.memref
        else:
            continue
        before = at_once.get(buffer, (1,) * len(reached))
        at_once[buffer] = tuple(map(max, before, reached))
    for buffer, widths in at_once.items():
        if isinstance(owner := buffer.owner, memref.AllocOp):
            banks = zip(range(len(widths)), widths, _buffer_type(buffer).get_shape(), strict=True)
            cut = tuple((dimension, 0 if extent == width else width) for dimension, width, extent in banks if width > 1)
            if cut:
                PARTITION.put(owner, cut)


def _unrolled_entries(index: SSAValue) -> int:
    """Neighbouring entries that unrolled loops reach at once whose induction variables are `index`, or terms of that sum."""
    if isinstance(add := index.owner, arith.AddiOp):
        spans = _span(add.lhs), _span(add.rhs)
        return sum(spans) + 1 if all(spans) else max(_unrolled_entries(add.lhs), _unrolled_entries(add.rhs))
    loop = _unrolled_loop(index)
    return 1 if loop is None else trip_count(loop)


def _span(index: SSAValue) -> int:
    """How far apart the first and the last entry are that unrolled loops reach."""
    if isinstance(add := index.owner, arith.AddiOp):
        return _span(add.lhs) + _span(add.rhs)
    loop = _unrolled_loop(index)
    return 0 if loop is None else (trip_count(loop) - 1) * constant_of(loop.step)


def _unrolled_loop(index: SSAValue) -> scf.ForOp | None:
    loop = index.owner.parent_op() if isinstance(index.owner, Block) else None
    return loop if isinstance(loop, scf.ForOp) and is_unrolled(loop) else None


def _lanes(op: vector.LoadOp | vector.StoreOp) -> int:
    type_ = op.result.type if isinstance(op, vector.LoadOp) else op.vector.type
    assert isa(type_, VectorType)
    return type_.get_shape()[0]


def _buffer_type(buffer: SSAValue) -> MemRefType:
    assert isa(buffer.type, MemRefType)
    return buffer.type
