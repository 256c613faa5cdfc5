"""Patterns on slices in nests over tiles: each tile is read, accumulated and written where it is computed.

A loop over tiles inserts each tile into what it carries; a loop that reduces carries a result on. Slices have unit strides.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, TensorType, i1
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from stc.analysis.loops import constant_bounds
from stc.transforms.index_constant import index_constant

Offsets: TypeAlias = list[SSAValue | int]
Write: TypeAlias = Callable[[PatternRewriter, Sequence[SSAValue], Sequence[SSAValue]], Sequence[SSAValue]]
SliceOp: TypeAlias = tensor.ExtractSliceOp | tensor.InsertSliceOp


class WriteInLastStep(RewritePattern):
    """A reduction around a loop over tiles carries the tensors its results are inserted into, and inserts in its last step.

        %a = scf.for %k ... iter_args(%acc = %zero) { %t = scf.for %j ...   scf.yield %t }
        %r = tensor.insert_slice %a into %o[%i, 0]
      becomes
        %a, %r = scf.for %k ... iter_args(%acc = %zero, %w = %o) {
          %t = scf.for %j ...
          %n = scf.if (%k is the last) { tensor.insert_slice %t into %w[%i, 0] } else { %w }
          scf.yield %t, %n
        }
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        inserts = [_only_insert(result) for result in op.results]
        if not _in_nest(op) or _is_over_tiles(op) or not _has_tiles_inside(op) or _is_in_reduction(op) or None in inserts:
            return
        found = [insert for insert in inserts if insert is not None]
        if not found or _last_of(op) is None or not all(_is_known_before(op, insert) for insert in found):
            return

        def write(inner: PatternRewriter, made: Sequence[SSAValue], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            places = [(_offsets(insert), list(insert.static_sizes.get_values())) for insert in found]
            return _guarded(inner, _is_last(inner, op), made, carried, places)

        for insert, written in zip(found, _carrying(op, [insert.dest for insert in found], write, rewriter), strict=True):
            rewriter.replace(insert, [], [written])


class SinkGuardedInsert(RewritePattern):
    """A guarded insertion of what a loop made moves into the loop: tile by tile, or guarded to its last step where it reduces.

        %t = scf.for %j ... iter_args(%x = %acc) { ... %n = tensor.insert_slice %u into %x[0, %j]   scf.yield %n }
        %r = scf.if %c { tensor.insert_slice %t into %w[%i, 0] } else { %w }
      becomes
        %t, %r = scf.for %j ... iter_args(%x = %acc, %v = %w) {
          ... %n = tensor.insert_slice %u into %x[0, %j]
          %m = scf.if %c { tensor.insert_slice %u into %v[%i, %j] } else { %v }
          scf.yield %n, %m
        }
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.IfOp, rewriter: PatternRewriter) -> None:
        if not _in_nest(op):
            return
        last = op.true_region.block.last_op
        inserts = [value.owner for value in last.operands] if isinstance(last, scf.YieldOp) else []
        found = [insert for insert in inserts if isinstance(insert, tensor.InsertSliceOp) and _is_plain(insert)]
        if not found or len(found) != len(inserts):
            return
        loop = found[0].source.owner
        if not isinstance(loop, scf.ForOp) or [insert.source for insert in found] != list(loop.results[: len(found)]):
            return
        if loop.parent_block() is not op.parent_block() or not _may_copy(op.cond, loop):
            return
        tiles = _tiles(loop, len(found))
        if not all(_is_known_before(loop, insert) for insert in found) or (tiles is None and _last_of(loop) is None):
            return

        def write(inner: PatternRewriter, made: Sequence[SSAValue], carried: Sequence[SSAValue]) -> Sequence[SSAValue]:
            condition = _copied(inner, op.cond)
            if tiles is None:
                condition = inner.insert(arith.AndIOp(condition, _is_last(inner, loop), i1)).result
                places = [(_offsets(insert), list(insert.static_sizes.get_values())) for insert in found]
                return _guarded(inner, condition, made[: len(found)], carried, places)
            places = [
                (_sum(inner, _offsets(insert), _offsets(tile)), list(tile.static_sizes.get_values()))
                for insert, tile in zip(found, tiles, strict=True)
            ]
            return _guarded(inner, condition, [tile.source for tile in tiles], carried, places)

        condition = op.cond
        rewriter.replace(op, [], _carrying(loop, [insert.dest for insert in found], write, rewriter))
        _erase_condition(rewriter, condition)


class CarryWholeTensor(RewritePattern):
    """A loop that starts from a slice, or from nothing, and is inserted there, carries the tensor and takes the slice itself.

        %r = scf.for %j ... iter_args(%x = %e) { ... scf.yield %n }
        %o = tensor.insert_slice %r into %w[%i, 0]
      becomes
        %o = scf.for %j ... iter_args(%v = %w) {
          %x = tensor.extract_slice %v[%i, 0]
          ... %m = tensor.insert_slice %n into %v[%i, 0]   scf.yield %m
        }
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: scf.ForOp, rewriter: PatternRewriter) -> None:
        for index, (initial, result) in enumerate(zip(op.iter_args, op.results, strict=True)):
            insert = _only_insert(result)
            if insert is None or not _in_nest(op) or not _starts_there(op, initial, insert):
                continue
            argument, end = op.body.block.args[index + 1], op.body.block.last_op
            assert end is not None
            full = rewriter.insert_block_argument(op.body.block, index + 1, insert.dest.type)
            full.name_hint = argument.name_hint
            offsets, sizes = _offsets(insert), list(insert.static_sizes.get_values())
            if argument.uses:
                part = tensor.ExtractSliceOp(full, offsets, sizes, [1] * len(sizes), argument.type)  # pyright: ignore
                rewriter.insert(part, InsertPoint.before(_first_user(argument)))
                rewriter.replace_all_uses_with(argument, part.result)
            rewriter.erase_block_argument(argument)
            made = end.operands[index]
            is_inside = isinstance(made.owner, Operation) and made.owner.parent_block() is op.body.block
            here = InsertPoint.after(made.owner) if is_inside else InsertPoint.before(end)  # pyright: ignore[reportArgumentType]
            end.operands[index] = rewriter.insert(insert_slice(made, full, offsets, sizes), here).result
            op.operands[3 + index] = insert.dest
            rewriter.replace(insert, [], [rewriter.replace_value_with_new_type(result, insert.dest.type)])
            erase_if_unused(rewriter, initial)
            return


