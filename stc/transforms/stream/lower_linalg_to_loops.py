"""`lower-linalg-to-loops`: linalg on local buffers becomes loops over points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, scf, vector
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, MemRefType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops, generics_in
from stc.analysis.loop_names import dimension_names, generic_loop_names
from stc.design_space.tiling import MOST_LANES
from stc.dialects.facts import LABEL, NAME, SCHEDULE, UNROLL
from stc.transforms.index_constant import index_constant


@dataclass(frozen=True)
class LowerLinalgToLoops(ModulePass):
    """Write out the point loops of every `linalg.generic`, `linalg.fill` and `memref.copy` on memrefs.

    A buffer is filled as many entries at a time as the computations on it take along its last dimension.

    Reductions go outward and parallel loops innermost, so that consecutive iterations accumulate into different entries
    and the pipeline need not wait for the adder. Unroll factors come from the op's schedule. Subviews dissolve into
    offsets. After this pass a task holds loops, scalar arithmetic, loads and stores only: what is printed.

        linalg.generic {... "parallel", "reduction"} ins(%x : memref<4x6xf32>) outs(%s : memref<4xf32>) { addf }
      becomes
        scf.for %column = %c0 to %c6 step %c1 {
          scf.for %row = %c0 to %c4 step %c1 {
            %v = memref.load %x[%row, %column] : memref<4x6xf32>
            %w = memref.load %s[%row] : memref<4xf32>
            %t = arith.addf %v, %w : f32
            memref.store %t, %s[%row] : memref<4xf32>
          } {stc.label = "x_sum_row"}
        } {stc.label = "x_sum_column"}
    """

    name = "lower-linalg-to-loops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fill in [found for found in op.walk() if isinstance(found, linalg.FillOp)]:
            if isa(fill.outputs[0].type, MemRefType):
                _expand_fill(fill)
        for generic in generics_in(op):
            if isa(generic.outputs[0].type, MemRefType):
                _expand_generic(generic)
        for copy in [found for found in op.walk() if isinstance(found, memref.CopyOp)]:
            _expand_copy(copy)
        for access in [found for found in op.walk() if isinstance(found, vector.LoadOp | vector.StoreOp)]:
            _look_through_view(access)
        for subview in reversed([found for found in op.walk() if isinstance(found, memref.SubviewOp)]):
            if not subview.result.uses:
                Rewriter.erase_op(subview)


def _expand_generic(generic: linalg.GenericOp) -> None:
    loops = GenericLoops(generic)
    schedule = SCHEDULE.of(generic)
    unroll = schedule.unrolls if schedule is not None else (1,) * len(loops.extents)
    order = [loop for loop in (*loops.reductions, *loops.parallels) if loops.extents[loop] > 1]
    label = label_of(generic)
    builder = Builder(InsertPoint.before(generic))
    zero = index_constant(builder, 0)
    names = generic_loop_names(loops, loops.extents)
    nest = [PointLoop(names[loop], loops.extents[loop], unroll[loop]) for loop in order]
    ivs, inner = point_loops(builder, nest, label)
    iv_of = dict(zip(order, ivs, strict=True))
    points = [iv_of.get(loop, zero) for loop in range(len(loops.extents))]

    block = generic.body.block
    body = Block(arg_types=[arg.type for arg in block.args])
    clone = generic.body.clone()
    body = clone.block
    for arg, value, dims in zip(list(body.args), generic.operands, loops.operand_dims, strict=True):
        if arg.uses:
            arg.replace_all_uses_with(_load(inner, value, [points[dim] for dim in dims], generic))
    terminator = body.last_op
    assert isinstance(terminator, linalg.YieldOp)
    yielded = list(terminator.operands)
    for op in list(body.ops):
        if op is terminator:
            break
        op.detach()
        if isinstance(op, linalg.IndexOp):
            op.result.replace_all_uses_with(points[op.dim.value.data])
            continue
        inner.insert(op)
    yielded = list(terminator.operands)
    for value, target, dims in zip(yielded, generic.outputs, loops.output_dims, strict=True):
        _store(inner, value, target, [points[dim] for dim in dims], generic)
    Rewriter.erase_op(terminator)   # its uses would hide that a value has one use only
    Rewriter.erase_op(generic)


def _expand_fill(fill: linalg.FillOp) -> None:
    target = fill.outputs[0]
    assert isa(target.type, MemRefType)
    builder = Builder(InsertPoint.before(fill))
    extents = target.type.get_shape()
    order = [dim for dim, extent in enumerate(extents) if extent > 1]
    zero = index_constant(builder, 0)
    nest = _loops_along(extents, order, _fill_unroll(target, order))
    ivs, inner = point_loops(builder, nest, f"{label_of(fill)}_init")
    iv_of = dict(zip(order, ivs, strict=True))
    _store(inner, fill.inputs[0], target, [iv_of.get(dim, zero) for dim in range(len(extents))], fill)
    Rewriter.erase_op(fill)


def _expand_copy(copy: memref.CopyOp) -> None:
    assert isa(copy.source.type, MemRefType)
    extents = copy.source.type.get_shape()
    builder = Builder(InsertPoint.before(copy))
    ivs, inner = point_loops(builder, _loops_along(extents, range(len(extents)), [1] * len(extents)), "copy")
    _store(inner, _load(inner, copy.source, ivs, copy), copy.destination, ivs, copy)
    Rewriter.erase_op(copy)


def _look_through_view(access: vector.LoadOp | vector.StoreOp) -> None:
    """A vector access to a subview becomes one to the buffer."""
    if not isinstance(access.base.owner, memref.SubviewOp):
        return
    base, indices = _resolve(Builder(InsertPoint.before(access)), access.base, access.indices)
    values = [base, *indices] if isinstance(access, vector.LoadOp) else [access.vector, base, *indices]
    access.operands = values


def _fill_unroll(target: SSAValue, order: Sequence[int]) -> list[int]:
    """As much of each dimension as a computation on the buffer takes at once; the last whole where it is as short as a vector."""
    assert isa(target.type, MemRefType)
    extents, at_once = target.type.get_shape(), _at_once_of_users(target)
    if extents and extents[-1] <= max(MOST_LANES, at_once[-1]):
        at_once[-1] = extents[-1]
    return [at_once[dim] if extents[dim] % at_once[dim] == 0 else 1 for dim in order]


def _at_once_of_users(target: SSAValue) -> list[int]:
    """For each dimension, the largest unroll factor with which a computation on the buffer, or on a part of it, runs along it."""
    assert isa(target.type, MemRefType)
    views = [use.operation for use in target.uses if isinstance(use.operation, memref.SubviewOp)]
    inside = [_at_once_of_users(view.result) for view in views if _keeps_rank(view)]
    none = [1] * target.type.get_num_dims()
    return [max(counts) for counts in zip(none, *inside, *map(_unrolls_along, target.uses), strict=True)]


def _keeps_rank(view: memref.SubviewOp) -> bool:
    """Whether the dimensions of the view run along those of the buffer."""
    assert isa(view.result.type, MemRefType) and isa(view.source.type, MemRefType)
    return len(view.result.type.get_shape()) == len(view.source.type.get_shape())


def _unrolls_along(use: Use) -> list[int]:
    """The unroll factors with which a generic runs along the dimensions of the buffer that is its operand `use`."""
    generic, kind = use.operation, use.operation.operands[use.index].type
    assert isa(kind, MemRefType)
    if not isinstance(generic, linalg.GenericOp) or (schedule := SCHEDULE.of(generic)) is None:
        return [1] * kind.get_num_dims()
    return [schedule.unrolls[dim] for dim in GenericLoops(generic).operand_dims[use.index]]


@dataclass(frozen=True)
class PointLoop:
    """A loop over `extent` points, `unroll` of them at once."""

    name: str
    extent: int
    unroll: int

    @property
    def is_at_once(self) -> bool:
        return 1 < self.unroll == self.extent


def _loops_along(extents: Sequence[int], order: Sequence[int], unroll: Sequence[int]) -> list[PointLoop]:
    """Loops along the dimensions `order` of a buffer, each with its unroll factor."""
    names = dimension_names(extents)
    return [PointLoop(names[dim], extents[dim], factor) for dim, factor in zip(order, unroll, strict=True)]


def point_loops(builder: Builder, nest: Sequence[PointLoop], label: str) -> tuple[list[SSAValue], Builder]:
    """A perfect nest of unit-step loops; their induction variables, and a builder for the innermost body.

    What runs at once stands inside all that runs in turn, so that the innermost of these can be pipelined.
    """
    zero, one = (index_constant(builder, value) for value in (0, 1))
    bounds = [index_constant(builder, loop.extent) for loop in nest]
    lanes = [one if loop.unroll == 1 else bound if loop.is_at_once else index_constant(builder, loop.unroll)
             for loop, bound in zip(nest, bounds, strict=True)]
    ivs: list[SSAValue] = []
    for loop, bound, step in zip(nest, bounds, lanes, strict=True):
        start = zero
        if not loop.is_at_once:
            start, builder = _point_loop(builder, (zero, bound, step), loop.name, label)
        ivs.append(start)
    for place, (loop, count) in enumerate(zip(nest, lanes, strict=True)):
        if loop.is_at_once:
            ivs[place], builder = _point_loop(builder, (zero, count, one), loop.name, label, at_once=True)
        elif loop.unroll > 1:
            lane, builder = _point_loop(builder, (zero, count, one), "lane", label, at_once=True)
            ivs[place] = builder.insert(arith.AddiOp(ivs[place], lane)).result
    return ivs, builder


def _point_loop(
    builder: Builder, bounds: tuple[SSAValue, SSAValue, SSAValue], name: str, label: str, at_once: bool = False
) -> tuple[SSAValue, Builder]:
    """One loop, completely unrolled where `at_once`; its induction variable, and a builder for its body."""
    block = Block(arg_types=[IndexType()])
    block.args[0].name_hint = name
    block.add_op(scf.YieldOp())
    loop = builder.insert(scf.ForOp(*bounds, [], block))
    LABEL.put(loop, f"{label}_{name}")
    if at_once:
        UNROLL.put(loop, 0)
    assert block.last_op is not None
    return block.args[0], Builder(InsertPoint.before(block.last_op))


def label_of(op: linalg.GenericOp | linalg.FillOp) -> str:
    """The stem of loop labels: the op's readable name."""
    return NAME.of(op) or "tile"


