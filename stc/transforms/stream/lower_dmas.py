"""`lower-dmas`: the conversions at a kernel's boundary become tasks that move words between memory and streams."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, vector
from xdsl.dialects.builtin import IntegerType, MemRefType, ModuleOp, TensorType, VectorType, i8
from xdsl.ir import Attribute, Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import bits_of
from stc.analysis.loop_names import REUSE
from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, MemoryOp, Place, TaskKind, TaskOp, YieldOp
from stc.dialects.facts import UNROLL
from stc.dialects.itensor import ItensorType
from stc.iteration.bus_words import slot
from stc.iteration.memory_region import entry_stride, token_strides
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import Size, ceildiv, is_static, maximum, product_of, static, sum_of
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.bridges import consumed_stream, produced_stream, token_type
from stc.transforms.stream.kernel_operands import with_operand
from stc.transforms.stream.loops import Symbols, index_of_size, loop_nest, scalar_ports, total
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class LowerDmas(ModulePass):
    """Materialise the DMAs of every packed port.

    An operand becomes external memory (a memref of words) and a task `load_NAME` that streams its tokens in order, reading
    words again for reuse loops; a result becomes `dataflow.memory` and a task `store_NAME`. Consecutive loops that address
    consecutive words become one flat loop, so that HLS sees bursts.

        dataflow.kernel @f(%x = %p : tensor<128xvector<8xf32>> as !X) ...
      becomes
        dataflow.kernel @f(%x = %p : tensor<128xvector<8xf32>> as memref<128xvector<8xf32>>) {
          %s = stream.create @x_stream : !stream.stream<vector<8xf32>, depth: 2>
          dataflow.task @load_x ins(%m = %x : memref<128xvector<8xf32>>) outs(%o = %s : ...) {
            scf.for %i = %c0 to %c128 step %c1 {
              %w = memref.load %m[%i] : memref<128xvector<8xf32>>
              stream.write %w into %o : ...
            }
            dataflow.yield
          }
    """

    name = "lower-dmas"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            names = symbols_of(kernel)
            updated = {place.operand: place for place in kernel.places if place is not None}
            ends: dict[int, SSAValue] = {}
            for operand, port in reversed(list(zip(kernel.inputs, kernel.arguments, strict=True))):
                if isinstance(port.type, ItensorType):
                    _, end = _load(kernel, _memory_type(operand.type, kernel), port, updated.get(port.index), names)
                    ends |= {} if end is None else {port.index: end}
            _store_results(kernel, ends, names)


def load_operand(kernel: KernelOp, packed: SSAValue, layout: ItensorType) -> SSAValue:
    """The stream of what is `packed`, which `kernel` reads through one more port, once, as its `layout` says."""
    made, _ = _load(kernel, _memory_type(packed.type, kernel), with_operand(kernel, packed, layout), None, symbols_of(kernel))
    for bridge in [use.operation for use in made.uses if isinstance(use.operation, stream.ToItensorOp)]:
        Rewriter.erase_op(bridge)
    return made


def _memory_type(type_: object, kernel: KernelOp) -> MemRefType:
    if isa(type_, TensorType) and isa(type_.element_type, VectorType):
        return MemRefType(type_.element_type, type_.get_shape())
    raise CompileError(f"port of type {type_} is not packed", where=kernel.sym_name.data, accepted="run pack-interfaces first")


def port_name(port: SSAValue, index: int) -> str:
    """How the tasks and streams of a port are called: after the value, else by position."""
    return port.name_hint or f"port{index}"


def _load(
    kernel: KernelOp, memory: MemRefType, port: BlockArgument, place: Place | None, names: UniqueNames
) -> tuple[SSAValue, SSAValue | None]:
    """The stream that a load of `port` writes; `place`: of the result that updates the memory. Where it waits for the reading, the
    stream that tells its end, too."""
    assert isinstance(port.type, ItensorType)
    type_ = port.type
    name = port_name(port, port.index)
    produced = produced_stream(Builder(InsertPoint.at_start(kernel.body.block)), port, names.fresh(f"{name}_stream"))
    inside = Rewriter.replace_value_with_new_type(port, memory)
    block = Block(arg_types=[memory, produced.type])
    block.args[0].name_hint, block.args[1].name_hint = name, "out"
    layout = type_.order.largest.without_reuse() if type_.order.begins_at_run_time else None
    if place is not None and place.layout is not None:
        layout = place.layout.order
    nest = WordLoops(type_.order, _lanes(memory), layout, type_.order.begins)
    memory_port, out = block.args
    scalars, symbols = scalar_ports(kernel, block, nest.sizes)
    body = Builder(InsertPoint.at_end(block))
    buffer = nest.word_buffer(body, type_)
    start = nest.start_of(body, symbols)
    ivs, inner = loop_nest(body, nest.loops, nest.loop_names, symbols)
    body = Builder(InsertPoint.at_start(block))
    stored = inner.insert(memref.LoadOp.get(memory_port, [nest.address(inner, ivs, start)])).res
    word = _recoded(body, inner, stored, type_.element_type)
    nest.for_each_token(inner, buffer, word, type_, lambda b, token: b.insert(stream.WriteOp(token, out)))
    body = Builder(InsertPoint.at_end(block))
    assert isinstance(produced.owner, stream.CreateOp)
    around, outs = Builder(InsertPoint.after(produced.owner)), [produced]
    if place is not None and place.after_read:
        end = around.insert(stream.CreateOp(names.fresh(f"{name}_read"), stream.StreamType(i8, 2))).result
        outs.append(end)
        ended = block.insert_arg(end.type, len(block.args))
        ended.name_hint = "end"
        if not nest.loops:
            what = f"%{name} is one word, and is updated after it is read"
            raise CompileError(what, where=f"@{kernel.sym_name.data}", accepted="several words, whose loop ends with the last")
        body.insert(stream.WriteOp(body.insert(arith.ConstantOp.from_int_and_width(1, i8)).result, ended))
    body.insert(YieldOp())
    task = around.insert(TaskOp(names.fresh(f"load_{name}"), [*scalars, inside], outs, block, []))
    task.kind = TaskKind.LOAD
    return produced, outs[1] if len(outs) > 1 else None


def _store_results(kernel: KernelOp, ends: Mapping[int, SSAValue], names: UniqueNames) -> None:
    """`ends`: by operand, the stream that says that all of it is read."""
    last = kernel.terminator
    for index, (result, value) in enumerate(zip(kernel.outputs, list(last.arguments), strict=True)):
        if isinstance(value.type, ItensorType):
            name = result.name_hint or f"result{index}"
            memory = _memory_type(result.type, kernel)
            builder = Builder(InsertPoint.before(last))
            place = kernel.places[index]
            end = ends.get(place.operand) if place is not None else None
            last.operands[index] = _store(kernel, builder, memory, value, name, names, place, end)


def _store(
    kernel: KernelOp,
    builder: Builder,
    memory: MemRefType,
    value: SSAValue,
    name: str,
    names: UniqueNames,
    place: Place | None,
    end: SSAValue | None,
) -> SSAValue:
    """`end`: the stream that says that the memory, which others read, may be written."""
    assert isinstance(value.type, ItensorType)
    target = builder.insert(MemoryOp(names.fresh(name), memory)).result
    target.name_hint = name
    source = consumed_stream(builder, value)
    block = Block(arg_types=[source.type, memory])
    block.args[0].name_hint, block.args[1].name_hint = "in", name
    nest = WordLoops(value.type.order, _lanes(memory))
    if place is not None and place.layout is not None:
        nest = WordLoops(value.type.order, _lanes(memory), place.layout.order, kernel.symbolic_offsets_of(place))
    in_, memory_port = block.args
    scalars, symbols = scalar_ports(kernel, block, nest.sizes)
    body = Builder(InsertPoint.at_end(block))
    waits = [] if end is None else [end]
    if end is not None:
        ended = block.insert_arg(end.type, len(scalars))
        ended.name_hint = "end"
        body.insert(stream.ReadOp(ended))
    buffer = nest.word_buffer(body, value.type)
    start = nest.start_of(body, symbols)
    ivs, inner = loop_nest(body, nest.loops, nest.loop_names, symbols)
    body = Builder(InsertPoint.at_start(block))
    word = nest.gather_word(inner, buffer, value.type, lambda b: b.insert(stream.ReadOp(in_)).result)
    assert isa(memory.element_type, VectorType)
    stored = _recoded(body, inner, word, memory.element_type.element_type)
    inner.insert(memref.StoreOp.get(stored, memory_port, [nest.address(inner, ivs, start)]))
    Builder(InsertPoint.at_end(block)).insert(YieldOp())
    task = builder.insert(TaskOp(names.fresh(f"store_{name}"), [*scalars, *waits, source], [target], block, []))
    task.kind = TaskKind.STORE
    return target


def _recoded(top: Builder, builder: Builder, word: SSAValue, scalar: Attribute) -> SSAValue:
    """A word in other scalars, lane by lane: bytes of external memory as truth values, integers of another width, or back.

    Buffers are made at `top`.
    """
    assert isa(word.type, VectorType)
    if word.type.element_type == scalar:
        return word
    assert isinstance(scalar, IntegerType)
    lanes = word.type.get_shape()[0]
    kinds = (word.type.element_type, scalar)
    before, after = (top.insert(memref.AllocOp([], [], MemRefType(kind, [lanes]))).memref for kind in kinds)
    before.name_hint, after.name_hint = "stored", "recoded"
    builder.insert(vector.StoreOp(word, before, [index_constant(builder, 0)]))
    (lane,), inner = loop_nest(builder, [Loop(lanes, 1)], ["lane"])
    loop = inner.insertion_point.block.parent_op()
    assert loop is not None
    UNROLL.put(loop, 0)
    entry = inner.insert(memref.LoadOp.get(before, [lane])).res
    inner.insert(memref.StoreOp.get(inner.insert(_resized(entry, scalar)).result, after, [lane]))
    return builder.insert(vector.LoadOp(after, [index_constant(builder, 0)], VectorType(scalar, [lanes]))).result


def _resized(entry: SSAValue, scalar: IntegerType) -> arith.TruncIOp | arith.ExtUIOp | arith.ExtSIOp:
    before = bits_of(entry.type)
    if bits_of(scalar) < before:
        return arith.TruncIOp(entry, scalar)
    return arith.ExtUIOp(entry, scalar) if before == 1 else arith.ExtSIOp(entry, scalar)


def _lanes(memory: MemRefType) -> int:
    assert isa(memory.element_type, VectorType)
    return memory.element_type.get_shape()[0]


class WordLoops:
    """The loops of a DMA over words, with the address of each word.

    `loops` are those of the order, with consecutive addresses merged into one loop and the tokens of one word taken out of the
    innermost; all count from 0 by 1. Memory is laid out for the maxima of symbols: loops inside one of a run-time size are merged
    with it, such a loop with those around it is not. CompileError where a word is no whole number of tokens, or would straddle a
    reuse loop or a run-time size.

    `layout`: of memory that has all of a tensor, of which `order` is a part that begins at `offsets`; a word is a token then.
    """

    def __init__(self, order: StreamOrder, lanes: int, layout: StreamOrder | None = None, offsets: Sequence[Size] = ()):
        taken = slot(order.element_count, lanes)
        if taken is None or taken > lanes:
            what = f"tokens of {order.element_count} entries in words of {lanes} lanes"
            raise CompileError(what, where="lower-dmas", accepted="words of whole tokens")
        self.slot = taken
        self.token_lanes = order.element_count
        self.lanes = lanes
        self.tokens = lanes // taken
        self.loops: list[Loop] = []
        self.strides: list[int | None] = []
        self.start: Size = 0
        if layout is None:
            self._merge(order.loops, order.dimension_of_loop)
        else:
            self._place(order, layout, offsets)

    def _merge(self, loops: Sequence[Loop], dimensions: Sequence[int | None]) -> None:
        """Fold neighbouring address loops, and neighbouring reuse loops, into one loop each; then set the strides."""
        kinds: list[bool] = []
        trips: list[Size] = []
        for loop, dimension in zip(loops, dimensions, strict=True):
            addresses = dimension is not None
            if loop.trip == 1:
                continue
            if kinds and kinds[-1] == addresses and (is_static(loop.trip) or not addresses):
                trips[-1] = product_of(trips[-1], loop.trip)
            else:
                kinds.append(addresses)
                trips.append(loop.trip)
        if self.tokens > 1:
            words = ceildiv(trips[-1], self.tokens) if trips else 0
            if not trips or not kinds[-1] or product_of(words, self.tokens) != trips[-1]:
                accepted = "as many tokens as come between two reuse loops, or two steps of a run-time size"
                raise CompileError(f"words of {self.tokens} tokens", where="lower-dmas", accepted=accepted)
            trips[-1] = words
        stride = 1
        strides: list[int | None] = []
        for trip, addresses in zip(reversed(trips), reversed(kinds), strict=True):
            strides.append(stride if addresses else None)
            stride *= maximum(trip) if addresses else 1
        self.loops = [Loop(trip, 1) for trip in trips]
        self.strides = strides[::-1]

    def _place(self, order: StreamOrder, layout: StreamOrder, offsets: Sequence[Size]) -> None:
        """The loops of a part of a tensor, merged where they address what follows one another, and where it starts."""
        try:
            strides = token_strides(layout, order)
            terms = [product_of(offset, entry_stride(layout, dim, offset)) for dim, offset in enumerate(offsets)]
        except ValueError as error:
            raise CompileError(str(error), where="lower-dmas", accepted="loops of the memory that the tokens lie in") from None
        self.start = sum_of(*terms) if terms else 0
        for loop, stride in zip(order.loops, strides, strict=True):
            before = self.loops[-1].trip if self.loops else None
            if loop.trip == 1:
                continue
            follows = stride is not None and is_static(loop.trip) and self.strides[-1:] == [stride * static(loop.trip)]
            if follows and before is not None:
                self.loops[-1], self.strides[-1] = Loop(product_of(before, loop.trip), 1), stride
            else:
                self.loops.append(Loop(loop.trip, 1))
                self.strides.append(stride)

    @property
    def sizes(self) -> list[Size]:
        return [*(loop.trip for loop in self.loops), self.start]

    @property
    def loop_names(self) -> list[str]:
        """The innermost loop that addresses runs over words, those around it over groups of words."""
        addressing = [position for position, stride in enumerate(self.strides) if stride is not None]
        kinds = {position: "word" if position == addressing[-1] else "group" for position in addressing}
        return [kinds.get(position, REUSE) for position in range(len(self.loops))]

    def start_of(self, builder: Builder, symbols: Symbols) -> SSAValue | None:
        """The index of the first word, None where it is 0."""
        if self.start == 0:
            return None
        start = index_of_size(builder, self.start, symbols)
        start.name_hint = "first_word"
        return start

    def address(self, builder: Builder, ivs: Sequence[SSAValue], start: SSAValue | None) -> SSAValue:
        """The index of the current word."""
        terms = [self._scaled(builder, iv, stride) for iv, stride in zip(ivs, self.strides, strict=True) if stride is not None]
        if start is not None:
            terms.append(start)
        return total(builder, terms) if terms else index_constant(builder, 0)

    @staticmethod
    def _scaled(builder: Builder, iv: SSAValue, stride: int) -> SSAValue:
        return iv if stride == 1 else builder.insert(arith.MuliOp(iv, index_constant(builder, stride))).result

    # Words and tokens -------------------------------------------------------------------------------------------------

    def word_buffer(self, builder: Builder, type_: ItensorType) -> SSAValue | None:
        """Where a word is cut into tokens or assembled from them; None where word and token are the same."""
        if self.lanes == self.token_lanes:
            return None
        buffer = builder.insert(memref.AllocOp([], [], MemRefType(type_.element_type, [self.lanes]))).memref
        buffer.name_hint = "packed"
        return buffer

    def for_each_token(
        self,
        builder: Builder,
        buffer: SSAValue | None,
        word: SSAValue,
        type_: ItensorType,
        use: Callable[[Builder, SSAValue], object],
    ) -> None:
        if buffer is None:
            use(builder, word)
            return
        builder.insert(vector.StoreOp(word, buffer, [index_constant(builder, 0)]))
        iv, inner = self._token_loop(builder)
        use(inner, inner.insert(vector.LoadOp(buffer, [iv], token_type(type_))).result)

    def gather_word(
        self, builder: Builder, buffer: SSAValue | None, type_: ItensorType, token: Callable[[Builder], SSAValue]
    ) -> SSAValue:
        if buffer is None:
            return token(builder)
        iv, inner = self._token_loop(builder)
        inner.insert(vector.StoreOp(token(inner), buffer, [iv]))
        word_type = VectorType(type_.element_type, [self.lanes])
        return builder.insert(vector.LoadOp(buffer, [index_constant(builder, 0)], word_type)).result

    def _token_loop(self, builder: Builder) -> tuple[SSAValue, Builder]:
        """The unrolled loop over the tokens of a word: the lane at which each begins."""
        if self.tokens == 1:
            return index_constant(builder, 0), builder
        (iv,), inner = loop_nest(builder, [Loop(self.tokens, self.slot)], ["first_lane"])
        loop = inner.insertion_point.block.parent_op()
        assert loop is not None
        UNROLL.put(loop, 0)
        return iv, inner