class FoldInsertIntoSlice(RewritePattern):
    """An insertion into a slice that is put back where it came from is an insertion into the tensor.

        %s = tensor.extract_slice %w[%i, 0]
        %n = tensor.insert_slice %t into %s[0, %j]
        %o = tensor.insert_slice %n into %w[%i, 0]
      becomes
        %o = tensor.insert_slice %t into %w[%i, %j]
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.InsertSliceOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if not isinstance(inner, tensor.InsertSliceOp) or not _in_nest(op) or len(list(inner.result.uses)) != 1:
            return
        if not (_is_plain(op) and _is_plain(inner)):
            return
        part = inner.dest.owner
        if not isinstance(part, tensor.ExtractSliceOp) or part.source is not op.dest or not _is_same_place(part, op):
            return
        offsets = _sum(rewriter, _offsets(op), _offsets(inner))
        rewriter.replace(op, insert_slice(inner.source, op.dest, offsets, list(inner.static_sizes.get_values())))
        rewriter.erase(inner)
        erase_if_unused(rewriter, part.result)


class FoldSliceOfSlice(RewritePattern):
    """A slice of a slice that a loop around has taken is a slice of the tensor."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: tensor.ExtractSliceOp, rewriter: PatternRewriter) -> None:
        inner = op.source.owner
        if not isinstance(inner, tensor.ExtractSliceOp) or not _in_nest(inner) or not (_is_plain(op) and _is_plain(inner)):
            return
        sizes = list(op.static_sizes.get_values())
        offsets = _sum(rewriter, _offsets(inner), _offsets(op))
        rewriter.replace(op, tensor.ExtractSliceOp(inner.source, offsets, sizes, [1] * len(sizes), op.result.type))
        erase_if_unused(rewriter, inner.result)


# Loops ----------------------------------------------------------------------------------------------------------------


def _carrying(loop: scf.ForOp, carried: Sequence[SSAValue], write: Write, rewriter: PatternRewriter) -> Sequence[SSAValue]:
    """Let `loop` carry `carried` too, which `write` updates at the end of an iteration; what they are behind the loop.

    `write` gets a builder, what the loop yields, and the tensors as the iteration finds them.
    """
    block = loop.body.block
    arguments = [rewriter.insert_block_argument(block, len(block.args), full.type) for full in carried]
    end = block.last_op
    assert isinstance(end, scf.YieldOp)
    made = list(end.operands)
    written = write(PatternRewriter(InsertPoint.before(end)), made, arguments)
    rewriter.replace(end, scf.YieldOp(*made, *written))
    body = rewriter.move_region_contents_to_new_regions(loop.body)
    new = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, *carried], body)
    new.attributes |= loop.attributes
    rewriter.insert(new, InsertPoint.before(loop))
    rewriter.replace(loop, [], new.results[: len(made)])
    return new.results[len(made) :]


