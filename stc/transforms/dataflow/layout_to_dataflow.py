"""`layout-to-dataflow`: slices, concatenations and reshapes between kernels become kernels that only move tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import name_of, shape_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, YieldOp
from stc.dialects.facts import MODULE, NAME, STRIPE, SUCCESSIVE
from stc.dialects.itensor import ChunkOp, ConcatOp, ItensorType, MergeOp, ReassociateOp, SplitOp
from stc.dialects.updates import is_prefix_read, through_prefixes
from stc.dialects.use_def import uses_through
from stc.iteration.layout_orders import concat_orders, reshape_orders, row_major, slice_orders
from stc.iteration.order import StreamOrder
from stc.iteration.round_robin import interleaved
from stc.iteration.vectorize import largest_divisor
from stc.names import identifier
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.name_ops import value_hint

Reshape = tensor.ExpandShapeOp | tensor.CollapseShapeOp


ENTRY_BYTES = 4
"""Of an entry that the default tile size is given for."""


@dataclass(frozen=True)
class LayoutToDataflow(ModulePass):
    """Give every tensor op that only moves data, and stands between kernels, a kernel of its own.

    Unit-stride slices of one tensor become one `itensor.chunk`, a concat an `itensor.concat`. A reshape becomes an
    `itensor.reassociate`: both sides run over the largest blocks that are contiguous in either shape, row-major, which is
    the same token sequence, or, where dimensions are only split and this has no smaller tokens, in the order in which the tensor
    comes; whatever order the neighbours have is the business of converters. So no reshape is refused.
    Reshapes of arguments and results of the function stay outside: the host sees the same bytes. So does the beginning of an
    argument that is updated (`update-in-place`), where nothing else of it is read.

    Equal parts for copies of a computation (`distribute-parallel`) that come from an argument of the function, or become its
    result and nothing else, are split and merged round-robin instead, in the order in which the copies read or write them: each
    then gets a memory port of its own.

    Options: `size`, the default tile size (default 16) of entries of 32 bit; of shorter ones as many as take as much, in whole
    bytes.

        %a = tensor.extract_slice %x[0, 0] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
        %b = tensor.extract_slice %x[0, 8] [8, 8] [1, 1] : tensor<8x16xf32> to tensor<8x8xf32>
      becomes
        %a, %b = dataflow.kernel @x_split(%s = %x : tensor<8x16xf32> as !S) -> (tensor<8x8xf32> as !A, tensor<8x8xf32> as !A) {
          %c, %d = itensor.chunk %s at [0, 0], [0, 8] : !S to !A, !A
          dataflow.yield %c, %d : !A, !A
        }
    """

    name = "layout-to-dataflow"

    size: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            known, sizes = host_values(function), RunTimeSizes(function)
            in_kernels = _sizes_in_kernels(function) or sizes
            for found in list(function.body.block.ops):
                if found.parent_block() is None or set(found.results) <= known:
                    continue
                match found:
                    case tensor.ExtractSliceOp() if not is_prefix_read(found):
                        self._chunk(function, found)
                    case tensor.ConcatOp():
                        self._concat(found, sizes)
                    case tensor.ExpandShapeOp() | tensor.CollapseShapeOp() if not is_host_reshape(found):
                        self._reshape(found, in_kernels)
                    case _:
                        continue
        erase_dead_ops(op)

    def _entries(self, value: SSAValue) -> int:
        """The default tile size of a tensor."""
        return self.size * max(1, ENTRY_BYTES // bytes_of(_scalar(value)))

    # Slices -----------------------------------------------------------------------------------------------------------

    def _chunk(self, function: func.FuncOp, first: tensor.ExtractSliceOp) -> None:
        siblings = [
            op
            for op in function.body.block.ops
            if isinstance(op, tensor.ExtractSliceOp) and op.source is first.source and not is_prefix_read(op)
        ]
        for op in siblings:
            _check_slice(op)
        if (split := _stripes(first, siblings)) is not None:
            self._split(first, *split)
            return
        extents = shape_of(first.source.type)
        offsets = [tuple(op.static_offsets.get_values()) for op in siblings]
        sizes = [tuple(op.static_sizes.get_values()) for op in siblings]
        scalar = _scalar(first.source)
        full, pieces = slice_orders(_order_of(first.source), extents, offsets, sizes, self._entries(first.source))
        source = ItensorType.from_order(full, scalar)
        results = [ItensorType.from_order(piece, scalar) for piece in pieces]
        name = f"{_stem(first)}_split"

        def body(builder: Builder, ports: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return builder.insert(ChunkOp(ports[0], results, offsets)).results

        tensors = [TensorType(scalar, size) for size in sizes]
        kernel = _kernel(name, first, [first.source], [source], tensors, body)
        for op, result in zip(siblings, kernel.results, strict=True):
            result.name_hint = value_hint(_stem(op))
            _replace(op, _reshaped(kernel, result, op.result.type))

    def _split(self, near: Operation, slices: Sequence[tensor.ExtractSliceOp], dimension: int) -> None:
        """Stripes of an argument, in the order in which the first reader wants its own; `near`: the first in the program."""
        first, scalar = slices[0], _scalar(slices[0].source)
        required = _required_order(first.result)
        order = required if required is not None else _rows(shape_of(first.result.type), self._entries(first.result))
        full = ItensorType.from_order(interleaved(order, len(slices), dimension), scalar)
        part = ItensorType.from_order(order, scalar)

        def body(builder: Builder, ports: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return builder.insert(SplitOp(ports[0], [part] * len(slices))).results

        tensors = [TensorType(scalar, shape_of(op.result.type)) for op in slices]
        kernel = _kernel(f"{_stem(first)}_split", near, [first.source], [full], tensors, body)
        for op, result in zip(slices, kernel.results, strict=True):
            result.name_hint = value_hint(_stem(op))
            _replace(op, result)

    def _merge(self, op: tensor.ConcatOp) -> None:
        """Parts that together become a result, in the order in which the first of them is made."""
        scalar = _scalar(op.result)
        order = _order_of(op.inputs[0]) or _rows(shape_of(op.inputs[0].type), self._entries(op.inputs[0]))
        full = ItensorType.from_order(interleaved(order, len(op.inputs), op.dim.value.data), scalar)
        types = [ItensorType.from_order(order, scalar)] * len(op.inputs)

        def body(builder: Builder, ports: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return [builder.insert(MergeOp(ports, full)).result]

        kernel = _kernel(f"{_stem(op)}_merge", op, list(op.inputs), types, [op.result.type], body)
        _replace(op, kernel.results[0])

    def _concat(self, op: tensor.ConcatOp, at_run_time: RunTimeSizes) -> None:
        if STRIPE.on(op) and _reaches_return_only(op.result):
            self._merge(op)
            return
        axis = op.dim.value.data
        extents = shape_of(op.result.type)
        sizes = [shape_of(value.type) for value in op.inputs]
        scalar = _scalar(op.result)
        sources = [_order_of(value) for value in op.inputs]
        successive = axis if SUCCESSIVE.on(op) else None
        single = at_run_time.single(op.result)
        full, pieces = concat_orders(sources, extents, sizes, self._entries(op.result), single, successive)
        types = [ItensorType.from_order(piece, scalar) for piece in pieces]
        result = ItensorType.from_order(full, scalar)

        def body(builder: Builder, ports: Sequence[SSAValue]) -> Sequence[SSAValue]:
            return builder.insert(ConcatOp.along(axis, ports, result)).results

        kernel = _kernel(f"{_stem(op)}_concat", op, list(op.inputs), types, [op.result.type], body)
        _replace(op, kernel.results[0])

    # Reshapes ---------------------------------------------------------------------------------------------------------

    def _reshape(self, op: Reshape, at_run_time: RunTimeSizes) -> None:
        """Entries cross one by one where how many are there is known at run time."""
        last = len(shape_of(op.result.type)) - 1
        largest = 1 if last in at_run_time.single(op.result) else self._entries(op.result)
        _replace(op, _reshape_kernel(op, op.src, op.result.type, largest))


def _sizes_in_kernels(function: func.FuncOp) -> RunTimeSizes | None:
    """Sizes also of what kernels make, None where not all are understood: they decide how wide tokens are, not what is right."""
    try:
        return RunTimeSizes(function, through_kernels=True)
    except CompileError:
        return None


def _reshape_kernel(near: Operation, value: SSAValue, required: TensorType, size: int) -> SSAValue:
    """A kernel before `near` that passes `value` on under another shape."""
    old, new = shape_of(value.type), required.get_shape()
    scalar = _scalar(value)
    source, target = (ItensorType.from_order(order, scalar) for order in reshape_orders(_order_of(value), old, new, size))

    def body(builder: Builder, ports: Sequence[SSAValue]) -> Sequence[SSAValue]:
        return [builder.insert(ReassociateOp(ports[0], target)).result]

    return _kernel(f"{_stem(near)}_reshape", near, [value], [source], [required], body).results[0]


def _reshaped(kernel: KernelOp, value: OpResult, required: TensorType) -> SSAValue:
    """A slice that drops unit dimensions is a slice and a reshape."""
    if value.type == required:
        return value
    assert kernel.next_op is not None
    return _reshape_kernel(kernel.next_op, value, required, shape_of(value.type)[-1] if shape_of(value.type) else 1)


def is_host_reshape(op: Reshape) -> bool:
    """Whether only the function's boundary is on one side: then the bytes are the same and no hardware is needed."""
    return _from_argument(op.src) or _reaches_return_only(op.result)


