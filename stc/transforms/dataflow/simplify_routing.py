"""`simplify-routing`: forks, splits, merges, chunks and concatenations that undo or repeat each other disappear."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from stc.analysis.lane_demand import ROUTING
from stc.dialects.canonicalization import Composed, ToSameType
from stc.dialects.itensor import CastOp, ChunkOp, ConcatOp, ForkOp, ItensorType, MergeOp, ReassociateOp, SplitOp
from stc.iteration.concatenation import concatenation_mismatch
from stc.iteration.normal_form import same_sequence
from stc.iteration.slices import cut, slice_before


@dataclass(frozen=True)
class SimplifyRouting(ModulePass):
    """Remove operations that only move tokens where others undo or repeat them; before `insert-forks` or after.

    * A fork of a branch of a fork becomes one fork; branches, slices and other results that nobody reads disappear.
    * A chunk of a concat takes its slices from the inputs they lie in; a slice that is a whole input is that input.
    * A chunk whose slices each have a part of all inputs of a concat becomes a concat for each slice, of chunks of the inputs; a
      chunk of a reassociate, where its slices are slices before that, too, a reassociate of each. So slices that copies of a task
      take side by side come side by side, where one stream of all would bring one after the other.
    * A concat that puts all slices of a chunk back where they were is the chunk's source.
    * A merge of all parts of a split is the split's source, a split of a merge of as many inputs the inputs: then n narrow streams
      lead from task to task. A fork whose branches are all split alike is split once, and each part forked.

        %a, %b = itensor.fork %x : !X to !X, !X
        %c, %d = itensor.fork %b : !X to !X, !X
        %p, %q = itensor.split %c : !X to !P, !Q
        %y = itensor.merge %p, %q : !P, !Q to !X
      becomes
        %a, %y, %d = itensor.fork %x : !X to !X, !X, !X
    """

    name = "simplify-routing"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns: list[RewritePattern] = [
            UnreadResults(),
            ForkOfFork(),
            ChunkOfConcat(),
            ChunkAcrossConcat(),
            ChunkOfReassociate(),
            ConcatOfChunks(),
            MergeOfSplit(),
            SplitOfMerge(),
            SplitOfFork(),
            SplitToOne(),
            ToSameType(),
            Composed(),
        ]
        # UnreadResults erases what is dead, but for the last reader of a stream from memory.
        PatternRewriteWalker(GreedyRewritePatternApplier(patterns, dce_enabled=False)).rewrite_module(op)


class UnreadResults(RewritePattern):
    """Results of forks and chunks that nobody reads go; so does an op of which nobody reads anything."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ROUTING):
            return
        read = [result for result in op.results if result.uses]
        if not read:
            if not any(isinstance(operand, BlockArgument) and _is_last_reader(op, operand) for operand in op.operands):
                rewriter.erase(op)
            return
        if len(read) == len(op.results) or isinstance(op, SplitOp):
            return
        if isinstance(op, ForkOp):
            fewer = ForkOp(op.source, len(read))
        else:
            assert isinstance(op, ChunkOp)
            retained = [offset for result, offset in zip(op.slices, op.offsets, strict=True) if result in read]
            fewer = ChunkOp(op.source, [_type(result) for result in read], retained)
        _replace(rewriter, op, fewer, read)


class ForkOfFork(RewritePattern):
    """A fork whose source is a branch of another fork: its branches become the other's."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForkOp, rewriter: PatternRewriter) -> None:
        outer = op.source.owner
        if not isinstance(outer, ForkOp) or not isinstance(op.source, OpResult) or not op.source.has_one_use():
            return
        place = op.source.index
        branches = [*outer.copies[:place], *op.copies, *outer.copies[place + 1 :]]
        merged = ForkOp(outer.source, len(branches))
        rewriter.insert(merged, InsertPoint.before(outer))
        for old, new in zip(branches, merged.copies, strict=True):
            new.name_hint = old.name_hint
            old.replace_all_uses_with(new)
        rewriter.erase(op)
        rewriter.erase(outer)


class ChunkOfConcat(RewritePattern):
    """Slices that each lie in one input of a concat are slices of that input, or the input itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ChunkOp, rewriter: PatternRewriter) -> None:
        concat = op.source.owner
        if not isinstance(concat, ConcatOp) or not concat.is_of_slices:
            return
        homes = [_home(concat, _type(part), offset) for part, offset in zip(op.slices, op.offsets, strict=True)]
        dropped = [value for index, value in enumerate(concat.inputs) if index not in homes]
        lonely = op.source.has_one_use() and any(_is_last_reader(concat, value) for value in dropped)
        if None in homes or lonely:
            return  # a slice across inputs, or an operand of the kernel that would be left without a reader
        results: dict[SSAValue, SSAValue] = {}
        made: list[Operation] = []
        for home in dict.fromkeys(homes):
            assert home is not None
            required = [index for index, other in enumerate(homes) if other == home]
            source, start = concat.inputs[home], concat.offsets[home]
            types = [_type(op.slices[index]) for index in required]
            offsets = [tuple(a - b for a, b in zip(op.offsets[index], start, strict=True)) for index in required]
            narrow = ChunkOp(source, types, offsets)
            made.append(narrow)
            results.update({op.slices[index]: part for index, part in zip(required, narrow.slices, strict=True)})
        for old, new in results.items():
            new.name_hint = old.name_hint
        rewriter.replace(op, made, [results[part] for part in op.slices])


