"""How much of a tensor is there at run time: what `stc.sizes` of a function's arguments says, through linalg and reshapes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops, name_of, shape_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.facts import NAME, SIZES
from stc.dialects.itensor import ReadOp, WriteOp
from stc.dialects.itensor.destinations import root_of
from stc.dialects.updates import is_prefix_read, is_update
from stc.dialects.use_def import through_reshapes
from stc.iteration.size import Size, Symbol, is_static, maximum, sum_of, symbols_in


class RunTimeSizes:
    """The sizes of the tensors of a function, outside kernels: extents, but for what follows an argument that is there in part.

    `through_kernels`: also where it follows through the tasks of kernels. CompileError where an operation gives a dimension two
    sizes, or has no rule for one known at run time.
    """

    def __init__(self, function: func.FuncOp, *, through_kernels: bool = False):
        self._through_kernels = through_kernels
        self._sizes: dict[SSAValue, tuple[Size, ...]] = {}
        self._loops: dict[GenericOp, tuple[Size, ...]] = {}
        _require_one_maximum_each(function)
        for index, argument in enumerate(function.body.block.args):
            entry = None if function.arg_attrs is None else function.arg_attrs.data[index]
            if (sizes := SIZES.of(entry)) is not None:
                self._sizes[argument] = _checked(sizes, argument)
        if self._sizes:
            for op in function.body.block.ops:
                self._pass(op)

    def of(self, value: SSAValue) -> tuple[Size, ...]:
        """The size of each dimension of a tensor."""
        return self._sizes.get(value, shape_of(value.type))

    def single(self, value: SSAValue) -> tuple[int, ...]:
        """The dimensions of a tensor which cross entry by entry: whose sizes are known at run time, and along which a tensor
        continues the beginning of an argument that is updated: memory has more of it."""
        found = tuple(dimension for dimension, size in enumerate(self.of(value)) if not is_static(size))
        if not isinstance(concat := value.owner, tensor.ConcatOp) or (along := concat.dim.value.data) in found:
            return found
        sources = [through_reshapes(operand).owner for operand in concat.inputs]
        is_part = any(isinstance(source, tensor.ExtractSliceOp) and is_prefix_read(source) for source in sources)
        return (*found, along) if is_part else found

    def loops_of(self, op: GenericOp) -> tuple[Size, ...]:
        """How often each loop of a generic runs."""
        return self._loops.get(op, GenericLoops(op).extents)

    def _pass(self, op: Operation) -> None:
        if all(is_static(size) for value in op.operands if isa(value.type, TensorType) for size in self.of(value)):
            return
        match op:
            case KernelOp() if self._through_kernels:
                self._through_kernel(op)
            case GenericOp():
                self._through_generic(op)
            case tensor.CollapseShapeOp():
                joined = [[self.of(op.src)[index] for index in group] for group in _groups(op.reassociation)]
                self._sizes[op.result] = tuple(
                    _joined(sizes, extent, op) for sizes, extent in zip(joined, shape_of(op.result.type), strict=True)
                )
            case tensor.ExpandShapeOp():
                shape, found = shape_of(op.result.type), list[Size]()
                for group, size in zip(_groups(op.reassociation), self.of(op.src), strict=True):
                    found += _spread(size, [shape[index] for index in group], op)
                self._sizes[op.result] = tuple(found)
            case tensor.ConcatOp():
                self._through_concat(op)
            case tensor.ExtractSliceOp() if not op.offsets and not op.sizes:
                self._through_slice(op)
            case tensor.InsertSliceOp() if is_update(op):
                return  # all of a tensor of which the host knows how much is there
            case _ if any(isa(result.type, TensorType) for result in op.results) and not op.regions:
                what = f"'{op.name}' of a tensor whose size is known at run time"
                accepted = "linalg.generic, concatenations, slices, reshapes that add or drop dimensions of one entry"
                raise CompileError(what, where=name_of(op), accepted=accepted)
            case _:
                return  # kernels: what leaves them is there in part where they say so

    def _through_kernel(self, kernel: KernelOp) -> None:
        self._pass_on(kernel.inputs, kernel.arguments)
        for task in [op for op in kernel.body.block.ops if isinstance(op, TaskOp)]:
            self._pass_on(task.ins, task.input_ports)
            self._through_task(task)
        self._pass_on(kernel.terminator.arguments, kernel.outputs)

    def _pass_on(self, sources: Sequence[SSAValue], targets: Sequence[SSAValue]) -> None:
        self._sizes |= {new: self._sizes[old] for old, new in zip(sources, targets, strict=True) if old in self._sizes}

    def _through_task(self, task: TaskOp) -> None:
        """What a loop reads along a dimension of some size, it writes as often."""
        loops: dict[SSAValue, Size] = {}
        for read in [op for op in task.walk() if isinstance(op, ReadOp) and op.source in self._sizes]:
            for dimension, size in enumerate(self._sizes[read.source]):
                if not is_static(size):
                    loops |= {read.indices[loop]: size for loop in read.itensor_type.order.loops_of(dimension)}
        for write in [op for op in task.walk() if isinstance(op, WriteOp) and isinstance(root_of(op.destination), BlockArgument)]:
            order, port = write.itensor_type.order, root_of(write.destination)
            assert isinstance(port, BlockArgument)
            along = [[write.indices[loop] for loop in order.loops_of(dimension)] for dimension in range(order.rank)]
            found = [loops.get(each[0], extent) if len(each) == 1 else extent
                     for each, extent in zip(along, order.static_shape, strict=True)]
            self._sizes[task.results[port.index - len(task.ins)]] = tuple(found)

    def _through_generic(self, op: GenericOp) -> None:
        loops = GenericLoops(op)
        found: list[Size] = list(loops.extents)
        for value, dims in zip(op.inputs, loops.input_dims, strict=True):
            for dim, size in zip(dims, self.of(value), strict=True):
                if not is_static(size) and found[dim] != size:
                    if not is_static(found[dim]):
                        what = f"a loop runs {found[dim]} times for one operand and {size} times for another"
                        raise CompileError(what, where=name_of(op), accepted="one size")
                    found[dim] = size
        self._loops[op] = tuple(found)
        for result, dims in zip(op.results, loops.output_dims, strict=True):
            self._sizes[result] = tuple(found[dim] for dim in dims)

    def _through_slice(self, op: tensor.ExtractSliceOp) -> None:
        """Along dimensions whose size is known at run time a slice has all that there is."""
        slices = zip(op.static_offsets.get_values(), op.static_sizes.get_values(), self.of(op.source), strict=True)
        found: list[Size] = []
        for offset, extent, size in slices:
            if not is_static(size) and (offset, max(maximum(size), int(extent))) != (0, extent):
                what = f"entries {offset} to {int(offset) + int(extent)} of a dimension that has {size}"
                raise CompileError(what, where=name_of(op), accepted=f"slices of the first {maximum(size)} at least")
            found.append(int(extent) if is_static(size) else size)
        shape = shape_of(op.result.type)
        if len(shape) < len(found):  # dimensions of one entry were dropped
            single = [size for size, extent in zip(found, op.static_sizes.get_values(), strict=True) if extent == 1]
            if any(not is_static(size) for size in single):
                raise _lost(op)
            longer = iter([size for size in found if size != 1])
            found = [1 if extent == 1 else next(longer) for extent in shape]
        self._sizes[op.result] = tuple(found)

    def _through_concat(self, op: tensor.ConcatOp) -> None:
        along = op.dim.value.data
        parts = [self.of(value) for value in op.inputs]
        sizes = list(parts[0])
        sizes[along] = sum_of(*(part[along] for part in parts))
        if any(part[:along] + part[along + 1 :] != parts[0][:along] + parts[0][along + 1 :] for part in parts):
            what = "a concatenation of tensors whose other dimensions have different sizes at run time"
            raise CompileError(what, where=name_of(op), accepted="equal sizes")
        self._sizes[op.result] = tuple(sizes)


def symbols_of(entry: DictionaryAttr | None) -> tuple[Symbol, ...]:
    """What the sizes of an argument with these attributes depend on; none of one that is there as a whole."""
    sizes = SIZES.of(entry)
    return () if sizes is None else symbols_in(sizes)


def _require_one_maximum_each(function: func.FuncOp) -> None:
    maxima: dict[str, Symbol] = {}
    for symbol in (symbol for entry in function.arg_attrs or () for symbol in symbols_of(entry)):
        if (known := maxima.setdefault(symbol.name, symbol)) != symbol:
            what = f"sizes of arguments depend on {known} and on {symbol}"
            raise CompileError(what, where=f"@{function.sym_name.data}", accepted="one maximum of each name")


def symbol_argument(function: func.FuncOp, symbol: Symbol) -> BlockArgument:
    """The scalar argument that a symbol is called after; CompileError where there is none."""
    for index, argument in enumerate(function.body.block.args):
        entry = None if function.arg_attrs is None else function.arg_attrs.data[index]
        if NAME.of(entry) == symbol.name and not isinstance(argument.type, TensorType):
            return argument
    what = f"sizes depend on '{symbol.name}', and no scalar argument is called so"
    accepted = f'an argument of type i32 with {{stc.name = "{symbol.name}"}}'
    raise CompileError(what, where=f"@{function.sym_name.data}", accepted=accepted)


def _checked(sizes: tuple[Size, ...], argument: SSAValue) -> tuple[Size, ...]:
    shape = shape_of(argument.type)
    pairs = list(zip(sizes, shape, strict=False))
    if len(sizes) != len(shape) or any(maximum(size) > extent if not is_static(size) else size != extent for size, extent in pairs):
        what = f"stc.sizes [{', '.join(map(str, sizes))}] of an argument of shape {list(shape)}"
        raise CompileError(what, accepted="its extents, or sizes of symbols up to them")
    return sizes


def _groups(reassociation: ArrayAttr) -> list[list[int]]:
    groups = [group for group in reassociation if isinstance(group, ArrayAttr)]
    return [[entry.value.data for entry in group if isinstance(entry, IntegerAttr)] for group in groups]


def _joined(sizes: Sequence[Size], extent: int, op: Operation) -> Size:
    """Of one dimension made of several."""
    if all(is_static(size) for size in sizes):
        return extent
    longer = [size for size in sizes if size != 1]
    if len(longer) > 1:
        raise _lost(op)
    return longer[0]


def _spread(size: Size, extents: Sequence[int], op: Operation) -> list[Size]:
    """Of several dimensions made of one."""
    if is_static(size):
        return list(extents)
    if sum(extent != 1 for extent in extents) != 1:
        raise _lost(op)
    return [size if extent != 1 else 1 for extent in extents]


def _lost(op: Operation) -> CompileError:
    what = f"'{op.name}' joins or cuts a dimension whose size is known at run time"
    return CompileError(what, where=name_of(op), accepted="reshapes that add or drop dimensions of one entry")