def _from_argument(value: SSAValue) -> bool:
    return isinstance(through_prefixes(value), BlockArgument)


def _reaches_return_only(value: SSAValue) -> bool:
    return all(isinstance(use.operation, func.ReturnOp) for use in uses_through(value))


def _stripes(
    first: tensor.ExtractSliceOp, siblings: Sequence[tensor.ExtractSliceOp]
) -> tuple[Sequence[tensor.ExtractSliceOp], int] | None:
    """The slices in order and the dimension they divide, where they are all that is read of an argument, for copies."""
    source = first.source
    if not (_from_argument(source) and all(STRIPE.on(op) for op in siblings)):
        return None
    if any(use.operation not in siblings for use in source.uses):
        return None
    pieces = zip(shape_of(source.type), first.static_sizes.get_values(), strict=True)
    divided = [dim for dim, (extent, size) in enumerate(pieces) if extent != size]
    if len(divided) != 1:
        return None
    ordered = sorted(siblings, key=lambda op: op.static_offsets.get_values()[divided[0]])
    size = first.static_sizes.get_values()[divided[0]]
    places = [op.static_offsets.get_values()[divided[0]] for op in ordered]
    complete = places == list(range(0, shape_of(source.type)[divided[0]], size))
    return (ordered, divided[0]) if complete else None