def _guarded(
    builder: PatternRewriter,
    condition: SSAValue,
    tiles: Sequence[SSAValue],
    carried: Sequence[SSAValue],
    places: Sequence[tuple[Offsets, list[int]]],
) -> Sequence[SSAValue]:
    """Insert tiles where `condition` holds."""
    then, otherwise = Block(), Block([scf.YieldOp(*carried)])
    inner = PatternRewriter(InsertPoint.at_end(then))
    triples = zip(tiles, carried, places, strict=True)
    inner.insert(scf.YieldOp(*(inner.insert(insert_slice(tile, full, *place)).result for tile, full, place in triples)))
    return builder.insert(scf.IfOp(condition, [full.type for full in carried], Region(then), Region(otherwise))).results


def _is_last(builder: PatternRewriter, loop: scf.ForOp) -> SSAValue:
    last = _last_of(loop)
    assert last is not None
    return builder.insert(arith.CmpiOp(loop.body.block.args[0], index_before_nest(builder, loop, last), "eq")).result


def _last_of(loop: scf.ForOp) -> int | None:
    """The last value of the induction variable, None where bounds are not known."""
    bounds = constant_bounds(loop)
    return None if bounds is None else bounds.last


def _copied(builder: PatternRewriter, condition: SSAValue) -> SSAValue:
    """A guard once more: what compares and what combines comparisons."""
    op = condition.owner
    if not isinstance(op, arith.AndIOp | arith.CmpiOp):
        return condition
    copy = op.clone()
    copy.operands = [_copied(builder, operand) for operand in op.operands]
    return builder.insert(copy).results[0]


