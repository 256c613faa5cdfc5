"""Paddings, insertions and strided slices become slices, concatenations and reshapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects import tensor
from xdsl.dialects.builtin import DenseArrayBase, FloatAttr, IntegerAttr, IntegerType, ModuleOp, i64
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.dialects.facts import MODULE
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import filled, shape_of, tensor_like
from stc.transforms.linalg.inline_constants import scalar_constant, uniform_value
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape


@dataclass(frozen=True)
class SimplifyMovementsPass(ModulePass):
    """Express every static operation that moves data by slices of stride 1, concatenations and reshapes.

    * `tensor.pad` with a constant: a concatenation with constant tensors along each padded dimension.
    * `tensor.insert_slice`: what lies before, the inserted tensor, what lies after, dimension by dimension; with strides into a
      constant tensor alone, whose entries fill the gaps.
    * `tensor.extract_slice` of stride s: the dimension split into (entries, s), one of the s columns taken.

    What is not static or not constant stays, and is refused (stc/analysis/support.py).

    Before:

        %y = tensor.extract_slice %x[1] [4] [2] : tensor<9xf32> to tensor<4xf32>

    After:

        %a = tensor.extract_slice %x[0] [8] [1] : tensor<9xf32> to tensor<8xf32>
        %b = tensor.expand_shape %a [[0, 1]] output_shape [4, 2] : tensor<8xf32> into tensor<4x2xf32>
        %c = tensor.extract_slice %b[0, 1] [4, 1] [1, 1] : tensor<4x2xf32> to tensor<4x1xf32>
        %y = tensor.collapse_shape %c [[0, 1]] : tensor<4x1xf32> into tensor<4xf32>
    """

    name = "simplify-movements"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for found in list(op.walk()):
            match found:
                case tensor.PadOp():
                    _replace(found, _pad)
                case tensor.InsertSliceOp():
                    _replace(found, _insert)
                case tensor.ExtractSliceOp():
                    _replace(found, _extract)
                case _:
                    continue
        erase_dead_ops(op)


@dataclass
class _Builder:
    """Collects operations that take the place of one."""

    module: str | None
    ops: list[Operation] = field(default_factory=list)

    def add(self, op: Operation) -> SSAValue:
        if self.module is not None:
            MODULE.put(op, self.module)
        self.ops.append(op)
        return op.results[0]

    def filled(self, value: FloatAttr | IntegerAttr, shape: Sequence[int]) -> SSAValue:
        constant, empty, fill = filled(value, shape)
        self.ops += [constant, empty]
        return self.add(fill)

    def part(self, value: SSAValue, offsets: Sequence[int], sizes: Sequence[int]) -> SSAValue:
        """A slice of stride 1, or a constant where the value is one."""
        if (constant := uniform_value(value)) is not None:
            return self.filled(constant, sizes)
        if tuple(sizes) == shape_of(value):
            return value
        return self.add(tensor.ExtractSliceOp(value, offsets, sizes, [1] * len(sizes), tensor_like(value, sizes)))

    def joined(self, parts: Sequence[SSAValue], dim: int) -> SSAValue:
        """The parts that are not empty, side by side."""
        retained = [part for part in parts if 0 not in shape_of(part)]
        if len(retained) == 1:
            return retained[0]
        shape = list(shape_of(retained[0]))
        shape[dim] = sum(shape_of(part)[dim] for part in retained)
        return self.add(tensor.ConcatOp(retained, dim, tensor_like(retained[0], shape)))


_Rewrite = Callable[[_Builder, Operation], SSAValue | None]


def _replace(op: Operation, rewrite: _Rewrite) -> None:
    builder = _Builder(MODULE.of(op))
    result = rewrite(builder, op)
    if result is None:
        return
    Rewriter.insert_op(builder.ops, InsertPoint.before(op))
    Rewriter.replace_op(op, [], [result])


def _static(entries: DenseArrayBase[IntegerType], dynamic: Sequence[SSAValue]) -> list[int] | None:
    return None if dynamic else [int(entry) for entry in entries.get_values()]


def _pad(builder: _Builder, op: Operation) -> SSAValue | None:
    assert isinstance(op, tensor.PadOp)
    low, high = _static(op.static_low, op.low), _static(op.static_high, op.high)
    terminator = op.region.block.last_op
    constant = scalar_constant(terminator.operands[0]) if terminator is not None and len(terminator.operands) else None
    if low is None or high is None or constant is None or min(low + high) < 0:
        return None
    value = op.source
    for dim, (before, after) in enumerate(zip(low, high, strict=True)):
        edges = [(*shape_of(value)[:dim], extent, *shape_of(value)[dim + 1 :]) for extent in (before, after)]
        first, last = ([builder.filled(constant, edge)] if edge[dim] else [] for edge in edges)
        value = builder.joined([*first, value, *last], dim)
    return value


def _insert(builder: _Builder, op: Operation) -> SSAValue | None:
    assert isinstance(op, tensor.InsertSliceOp)
    offsets, sizes = _static(op.static_offsets, op.offsets), _static(op.static_sizes, op.sizes)
    strides = _static(op.static_strides, op.strides)
    if offsets is None or sizes is None or strides is None:
        return None
    source = op.source
    if shape_of(source) != tuple(sizes):
        if (expanded := _with_shape(source, sizes)) is None:
            return None
        source = builder.add(expanded)
    if any(stride > 1 for stride in strides):
        if (constant := uniform_value(op.dest)) is None:
            return None
        for dim, stride in enumerate(strides):
            source = _spread(builder, source, dim, stride, constant)
    return _inserted(builder, source, op.dest, offsets, 0)


def _spread(builder: _Builder, value: SSAValue, dim: int, stride: int, constant: FloatAttr | IntegerAttr) -> SSAValue:
    """The entries of a dimension with `stride - 1` constants between any two of them."""
    shape = shape_of(value)
    size = shape[dim]
    if stride == 1 or size == 1:
        return value
    split = tuple((extent, 1) if index == dim else (extent,) for index, extent in enumerate(shape))
    entries = builder.add(expand_shape(value, split))
    gaps = builder.filled(constant, (*shape[: dim + 1], stride - 1, *shape[dim + 1 :]))
    periods = builder.joined([entries, gaps], dim + 1)
    merged = tuple((extent, stride) if index == dim else (extent,) for index, extent in enumerate(shape))
    row = builder.add(collapse_shape(periods, merged))
    sizes = [(size - 1) * stride + 1 if index == dim else extent for index, extent in enumerate(shape)]
    return builder.part(row, [0] * len(shape), sizes)


def _inserted(builder: _Builder, source: SSAValue, dest: SSAValue, offsets: Sequence[int], dim: int) -> SSAValue:
    """`dest` with `source` at `offsets`; dimensions before `dim` are of equal extents already."""
    full, size = shape_of(dest), shape_of(source)
    if full == size:
        return source

    def rows(start: int, extent: int) -> SSAValue:
        sizes = [*full[:dim], extent, *full[dim + 1 :]]
        return builder.part(dest, [start if index == dim else 0 for index in range(len(full))], sizes)

    start, end = offsets[dim], offsets[dim] + size[dim]
    # Where the source spans all other dimensions, the destination's rows under it are not needed.
    spans = all(full[index] == size[index] for index in range(dim + 1, len(full)))
    middle = source if spans else _inserted(builder, source, rows(start, size[dim]), offsets, dim + 1)
    before = [rows(0, start)] if start else []
    after = [rows(end, full[dim] - end)] if end < full[dim] else []
    return builder.joined([*before, middle, *after], dim)


def _with_shape(value: SSAValue, shape: Sequence[int]) -> Operation | None:
    """A reshape that inserts dimensions of extent 1 (a rank-reduced slice)."""
    narrow = shape_of(value)
    groups: list[list[int]] = []
    leading: list[int] = []
    rest = list(narrow)
    for extent in shape:
        if rest and extent == rest[0]:
            groups.append([*leading, extent])
            leading = []
            rest.pop(0)
        elif extent == 1 and groups:
            groups[-1].append(1)
        elif extent == 1:
            leading.append(1)
        else:
            return None
    if rest or (leading and groups) or not groups:
        return None
    return expand_shape(value, tuple(map(tuple, groups)))


def _extract(builder: _Builder, op: Operation) -> SSAValue | None:
    assert isinstance(op, tensor.ExtractSliceOp)
    offsets, sizes = _static(op.static_offsets, op.offsets), _static(op.static_sizes, op.sizes)
    strides = _static(op.static_strides, op.strides)
    if offsets is None or sizes is None or strides is None or set(strides) <= {1}:
        return None
    value = op.source
    for dim, (offset, size, stride) in enumerate(zip(offsets, sizes, strides, strict=True)):
        value = _column(builder, value, dim, offset, size, stride)
    if tuple(sizes) == shape_of(op.result):
        return value
    # Dimensions of extent 1 are dropped by a slice of everything.
    rest = op.clone({op.source: value})
    rest.static_offsets = DenseArrayBase.from_list(i64, [0] * len(sizes))
    rest.static_strides = DenseArrayBase.from_list(i64, [1] * len(sizes))
    return builder.add(rest)


def _column(builder: _Builder, value: SSAValue, dim: int, offset: int, size: int, stride: int) -> SSAValue:
    """Entries offset, offset + stride, ... of one dimension."""
    shape = shape_of(value)

    def span(source: SSAValue, start: int, extent: int) -> SSAValue:
        sizes = [*shape[:dim], extent, *shape[dim + 1 :]]
        return builder.part(source, [start if index == dim else 0 for index in range(len(shape))], sizes)

    if stride == 1 or size == 1:
        return span(value, offset, size)
    if size * stride > shape[dim]:
        # No whole number of periods fits: the last entry is taken by itself.
        head = _column(builder, value, dim, offset, size - 1, stride)
        return builder.joined([head, span(value, offset + (size - 1) * stride, 1)], dim)
    first = min(offset, shape[dim] - size * stride)
    periods = span(value, first, size * stride)
    split = tuple((size, stride) if index == dim else (extent,) for index, extent in enumerate(shape_of(periods)))
    expanded = builder.add(expand_shape(periods, split))
    fine = list(shape_of(expanded))
    fine[dim + 1] = 1
    column = builder.part(expanded, [offset - first if index == dim + 1 else 0 for index in range(len(fine))], fine)
    merged = tuple((size, 1) if index == dim else (extent,) for index, extent in enumerate(shape_of(periods)))
    return builder.add(collapse_shape(column, merged))
