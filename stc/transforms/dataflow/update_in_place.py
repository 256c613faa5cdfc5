"""`update-in-place`: what a kernel computes and the function inserts into one of its inputs is written there by the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, ModuleOp
from xdsl.ir import BlockArgument, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import shape_of
from stc.analysis.host_work import functions_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, Place
from stc.dialects.facts import BEGINS, NAME
from stc.dialects.itensor import ItensorType, ReassociateOp, SymbolType
from stc.dialects.updates import offset_scalar, scalar_argument, through_prefixes
from stc.dialects.use_def import RESHAPES, through_reshapes
from stc.iteration.order import Coordinate, StreamOrder
from stc.iteration.proof_obligations import Disjoint, Holds, answer
from stc.iteration.size import Size, Symbol, sum_of
from stc.iteration.vectorize import vectorized
from stc.transforms.dataflow.connections import connect
from stc.transforms.dataflow.kernel_results import with_results
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape, groups_of


@dataclass(frozen=True)
class UpdateInPlace(ModulePass):
    """A `tensor.insert_slice` of a kernel's result into an input that the kernel reads, at a scalar of the function, is an update
    in place (`into %cache at [0, %pos, 0]`): the host inserts nothing. The kernel may read the input's beginning, a
    `tensor.extract_slice` at 0: it takes the whole input then, and reads as much of it, from where `stc.begins` says.

    The tensor has the value that it had before wherever the kernel reads it: where what is read and what is written are not proved
    disjoint, the order is `after read`. A row of wider vectors than those that are read is cut into these, by a converter. The
    scalar becomes a symbol of the kernel whose maximum is the last offset that there is.

        %y, %r = dataflow.kernel @k(%c = %cache : tensor<8x4xf32> as !C, ...) -> (..., tensor<1x4xf32> as !R) {...}
        %at = arith.index_cast %p : i32 to index
        %u = tensor.insert_slice %r into %cache[%at, 0] [1, 4] [1, 1] : tensor<1x4xf32> into tensor<8x4xf32>
      becomes
        %y, %u = dataflow.kernel @k(%c = %cache : tensor<8x4xf32> as !C, ..., %pos = %p : i32 as !itensor.symbol<pos<=7>)
            -> (..., tensor<8x4xf32> as !R into %c at [%pos, 0] after read) {...}
    """

    name = "update-in-place"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            _require_updates(function)
            for insert in [found for found in function.body.block.ops if isinstance(found, tensor.InsertSliceOp)]:
                _Update(function, insert).apply()
        erase_dead_ops(op)


def _require_updates(function: func.FuncOp) -> None:
    """CompileError where a part of an argument begins at run time and nothing updates it: memory would have that part alone."""
    for argument, entry in zip(function.body.block.args, function.arg_attrs or (), strict=False):
        begins = BEGINS.of(entry)
        if begins is None or all(begin == 0 for begin in begins):
            continue
        rank = len(shape_of(argument.type))
        users = [use.operation for use in argument.uses]
        if len(begins) != rank or not any(isinstance(user, tensor.InsertSliceOp) and user.dest is argument for user in users):
            what = f"stc.begins [{', '.join(map(str, begins))}] of an argument of {rank} dimensions"
            accepted = "one size for each dimension, of an argument that the function updates by tensor.insert_slice"
            raise CompileError(what, where=f"@{function.sym_name.data}", accepted=accepted)


class _Update:
    def __init__(self, function: func.FuncOp, insert: tensor.InsertSliceOp):
        self._function, self._insert = function, insert
        result = through_reshapes(insert.source)
        if not isinstance(result, OpResult) or not isinstance(result.op, KernelOp) or len(list(result.uses)) != 1:
            raise self._refused("what is inserted is no result of a kernel, or is used elsewhere too")
        self._kernel, self._index = result.op, result.index
        operands = [index for index, value in enumerate(self._kernel.inputs) if through_prefixes(value) is insert.dest]
        if not isinstance(insert.dest, BlockArgument) or len(operands) != 1:
            raise self._refused(f"kernel @{self._kernel.sym_name.data} takes what is inserted into {len(operands)} times")
        self._operand = operands[0]

    def apply(self) -> None:
        kernel, insert = self._kernel, self._insert
        value, shape = self._whole(kernel.inputs[self._operand]), shape_of(insert.dest.type)
        sizes = [int(size) for size in insert.static_sizes.get_values()]
        if set(insert.static_strides.get_values()) != {1} or insert.sizes:
            raise self._refused("a slice with strides, or of a size known at run time")
        inside = _without_units(shape_of(value.type))
        outside = _without_units(shape)
        if [shape[d] for d in outside] != [shape_of(value.type)[d] for d in inside]:
            raise self._refused(f"{value.type} is another reshape of it than one that adds or drops dimensions of one entry")
        offsets, extents = [(0, False)] * len(shape_of(value.type)), [1] * len(shape_of(value.type))
        offset_values = iter(insert.offsets)
        found = [next(offset_values) if at == DYNAMIC_INDEX else int(at) for at in insert.static_offsets.get_values()]
        for there, here in zip(outside, inside, strict=True):
            extents[here] = sizes[there]
            at = found[there]
            offsets[here] = (at, False) if isinstance(at, int) else (self._scalar(at, shape[there] - sizes[there]), True)
        row = self._reassociated(extents)
        place = Place(self._operand, tuple(at for at, _ in offsets), tuple(scalar for _, scalar in offsets))
        self._begin(kernel.arguments[self._operand], outside, inside)
        port = kernel.arguments[self._operand]
        row = self._in_vectors_of(port, row)
        assert isinstance(port.type, ItensorType) and isinstance(row.type, ItensorType)
        symbolic: list[Size] = list(kernel.symbolic_offsets_of(place))
        is_disjoint = isinstance(answer(Disjoint(port.type.order, row.type.order, tuple(symbolic))), Holds)
        place = Place(place.operand, place.offsets, place.scalars, after_read=bool(port.uses) and not is_disjoint)
        self._replace(row, place, value)

    def _begin(self, port: BlockArgument, outside: Sequence[int], inside: Sequence[int]) -> None:
        """What the kernel reads begins where that begins of which the function says how much is there."""
        entries = self._function.arg_attrs
        assert isinstance(self._insert.dest, BlockArgument) and isinstance(port.type, ItensorType)
        begins = None if entries is None else BEGINS.of(entries.data[self._insert.dest.index])
        if begins is None:
            return
        coordinates = list(port.type.order.coordinates)
        for there, here in zip(outside, inside, strict=True):
            coordinates[here] = Coordinate(coordinates[here].loops, sum_of(coordinates[here].constant, begins[there]))
        order = replace(port.type.order, coordinates=tuple(coordinates))
        Rewriter.replace_value_with_new_type(port, ItensorType.from_order(order, port.type.element_type))

    def _scalar(self, offset: SSAValue, most: int) -> int:
        """The kernel's operand that is this offset, of at most `most`."""
        scalar = offset_scalar(offset)
        argument = scalar_argument(scalar)
        if argument is None or argument.block is not self._function.body.block:
            raise self._refused("an offset that is no scalar of the function")
        kernel = self._kernel
        for symbol, port in kernel.symbols.items():
            if scalar_argument(kernel.inputs[port.index]) is argument:
                if symbol.maximum > most:
                    raise self._refused(f"{symbol}, and the last offset that there is is {most}")
                return port.index
        entry = None if self._function.arg_attrs is None else self._function.arg_attrs.data[argument.index]
        symbol = Symbol(NAME.of(entry) or f"scalar{argument.index}", most)
        _move_to_front(scalar)
        block = kernel.body.block
        block.insert_arg(SymbolType(symbol), len(block.args)).name_hint = symbol.name
        kernel.operands = [*kernel.operands, scalar]
        return len(kernel.inputs) - 1

    def _reassociated(self, extents: Sequence[int]) -> SSAValue:
        """What the kernel yields, with dimensions of one entry as in its operand."""
        value = self._kernel.terminator.arguments[self._index]
        assert isinstance(value.type, ItensorType)
        order, shape = value.type.order, value.type.tensor_shape
        own = _without_units(shape)
        if [shape[d] for d in own] != [extent for extent in extents if extent != 1]:
            raise self._refused(f"{value.type} is another reshape of it than one that adds or drops dimensions of one entry")
        dims = iter(own)
        sides = [None if extent == 1 else next(dims) for extent in extents]
        element = tuple(1 if d is None else order.element[d] for d in sides)
        target = StreamOrder(element, order.loops, tuple(Coordinate() if d is None else order.coordinates[d] for d in sides))
        if target == order:
            return value
        op = ReassociateOp(value, ItensorType.from_order(target, value.type.element_type))
        Builder(InsertPoint.before(self._kernel.terminator)).insert(op).result.name_hint = value.name_hint
        return op.result

    def _in_vectors_of(self, port: SSAValue, row: SSAValue) -> SSAValue:
        """`row` in vectors no wider than `port` reads: in memory, a word is one of those."""
        assert isinstance(port.type, ItensorType) and isinstance(row.type, ItensorType)
        order, width = row.type.order, prod(port.type.order.element)
        if order.element_count != prod(order.element[-1:]) or order.element_count <= width or order.element_count % width:
            return row
        narrow = ItensorType.from_order(vectorized(order, width), row.type.element_type)
        return connect(Builder(InsertPoint.before(self._kernel.terminator)), row, narrow)

    def _replace(self, row: SSAValue, place: Place, operand: SSAValue) -> None:
        kernel, insert = self._kernel, self._insert
        kernel.operands[place.operand] = operand
        inside, types = list(kernel.terminator.arguments), [output.type for output in kernel.outputs]
        inside[self._index], types[self._index] = row, operand.type
        places = list(kernel.places)
        places[self._index] = place
        reshapes, source = list[Operation](), insert.source
        while isinstance(source.owner, RESHAPES):
            reshapes.append(source.owner)
            source = source.owner.operands[0]
        new = with_results(kernel, inside, types, places)
        for old, result in zip(kernel.outputs, new.outputs, strict=True):
            result.name_hint = old.name_hint
            if old.index != self._index:
                old.replace_all_uses_with(result)
        updated = self._reshaped_back(new.outputs[self._index], operand)
        updated.name_hint = insert.result.name_hint
        insert.result.replace_all_uses_with(updated)
        Rewriter.erase_op(insert)
        for op in reshapes:
            Rewriter.erase_op(op)
        Rewriter.erase_op(kernel)

    def _whole(self, value: SSAValue) -> SSAValue:
        """All of the argument of which `value`, reshaped, is the beginning, in the same way reshaped."""
        reshapes, part = list[tensor.CollapseShapeOp | tensor.ExpandShapeOp](), value
        is_part = False
        while part is not self._insert.dest:
            owner = part.owner
            if isinstance(owner, tensor.ExtractSliceOp):
                is_part = True
            elif isinstance(owner, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
                reshapes.append(owner)
            assert isinstance(owner, Operation)
            part = owner.operands[0]
        if not is_part:
            return value
        whole, builder = part, Builder(InsertPoint.before(self._kernel))
        for reshape in reversed(reshapes):
            whole = builder.insert(self._again(reshape, whole)).results[0]
            whole.name_hint = value.name_hint
        return whole

    def _again(self, reshape: tensor.CollapseShapeOp | tensor.ExpandShapeOp, whole: SSAValue) -> Operation:
        """`reshape`, of a tensor of which its own operand is the beginning."""
        groups, shape = groups_of(reshape), list(shape_of(whole.type))
        if isinstance(reshape, tensor.CollapseShapeOp):
            fine = iter(shape)
            return collapse_shape(whole, tuple(tuple(next(fine) for _ in group) for group in groups))
        if any(extent != prod(group) and len(_without_units(group)) != 1 for extent, group in zip(shape, groups, strict=True)):
            raise self._refused(f"a reshape that cuts a dimension of which only {list(shape_of(reshape.src.type))} is read")
        return expand_shape(whole, tuple(
            group if extent == prod(group) else tuple(extent if entries != 1 else 1 for entries in group)
            for extent, group in zip(shape, groups, strict=True)
        ))

    def _reshaped_back(self, result: SSAValue, operand: SSAValue) -> SSAValue:
        """The result as the tensor that `operand` is a reshape of: the reshapes undone."""
        builder = Builder(InsertPoint.before(self._insert))
        while isinstance(owner := operand.owner, tensor.CollapseShapeOp | tensor.ExpandShapeOp):
            undo = expand_shape if isinstance(owner, tensor.CollapseShapeOp) else collapse_shape
            result, operand = builder.insert(undo(result, groups_of(owner))).results[0], owner.src
        return result

    def _refused(self, what: str) -> CompileError:
        name = self._insert.result.name_hint or NAME.of(self._insert) or "an insertion"
        accepted = "a result of a kernel, inserted once into an input that the same kernel takes, at scalars of the function"
        where = f"@{self._function.sym_name.data}"
        return CompileError(f"'{name}' writes a part of a tensor: {what}", where=where, accepted=accepted)


def _move_to_front(scalar: SSAValue) -> None:
    """Let an entry of an argument be known to all kernels of the function."""
    chain = list[Operation]()
    while isinstance(scalar.owner, Operation):
        chain.insert(0, scalar.owner)
        scalar = scalar.owner.operands[0]
    for op in reversed(chain):
        block = op.parent
        assert block is not None and block.first_op is not None
        if op is not block.first_op:
            op.detach()
            block.insert_op_before(op, block.first_op)


def _without_units(shape: Sequence[int]) -> list[int]:
    return [dimension for dimension, extent in enumerate(shape) if extent != 1]
