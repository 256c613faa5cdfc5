"""`share-ports`: small tensors come through one memory port, once per launch, and stay in arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType, ModuleOp, VectorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from stc.analysis.executions import executions
from stc.analysis.handed_on import handed_on
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import tensor_bytes
from stc.analysis.task_graph import computing_reader, shares_multipliers
from stc.design_space.shared_ports import Packed, shared_ports
from stc.dialects import stream
from stc.dialects.dataflow import KernelOp, TaskKind, TaskOp, YieldOp
from stc.dialects.facts import BEHIND_LAYERS
from stc.iteration.order import Loop
from stc.platforms.platform import ExternalMemory, load_platform
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.flat_loads import FlatLoad, arriving_words, flat_loads
from stc.transforms.stream.in_turn import in_turn
from stc.transforms.stream.load_in_turn import loads_in_turn, rows_in_turn
from stc.transforms.stream.loops import loop_nest
from stc.transforms.stream.mark_behind_layers import mark_behind_layers
from stc.transforms.stream.names import UniqueNames, symbols_of


@dataclass(frozen=True)
class SharePorts(ModulePass):
    """Let tensors whose adapter would be dearer than an array come through one port together.

    One task `load_shared` reads them once per launch, one after the other in the order of their readers: pointers of their
    own, which the C++ bundles into one port. What was the load of a tensor becomes a task that holds it: it fills an array
    from a stream, before anything else and whatever others do, then sends words from there in the order it did before, those of a
    reuse loop again. So no reader waits for another, and words are in the order that `verify-streams` has proved. Which they are
    says `stc.design_space.shared_ports`. What the kernel updates in place keeps its port, and what is read in part, or by
    contractions that share their multipliers (`stc.shared`): who they are follows from whose words come in turn. As small a result
    is stored by one task with others: each after the one before, in FIFOs till then. What follows the last layer
    (`stc.behind_layers`) comes behind what layers have, through the same port.

    With `in-turn` no array holds what is sent once: `load_shared` cuts its words into tokens itself, as long as that takes the
    port no more time than each takes for all parameters, spread evenly, with all that may come behind it in words alike. FIFOs as
    wide as tokens keep them then, so that a reader waits for others only as long as these are not deep enough (`size-fifos`).

    Options: `platform` (default u55c), whose adapters and number of ports these are; `in-turn` (default false): whether ports will
    bring parameters of several computations in turn (`load-in-turn`): what takes its turn there, and no port more, needs no array;
    `layers` (default 1): how many a launch will compute (`repeat-layers`). Of more than one, what goes from layer to layer keeps
    its port, and so do results: one task brings the first, and one stores the last.

        dataflow.task @load_gain ins(%m = %gain : memref<2xvector<16xf32>>) outs(%o = %s : ...) kind load {...}
        dataflow.task @load_bias ins(%m = %bias : memref<2xvector<16xf32>>) outs(%o = %t : ...) kind load {...}
      becomes
        dataflow.task @load_shared ins(%m0 = %gain, %m1 = %bias) outs(%o0 = %gain_words, %o1 = %bias_words) kind load {...}
        dataflow.task @load_gain ins(%i = %gain_words) outs(%o = %s : ...) kind hold {...}
        dataflow.task @load_bias ins(%i = %bias_words) outs(%o = %t : ...) kind hold {...}

        dataflow.task @store_y ins(%i = %s) outs(%m = %y : memref<2xvector<16xf32>>) kind store {...}
        dataflow.task @store_z ins(%i = %t) outs(%m = %z : memref<2xvector<16xf32>>) kind store {...}
      becomes
        dataflow.task @store_shared ins(%i0 = %s, %i1 = %t) outs(%m0 = %y, %m1 = %z) kind store {...}
    """

    name = "share-ports"

    platform: str = "u55c"
    in_turn: bool = False
    layers: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        memory = load_platform(self.platform).memory
        for function in functions_of(op):
            kernels = [found for found in function.walk() if isinstance(found, KernelOp)]
            known = host_values(function)
            parameters = known & {operand for kernel in kernels for operand in kernel.inputs}
            total = sum(tensor_bytes(value.type) for value in parameters)
            for kernel in kernels:
                names = symbols_of(kernel)
                updated = {kernel.inputs[index] for index in kernel.updated}
                may_share = {*kernel.inputs} - handed_on(function, kernel.inputs, known, self.layers) - updated
                for group in _groups(kernel, may_share, parameters, total, memory):
                    if not (self.in_turn and _take_turns(kernel, group, known)):
                        _share(group, _sent_once(kernel, group, parameters, memory) if self.in_turn else [], names)
                for stores in _stores_in_turn(kernel, total, memory) if self.layers == 1 else ():
                    in_turn(stores, names.fresh("store_shared"), TaskKind.STORE, InsertPoint.after(stores[-1]))


def packed_words(words: MemRefType, is_awaited: bool) -> Packed:
    """What the rule has to know of a memory of words."""
    size, word = tensor_bytes(words), words.element_type
    assert isinstance(word, VectorType)
    return Packed(size, 8 * size // _count(words), str(word.element_type), is_awaited)


def _groups(
    kernel: KernelOp, may_share: set[SSAValue], parameters: set[SSAValue], total: int, memory: ExternalMemory
) -> list[list[FlatLoad]]:
    """The loads of `kernel` that share a port, of tensors that `may_share`, in the order in which their readers stand. `total`:
    bytes of the `parameters` of all kernels."""
    position = {op: index for index, op in enumerate(kernel.body.block.ops)}
    own = [load for load in flat_loads(kernel, may_share) if not shares_multipliers(computing_reader(load.out.result))]
    by_reader = {
        load: packed_words(load.words, kernel.inputs[load.port] not in parameters)
        for load in sorted(own, key=lambda load: position[computing_reader(load.out.result)])
    }
    return shared_ports(by_reader, total, memory.max_ports, memory.word_bits)


def _take_turns(kernel: KernelOp, group: Sequence[FlatLoad], parameters: set[SSAValue]) -> bool:
    """Whether the loads of a group take turns at ports that others have in any case, whose readers wait for theirs."""
    own, loads = {load.task for load in group}, loads_in_turn(kernel, parameters)
    others = [load for load in loads if load not in own]
    return own.issubset(loads) and len(rows_in_turn(kernel, loads)) == len(rows_in_turn(kernel, others))


def _sent_once(
    kernel: KernelOp, loads: Sequence[FlatLoad], parameters: set[SSAValue], memory: ExternalMemory
) -> list[FlatLoad]:
    """Those that send each of their words once, and their tokens, one a cycle, in the time that is left (`_cycles_left`), of layers
    and behind the last. What has no more tokens than words may."""
    found: list[FlatLoad] = []
    for is_last in (False, True):
        left = _cycles_left(kernel, loads, parameters, memory, is_last=is_last)
        for load in sorted((load for load in loads if BEHIND_LAYERS.on(load.task) == is_last), key=_tokens):
            more = max(0, _tokens(load) - _count(load.words))
            if _times(load, memref.LoadOp) == _count(load.words) and more <= left:
                left -= more
                found.append(load)
    return found


def _cycles_left(
    kernel: KernelOp, loads: Sequence[FlatLoad], parameters: set[SSAValue], memory: ExternalMemory, *, is_last: bool
) -> int:
    """Cycles in which other ports bring their parts of all `parameters`, of layers or behind the last one, and one has brought all
    words that may come through the port of `loads`: theirs, and those of parameters in words as they have."""
    own, word = {load.port for load in loads}, loads[0].words.element_type
    here = {
        port.index: kind for port in kernel.arguments
        if isa(kind := port.type, MemRefType) and all(BEHIND_LAYERS.on(use.operation) == is_last for use in port.uses)
    }  # fmt: skip
    given = {index: kind for index, kind in here.items() if kernel.inputs[index] in parameters}
    part = sum(map(tensor_bytes, given.values())) // memory.max_ports // (memory.word_bits // 8)
    alike = {index: kind for index, kind in given.items() if kind.element_type == word}
    mine = {index: kind for index, kind in here.items() if index in own}
    return max(0, part - sum(map(_count, (alike | mine).values())))


def _count(words: MemRefType) -> int:
    return words.get_shape()[0]


def _tokens(load: FlatLoad) -> int:
    return _times(load, stream.WriteOp)


def _times(load: FlatLoad, kind: type[Operation]) -> int:
    """How often a load does its one operation of a `kind` on memory or streams; a buffer of a word is none."""
    ends = load.task.body.block.args
    (op,) = (op for op in load.task.walk() if isinstance(op, kind) and any(value in ends for value in op.operands))
    return executions(op, load.task)


def _share(loads: Sequence[FlatLoad], sent: Collection[FlatLoad], names: UniqueNames) -> None:
    """One task reads all of them. It sends on the tokens of those that are `sent`; each other load then takes what it read from a
    stream."""
    block = loads[0].task.parent
    assert block is not None
    first = min((load.task for load in loads), key=[*block.ops].index)
    parts: list[TaskOp] = []
    for load in loads:
        if load in sent:
            load.out.detach()
            block.insert_op_before(load.out, first)
            parts.append(load.task)
        else:
            parts.append(_load_words(load, Builder(InsertPoint.before(first)), names))
    made = in_turn(parts, names.fresh("load_shared"), TaskKind.LOAD, InsertPoint.before(first))
    _share_buffers(made)


def _load_words(load: FlatLoad, around: Builder, names: UniqueNames) -> TaskOp:
    """A task that reads the words of a load, which holds them."""
    port = load.task.operands[0]
    arriving = around.insert(arriving_words(load, names)).result
    block = Block(arg_types=[port.type, arriving.type])
    memory, out = block.args
    memory.name_hint, out.name_hint = load.name, f"{load.name}_words"
    body = Builder(InsertPoint.at_end(block))
    index, inner = _each_word(body, load.words)
    inner.insert(stream.WriteOp(inner.insert(memref.LoadOp.get(memory, [index])).res, out))
    body.insert(YieldOp())
    made = around.insert(TaskOp(names.fresh(f"load_{load.name}_words"), [port], [arriving], block, [], kind=TaskKind.LOAD))
    if BEHIND_LAYERS.on(load.task):
        mark_behind_layers(made)
    _hold(load, arriving)
    return made


def _share_buffers(task: TaskOp) -> None:
    """One buffer of each type for the loops of a task, each of which fills it with a word before it cuts that."""
    kept: dict[Attribute, memref.AllocOp] = {}
    for buffer in [op for op in task.body.block.ops if isinstance(op, memref.AllocOp)]:
        if (one := kept.setdefault(buffer.memref.type, buffer)) is not buffer:
            buffer.memref.replace_all_uses_with(one.memref)
            Rewriter.erase_op(buffer)


def _hold(load: FlatLoad, arriving: SSAValue) -> None:
    """Let the load fill an array with the words that arrive, and read them there."""
    block = load.task.body.block
    memory = block.args[0]
    words = block.insert_arg(arriving.type, 0)
    words.name_hint = f"{load.name}_words"
    top = Builder(InsertPoint.at_start(block))
    held = top.insert(memref.AllocOp([], [], load.words)).memref
    index, inner = _each_word(top, load.words)
    inner.insert(memref.StoreOp.get(inner.insert(stream.ReadOp(words)).result, held, [index]))
    memory.replace_all_uses_with(held)
    held.name_hint = load.name
    block.erase_arg(memory)
    load.task.operands[0] = arriving
    load.task.kind = TaskKind.HOLD


def _each_word(builder: Builder, words: MemRefType) -> tuple[SSAValue, Builder]:
    """The index of a word, and where to build what is done with it: in a loop where there are several."""
    count = _count(words)
    if count == 1:
        return index_constant(builder, 0), builder
    (index,), inner = loop_nest(builder, [Loop(count, 1)], ["word"])
    return index, inner


# Results --------------------------------------------------------------------------------------------------------------


def _stores_in_turn(kernel: KernelOp, total: int, memory: ExternalMemory) -> list[list[TaskOp]]:
    """The stores of `kernel` that share a port, in the order in which they stand."""
    packed: dict[TaskOp, Packed] = {}
    for value, place in zip(kernel.terminator.arguments, kernel.places, strict=True):
        users = {use.operation for use in value.uses} - {kernel.terminator}
        store = next(iter(users)) if len(users) == 1 else None
        if place is None and isinstance(store, TaskOp) and store.kind == TaskKind.STORE and len(store.operands) == 2:
            assert isa(value.type, MemRefType)
            packed[store] = packed_words(value.type, True)
    position = {op: index for index, op in enumerate(kernel.body.block.ops)}
    in_order = {op: packed[op] for op in sorted(packed, key=position.__getitem__)}
    return shared_ports(in_order, total, memory.max_ports, memory.word_bits)
