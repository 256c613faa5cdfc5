"""`interleave-loads`: one memory port brings copies of a computation what they divide, word by word in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, memref, tensor
from xdsl.dialects.builtin import MemRefType, ModuleOp, TensorType, VectorType
from xdsl.ir import Block, BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.host_work import functions_of, host_values
from stc.analysis.task_graph import computing_reader, tasks_behind
from stc.design_space.turns import dealt_to_ports
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, PackOp, TaskKind, TaskOp, YieldOp
from stc.dialects.facts import BEHIND_LAYERS
from stc.dialects.itensor import ItensorType
from stc.iteration.bus_words import slot
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.round_robin import taken_in_turn
from stc.transforms.dataflow.slices import ports_of_slice
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.stream.flat_loads import FlatLoad, arriving_words, flat_loads
from stc.transforms.stream.kernel_operands import with_operand, without_operands
from stc.transforms.stream.loops import loop_nest, total, where_equal
from stc.transforms.stream.mark_behind_layers import mark_behind_layers
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class InterleaveLoads(ModulePass):
    """Let as many memory ports as slices of a parameter say (`stc.ports`) bring them to copies of a computation, each to several.

    A copy that adds up the sums of groups takes one scale where others take a group of weights: a port of its own would stand idle.
    So the host lays out what is for several copies in one tensor, a word for each in turn, and one task `load_interleaved` reads
    that in one go and deals out the words. What was the load of a copy takes its words from there, and sends the same tokens as
    before; where words are these tokens, it is left out. Copies have to read words of one type, each once; others keep their ports.
    It stands before `share-ports`, which has an array for what is read again.

        %w0 = tensor.extract_slice %w[0, 0] [4, 32] [1, 1] {stc.ports = array<i64: 1>} : tensor<8x32xf16> to tensor<4x32xf16>
        %w1 = tensor.extract_slice %w[4, 0] [4, 32] [1, 1] {stc.ports = array<i64: 1>} : tensor<8x32xf16> to tensor<4x32xf16>
        %p0 = dataflow.pack %w0 : tensor<4x32xf16> as !W -> tensor<4xvector<32xf16>>
        %p1 = dataflow.pack %w1 : tensor<4x32xf16> as !W -> tensor<4xvector<32xf16>>
        dataflow.task @load_w0 ins(%m = %p0 : memref<4xvector<32xf16>>) outs(%o = %s0 : ...) kind load {...}
        dataflow.task @load_w1 ins(%m = %p1 : memref<4xvector<32xf16>>) outs(%o = %s1 : ...) kind load {...}
      becomes
        %w01 = tensor.concat dim(0) %w0, %w1 : (tensor<4x32xf16>, tensor<4x32xf16>) -> tensor<8x32xf16>
        %p = dataflow.pack %w01 : tensor<8x32xf16> as !V -> tensor<8xvector<32xf16>>
        dataflow.task @load_interleaved ins(%m = %p : memref<8xvector<32xf16>>) outs(%o0 = %t0, %o1 = %t1) kind load {...}
        dataflow.task @load_w0 ins(%i = %t0) outs(%o = %s0 : ...) {...}
        dataflow.task @load_w1 ins(%i = %t1) outs(%o = %s1 : ...) {...}
    """

    name = "interleave-loads"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            parameters = host_values(function)
            for kernel in [found for found in function.walk() if isinstance(found, KernelOp)]:
                may_share = {value for value in kernel.inputs if value in parameters} - {kernel.inputs[at] for at in kernel.updated}
                names = symbols_of(kernel)
                dropped: list[BlockArgument] = []
                for group in _groups(kernel, flat_loads(kernel, may_share)):
                    if (order := _order(group)) is not None:
                        _interleave(kernel, group, order, names)
                        dropped += [kernel.arguments[copy.load.port] for copy in group]
                without_operands(kernel, dropped)
        erase_dead_ops(op)  # how the host laid out what each copy read


@dataclass(frozen=True)
class _Copy:
    """What one copy reads, once: `words` of `run` tokens each, of what `pack` lays out, a slice of `tensor`; `ports` bring all."""

    load: FlatLoad
    read: memref.LoadOp
    pack: PackOp
    ports: int
    tensor: SSAValue
    words: int
    run: int


def _groups(kernel: KernelOp, loads: Sequence[FlatLoad]) -> Iterator[Sequence[_Copy]]:
    """The copies that one port is to bring their words. None waits for another: they read in step."""
    alike: dict[tuple[object, ...], list[_Copy]] = {}
    for load in loads:
        if (copy := _copy(kernel, load)) is not None:
            alike.setdefault((copy.ports, copy.tensor, copy.pack.source.type, copy.pack.layout, load.words), []).append(copy)
    behind = tasks_behind(kernel) if alike else {}
    for copies in [*alike.values()]:
        for group in dealt_to_ports(copies, copies[0].ports):
            readers = [computing_reader(copy.load.out.result) for copy in group]
            if len(group) > 1 and not any(other in behind[one] for one in readers for other in readers):
                yield group


def _copy(kernel: KernelOp, load: FlatLoad) -> _Copy | None:
    """What a copy reads, if a port is to bring others theirs; None where it reads a word again, or words are filled up."""
    pack = kernel.inputs[load.port].owner
    if not isinstance(pack, PackOp) or len(pack.stripes) > 1 or (said := ports_of_slice(pack.source)) is None:
        return None
    reads = [op for op in load.task.walk() if isinstance(op, memref.LoadOp) and op.memref is load.task.body.block.args[0]]
    order, words = pack.layout.order, load.words.get_shape()[0]
    assert isinstance(load.words.element_type, VectorType)
    (lanes,) = load.words.element_type.get_shape()
    entries = slot(order.element_count, lanes)
    run = 0 if entries is None else lanes // entries
    is_once = len(reads) == 1 and load.out.tokens == load.out.distinct_tokens == run * words
    return _Copy(load, reads[0], pack, *said, words, run) if run and is_once else None


def _order(copies: Sequence[_Copy]) -> StreamOrder | None:
    """How the words of all lie in one tensor; None where they end inside loops that do not follow one another."""
    first = copies[0]
    try:
        return taken_in_turn(first.pack.layout.order, len(copies), _extents(first.pack.source)[0], first.run)
    except ValueError:
        return None


def _interleave(kernel: KernelOp, copies: Sequence[_Copy], order: StreamOrder, names: UniqueNames) -> None:
    """One more port for all of them, whose own are left without a reader."""
    first = copies[0]
    packed = _packed(kernel, copies, order)
    words = MemRefType(first.load.words.element_type, [first.words * len(copies)])
    port = with_operand(kernel, packed, words)
    task = min((copy.load.task for copy in copies), key=list(kernel.body.block.ops).index)
    around = Builder(InsertPoint.before(task))
    are_tokens = all(_sends_words(copy) for copy in copies)
    arriving = [around.insert(_moved(copy.load.out) if are_tokens else arriving_words(copy.load, names)).result for copy in copies]
    block = _dealing(port, arriving, first.words)
    load = around.insert(TaskOp(names.fresh("load_interleaved"), [port], arriving, block, [], kind=TaskKind.LOAD))
    if all(BEHIND_LAYERS.on(copy.load.task) for copy in copies):
        mark_behind_layers(load)
    for copy, words in zip(copies, arriving, strict=True):
        if are_tokens:
            Rewriter.erase_op(copy.load.task)
        else:
            _take(copy, words)


def _sends_words(copy: _Copy) -> bool:
    """Whether the load of a copy does nothing but send each word as it is."""
    users = [use.operation for use in copy.read.res.uses]
    return len(users) == 1 and isinstance(users[0], stream.WriteOp)


def _moved(create: stream.CreateOp) -> stream.CreateOp:
    create.detach()
    return create


def _extents(value: SSAValue) -> tuple[int, ...]:
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def _packed(kernel: KernelOp, copies: Sequence[_Copy], order: StreamOrder) -> SSAValue:
    """What all copies read, as the port brings it."""
    builder, (first, *_) = Builder(InsertPoint.before(kernel)), copies
    sources = [copy.pack.source for copy in copies]
    kind = sources[0].type
    assert isinstance(kind, TensorType)
    rows, *others = kind.get_shape()
    whole = builder.insert(tensor.ConcatOp(sources, 0, TensorType(kind.element_type, [rows * len(copies), *others]))).results[0]
    words = TensorType(first.load.words.element_type, [first.words * len(copies)])
    packed = builder.insert(PackOp(whole, ItensorType.from_order(order, first.pack.layout.element_type), words)).result
    whole.name_hint = packed.name_hint = kernel.inputs[first.load.port].name_hint
    return packed


def _dealing(port: SSAValue, arriving: Sequence[SSAValue], words: int) -> Block:
    """The body of the task that reads all words, and hands one to each of `arriving` in turn."""
    block = Block(arg_types=[port.type, *(value.type for value in arriving)])
    memory, *outs = block.args
    memory.name_hint = port.name_hint
    builder = Builder(InsertPoint.at_end(block))
    (word, copy), inside = loop_nest(builder, [Loop(words, 1), Loop(len(outs), 1)], ["word", "copy"])
    row = inside.insert(arith.MuliOp(word, index_constant(inside, len(outs)))).result
    read = inside.insert(memref.LoadOp.get(memory, [total(inside, [row, copy])])).res
    for number, (out, value) in enumerate(zip(outs, arriving, strict=True)):
        out.name_hint = value.name_hint
        where_equal(inside, [(copy, number)]).insert(stream.WriteOp(read, out))
    builder.insert(YieldOp())
    return block


def _take(copy: _Copy, arriving: SSAValue) -> None:
    """Let the load of a copy take the words that arrive."""
    task = copy.load.task
    block = task.body.block
    words = block.insert_arg(arriving.type, 0)
    words.name_hint = f"{copy.load.name}_words"
    Rewriter.replace_op(copy.read, stream.ReadOp(words))
    block.erase_arg(block.args[1])
    task.operands[0] = arriving
    task.kind_attr = None