class ChunkAcrossConcat(RewritePattern):
    """Slices along another dimension than that along which the inputs of a concat, read here alone, follow one another: each is the
    concat of such slices of the inputs."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ChunkOp, rewriter: PatternRewriter) -> None:
        concat = op.source.owner
        if not isinstance(concat, ConcatOp) or not _parts_ways(op):
            return
        shapes = [_largest_shape(part) for part in op.slices]
        joined = {dimension for start in concat.starts for dimension, entry in enumerate(start) if entry != 0}
        whole = _largest_shape(op.source)
        if any(shape[dimension] != whole[dimension] for shape in shapes for dimension in joined):
            return
        made: list[ChunkOp] = []
        for value in concat.inputs:
            own, full = _type(value), _largest_shape(value)
            extents = [[full[at] if at in joined else size for at, size in enumerate(shape)] for shape in shapes]
            try:
                orders = [cut(own.order, each) for each in extents]
            except ValueError:
                return
            made.append(ChunkOp(value, [ItensorType.from_order(order, own.element_type) for order in orders], op.offsets))
        for index, part in enumerate(op.slices):  # loops of one iteration stand in the one and not in the other
            orders = [_type(chunk.slices[index]).order for chunk in made]
            if not concat.is_of_slices and concatenation_mismatch(_type(part).order, orders, concat.starts) is not None:
                return
        concats = [
            ConcatOp([chunk.slices[index] for chunk in made], _type(part), concat.starts) for index, part in enumerate(op.slices)
        ]
        for chunk in made:
            for old, new in zip(op.slices, chunk.slices, strict=True):
                new.name_hint = old.name_hint
        for old, new in zip(op.slices, concats, strict=True):
            new.result.name_hint = old.name_hint
        rewriter.replace(op, [*made, *concats], [each.result for each in concats])
        rewriter.erase(concat)


class ChunkOfReassociate(RewritePattern):
    """Slices of a reassociate, read here alone, that are slices of its source, too: each is reassociated by itself."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ChunkOp, rewriter: PatternRewriter) -> None:
        reshape = op.source.owner
        if not isinstance(reshape, ReassociateOp) or not _parts_ways(op):
            return
        source, result = _type(reshape.source), _type(reshape.result)
        try:
            places = [
                slice_before(source.order, result.order, offset, _largest_shape(part))
                for part, offset in zip(op.slices, op.offsets, strict=True)
            ]
            orders = [cut(source.order, extents) for _, extents in places]
        except ValueError:
            return
        types = [ItensorType.from_order(order, source.element_type) for order in orders]
        chunk = ChunkOp(reshape.source, types, [offset for offset, _ in places])
        parts = [ReassociateOp(own, _type(old)) for own, old in zip(chunk.slices, op.slices, strict=True)]
        for old, own, part in zip(op.slices, chunk.slices, parts, strict=True):
            own.name_hint = part.result.name_hint = old.name_hint
        rewriter.replace(op, [chunk, *parts], [part.result for part in parts])
        rewriter.erase(reshape)


def _parts_ways(op: ChunkOp) -> bool:
    """Whether `op` alone reads its source, and hands its slices to different readers: else what puts them together undoes it."""
    readers = {use.operation for part in op.slices for use in part.uses}
    together = len(readers) == 1 and isinstance(next(iter(readers)), ConcatOp)
    return op.source.has_one_use() and len(op.slices) > 1 and not together


def _home(concat: ConcatOp, part: ItensorType, offset: Sequence[int]) -> int | None:
    """The input of `concat` in which all of the slice `part` at `offset` lies."""
    for index, (value, start) in enumerate(zip(concat.inputs, concat.offsets, strict=True)):
        sides = zip(offset, part.tensor_shape, start, _type(value).tensor_shape, strict=True)
        if all(first <= at and at + extent <= first + full for at, extent, first, full in sides):
            return index
    return None


