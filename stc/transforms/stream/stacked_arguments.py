"""Tensors of one layer become those of all layers: a leading dimension, through all that the host does with them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from xdsl.builder import Builder
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, MemRefType, TensorType, i64
from xdsl.dialects.linalg.ops import FillOp, GenericOp, IndexOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import all_dims, loop_count
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.facts import BEGINS, SIZES
from stc.dialects.itensor import ItensorType
from stc.iteration.normal_form import same_sequence
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.transforms.linalg.generics import PARALLEL, shape_of, started_alike, to_map
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape, groups_of

HANDLED = "reshapes, slices, concatenations, transpositions and packing"


class StackedArguments:
    """The values of a function that are of all `count` layers once some arguments are, and the operations that make them.

    Of an operation with such an operand, the result holds what it makes of each layer's operands. CompileError where it is none of
    those that a compile leaves to the host. `where` names the function in messages.
    """

    def __init__(self, function: func.FuncOp, kernel: KernelOp, count: int, where: str):
        self._function, self._kernel, self._count, self._where = function, kernel, count, where
        self._stacked: set[SSAValue] = set()
        self._replaced: list[Operation | Block] = []

    def stack(self, arguments: Collection[BlockArgument]) -> None:
        """These arguments, up to the operands of the kernel, whose own arguments get their new types too."""
        for argument in arguments:
            self._stack_sizes(argument.index)
            self._retype(argument)
        self._widen_users(before_kernel=True)
        for value, argument in zip(self._kernel.inputs, self._kernel.arguments, strict=True):
            if value in self._stacked:
                Rewriter.replace_value_with_new_type(argument, stacked_memory(argument.type, self._count))

    def stack_results(self, results: Collection[SSAValue]) -> None:
        """These results of the kernel, which hold all layers already, down to what the function returns."""
        self._stacked.update(results)
        self._widen_users(before_kernel=False)

    def update_signature(self) -> None:
        """The type of the function, as its arguments and what it returns have become."""
        block = self._function.body.block
        assert block.last_op is not None
        types = [argument.type for argument in block.args], [value.type for value in block.last_op.operands]
        self._function.function_type = FunctionType.from_lists(*types)

    def erase_replaced(self) -> None:
        """What computed on one layer alone."""
        for made in self._replaced:
            if isinstance(made, Operation) and made.parent is not None and not any(result.uses for result in made.results):
                before = made.operands[-1].owner if isinstance(made, FillOp) else None
                Rewriter.erase_op(made)
                if isinstance(before, tensor.EmptyOp) and not before.tensor.uses:
                    Rewriter.erase_op(before)

    def is_stacked(self, value: SSAValue) -> bool:
        return value in self._stacked

    def layout(self, layout: ItensorType) -> ItensorType:
        """The tokens of all layers, one layer after the other."""
        return ItensorType.from_order(stacked_order(layout.order, self._count), layout.element_type)

    # Operations of the host ---------------------------------------------------------------------------------------------

    def _widen_users(self, before_kernel: bool) -> None:
        operations = list(self._function.body.block.ops)
        at = operations.index(self._kernel)
        for op in operations[:at] if before_kernel else operations[at + 1 :]:
            if not isinstance(op, func.ReturnOp) and any(value in self._stacked for value in op.operands):
                self._widen(op)

    def _widen(self, op: Operation) -> None:
        match op:
            case tensor.CollapseShapeOp():
                fine = shape_of(op.src)[1:]  # of a layer
                groups = [tuple(fine[index.value.data] for index in group) for group in op.reassociation]
                self._replace(op, collapse_shape(op.src, ((self._count,), *groups) if groups else ((self._count, *fine),)))
            case tensor.ExpandShapeOp():
                groups = groups_of(op)  # none of what is one entry
                entry = shape_of(op.result)
                self._replace(op, expand_shape(op.src, ((self._count,), *groups) if groups else ((self._count, *entry),)))
            case tensor.ExtractSliceOp() if not (op.offsets or op.sizes or op.strides):
                static = (op.static_offsets, op.static_sizes, op.static_strides)
                offsets, sizes, strides = (list(each.get_values()) for each in static)
                kind = self._wider(op.result.type)
                self._replace(op, tensor.ExtractSliceOp(op.source, [0, *offsets], [self._count, *sizes], [1, *strides], kind))
            case tensor.ConcatOp() if all(value in self._stacked or isinstance(value.owner, FillOp) for value in op.inputs):
                builder = Builder(InsertPoint.before(op))
                inputs = [value if value in self._stacked else self._started(value, builder) for value in op.inputs]
                self._replace(op, tensor.ConcatOp(inputs, op.dim.value.data + 1, self._wider(op.result.type)))
            case GenericOp() if all_dims(op) is not None and all(_starts_anew(value) for value in op.outputs):
                self._widen_generic(op)
            case PackOp():
                self._widen_packing(op, op.stripes)
            case UnpackOp():
                self._retype(op.result)
                self._widen_packing(op, ())
            case _:
                what = f"'{op.name}' on tensors that each layer has its own of"
                raise CompileError(what, where=self._where, accepted=HANDLED)

    def _started(self, value: SSAValue, builder: Builder) -> SSAValue:
        """What is empty, or filled with one value, for all layers."""
        made = started_alike(value, self._wider(value.type).get_shape())
        self._replaced.append(value.owner)
        return [builder.insert(op) for op in made][-1].results[0]

    def _widen_generic(self, op: GenericOp) -> None:
        """One more parallel loop, along the leading dimension of what has one."""
        loops, dims = loop_count(op) + 1, all_dims(op)
        assert dims is not None
        for index in [inner for inner in op.walk() if isinstance(inner, IndexOp)]:
            index.dim = IntegerAttr(index.dim.value.data + 1, i64)
        builder = Builder(InsertPoint.before(op))
        for index, value in enumerate(op.outputs, start=len(op.inputs)):
            op.operands[index] = self._started(value, builder)
        leading = [(0,) if value in self._stacked else () for value in op.inputs] + [(0,)] * len(op.outputs)
        moved = [tuple(None if loop is None else loop + 1 for loop in each) for each in dims]
        op.indexing_maps = ArrayAttr([to_map(loops, (*first, *each)) for first, each in zip(leading, moved, strict=True)])
        op.iterator_types = ArrayAttr([PARALLEL, *op.iterator_types])
        for result in op.results:
            self._retype(result)

    def _widen_packing(self, op: PackOp | UnpackOp, packed: Sequence[SSAValue]) -> None:
        """All words of a layer before those of the next, in each stripe; `packed`: those whose types are still of one layer."""
        layout, stripes = op.layout, op.stripes
        op.layout_attr = self.layout(layout)
        for value in packed:
            assert isa(value.type, TensorType)
            words, *_ = value.type.get_shape()
            kind = TensorType(value.type.element_type, [self._count * words])
            self._stacked.add(Rewriter.replace_value_with_new_type(value, kind))
        try:
            op.verify_()
            orders = [[each.order for each in striped(kind, len(stripes))] for kind in (layout, op.layout)]
        except (VerifyException, ValueError) as error:
            raise self._ends_within_a_word(op, str(error)) from None
        for one, all_layers in zip(*orders, strict=True):
            if not same_sequence(stacked_order(one, self._count), all_layers):
                raise self._ends_within_a_word(op, f"{len(stripes)} stripes")

    def _ends_within_a_word(self, op: Operation, why: str) -> CompileError:
        name = op.operands[0].name_hint or "tensor"
        what = f"%{name}: the words of one layer are not apart from those of the next ({why})"
        return CompileError(what, where=self._where, accepted="tensors of whole words, as many in each stripe")

    # Types ------------------------------------------------------------------------------------------------------------

    def _wider(self, kind: Attribute) -> TensorType[Attribute]:
        if not isa(kind, TensorType):
            raise CompileError(f"a {kind} of each layer", where=self._where, accepted="tensors")
        return TensorType(kind.element_type, [self._count, *kind.get_shape()])

    def _retype(self, value: SSAValue) -> None:
        self._stacked.add(Rewriter.replace_value_with_new_type(value, self._wider(value.type)))

    def _replace(self, op: Operation, new: Operation) -> None:
        new.attributes.update(op.attributes)
        hint = op.results[0].name_hint
        Rewriter.replace_op(op, new)
        new.results[0].name_hint = hint
        self._stacked.add(new.results[0])

    def _stack_sizes(self, index: int) -> None:
        """What is there of a tensor, and where it begins, in its leading dimension: all layers, from the first on."""
        entries = self._function.arg_attrs
        if entries is None:
            return
        changed = dict(entries.data[index].data)
        for fact, leading in ((SIZES, self._count), (BEGINS, 0)):
            if (said := fact.of(changed)) is not None:
                changed |= fact.entry((leading, *said))
        self._function.arg_attrs = ArrayAttr([*entries.data[:index], DictionaryAttr(changed), *entries.data[index + 1 :]])


def _starts_anew(value: SSAValue) -> bool:
    """Whether what an operation computes on is one number, or nothing."""
    return isinstance(value.owner, FillOp | tensor.EmptyOp)


def stacked_order(order: StreamOrder, count: int) -> StreamOrder:
    """`order` once for each of `count` layers, which are the leading dimension."""
    moved = [Coordinate(tuple(loop + 1 for loop in each.loops), each.constant) for each in order.coordinates]
    return StreamOrder((1, *order.element), (Loop(count, 1), *order.loops), (Coordinate((0,)), *moved))


def stacked_memory(kind: Attribute, count: int) -> MemRefType[Attribute]:
    """The words of `count` layers."""
    assert isa(kind, MemRefType)
    words, *others = kind.get_shape()
    return MemRefType(kind.element_type, [count * words, *others])