def _required_order(value: SSAValue) -> StreamOrder | None:
    """The order in which the kernels that read `value` want it: with reuse loops where one reads it, without for several."""
    types = [use.operation.body.block.args[use.index].type for use in value.uses if isinstance(use.operation, KernelOp)]
    if not types or not isinstance(types[0], ItensorType):
        return None
    return types[0].order if len(types) == 1 else types[0].order.without_reuse()


def _rows(extents: Sequence[int], largest: int) -> StreamOrder:
    return row_major(extents, tuple(largest_divisor(extent, largest) for extent in extents))


def _order_of(value: SSAValue) -> StreamOrder | None:
    """The order in which a kernel streams `value`, None where no kernel does."""
    kernel = value.owner
    if not (isinstance(value, OpResult) and isinstance(kernel, KernelOp)):
        return None
    inside = kernel.terminator.arguments[value.index].type
    return inside.order if isinstance(inside, ItensorType) else None


# Building -------------------------------------------------------------------------------------------------------------


Body: TypeAlias = Callable[[Builder, Sequence[SSAValue]], Sequence[SSAValue]]
"""What a kernel makes of its ports."""


def _kernel(
    name: str,
    near: Operation,
    values: Sequence[SSAValue],
    types: Sequence[ItensorType],
    tensors: Sequence[Attribute],
    body: Body,
) -> KernelOp:
    block = Block(arg_types=types)
    for argument, value in zip(block.args, values, strict=True):
        argument.name_hint = value.name_hint
    builder = Builder(InsertPoint.at_end(block))
    builder.insert(YieldOp(*body(builder, block.args)))
    kernel = Builder(InsertPoint.before(near)).insert(KernelOp(name, values, [], tensors, block))
    kernel.attributes |= MODULE.retained(near)
    return kernel


def _replace(op: Operation, value: SSAValue) -> None:
    value.name_hint = value.name_hint or op.results[0].name_hint
    for use in list(op.results[0].uses):
        use.operation.operands[use.index] = value
    Rewriter.erase_op(op)


def _stem(op: Operation) -> str:
    if (name := NAME.of(op)) is not None:
        return identifier(name)
    return identifier(MODULE.of(op) or "layout")


def _scalar(value: SSAValue):
    assert isa(value.type, TensorType)
    return value.type.element_type


def _check_slice(op: tensor.ExtractSliceOp) -> None:
    if op.offsets or op.sizes or op.strides:
        raise CompileError("slice at run-time offsets", where=name_of(op), accepted="constant offsets and sizes")
    if any(stride != 1 for stride in op.static_strides.get_values()):
        raise CompileError(f"slice with strides {list(op.static_strides.get_values())}", where=name_of(op), accepted="stride 1")