class ConcatOfChunks(RewritePattern):
    """All slices of a chunk, read here alone and put back where they were in the order they had: the chunk's source."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        chunk = op.inputs[0].owner
        if not isinstance(chunk, ChunkOp) or set(op.inputs) != set(chunk.slices) or len(op.inputs) != len(chunk.slices):
            return
        places = dict[SSAValue, tuple[int, ...]](zip(chunk.slices, chunk.offsets, strict=True))
        same_places = all(places[value] == start for value, start in zip(op.inputs, op.starts, strict=True))
        if same_places and all(part.has_one_use() for part in chunk.slices):
            _pass_on(rewriter, op, [op.result], [chunk.source])


class MergeOfSplit(RewritePattern):
    """A merge of all parts of a split, in order, is the split's source."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MergeOp, rewriter: PatternRewriter) -> None:
        split = op.inputs[0].owner
        if isinstance(split, SplitOp) and tuple(op.inputs) == tuple(split.parts) and all(p.has_one_use() for p in split.parts):
            _pass_on(rewriter, op, [op.result], [split.source])


class SplitOfMerge(RewritePattern):
    """A split of a merge of as many inputs gives the inputs back."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SplitOp, rewriter: PatternRewriter) -> None:
        source = op.source.owner.source if isinstance(op.source.owner, CastOp) else op.source
        merge = source.owner
        if isinstance(merge, MergeOp) and len(merge.inputs) == len(op.parts):
            _pass_on(rewriter, op, list(op.parts), list(merge.inputs))


class SplitToOne(RewritePattern):
    """A split into a single part is a cast."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SplitOp, rewriter: PatternRewriter) -> None:
        if len(op.parts) == 1:
            _pass_on(rewriter, op, list(op.parts), [op.source])


class SplitOfFork(RewritePattern):
    """A fork whose branches are all split into parts of the same types: one split, and a fork of each part."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ForkOp, rewriter: PatternRewriter) -> None:
        splits = [_only_user(branch) for branch in op.copies]
        first = splits[0]
        if not isinstance(first, SplitOp):
            return
        types = [part.type for part in first.parts]
        if not all(isinstance(split, SplitOp) and [part.type for part in split.parts] == types for split in splits):
            return
        split = SplitOp(op.source, [_type(part) for part in first.parts])
        forks = [ForkOp(part, len(splits)) for part in split.parts]
        rewriter.insert([split, *forks], InsertPoint.before(op))
        for branch, old in enumerate(splits):
            assert isinstance(old, SplitOp)
            for part, fork in zip(old.parts, forks, strict=True):
                fork.copies[branch].name_hint = part.name_hint
                part.replace_all_uses_with(fork.copies[branch])
            rewriter.erase(old)
        rewriter.erase(op)


# Applying -------------------------------------------------------------------------------------------------------------


def _pass_on(rewriter: PatternRewriter, op: Operation, results: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
    """Replace `results` (all of `op`) by `sources`, cast where types differ; nothing where the sequences do."""
    pairs = list(zip(results, sources, strict=True))
    if not all(_agree(_type(result), _type(source)) for result, source in pairs):
        return
    builder = Builder(InsertPoint.before(op))
    values = [s if s.type == r.type else builder.insert(CastOp(s, _type(r))).result for r, s in pairs]
    rewriter.replace(op, [], values)


def _agree(first: ItensorType, second: ItensorType) -> bool:
    return first.tile_type == second.tile_type and same_sequence(first.order, second.order)


def _replace(rewriter: PatternRewriter, op: Operation, new: Operation, retained: Sequence[SSAValue]) -> None:
    """Put `new` in place of `op`: its results for the `retained` ones, the others have no reader."""
    rewriter.insert(new, InsertPoint.before(op))
    for old, result in zip(retained, new.results, strict=True):
        result.name_hint = old.name_hint
        old.replace_all_uses_with(result)
    rewriter.erase(op)


def _is_last_reader(op: Operation, value: SSAValue) -> bool:
    """Whether an operand of the kernel ends in `op` by way of `value`, and nowhere else: a stream from memory needs a reader."""
    if any(use.operation is not op for use in value.uses):
        return False
    source = value.owner
    if not isinstance(source, ROUTING):
        return isinstance(value, BlockArgument)
    return not any(other.uses for other in source.results if other is not value) and any(
        _is_last_reader(source, operand) for operand in source.operands
    )


def _only_user(value: SSAValue) -> Operation | None:
    uses = list(value.uses)
    return uses[0].operation if len(uses) == 1 else None


def _largest_shape(value: SSAValue) -> tuple[int, ...]:
    """Of the tensor, where all sizes known at run time are at their maxima."""
    return _type(value).order.largest.static_shape


def _type(value: SSAValue) -> ItensorType:
    assert isinstance(value.type, ItensorType)
    return value.type