def _load(builder: Builder, source: SSAValue, indices: Sequence[SSAValue], of: Operation) -> SSAValue:
    """An entry of a buffer for `of`, whose place in the text the load has; a value that is no buffer is itself."""
    if not isa(source.type, MemRefType):
        return source
    base, offset = _resolve(builder, source, indices)
    load = builder.insert(memref.LoadOp.get(base, offset))
    load.location = of.location
    return load.res


def _store(builder: Builder, value: SSAValue, target: SSAValue, indices: Sequence[SSAValue], of: Operation) -> None:
    base, offset = _resolve(builder, target, indices)
    builder.insert(memref.StoreOp.get(value, base, offset)).location = of.location


def _resolve(builder: Builder, buffer: SSAValue, indices: Sequence[SSAValue]) -> tuple[SSAValue, list[SSAValue]]:
    """The buffer a subview looks at, and the indices there."""
    if not isinstance(view := buffer.owner, memref.SubviewOp):
        return buffer, list(indices)
    dynamic = iter(view.offsets)
    shifted: list[SSAValue] = []
    for index, offset in zip(indices, view.static_offsets.get_values(), strict=True):
        if offset == 0:
            shifted.append(index)
            continue
        base = next(dynamic) if offset == DYNAMIC_INDEX else None
        if base is None:
            base = index_constant(builder, offset)
        shifted.append(builder.insert(arith.AddiOp(base, index)).result)
    return _resolve(builder, view.source, shifted)
