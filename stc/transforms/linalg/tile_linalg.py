"""`tile-linalg`: cut scheduled generics into nests of tiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType
from xdsl.dialects.linalg import ops as linalg
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
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops, name_of
from stc.analysis.loop_names import first_of, generic_loop_names
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.dialects.facts import ENDS_LAYERS, MODULE, NAME, SCHEDULE, TILE
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.tile_slices import (
    CarryWholeTensor,
    FoldInsertIntoSlice,
    FoldSliceOfSlice,
    Offsets,
    SinkGuardedInsert,
    WriteInLastStep,
    index_before_nest,
    insert_slice,
)


@dataclass(frozen=True)
class TileLinalg(ModulePass):
    """Cut every generic that carries a schedule into an `scf.for` nest over tiles.

    The tile loops run over values (0 to extent step tile) in the schedule's order; a loop covered by one tile disappears.
    An input's slice sits directly inside the innermost loop it depends on, so that it is not visited again for nothing.
    A reduction accumulates one tile where no parallel loop lies inside it, and is inserted after the last step:

        %r = linalg.generic {... "parallel", "reduction"} ins(%x : tensor<8x12xf32>) outs(%zero : tensor<8xf32>)
             attrs = {stc.schedule = #dataflow.schedule<tile = [4, 6], order = [0, 1], unroll = [1, 1], vector = []>}
      becomes
        %e = tensor.empty() : tensor<8xf32>
        %r = scf.for %i = %c0 to %c8 step %c4 iter_args(%o = %e) -> (tensor<8xf32>) {
          %init = linalg.fill ins(%cst : f32) outs(%t : tensor<4xf32>) -> tensor<4xf32>
          %sum = scf.for %k = %c0 to %c12 step %c6 iter_args(%acc = %init) -> (tensor<4xf32>) {
            %xt = tensor.extract_slice %x[%i, %k] [4, 6] [1, 1] : tensor<8x12xf32> to tensor<4x6xf32>
            %n = linalg.generic ... ins(%xt : tensor<4x6xf32>) outs(%acc : tensor<4xf32>) ...
            scf.yield %n : tensor<4xf32>
          }
          %o2 = tensor.insert_slice %sum into %o[%i] [4] [1] : tensor<4xf32> into tensor<8xf32>
          scf.yield %o2 : tensor<8xf32>
        }

    Where the order puts a parallel loop inside a reduction, the accumulator covers that loop whole and each tile is
    inserted in the last reduction step, guarded on the induction variables. A tile that does not divide is an error.

    One application of a pattern makes one loop, or brings one slice to where its tile is. Option `only`: apply one pattern alone,
    of those in `PATTERNS`.
    """

    name = "tile-linalg"

    only: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.only and self.only not in PATTERNS:
            raise CompileError(f"only is '{self.only}'", where=self.name, accepted=", ".join(PATTERNS))
        for names in ((self.only,),) if self.only else PHASES:
            patterns = [PATTERNS[name]() for name in names]
            PatternRewriteWalker(GreedyRewritePatternApplier(patterns)).rewrite_module(op)
        erase_dead_ops(op)


class WrapWhole(RewritePattern):
    """A nest that has anything in front of its outermost loop becomes one op: a loop that runs once, over all of the generic.

    That are accumulators, and tiles that are a whole input.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        schedule = SCHEDULE.of(op)
        if schedule is None or TILE.on(op):
            return
        check_schedule(op, schedule)
        check_vectors(op, schedule)
        _check_initial_values(op)
        loops = GenericLoops(op)
        order = _tiled_loops(loops, schedule)
        has_whole_input = any(not set(dims) & set(order) for dims in loops.input_dims)
        if has_whole_input or not order or order[0] in loops.reductions:
            _tile(op, None, rewriter)


class TileOutermostLoop(RewritePattern):
    """A generic becomes a loop over tiles of its outermost tiled loop, around the generic on such a tile."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: linalg.GenericOp, rewriter: PatternRewriter) -> None:
        schedule = SCHEDULE.of(op)
        if schedule is None:
            return
        check_schedule(op, schedule)
        order = _tiled_loops(GenericLoops(op), schedule)
        if order:
            _tile(op, order[0], rewriter)


PATTERNS: dict[str, type[RewritePattern]] = {
    "wrap-whole": WrapWhole,
    "tile-outermost-loop": TileOutermostLoop,
    "write-in-last-step": WriteInLastStep,
    "sink-guarded-insert": SinkGuardedInsert,
    "carry-whole-tensor": CarryWholeTensor,
    "fold-insert-into-slice": FoldInsertIntoSlice,
    "fold-slice-of-slice": FoldSliceOfSlice,
}
PHASES = (
    ("wrap-whole",),
    ("tile-outermost-loop",),
    ("write-in-last-step", "sink-guarded-insert"),
    ("carry-whole-tensor", "fold-insert-into-slice", "fold-slice-of-slice"),
)
"""Patterns of a phase are applied until none matches."""


# One loop -------------------------------------------------------------------------------------------------------------


def _tiled_loops(loops: GenericLoops, schedule: ScheduleAttr) -> list[int]:
    """The loops that more than one tile covers, outermost first."""
    return [loop for loop in schedule.loop_order if loops.extents[loop] != schedule.tiles[loop]]


def _tile(op: linalg.GenericOp, loop: int | None, rewriter: PatternRewriter) -> None:
    """Put a loop over the tiles along `loop` (None: one that runs once) around `op`, which then computes one of them."""
    loops, schedule = GenericLoops(op), SCHEDULE.of(op)
    assert schedule is not None
    reduces = loop in loops.reductions
    starts = [_start(op, index) for index in range(len(op.outputs))]
    carried = [
        start.results[0] if reduces and start is not None else rewriter.insert(tensor.EmptyOp((), result.type)).tensor
        if start is not None else value
        for start, value, result in zip(starts, op.outputs, op.results, strict=True)
    ]
    size, extent = (1, 1) if loop is None else (schedule.tiles[loop], loops.extents[loop])
    lower, upper, step = (index_before_nest(rewriter, op, value) for value in (0, extent, size))
    block = Block(arg_types=[IndexType(), *(value.type for value in carried)])
    iv = block.args[0]
    iv.name_hint = "once" if loop is None else _iv_name(loops, schedule, loop)
    inner = PatternRewriter(InsertPoint.at_end(block))
    inputs = [_part(inner, value, dims, loop, iv, size) for value, dims in zip(op.inputs, loops.input_dims, strict=True)]
    places = [_place(value.type, dims, loop, iv, size) for value, dims in zip(op.results, loops.output_dims, strict=True)]
    outs: list[SSAValue] = list(block.args[1:])
    for index, (start, place) in enumerate(zip(starts, places, strict=True)):
        if not reduces:
            outs[index] = _slice(inner, outs[index], *place) if start is None else _smaller(inner, op, start, place[1])
    tiled = linalg.GenericOp(
        inputs, outs, op.body.clone(), op.indexing_maps, op.iterator_types, [out.type for out in outs]
    )
    tiled.attributes |= op.attributes | TILE.entry(name_of(op) or "tile")
    inner.insert(tiled)
    if loop is not None:
        _offset_indices(tiled.body, loop, iv)
    made = list(tiled.results)
    if not reduces:
        made = [
            inner.insert(insert_slice(tile, full, *place)).result
            for tile, full, place in zip(made, block.args[1:], places, strict=True)
        ]
    inner.insert(scf.YieldOp(*made))
    nest = scf.ForOp(lower, upper, step, carried, block)
    nest.attributes |= {} if TILE.on(op) else _identity(op)
    replaced = list(op.outputs)
    rewriter.replace(op, nest)
    _erase_unused(rewriter, replaced)


def _start(op: linalg.GenericOp, index: int) -> linalg.FillOp | tensor.EmptyOp | None:
    """What makes the value that result `index` starts from; None where it goes on from what came before.

    Before there are loops, a generic that does not look at what its result starts from starts from nothing.
    """
    owner = op.outputs[index].owner
    if isinstance(owner, linalg.FillOp | tensor.EmptyOp):
        return owner
    return None if TILE.on(op) else tensor.EmptyOp((), op.results[index].type)


def _smaller(builder: PatternRewriter, op: linalg.GenericOp, start: Operation, shape: Sequence[int]) -> SSAValue:
    """A tile of `shape` that starts as the whole does."""
    empty = builder.insert(tensor.EmptyOp((), TensorType(element_type(start.results[0].type), shape))).tensor
    if not isinstance(start, linalg.FillOp):
        return empty
    filled = builder.insert(linalg.FillOp(start.inputs, [empty], [empty.type]))
    filled.attributes |= _identity(op)
    return filled.results[0]


def _place(kind: Attribute, dims: Sequence[int], loop: int | None, iv: SSAValue, size: int) -> tuple[Offsets, list[int]]:
    """Offsets and sizes of a tile along `loop` of a tensor that `dims` index."""
    assert isa(kind, TensorType)
    sizes = [size if dim == loop else extent for dim, extent in zip(dims, kind.get_shape(), strict=True)]
    return [iv if dim == loop else 0 for dim in dims], sizes


def _part(builder: PatternRewriter, value: SSAValue, dims: Sequence[int], loop: int | None, iv: SSAValue, size: int) -> SSAValue:
    """What a tile needs of an input: a slice, or all of what `loop` does not move."""
    if not isa(value.type, TensorType) or (loop is not None and loop not in dims):
        return value
    return _slice(builder, value, *_place(value.type, dims, loop, iv, size))


def _slice(builder: PatternRewriter, value: SSAValue, offsets: Offsets, sizes: Sequence[int]) -> SSAValue:
    kind = TensorType(element_type(value.type), sizes)
    return builder.insert(tensor.ExtractSliceOp(value, offsets, sizes, [1] * len(sizes), kind)).result


def _iv_name(loops: GenericLoops, schedule: ScheduleAttr, loop: int) -> str:
    """A tile's first index along the loop's dimension; the index itself where tiles are one entry long."""
    name = generic_loop_names(loops, schedule.tiles)[loop]
    return first_of(name) if schedule.tiles[loop] > 1 else name


def _identity(op: linalg.GenericOp) -> dict[str, Attribute]:
    """The attributes that say where an op comes from."""
    return NAME.retained(op) | MODULE.retained(op) | ENDS_LAYERS.retained(op)


def _offset_indices(body: Region, loop: int, iv: SSAValue) -> None:
    """`linalg.index` counts within the tile: add where the tile begins."""
    for index in [found for found in body.walk() if isinstance(found, linalg.IndexOp)]:
        if index.dim.value.data == loop:
            shifted = arith.AddiOp(index.result, iv)
            index.result.replace_all_uses_with(shifted.result)
            shifted.operands[0] = index.result
            PatternRewriter(InsertPoint.after(index)).insert(shifted)


def _erase_unused(rewriter: PatternRewriter, values: Sequence[SSAValue]) -> None:
    """Erase what only a replaced op has started from, inside a nest (at the top other passes may still look at it)."""
    for value in values:
        op = value.owner
        if isinstance(op, Block) or not isinstance(op.parent_op(), scf.ForOp) or value.uses:
            continue
        if isinstance(op, linalg.FillOp | tensor.EmptyOp | tensor.ExtractSliceOp):
            sources = list(op.operands)
            rewriter.erase(op)
            _erase_unused(rewriter, sources)


# Checks ---------------------------------------------------------------------------------------------------------------


def check_schedule(generic: linalg.GenericOp, schedule: ScheduleAttr) -> None:
    """CompileError unless `schedule` fits the loops of `generic`."""
    loops = GenericLoops(generic)
    count = len(loops.extents)
    where = name_of(generic)
    if len(schedule.tiles) != count:
        raise CompileError(f"schedule has {len(schedule.tiles)} tile sizes", where=where, accepted=f"one for each of {count} loops")
    if sorted(schedule.loop_order) != list(range(count)):
        raise CompileError(
            f"schedule order {list(schedule.loop_order)} is no permutation", where=where, accepted=f"each of 0..{count - 1} once"
        )
    for loop, (extent, tile) in enumerate(zip(loops.extents, schedule.tiles, strict=True)):
        if tile < 1 or extent % tile:
            divisors = ", ".join(str(d) for d in range(1, extent + 1) if extent % d == 0)
            raise CompileError(
                f"tile {tile} of loop {loop} does not divide its extent {extent}", where=where, accepted=f"one of {divisors}"
            )


def check_vectors(generic: linalg.GenericOp, schedule: ScheduleAttr) -> None:
    """CompileError unless the vector shapes of `schedule`, if it has any, are one per operand and cut the tiles of `generic`."""
    if not schedule.vectors:
        return
    loops, where = GenericLoops(generic), name_of(generic)
    if len(schedule.vectors) != len(loops.operand_dims):
        accepted = f"one for each of {len(loops.operand_dims)} operands"
        raise CompileError(f"schedule has {len(schedule.vectors)} vector shapes", where=where, accepted=accepted)
    for index, (shape, dims) in enumerate(zip(schedule.vectors, loops.operand_dims, strict=True)):
        if not dims:
            continue
        tile = schedule.tiles[dims[-1]]
        if len(shape) != len(dims) or any(extent != 1 for extent in shape[:-1]) or tile % shape[-1]:
            accepted = f"{', '.join([*['1'] * (len(dims) - 1), 'L'])} with L a divisor of the tile's {tile} entries"
            raise CompileError(f"vector shape {list(shape)} of operand {index}", where=where, accepted=accepted)


def _check_initial_values(generic: linalg.GenericOp) -> None:
    """CompileError where a result starts from a tensor that would have to be streamed in."""
    started = zip(generic.outputs, generic.body.block.args[len(generic.inputs) :], strict=True)
    for index, (initial, argument) in enumerate(started):
        if argument.uses and not isinstance(initial.owner, linalg.FillOp | tensor.EmptyOp):
            raise CompileError(
                f"result {index} starts from a computed tensor",
                where=name_of(generic),
                accepted="a fill with a constant (fold-fills makes the tensor an operand)",
            )


def element_type(type_: Attribute) -> Attribute:
    """The scalar type of a tensor, or the type itself."""
    return type_.element_type if isa(type_, TensorType) else type_
