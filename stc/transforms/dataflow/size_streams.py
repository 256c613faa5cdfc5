"""`size-streams`: streams of tensors that are there in part at run time carry no more than that part."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, ModuleOp, TensorType, i32, i64
from xdsl.ir import BlockArgument, Operation, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.host_work import functions_of
from stc.analysis.run_time_sizes import RunTimeSizes, symbol_argument
from stc.diagnostics import CompileError, NoRunTimeSize
from stc.dialects.dataflow import KernelOp, OwnKernelOp, TaskOp, YieldOp
from stc.dialects.itensor import (
    CastOp,
    ChunkOp,
    ConcatOp,
    ConverterOp,
    ForkOp,
    ItensorType,
    ReadOp,
    ReassociateOp,
    SizeOp,
    SplitOp,
    SymbolType,
    WriteOp,
)
from stc.dialects.itensor.accesses import constant_value
from stc.dialects.itensor.destinations import root_of
from stc.dialects.itensor.routing_ops import offsets_attr
from stc.dialects.use_def import uses_through
from stc.iteration.block_tokens import token_lanes
from stc.iteration.concatenation import begins_of, joined
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import Size, Symbol, is_static, maximum, minimum, sum_of, symbols_in
from stc.iteration.sized_reshapes import dealt, gathered, has_known_size, resized, sliced

PASSED = "tasks, forks, reshapes, slices, splits, concatenations and converters of such streams"


@dataclass(frozen=True)
class SizeStreams(ModulePass):
    """Where `stc.sizes` of an argument says that a dimension is as long as a scalar of a launch, loops along it run as often.

    Everything before this pass is decided for the largest sizes. From the arguments on, each stream and each loop that enumerates
    it takes the size of what it carries; a concatenation has the sum of its parts. Dimensions of such sizes must cross entry by
    entry, in a loop of their own, and may meet tasks, forks, concatenations, converters, and reshapes, slices and splits of other
    dimensions; anything else is refused by name. A converter that repeats its block for each such entry repeats it as often; the
    buffer of one that holds such entries has room for all of the largest sizes. Memory holds tensors as they lie at the largest
    sizes; results have entries only where there are some. What is proved later is proved for all values.

        func.func @main(%x: tensor<13x4xf32> {stc.sizes = [#itensor.size<pos<=13>, #itensor.size<4>]}, %p: i32 {stc.name = "pos"}) {
          %y = dataflow.kernel @k(%a = %x : tensor<13x4xf32> as !itensor.itensor<1x4xf32, iter_space: [13] * [1], ...>) ... {
              scf.for %i = %c0 to %c13 step %c1 { %t = itensor.read %a[%i] ... }
      becomes
          %y = dataflow.kernel @k(%a = %x : tensor<13x4xf32> as !itensor.itensor<1x4xf32, iter_space: [pos<=13] * [1], ...>,
                                  %pos = %p : i32 as !itensor.symbol<pos<=13>) ... {
              %n = itensor.size pos<=13 of %at
              scf.for %i = %c0 to %n step %c1 { %t = itensor.read %a[%i] ... }
    """

    name = "size-streams"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            sizes = RunTimeSizes(function)
            for kernel in [found for found in function.walk() if isinstance(found, KernelOp)]:
                _Sizing(function, sizes, kernel).apply()


@dataclass
class _Sizing:
    """One kernel, while its streams are sized. `orders`: those that have changed, by value."""

    function: func.FuncOp
    sizes: RunTimeSizes
    kernel: KernelOp
    orders: dict[SSAValue, StreamOrder] = field(default_factory=dict[SSAValue, StreamOrder])

    def apply(self) -> None:
        for outside, port in zip(self.kernel.inputs, self.kernel.arguments, strict=True):
            if isinstance(port.type, ItensorType) and isinstance(outside.type, TensorType):
                self._enter(outside, port, port.type.order)
        if not self.orders:
            return
        for op in list(self.kernel.body.block.ops):
            self._pass(op)
        self._require_final_results()
        symbols = self._symbols()
        for task in [found for found in self.kernel.body.block.ops if isinstance(found, TaskOp)]:
            self._bound_loops(task, symbols)
        retyped: list[tuple[SSAValue, ItensorType]] = []
        for value in [value for value in _values_in(self.kernel) if root_of(value) in self.orders]:
            assert isinstance(value.type, ItensorType)
            new = ItensorType.from_order(self._order(value), value.type.element_type)
            if value.type != new:
                retyped.append((value, new))
        for value, new in retyped:
            Rewriter.replace_value_with_new_type(value, new)

    def _require_final_results(self) -> None:
        """What leaves in part is read by the host alone: another kernel would read all of it."""
        for result, value in zip(self.kernel.outputs, self.kernel.terminator.arguments, strict=True):
            readers = [use.operation for use in uses_through(result) if not isinstance(use.operation, func.ReturnOp)]
            if isinstance(value.type, ItensorType) and not self._order(value).is_static and readers:
                what = f"a result of run-time size ({self._order(value)}) goes to '{readers[0].name}'"
                raise NoRunTimeSize(what, where=self._where, accepted="one kernel for all that has this size (a larger --on-chip)")

    # Which sizes there are ----------------------------------------------------------------------------------------------

    def _enter(self, outside: SSAValue, port: SSAValue, order: StreamOrder) -> None:
        for dimension, size in enumerate(self.sizes.of(outside)):
            if not is_static(size):
                if maximum(size) != order.static_shape[dimension]:
                    extent = order.static_shape[dimension]
                    what = f"{self._spelled(port)} is read as a whole, {extent} entries, of which {size} are there"
                    raise CompileError(what, where=self._where, accepted=f"its first {maximum(size)} (tensor.extract_slice)")
                order = _sized(order, dimension, size, self._spelled(port))
                self.orders[port] = order

    def _pass(self, op: Operation) -> None:
        """Give the results of `op` the sizes of what it is made of."""
        changed = [value for value in op.operands if root_of(value) in self.orders]
        match op:
            case TaskOp():
                self._through_task(op)
            case _ if not changed or isinstance(op, YieldOp):
                return
            case ForkOp():
                self.orders.update(dict.fromkeys(op.copies, self._order(op.source)))
            case ConcatOp():
                self._through_concat(op)
            case ReassociateOp() | CastOp():
                self._through_reshape(op)
            case ChunkOp():
                self._through_chunk(op)
            case SplitOp():
                self._through_split(op)
            case ConverterOp() if op.window is None:
                self._through_converter(op)
            case _:
                what = f"'{op.name}' of {self._spelled(changed[0])}, whose size is known at run time ({self._order(changed[0])})"
                raise NoRunTimeSize(what, where=self._where, accepted=PASSED)

    def _through_task(self, task: TaskOp) -> None:
        sizes: dict[SSAValue, Size] = {}
        if not any(root_of(value) in self.orders for value in task.ins):
            return
        if any(isinstance(op, OwnKernelOp) for op in task.walk()):
            what = f"own kernel @{task.sym_name.data} takes a stream of run-time size"
            raise NoRunTimeSize(what, where=self._where, accepted="own kernels of streams whose sizes are known")
        if any(access.segment is not None for access in _accesses(task)):
            what = f"task @{task.sym_name.data} takes a stream of run-time size, and has segments"
            raise NoRunTimeSize(what, where=self._where, accepted="segments in tasks whose sizes are known")
        for port, value in zip(task.input_ports, task.ins, strict=True):
            if root_of(value) in self.orders:
                self.orders[port] = self._order(value)
        reads = [access for access in _accesses(task) if isinstance(access, ReadOp)]
        for index, loop in [pair for read in reads for pair in zip(read.indices, self._order(read.source).loops, strict=True)]:
            known = sizes.setdefault(index, loop.trip) if not is_static(loop.trip) else loop.trip
            if known != loop.trip:
                raise self._uneven(task, known, loop.trip)
        if not sizes:
            return
        for read in reads:
            self._read(task, read, sizes)
        for write in [access for access in _accesses(task) if isinstance(access, WriteOp)]:
            self._write(task, write, sizes)

    def _read(self, task: TaskOp, read: ReadOp, sizes: Mapping[SSAValue, Size]) -> None:
        """What a converter sends again for each iteration of a loop, it sends as often as the loop runs."""
        order = self._order(read.source)
        found = _timed(order, read.indices, sizes)
        if found == order:
            return
        changed = [loop for loop, trip in enumerate(found.loops) if trip != order.loops[loop]]
        port = root_of(read.source)
        assert isinstance(port, BlockArgument)
        value = task.ins[port.index]
        sender = value.owner
        if (
            not isinstance(sender, ConverterOp)
            or sender.window is not None
            or not set(changed) <= set(order.reuse_loops)
            or changed[0] < sender.shared_loops
            or not value.has_one_use()
        ):
            raise self._uneven(task, found.loops[changed[0]].trip, order.loops[changed[0]].trip)
        self.orders[port] = self.orders[value] = found
        _fill_and_empty_in_turn(sender)

    def _uneven(self, task: TaskOp, size: Size, other: Size) -> NoRunTimeSize:
        what = f"a loop of task @{task.sym_name.data} takes {size} tokens of one stream and {other} of another"
        return NoRunTimeSize(what, where=self._where, accepted="one size for each loop, or a converter that repeats its block")

    def _write(self, task: TaskOp, write: WriteOp, sizes: Mapping[SSAValue, Size]) -> None:
        order = write.itensor_type.order
        found = _timed(order, write.indices, sizes)
        if found != order:
            port = root_of(write.destination)
            assert isinstance(port, BlockArgument)
            self.orders[port] = self.orders[root_of(task.outs[port.index - len(task.ins)])] = found

    def _through_concat(self, op: ConcatOp) -> None:
        along = sorted({dimension for start in op.offsets for dimension, entry in enumerate(start) if entry})
        parts, whole = [self._order(value) for value in op.inputs], self._order(op.result)
        sized = {dimension for part in parts for dimension in range(part.rank) if not has_known_size(part, dimension)}
        if not sized & {*along}:
            self._gather(op, parts, whole)
            return
        if others := sorted(sized - {*along}):
            what = f"{self._spelled(op.result)} concatenates along dimension {along[0]}, and {others[0]} is of run-time size"
            raise NoRunTimeSize(what, where=self._where, accepted="one dimension of run-time size")
        try:
            order = joined(parts, whole, *along)
        except (TypeError, ValueError) as error:
            what = f"{self._spelled(op.result)} is no concatenation along one loop over single entries ({error})"
            raise NoRunTimeSize(what, where=self._where, accepted="sizes known at run time along such a loop") from None
        self.orders[op.result] = order
        begins = begins_of(parts, along[0])
        op.offsets_prop = offsets_attr([[begin if d in along else 0 for d in range(order.rank)] for begin in begins])

    def _gather(self, op: ConcatOp, parts: Sequence[StreamOrder], whole: StreamOrder) -> None:
        """Parts of other dimensions than those of run-time size."""
        try:
            self.orders[op.result] = gathered(parts, whole, op.offsets)
        except ValueError as error:
            what = f"{self._spelled(op.result)} is no concatenation along other dimensions ({error})"
            accepted = "parts that have dimensions of run-time size whole, each of one size"
            raise NoRunTimeSize(what, where=self._where, accepted=accepted) from None

    def _through_reshape(self, op: ReassociateOp | CastOp) -> None:
        try:
            self.orders[op.result] = resized(self._order(op.source), self._order(op.result))
        except ValueError as error:
            what = f"{self._spelled(op.result)} is no reshape of other dimensions ({error})"
            accepted = "reshapes that keep dimensions of run-time size"
            raise NoRunTimeSize(what, where=self._where, accepted=accepted) from None

    def _through_chunk(self, op: ChunkOp) -> None:
        for part, offset in zip(op.slices, op.offsets, strict=True):
            try:
                self.orders[part] = sliced(self._order(op.source), self._order(part), offset)
            except ValueError as error:
                what = f"{self._spelled(part)} is no slice of other dimensions of {self._spelled(op.source)} ({error})"
                accepted = "slices that keep dimensions of run-time size whole"
                raise NoRunTimeSize(what, where=self._where, accepted=accepted) from None

    def _through_split(self, op: SplitOp) -> None:
        for part in op.parts:
            try:
                self.orders[part] = dealt(self._order(op.source), self._order(part), len(op.parts))
            except ValueError as error:
                what = f"{self._spelled(part)} is no part of other dimensions of {self._spelled(op.source)} ({error})"
                accepted = "parts dealt by a loop inside that of run-time size"
                raise NoRunTimeSize(what, where=self._where, accepted=accepted) from None

    def _through_converter(self, op: ConverterOp) -> None:
        """Its buffer holds what there is at the largest sizes."""
        try:
            self.orders[op.result] = resized(self._order(op.source), self._order(op.result))
        except ValueError as error:
            what = f"{self._spelled(op.result)} is converted from or to another than entries in one loop ({error})"
            raise NoRunTimeSize(what, where=self._where, accepted="a loop over single entries of run-time size") from None
        _fill_and_empty_in_turn(op)

    # Applying them ------------------------------------------------------------------------------------------------------

    def _symbols(self) -> dict[Symbol, SSAValue]:
        """An argument of the kernel for each symbol."""
        found: dict[Symbol, SSAValue] = dict(self.kernel.symbols)
        for symbol in symbols_in(size for order in self.orders.values() for size in order.sizes):
            if symbol in found:
                continue
            scalar = symbol_argument(self.function, symbol)
            block = self.kernel.body.block
            found[symbol] = block.insert_arg(SymbolType(symbol), len(block.args))
            found[symbol].name_hint = symbol.name
            self.kernel.operands = [*self.kernel.operands, scalar]
        return found

    def _bound_loops(self, task: TaskOp, symbols: Mapping[Symbol, SSAValue]) -> None:
        """Loops over what has a size known at run time run as often."""
        sizes = {
            index: (loop.trip, loop.step)
            for access in _accesses(task)
            if access.segment is None
            for index, loop in zip(access.indices, self._order(_stream_of(access)).loops, strict=True)
            if not is_static(loop.trip)
        }
        ports: dict[Symbol, SSAValue] = {}
        for symbol in symbols_in(trip for trip, _ in sizes.values()):
            ports[symbol] = port = task.body.block.insert_arg(SymbolType(symbol), len(task.ins))
            port.name_hint = symbol.name
            count = len(task.ins), len(task.outs)
            task.operands = [*task.ins, symbols[symbol], *task.outs]
            task.properties["operandSegmentSizes"] = DenseArrayBase.from_list(i32, [count[0] + 1, count[1]])
        for index, (trip, step) in sizes.items():
            assert isinstance(index, BlockArgument) and step == 1
            loop = index.owner.parent_op()
            assert isinstance(loop, scf.ForOp)
            bound = SizeOp(trip, [ports[symbol] for symbol in symbols_in([trip])])
            Builder(InsertPoint.before(loop)).insert(bound)
            loop.operands[1] = bound.result
            for use in [use for use in index.uses if not isinstance(use.operation, ReadOp | WriteOp)]:
                self._compare_with_last(task, use, trip, bound)

    def _compare_with_last(self, task: TaskOp, use: Use, trip: Size, bound: SizeOp) -> None:
        """A guard to the last iteration, decided for the largest size, is one to the last that there is."""
        guard = use.operation
        if isinstance(guard, arith.CmpiOp) and minimum(trip) > 0:
            value = constant_value(guard.operands[1 - use.index])
            if value == 0:
                return
            if value == maximum(trip) - 1:
                last = SizeOp(sum_of(trip, -1), bound.symbols)
                Builder(InsertPoint.after(bound)).insert(last)
                guard.operands[1 - use.index] = last.result
                return
        what = f"task @{task.sym_name.data} uses a loop of run-time size in '{guard.name}'"
        accepted = "loops that only enumerate streams, or guards to the first or last iteration of one that always has one"
        raise NoRunTimeSize(what, where=self._where, accepted=accepted)

    # Spelling -----------------------------------------------------------------------------------------------------------

    @property
    def _where(self) -> str:
        return f"@{self.kernel.sym_name.data}"

    def _order(self, value: SSAValue) -> StreamOrder:
        assert isinstance(value.type, ItensorType)
        return self.orders.get(root_of(value), value.type.order)

    def _spelled(self, value: SSAValue) -> str:
        return f"%{value.name_hint or 'stream'}"


def _fill_and_empty_in_turn(converter: ConverterOp) -> None:
    """Where two blocks would be one loop over what comes and what goes: how long it is would be no size."""
    if converter.plan.blocks == 2 and token_lanes(converter.plan) is None:
        converter.blocks_attr = IntegerAttr(1, i64)


def _sized(order: StreamOrder, dimension: int, size: Size, name: str) -> StreamOrder:
    """`order` with the loop along `dimension` as long as `size`; NoRunTimeSize where it has no one loop over single entries."""
    loops = order.loops_of(dimension)
    if len(loops) != 1 or order.element[dimension] != 1 or order.loops[loops[0]].step != 1:
        what = f"{name} crosses {order.element[dimension]} entries at a time along dimension {dimension}, of size {size}: {order}"
        raise NoRunTimeSize(what, accepted="one entry at a time, in one loop: a tile of 1 along it")
    (loop,) = loops
    return replace(order, loops=(*order.loops[:loop], Loop(size, 1), *order.loops[loop + 1 :]))


def _timed(order: StreamOrder, indices: Iterable[SSAValue], sizes: Mapping[SSAValue, Size]) -> StreamOrder:
    """`order` with the loops behind `indices` as long as `sizes` says."""
    loops = tuple(Loop(sizes.get(index, loop.trip), loop.step) for index, loop in zip(indices, order.loops, strict=True))
    return replace(order, loops=loops)


def _accesses(task: TaskOp) -> list[ReadOp | WriteOp]:
    return [op for op in task.walk() if isinstance(op, ReadOp | WriteOp)]


def _stream_of(access: ReadOp | WriteOp) -> SSAValue:
    return access.source if isinstance(access, ReadOp) else access.destination


def _values_in(kernel: KernelOp) -> Iterable[SSAValue]:
    for op in kernel.walk():
        yield from (argument for region in op.regions for block in region.blocks for argument in block.args)
        if op is not kernel:
            yield from op.results
