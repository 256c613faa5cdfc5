"""Splitting the loops of a generic, and the dimensions of slices and concatenations, so that a reshape can pass them.

Each function makes an operation that works on split dimensions from one that works on whole ones. Operands come split (by
`reshapes.split_value`), results are merged again (`collapse_shape`) for whoever used them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.dialects.linalg.ops import GenericOp, IndexOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import Dims, all_dims, extents_of
from stc.iteration.reshape import Groups, positions, split_interval
from stc.transforms.linalg.generics import build, shape_of, stc_attributes, tensor_like
from stc.transforms.linalg.reshapes import collapse_shape, split_value


@dataclass
class Split:
    """An operation on split dimensions, ready to be inserted: `ops` in order, `results` in the old shapes."""

    ops: list[Operation] = field(default_factory=list)
    results: list[SSAValue] = field(default_factory=list)

    def operand(self, value: SSAValue, groups: Groups) -> SSAValue:
        ops, new = split_value(value, groups)
        self.ops.extend(ops)
        return new

    def merge(self, value: SSAValue, groups: Groups) -> None:
        collapse = collapse_shape(value, groups)
        self.ops.append(collapse)
        self.results.append(collapse.result)


def split_by_operand(op: Operation, operand: int, groups: Groups) -> Split | None:
    """The op when its operand of this number comes with dimensions split by `groups`; None where it cannot."""
    match op:
        case GenericOp():
            return _split_generic(op, operand, groups)
        case tensor.ExtractSliceOp():
            return _split_slice_by_source(op, groups)
        case tensor.ConcatOp():
            return _split_concat(op, _concat_groups_by_input(op, operand, groups))
        case _:
            return None


def split_by_result(op: Operation, result: int, groups: Groups) -> Split | None:
    """The op when its result of this number is wanted with dimensions split by `groups`; None where it cannot."""
    match op:
        case GenericOp():
            return _split_generic(op, len(op.inputs) + result, groups)
        case tensor.ExtractSliceOp():
            return _split_slice_by_result(op, groups)
        case tensor.ConcatOp():
            return _split_concat(op, _concat_groups_by_result(op, groups))
        case _:
            return None


def _split_generic(op: GenericOp, operand: int, groups: Groups) -> Split | None:
    dims = all_dims(op)
    if dims is None or None in dims[operand]:
        return None
    extents = extents_of(op)
    factors = dict(zip(dims[operand], groups, strict=True))
    loops: Groups = tuple(factors.get(loop, (extent,)) for loop, extent in enumerate(extents))
    numbers = positions(loops)
    split = Split()
    operand_groups = [_groups_of_dims(entry, loops) for entry in dims]
    operands = [split.operand(value, entry) for value, entry in zip(op.operands, operand_groups, strict=True)]
    new_dims: list[Dims] = [tuple(new for loop in entry for new in _numbers(loop, numbers)) for entry in dims]
    kinds = [kind for kind, group in zip(op.iterator_types.data, loops, strict=True) for _ in group]
    body = op.body.clone()
    _split_indices(body, loops, numbers)
    count = len(op.inputs)
    new = build(operands[:count], operands[count:], body, new_dims, kinds, stc_attributes(op))
    split.ops.append(new)
    for value, old, entry in zip(new.results, op.results, operand_groups[count:], strict=True):
        value.name_hint = old.name_hint
        split.merge(value, entry)
    return split


def _groups_of_dims(dims: Dims, loops: Groups) -> Groups:
    return tuple((1,) if loop is None else loops[loop] for loop in dims)


def _numbers(loop: int | None, numbers: Sequence[tuple[int, ...]]) -> tuple[int | None, ...]:
    return (None,) if loop is None else numbers[loop]


def _split_indices(body: Region, loops: Groups, numbers: Sequence[tuple[int, ...]]) -> None:
    """linalg.index of a split loop is computed from its parts."""
    for op in list(body.block.ops):
        if isinstance(op, IndexOp):
            loop = op.dim.value.data
            Rewriter.replace_op(op, index_of_parts(loops[loop], numbers[loop]))


def index_of_parts(factors: Sequence[int], loops: Sequence[int]) -> list[Operation]:
    """What computes the index of a loop of which `loops` are the parts, of `factors` iterations each; the last op is the index."""
    ops: list[Operation] = [IndexOp(loops[0])]
    total = ops[0].results[0]
    for factor, loop in zip(factors[1:], loops[1:], strict=True):
        size = arith.ConstantOp(IntegerAttr(factor, IndexType()))
        scaled = arith.MuliOp(total, size.result)
        part = IndexOp(loop)
        step = arith.AddiOp(scaled.result, part.result)
        ops += [size, scaled, part, step]
        total = step.result
    return ops


@dataclass(frozen=True)
class _StaticSlice:
    offsets: tuple[int, ...]
    sizes: tuple[int, ...]
    extents: tuple[int, ...]


def _static_slice(op: tensor.ExtractSliceOp) -> _StaticSlice | None:
    """A slice with constant offsets and sizes, stride 1, that keeps the rank."""
    strides = [int(stride) for stride in op.static_strides.get_values()]
    if op.offsets or op.sizes or op.strides or set(strides) > {1}:
        return None
    sizes = tuple(int(size) for size in op.static_sizes.get_values())
    if sizes != shape_of(op.result):
        return None
    offsets = tuple(int(offset) for offset in op.static_offsets.get_values())
    return _StaticSlice(offsets, sizes, shape_of(op.source))


def _split_slice_by_result(op: tensor.ExtractSliceOp, groups: Groups) -> Split | None:
    found = _static_slice(op)
    if found is None:
        return None
    offsets: list[int] = []
    source_groups: list[tuple[int, ...]] = []
    for offset, size, extent, factors in zip(found.offsets, found.sizes, found.extents, groups, strict=True):
        interval = split_interval(offset, size, extent, factors)
        if interval is None:
            return None
        offsets += [interval[0], *[0] * (len(factors) - 1)]
        source_groups.append(interval[1])
    return _sliced(op, tuple(source_groups), offsets, groups)


def _split_slice_by_source(op: tensor.ExtractSliceOp, groups: Groups) -> Split | None:
    found = _static_slice(op)
    if found is None:
        return None
    result_groups: list[tuple[int, ...]] = []
    offsets: list[int] = []
    for offset, size, extent, factors in zip(found.offsets, found.sizes, found.extents, groups, strict=True):
        inner = extent // factors[0]
        if offset % inner or size % inner:
            return None
        outer = size // inner
        if outer == 1 and len(factors) > 1:
            return None
        result_groups.append((outer, *factors[1:]))
        offsets += [offset // inner, *[0] * (len(factors) - 1)]
    return _sliced(op, groups, offsets, tuple(result_groups))


def _sliced(op: tensor.ExtractSliceOp, source_groups: Groups, offsets: list[int], groups: Groups) -> Split:
    split = Split()
    source = split.operand(op.source, source_groups)
    sizes = [extent for group in groups for extent in group]
    new = tensor.ExtractSliceOp(source, offsets, sizes, [1] * len(sizes), tensor_like(op.result, sizes))
    new.attributes.update(stc_attributes(op))
    split.ops.append(new)
    split.merge(new.result, groups)
    return split


def _concat_groups_by_input(op: tensor.ConcatOp, operand: int, groups: Groups) -> list[Groups] | None:
    """Groups of every input when one comes split."""
    dim = op.dim.value.data
    inner = shape_of(op.inputs[operand])[dim] // groups[dim][0]
    return _concat_groups(op, groups, inner, groups[dim][1:])


def _concat_groups_by_result(op: tensor.ConcatOp, groups: Groups) -> list[Groups] | None:
    dim = op.dim.value.data
    inner = shape_of(op.result)[dim] // groups[dim][0]
    return _concat_groups(op, groups, inner, groups[dim][1:])


def _concat_groups(
    op: tensor.ConcatOp, groups: Groups, inner: int, inner_factors: tuple[int, ...]
) -> list[Groups] | None:
    dim = op.dim.value.data
    found: list[Groups] = []
    for value in op.inputs:
        extent = shape_of(value)[dim]
        if extent % inner or (inner_factors and extent == inner):
            return None
        found.append((*groups[:dim], (extent // inner, *inner_factors), *groups[dim + 1 :]))
    return found


def _split_concat(op: tensor.ConcatOp, groups: list[Groups] | None) -> Split | None:
    if groups is None:
        return None
    dim = op.dim.value.data
    split = Split()
    inputs = [split.operand(value, entry) for value, entry in zip(op.inputs, groups, strict=True)]
    outer = sum(entry[dim][0] for entry in groups)
    result_groups: Groups = (*groups[0][:dim], (outer, *groups[0][dim][1:]), *groups[0][dim + 1 :])
    shape = [extent for group in result_groups for extent in group]
    position = positions(result_groups)[dim][0]
    new = tensor.ConcatOp(inputs, position, tensor_like(op.result, shape), stc_attributes(op))
    split.ops.append(new)
    split.merge(new.result, result_groups)
    return split


def is_argument(value: SSAValue) -> bool:
    """Whether a value is an argument of the function: reshapes of those are layout of external memory, and stay."""
    return isinstance(value.owner, Block)