def _may_copy(condition: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a guard that stands behind `loop` can be computed in it."""
    op = condition.owner
    if isinstance(op, arith.AndIOp | arith.CmpiOp):
        return all(_may_copy(operand, loop) for operand in op.operands)
    return isinstance(op, Block) or op.parent_block() is not loop.parent_block()


def _erase_condition(rewriter: PatternRewriter, condition: SSAValue) -> None:
    op = condition.owner
    if isinstance(op, arith.AndIOp | arith.CmpiOp) and not condition.uses:
        operands = list(op.operands)
        rewriter.erase(op)
        for operand in operands:
            _erase_condition(rewriter, operand)


def _in_nest(op: Operation) -> bool:
    return isinstance(op.parent_op(), scf.ForOp)


def _tiles(loop: scf.ForOp, count: int) -> list[tensor.InsertSliceOp] | None:
    """The insertions of tiles that cover the first `count` tensors a loop carries; None where it does not make these so."""
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    found: list[tensor.InsertSliceOp] = []
    for value, argument in list(zip(end.operands, loop.body.block.args[1:], strict=True))[:count]:
        op = value.owner
        if not isinstance(op, tensor.InsertSliceOp) or op.dest is not argument or not _covers(loop, op):
            return None
        found.append(op)
    return found


def _covers(loop: scf.ForOp, insert: tensor.InsertSliceOp) -> bool:
    """Whether the tiles that an iteration inserts lie side by side along one dimension, and make up all of the tensor."""
    bounds, kind = constant_bounds(loop), insert.dest.type
    if bounds is None or not _is_plain(insert) or not isinstance(kind, TensorType):
        return False
    iv, offsets, sizes = loop.body.block.args[0], _offsets(insert), list(insert.static_sizes.get_values())
    moved = [dim for dim, offset in enumerate(offsets) if offset is iv]
    if any(offset != 0 for offset in offsets if offset is not iv) or len(moved) > 1 or (moved and bounds.lower):
        return False
    for dim in moved:
        if sizes[dim] != bounds.step:
            return False
        sizes[dim] *= bounds.trip
    return tuple(sizes) == kind.get_shape()


def _is_over_tiles(loop: scf.ForOp) -> bool:
    return bool(_tiles(loop, 1))


def _is_in_reduction(loop: scf.ForOp) -> bool:
    """Whether a loop around `loop` reduces: what is inserted then is an accumulator's."""
    around = loop.parent_op()
    return isinstance(around, scf.ForOp) and (not _is_over_tiles(around) or _is_in_reduction(around))


def _has_tiles_inside(loop: scf.ForOp) -> bool:
    """Whether what a reduction carries on is put together tile by tile."""
    end = loop.body.block.last_op
    inner = end.operands[0].owner if isinstance(end, scf.YieldOp) and end.operands else None
    return isinstance(inner, scf.ForOp) and (_is_over_tiles(inner) or _has_tiles_inside(inner))


# Slices ---------------------------------------------------------------------------------------------------------------


def _only_insert(value: SSAValue) -> tensor.InsertSliceOp | None:
    """The insertion, in the same block, that is all that happens to `value`."""
    uses = list(value.uses)
    user = uses[0].operation if len(uses) == 1 else None
    if not isinstance(user, tensor.InsertSliceOp) or uses[0].index != 0 or not _is_plain(user):
        return None
    return user if user.parent_block() is _block_of(value) else None


def _is_known_before(loop: scf.ForOp, insert: tensor.InsertSliceOp) -> bool:
    """Whether where an insertion goes is known before `loop`, which stands in front of it."""
    values = [insert.dest, *insert.offsets]
    return all(isinstance(value, BlockArgument) or _block_of(value) is not loop.parent_block() for value in values)


def _block_of(value: SSAValue) -> Block | None:
    return value.owner if isinstance(value.owner, Block) else value.owner.parent_block()


def _first_user(argument: BlockArgument) -> Operation:
    """The first operation of the argument's block that uses it, itself or inside."""
    return next(op for op in argument.block.ops if any(argument in nested.operands for nested in op.walk()))


def _starts_there(loop: scf.ForOp, initial: SSAValue, insert: tensor.InsertSliceOp) -> bool:
    """Whether a loop starts from the slice that it is put back as, or from nothing."""
    owner = initial.owner
    if isinstance(owner, tensor.EmptyOp):
        return _is_known_before(loop, insert)
    if not isinstance(owner, tensor.ExtractSliceOp) or not _is_plain(owner):
        return False
    return owner.source is insert.dest and _is_same_place(owner, insert)


def _is_plain(op: SliceOp) -> bool:
    """Whether a slice has unit strides and static sizes, and as many dimensions as the tensor."""
    part, full = (op.result, op.source) if isinstance(op, tensor.ExtractSliceOp) else (op.source, op.dest)
    ranks = {len(value.type.get_shape()) for value in (part, full) if isinstance(value.type, TensorType)}
    return not op.sizes and not op.strides and set(op.static_strides.get_values()) <= {1} and len(ranks) == 1


def _is_same_place(first: SliceOp, second: SliceOp) -> bool:
    return _offsets(first) == _offsets(second) and first.static_sizes == second.static_sizes


def _offsets(op: SliceOp) -> Offsets:
    dynamic = iter(op.offsets)
    return [next(dynamic) if offset == DYNAMIC_INDEX else offset for offset in op.static_offsets.get_values()]


def _sum(builder: PatternRewriter, first: Offsets, second: Offsets) -> Offsets:
    return [_added(builder, *pair) for pair in zip(first, second, strict=True)]


def _added(builder: PatternRewriter, first: SSAValue | int, second: SSAValue | int) -> SSAValue | int:
    if isinstance(first, int) and isinstance(second, int):
        return first + second
    if first == 0 or second == 0:
        return second if first == 0 else first
    values = [index_constant(builder, value) if isinstance(value, int) else value for value in (first, second)]
    return builder.insert(arith.AddiOp(values[0], values[1])).result


def insert_slice(tile: SSAValue, into: SSAValue, offsets: Offsets, sizes: Sequence[int]) -> tensor.InsertSliceOp:
    """A unit-stride `tensor.insert_slice` with mixed static and dynamic offsets."""
    dynamic = [offset for offset in offsets if isinstance(offset, SSAValue)]
    static = [DYNAMIC_INDEX if isinstance(offset, SSAValue) else offset for offset in offsets]
    return tensor.InsertSliceOp.get(tile, into, sizes, static, offsets=dynamic)


def erase_if_unused(rewriter: PatternRewriter, value: SSAValue) -> None:
    """Erase the slice or empty tensor that `value` is, inside a nest, if nobody uses it any more."""
    op = value.owner
    if isinstance(op, tensor.ExtractSliceOp | tensor.EmptyOp) and _in_nest(op) and not value.uses:
        rewriter.erase(op)


# Constants ------------------------------------------------------------------------------------------------------------


def _constant(value: SSAValue) -> int:
    assert isinstance(value.owner, arith.ConstantOp) and isinstance(value.owner.value, IntegerAttr)
    return value.owner.value.value.data


def index_before_nest(builder: PatternRewriter, op: Operation, value: int) -> SSAValue:
    """The index `value` as a constant in front of the outermost loop around `op`, shared by all of the nest."""
    outermost = op
    while isinstance(parent := outermost.parent_op(), scf.ForOp | scf.IfOp):
        outermost = parent
    before = outermost.prev_op
    while isinstance(before, arith.ConstantOp):
        if isinstance(before.result.type, IndexType) and _constant(before.result) == value:
            return before.result
        before = before.prev_op
    return index_constant(PatternRewriter(InsertPoint.before(outermost)), value)
