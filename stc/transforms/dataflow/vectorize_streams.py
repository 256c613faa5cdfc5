"""`vectorize-streams`: tokens become short vectors, as wide as the kernels they connect and as a port can carry."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import scf, tensor
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.kernel_memory import bits_of
from stc.analysis.lane_demand import LaneDemand
from stc.analysis.loop_names import dimension_names
from stc.analysis.task_graph import leaves_by_one_port
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp
from stc.dialects.dataflow.boundary import stored_type
from stc.dialects.itensor import ConcatOp, ConverterOp, ForkOp, ItensorType, MergeOp, ReadOp, SplitOp, WriteOp
from stc.dialects.updates import is_inserted, is_updated
from stc.iteration.layout_orders import row_major
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.round_robin import interleaved
from stc.iteration.segments import Segment
from stc.iteration.size import Size, static
from stc.iteration.vectorize import largest_divisor, vectorized
from stc.transforms.dataflow.connections import connect, plan_connection
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.tile_slices import insert_slice


@dataclass(frozen=True)
class VectorizeStreams(ModulePass):
    """Cut the elements of every itensor into vectors, row-major: the token of the hardware.

    A stream is as wide as the kernels it connects (`stc.analysis.lane_demand`): as wide as the vector shapes of their
    schedules say, or their unroll factors where those are above `lanes`; `lanes` where no schedule asks. What n streams are
    joined to passes a token a cycle of all n: they are n times as wide as the unroll factors before them say, unless what
    stands behind takes fewer; so are n streams that one is taken apart to. Where others read them, too (`fork`), and take fewer,
    each is put together, before it is joined, to vectors as wide as who reads all of them wants. Sums have tokens of as many as
    are added at once, if `bits` hold them, whoever reads them. What a converter would only cut into narrower vectors has these
    before it, unless the computation that makes it is faster. A vector is never wider than `bits`, and divides the last extent of
    the element, on both sides of a reshape. Where more is wanted, `split-ports` makes several streams. An argument into which rows
    are inserted at run time (a cache), and these rows, have vectors as wide as their extents and `bits` allow, whatever their
    kernel wants: others read and update it, too. Rows that come in parts are put together.

    A tensor that is split into slices or merged of them, at the kernel's boundary, then moves a vector of each slice in turn. What
    is merged to leave through one port is put together to vectors of `bits` before, each slice by itself: one a cycle passes the
    merge.

    Inside a task a tile is read and written piece by piece. Between tasks only types change, and a converter goes whose two
    sides have become the same sequence.

    Options: `lanes` (default 16: 512 bit of f32), `bits` (default 512: the widest word of external memory).

        %t = itensor.read %p[%i] : !itensor.itensor<16x16xf32, [4]*[16], (d0) -> (d0, 0)> -> tensor<16x16xf32>
      becomes, with lanes=8,
        %e = tensor.empty() : tensor<16x16xf32>
        %t = scf.for %a = 0 to 16 step 1 iter_args(%t0 = %e) {
          %u = scf.for %b = 0 to 16 step 8 iter_args(%t1 = %t0) {
            %v = itensor.read %p[%i, %a, %b] : !itensor.itensor<1x8xf32, [4, 16, 2]*[16, 1, 8], (d0, d1, d2) -> (d0 + d1, d2)>
                 -> tensor<1x8xf32>
            %t2 = tensor.insert_slice %v into %t1[%a, %b] [1, 8] [1, 1] ...
    """

    name = "vectorize-streams"

    lanes: int = 16
    bits: int = 512

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.lanes < 1:
            raise CompileError(f"lanes is {self.lanes}", where=self.name, accepted="at least 1 lane")
        if self.bits < 1:
            raise CompileError(f"bits is {self.bits}", where=self.name, accepted="at least 1 bit")
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            words = {merge: self._words(merge) for merge in _leaving(kernel)}
            widened = self._widened(kernel)
            cut = self._orders(kernel, widened)
            rows = dict(_inserted_rows(kernel, cut))
            for access in [found for found in kernel.walk() if isinstance(found, ReadOp | WriteOp)]:
                _cut(access, cut[access.source if isinstance(access, ReadOp) else access.destination])
            for value, order in self._orders(kernel, widened).items():
                assert isinstance(value.type, ItensorType)
                Rewriter.replace_value_with_new_type(value, ItensorType.from_order(order, value.type.element_type))
            for merge, (*parts, full) in words.items():
                _put_together(merge, parts)
                Rewriter.replace_value_with_new_type(merge.result, full)
            for concat, parts in widened.items():
                _put_together(concat, parts)
            for index, row in rows.items():
                last = kernel.terminator
                last.operands[index] = connect(Builder(InsertPoint.before(last)), last.operands[index], row)
            for converter in [found for found in kernel.body.block.ops if isinstance(found, ConverterOp)]:
                _drop_if_same(converter)

    def _widened(self, kernel: KernelOp) -> dict[ConcatOp, list[ItensorType]]:
        """What joins streams that others read, too, and whose reader wants at least twice as many lanes as these; and the types of
        its inputs in vectors as wide as that wants."""
        joins = [op for op in kernel.body.block.ops if isinstance(op, ConcatOp)]
        joins = [join for join in joins if all(isinstance(value.owner, ForkOp) for value in join.inputs)]
        while joins:  # until the wishes are those that hold where all these are widened
            demand = LaneDemand(kernel, self.lanes, self.bits, widened=joins)
            lanes = {join: [self._vectorized(value, demand).element[-1] for value in (*join.inputs, join.result)] for join in joins}
            wider = [join for join, (*narrow, wide) in lanes.items() if all(wide % own == 0 and wide >= 2 * own for own in narrow)]
            if wider == joins:
                return {join: [_in_vectors(value, lanes[join][-1]) for value in join.inputs] for join in joins}
            joins = wider
        return {}

    def _orders(self, kernel: KernelOp, widened: Collection[ConcatOp]) -> dict[SSAValue, StreamOrder]:
        """For each itensor in `kernel`, of the type it had before, the order of its vectors."""
        demand = LaneDemand(kernel, self.lanes, self.bits, widened=widened)
        orders = {value: self._vectorized(value, demand) for value in _itensors(kernel)}
        for op in kernel.body.block.ops:
            if isinstance(op, SplitOp):
                orders[op.source] = _interleaved(op.source, op.parts, orders)
            elif isinstance(op, MergeOp):
                orders[op.result] = _interleaved(op.result, op.inputs, orders)
        return orders

    def _vectorized(self, value: SSAValue, demand: LaneDemand) -> StreamOrder:
        assert isinstance(value.type, ItensorType)
        most = self._most(value.type)
        lanes = most if demand.is_updated(value) else min(demand.lanes(value), most)
        return vectorized(value.type.order, largest_divisor(demand.extent(value), lanes))

    def _most(self, kind: ItensorType) -> int:
        """Lanes of a token that may be a word of memory, where its entries take what holds them, and as many as a power of two."""
        return max(1, self.bits // bits_of(stored_type(kind.element_type, self.bits)))

    def _words(self, merge: MergeOp) -> list[ItensorType]:
        """The types of what is merged, and of the result, in vectors that are as wide as `bits` allow."""
        parts = [part.type for part in merge.inputs if isinstance(part.type, ItensorType)]
        orders = {part: vectorized(kind.order, self._most(kind)) for part, kind in zip(merge.inputs, parts, strict=True)}
        full = _interleaved(merge.result, merge.inputs, orders)
        return [ItensorType.from_order(order, parts[0].element_type) for order in (*orders.values(), full)]


def _interleaved(full: SSAValue, parts: Sequence[SSAValue], orders: dict[SSAValue, StreamOrder]) -> StreamOrder:
    """The order of the vectors of a tensor from memory, or to it, whose slices are split or merged: a vector of each in turn."""
    assert isinstance(full.type, ItensorType)
    divided = full.type.order.dimension_of_loop[-1]
    assert divided is not None
    return interleaved(orders[parts[0]], len(parts), divided)


def _in_vectors(value: SSAValue, lanes: int) -> ItensorType:
    """The type of an itensor in vectors of so many lanes."""
    assert isinstance(value.type, ItensorType)
    return ItensorType.from_order(vectorized(value.type.order, lanes), value.type.element_type)


def _leaving(kernel: KernelOp) -> list[MergeOp]:
    """The merges whose results leave the kernel, each through one port; but for those that go into what kernels update, whose
    tokens others read as they are."""
    results = zip(kernel.outputs, kernel.terminator.arguments, strict=True)
    leaving = [inside.owner for outside, inside in results if inside.has_one_use() and not is_inserted(outside)]
    return [merge for merge in leaving if isinstance(merge, MergeOp) and leaves_by_one_port(merge)]


def _inserted_rows(kernel: KernelOp, orders: Mapping[SSAValue, StreamOrder]) -> Iterator[tuple[int, ItensorType]]:
    """Results of `kernel`, by index, that come in narrower vectors than the argument has that they go into, and their types in its
    vectors: what makes them has parts of a row in turn."""
    ports = [inside for outside, inside in zip(kernel.inputs, kernel.arguments, strict=True) if is_updated(outside)]
    for index, (outside, inside) in enumerate(zip(kernel.outputs, kernel.terminator.arguments, strict=True)):
        if not is_inserted(outside):
            continue
        given, kind = orders[inside], inside.type
        assert isinstance(kind, ItensorType)
        alike = [port for port in ports if _entries(port) == _entries(inside)]
        lanes = {orders[port].element[-1] for port in alike}
        if len(lanes) == 1 and (wide := lanes.pop()) > given.element[-1] and given.is_static:
            element = (*given.element[:-1], wide)
            yield index, ItensorType.from_order(row_major(given.static_shape, element), kind.element_type)


def _entries(value: SSAValue) -> tuple[Attribute, Size]:
    """Of what type the entries of an itensor are, and how many there are along its last dimension."""
    assert isinstance(value.type, ItensorType)
    return value.type.element_type, value.type.order.shape[-1]


def _put_together(join: MergeOp | ConcatOp, parts: Sequence[ItensorType]) -> None:
    """Let `join` take vectors as `parts` say, into which each part is put together before."""
    builder = Builder(InsertPoint.before(join))
    join.operands = [connect(builder, part, wide) for part, wide in zip(join.inputs, parts, strict=True)]


def _cut(access: ReadOp | WriteOp, new: StreamOrder) -> None:
    old = access.itensor_type.order
    if new == old:
        return
    pieces = _Pieces(Builder(InsertPoint.before(access)), old, new)
    if isinstance(access, ReadOp):
        pieces.replace_read(access)
    else:
        pieces.replace_write(access)


def _drop_if_same(converter: ConverterOp) -> None:
    """Tiles that differ may be the same sequence of vectors: then nothing is left to convert."""
    source, target = converter.source.type, converter.result.type
    assert isinstance(source, ItensorType) and isinstance(target, ItensorType)
    if plan_connection(source, target) is not None:
        return
    same = connect(Builder(InsertPoint.before(converter)), converter.source, target)
    Rewriter.replace_op(converter, [], [same])


def _itensors(kernel: KernelOp) -> list[SSAValue]:
    """Every itensor value inside `kernel`."""
    values: list[SSAValue] = []
    for op in kernel.walk():
        values.extend(op.results if op is not kernel else ())
        values.extend(arg for region in op.regions for block in region.blocks for arg in block.args)
    return [value for value in values if isinstance(value.type, ItensorType)]


@dataclass
class _Pieces:
    """The loops over the vectors of one tile."""

    builder: Builder
    old: StreamOrder
    new: StreamOrder

    def __post_init__(self) -> None:
        outer = len(self.old.loops)
        self.loops = self.new.loops[outer:]
        self.dimension = self.new.dimension_of_loop[outer:]
        names = dimension_names(self.old.element)
        self.names = [names[dim] for dim in self.dimension if dim is not None]

    def replace_read(self, read: ReadOp) -> None:
        empty = self.builder.insert(tensor.EmptyOp((), read.result.type)).results[0]
        empty.name_hint = read.source.name_hint

        def body(builder: Builder, ivs: Sequence[SSAValue], tile: SSAValue) -> SSAValue:
            piece = builder.insert(ReadOp(read.source, [*read.indices, *ivs], segment=self._segment(read)))
            token = Rewriter.replace_value_with_new_type(piece.result, self._piece_type(read.itensor_type))
            return builder.insert(insert_slice(token, tile, self._offsets(ivs), self.new.element)).result

        Rewriter.replace_op(read, [], [self._nest(self.builder, 0, [], empty, body)])

    def replace_write(self, write: WriteOp) -> None:
        def body(builder: Builder, ivs: Sequence[SSAValue], destination: SSAValue) -> SSAValue:
            piece_type = self._piece_type(write.itensor_type)
            ones = [1] * len(self.new.element)
            offsets = self._offsets(ivs)
            piece = builder.insert(tensor.ExtractSliceOp(write.value, offsets, self.new.element, ones, piece_type))
            return builder.insert(WriteOp(piece.result, destination, [*write.indices, *ivs], self._segment(write))).result

        Rewriter.replace_op(write, [], [self._nest(self.builder, 0, [], write.destination, body)])

    def _segment(self, access: ReadOp | WriteOp) -> Segment | None:
        return None if access.segment is None else access.segment.scaled(prod(static(loop.trip) for loop in self.loops))

    def _piece_type(self, type_: ItensorType) -> TensorType[Attribute]:
        return ItensorType.from_order(self.new, type_.element_type).tile_type

    def _offsets(self, ivs: Sequence[SSAValue]) -> list[SSAValue | int]:
        moved = dict(zip(self.dimension, ivs, strict=True))
        return [moved.get(dim, 0) for dim in range(self.old.rank)]

    def _nest(
        self,
        builder: Builder,
        depth: int,
        ivs: list[SSAValue],
        carried: SSAValue,
        body: Callable[[Builder, Sequence[SSAValue], SSAValue], SSAValue],
    ) -> SSAValue:
        if depth == len(self.loops):
            return body(builder, ivs, carried)
        loop: Loop = self.loops[depth]
        assert isinstance(loop.trip, int)
        lower, upper, step = (
            index_constant(builder, value)
            for value in (0, loop.trip * loop.step, loop.step)
        )
        block = Block(arg_types=[IndexType(), carried.type])
        block.args[0].name_hint = self.names[depth]
        inner = Builder(InsertPoint.at_end(block))
        inner.insert(scf.YieldOp(self._nest(inner, depth + 1, [*ivs, block.args[0]], block.args[1], body)))
        return builder.insert(scf.ForOp(lower, upper, step, [carried], block)).results[0]
