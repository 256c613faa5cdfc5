"""`repeat-layers`: one launch computes several layers, one after the other, on the same tasks."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import networkx as nx
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf, vector
from xdsl.dialects.builtin import ArrayAttr, IndexType, IntegerAttr, MemRefType, ModuleOp, NoneAttr, VectorType, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure
from xdsl.utils.hints import isa

from stc.analysis.loops import Bounds, constant_bounds, is_unrolled
from stc.analysis.task_graph import streams_of, task_graph, tasks_of, units_of
from stc.diagnostics import CompileError
from stc.dialects.dataflow import PROVENANCE, InPlaceAttr, KernelOp, MemoryOp, PackOp, Place, TaskKind, TaskOp, UnpackOp, YieldOp
from stc.dialects.facts import DRAINS, PARAMETER
from stc.dialects.itensor import SizeOp
from stc.dialects.stream import CreateOp, ReadOp, StreamType, WriteOp
from stc.dialects.use_def import operations_behind
from stc.iteration.order import Loop, StreamOrder
from stc.network.units import complaint_about
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import before_terminator, coordinates, loop_nest, order_nest, total
from stc.transforms.stream.stacked_arguments import StackedArguments, stacked_memory


@dataclass(frozen=True)
class RepeatLayers(ModulePass):
    """Let a kernel of one layer compute `count` layers in a launch, each on what the one before returned.

    Every task runs once per layer, in a loop around its body. What a layer has of its own gets a leading dimension: parameters,
    and what is updated in place (a cache). All else is the same for all layers, and read again for each. A new task, the mover,
    takes what each layer returns and sends it into the next: the cycle that this closes has to go through two compute units
    (`assign-units`). A loop that would be one with that over layers, on the way from the first task to the last, drains instead
    (`stc.drains`): its last tokens would wait in its pipeline for those of the next layer, which depend on them.

    Options:
    * `count`: of layers; 1 (default) changes nothing.

    Accepted: one kernel; one tensor that each of its runs takes and returns, through one memory port each.

        func.func @main(%x: tensor<32xf32>, %w: tensor<32xf32> {stc.parameter}) -> (tensor<32xf32>)
        dataflow.task @load_w ins(%m = ... : memref<8xvector<4xf32>>) outs(...) kind load unit @memory {
          scf.for %word = %c0 to %c8 step %c1 { %t = memref.load %m[%word] ... } }
        dataflow.task @scale ins(...) outs(...) unit @body { scf.for %i = %c0 to %c8 step %c1 {...} }
      becomes, with count=5,
        func.func @main(%x: tensor<32xf32>, %w: tensor<5x32xf32> {stc.parameter}) -> (tensor<32xf32>)
        dataflow.task @load_w ins(%m = ... : memref<40xvector<4xf32>>) outs(...) kind load unit @memory {
          scf.for %word = %c0 to %c40 step %c1 { %t = memref.load %m[%word] ... } }
        dataflow.task @scale ins(...) outs(...) unit @body {
          scf.for %layer = %c0 to %c5 step %c1 { scf.for %i = %c0 to %c8 step %c1 {...} {stc.drains} } }
        dataflow.task @move_x ins(%first = ..., %up = ...) outs(%down = ..., %last = ...) unit @memory {...}
    """

    name = "repeat-layers"

    count: int = 1

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.count < 1:
            raise CompileError(f"count is {self.count}", where=self.name, accepted="a number of layers from 1")
        kernels = [found for found in op.walk() if isinstance(found, KernelOp)]
        if self.count == 1:
            return
        if len(kernels) != 1:
            raise CompileError(f"{len(kernels)} kernels", where=self.name, accepted="one kernel, of one layer")
        _Repetition(kernels[0], self.count).run()
        op.attributes.pop(PROVENANCE, None)  # which says what arrays one layer gets


@dataclass(frozen=True)
class _State:
    """What goes from layer to layer: into the kernel by `load`, in order `taken`, and out of it by `store`, in order `made`."""

    load: TaskOp
    store: TaskOp
    taken: StreamOrder
    made: StreamOrder


class _Repetition:
    def __init__(self, kernel: KernelOp, count: int):
        function = kernel.parent_op()
        assert isinstance(function, func.FuncOp)
        self._kernel, self._function, self._count = kernel, function, count
        self._where = f"{RepeatLayers.name} @{kernel.sym_name.data}"
        self._arguments = StackedArguments(function, kernel, count, self._where)

    def run(self) -> None:
        state = self._state()
        graph = task_graph(self._kernel).graph
        between = _between(graph, state.load.sym_name.data, state.store.sym_name.data)
        others = [task for task in tasks_of(self._kernel) if task not in (state.load, state.store)]
        self._stack()
        for task in others:
            self._repeat(task, task.sym_name.data in between)
        self._count_tokens(self._move(state))
        self._require_units()
        self._arguments.update_signature()

    # What goes from layer to layer --------------------------------------------------------------------------------------

    def _state(self) -> _State:
        updated = {place.operand for place in self._kernel.places if place is not None}
        packs = {index: value.owner for index, value in enumerate(self._kernel.inputs) if index not in updated}
        given = {index: pack for index, pack in packs.items() if isinstance(pack, PackOp) and not self._is_parameter(pack)}
        returned = [
            (result.index, use.operation)
            for result, place in zip(self._kernel.outputs, self._kernel.places, strict=True)
            for use in result.uses
            if place is None and isinstance(use.operation, UnpackOp)
        ]
        pairs = [
            (operand, result, pack.layout.order, unpack.layout.order)
            for operand, pack in given.items()
            for result, unpack in returned
            if (pack.source.type, len(pack.stripes), len(unpack.stripes)) == (unpack.result.type, 1, 1)
        ]
        if len(pairs) != 1:
            what = f"{len(pairs)} pairs of a tensor that goes in and one that comes out"
            raise CompileError(what, where=self._where, accepted="one of one shape, each through one memory port")
        ((operand, result, taken, made),) = pairs
        load = self._only_user(self._kernel.arguments[operand])
        store = self._only_user(self._kernel.terminator.arguments[result])
        for task, order in ((load, taken), (store, made)):
            if self._tokens(_stream_of(task)) != order.token_count:
                what = f"task @{task.sym_name.data} moves {self._tokens(_stream_of(task))} tokens of {order.token_count}"
                raise CompileError(what, where=self._where, accepted="each token once")
        return _State(load, store, taken, made)

    def _is_parameter(self, pack: PackOp) -> bool:
        return any(self._is_own(argument) for argument in _arguments_behind(pack.source))

    def _is_own(self, argument: BlockArgument) -> bool:
        """Whether each layer has its own."""
        entries = self._function.arg_attrs
        return entries is not None and PARAMETER.on(entries.data[argument.index])

    def _only_user(self, memory: SSAValue) -> TaskOp:
        tasks = [use.operation for use in memory.uses if isinstance(use.operation, TaskOp)]
        streams = [value for task in tasks for value in (*task.ins, *task.outs) if isinstance(value.owner, CreateOp)]
        if len(tasks) != 1 or len(streams) != 1:
            what = f"%{memory.name_hint or 'tensor'} has {len(tasks)} tasks that move it, with {len(streams)} streams"
            raise CompileError(what, where=self._where, accepted="one task with one stream (duplicate-loads=0)")
        return tasks[0]

    # Arguments and results ----------------------------------------------------------------------------------------------

    def _stack(self) -> None:
        """Parameters, and what is updated in place, are of all layers."""
        updated = [place.operand for place in self._kernel.places if place is not None]
        behind = {argument for index in updated for argument in _arguments_behind(self._kernel.inputs[index])}
        own = [each for each in self._function.body.block.args if each in behind or self._is_own(each)]
        self._arguments.stack(own)
        for index in updated:
            if not self._arguments.is_stacked(self._kernel.inputs[index]):
                raise CompileError(f"operand {index} is updated in place, and no argument", where=self._where)
        self._stack_results()

    def _stack_results(self) -> None:
        places = list(self._kernel.places)
        for index, (result, place) in enumerate(zip(self._kernel.outputs, places, strict=True)):
            if place is None:
                continue
            value = self._kernel.terminator.arguments[index]
            if not isinstance(value.owner, MemoryOp):
                raise CompileError(f"result {index} is no memory", where=self._where, accepted="dataflow.memory")
            Rewriter.replace_value_with_new_type(value, stacked_memory(value.type, self._count))
            Rewriter.replace_value_with_new_type(result, self._kernel.inputs[place.operand].type)
            layout = None if place.layout is None else self._arguments.layout(place.layout)
            places[index] = replace(place, offsets=(0, *place.offsets), scalars=(False, *place.scalars), layout=layout)
        self._kernel.in_place = _attribute(places)
        self._arguments.stack_results(
            [result for result, place in zip(self._kernel.outputs, places, strict=True) if place is not None]
        )

    # Tasks --------------------------------------------------------------------------------------------------------------

    def _repeat(self, task: TaskOp, in_cycle: bool) -> None:
        """A loop over layers around the body of `task`; `in_cycle`: whether the next layer waits for what it sends."""
        if task.kind == TaskKind.HOLD:
            task.kind_attr = None  # of each layer it takes all before it sends any: not of all layers
        words = self._stack_ports(task)
        repeated = _repeated(task)
        effects = [op for op in repeated if not op.has_trait(Pure)]
        if not in_cycle and len(effects) == 1 and self._lengthen(effects[0], words):
            return
        if not any(_is_rolled(op) for each in repeated for op in each.walk()):
            if in_cycle:
                repeated = effects = [_once(task, repeated)]
            elif len(words) > 1:  # of one bundle: in one pipeline they would take turns
                repeated = [_once(task, part) for part in _up_to_writes(repeated)]
        if in_cycle and len(effects) == 1:
            DRAINS.put(effects[0], None)
        for op in repeated:
            op.detach()
        block = _over_layers(Builder(InsertPoint.before(task.terminator)), 0, self._count, repeated)
        for port, count in words.items():
            self._offset(task, port, count, block)

    def _stack_ports(self, task: TaskOp) -> dict[SSAValue, int]:
        """The memory ports of `task` that hold all layers now, and the words of a layer."""
        words: dict[SSAValue, int] = {}
        for value, port in zip((*task.ins, *task.outs), task.body.block.args, strict=True):
            if isa(value.type, MemRefType) and value.type != port.type:
                words[Rewriter.replace_value_with_new_type(port, value.type)] = value.type.get_shape()[0] // self._count
        return words

    def _lengthen(self, loop: Operation, words: Mapping[SSAValue, int]) -> bool:
        """Let a loop over all words of a layer run over those of all layers; whether it is one."""
        if not isinstance(loop, scf.ForOp) or len(words) != 1 or constant_bounds(loop) != Bounds(0, next(iter(words.values())), 1):
            return False
        moved = [op for op in loop.walk() if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref in words]
        if len(moved) != 1 or list(moved[0].indices) != [loop.body.block.args[0]] or moved[0].parent_op() is not loop:
            return False
        loop.operands[1] = index_constant(Builder(InsertPoint.before(loop)), self._count * next(iter(words.values())))
        return True

    def _offset(self, task: TaskOp, port: SSAValue, words: int, block: Block) -> None:
        """Let what `task` accesses through `port` be of the layer that `block` is of."""
        start = block.first_op
        assert start is not None
        builder = Builder(InsertPoint.before(start))
        first = builder.insert(arith.MuliOp(block.args[0], index_constant(builder, words))).result
        first.name_hint = "first_word"
        for use in list(port.uses):
            access = use.operation
            if not isinstance(access, memref.LoadOp | memref.StoreOp):
                what = f"task @{task.sym_name.data} uses external memory in '{access.name}'"
                raise CompileError(what, where=self._where, accepted="memref.load and memref.store")
            place = len(access.operands) - 1
            moved = total(Builder(InsertPoint.before(access)), [first, access.operands[place]])
            access.operands[place] = moved

    # The mover ----------------------------------------------------------------------------------------------------------

    def _move(self, state: _State) -> tuple[SSAValue, SSAValue]:
        """A task that sends the input of each layer and takes its output, with storage for one. Returns the streams by which it
        gets the first input and sends the last output."""
        down, up = _stream_of(state.load), _stream_of(state.store)
        first = self._new_stream(state.load, down)
        last = self._new_stream(state.store, up)
        state.load.operands = [first if value is down else value for value in state.load.operands]
        state.store.operands = [last if value is up else value for value in state.store.operands]
        name = state.load.sym_name.data.replace("load_", "move_", 1)
        mover = TaskOp(name, [first, up], [down, last], unit=state.load.unit)
        Builder(InsertPoint.before(state.store)).insert(mover)
        arrives, returns = mover.input_ports
        sends, ends = mover.output_ports
        builder = Builder(InsertPoint.at_end(mover.body.block))
        _pass_on(builder, self._tokens(down), arrives, sends)
        assert isa(sends.type, StreamType) and isa(sends.type.element_type, VectorType)
        scalar, shape = sends.type.element_type.element_type, state.taken.static_shape
        held = builder.insert(memref.AllocOp.get(scalar, shape=shape or (1,))).memref
        held.name_hint = "held"
        block = _over_layers(builder, 1, self._count)
        inside = before_terminator(block)
        if not (state.made.loops or state.taken.loops):
            inside = _one_iteration(inside)
        ivs, fill = order_nest(inside, state.made)
        token = fill.insert(ReadOp(returns)).result
        fill.insert(vector.StoreOp(token, held, coordinates(fill, state.made, ivs) or [index_constant(fill, 0)]))
        ivs, send = order_nest(inside, state.taken)
        place = coordinates(send, state.taken, ivs) or [index_constant(send, 0)]
        kept = send.insert(vector.LoadOp(held, place, sends.type.element_type)).result
        send.insert(WriteOp(kept, sends))
        for nest in [op for op in block.ops if isinstance(op, scf.ForOp)]:
            DRAINS.put(nest, None)
        _pass_on(builder, self._tokens(up), returns, ends)
        builder.insert(YieldOp())
        return first, last

    def _new_stream(self, task: TaskOp, like: SSAValue) -> SSAValue:
        """What carries one layer's input or output, in place of a stream that carries those of all layers."""
        assert isinstance(like.owner, CreateOp) and isinstance(like.type, StreamType)
        end = "first" if task.kind == TaskKind.LOAD else "last"
        tokens = self._tokens(like)
        name = f"{like.owner.sym_name.data}_{end}"
        create = Builder(InsertPoint.before(task)).insert(CreateOp(name, like.type, tokens, tokens))
        create.result.name_hint = name
        return create.result

    def _tokens(self, stream: SSAValue) -> int:
        """Tokens of a layer."""
        assert isinstance(stream.owner, CreateOp)
        if stream.owner.tokens is None:
            what = f"%{stream.name_hint or 'stream'} carries as many tokens as a run-time size says"
            raise CompileError(what, where=self._where, accepted="as many for each layer")
        return stream.owner.tokens

    def _count_tokens(self, once: Collection[SSAValue]) -> None:
        """Of all layers, but for the streams that carry one layer's."""
        for create in streams_of(self._kernel):
            if create.result in once:
                continue
            for name in ("tokens", "distinct_tokens"):
                if (count := getattr(create, name)) is not None:
                    create.properties[name] = IntegerAttr(self._count * count, i64)

    def _require_units(self) -> None:
        """Between units the layers form a cycle, inside one they may not."""
        graph, units = task_graph(self._kernel), units_of(self._kernel)
        cycle = graph.cycle()
        complaint = complaint_about(graph, units) if units else f"tasks {', '.join(cycle)} form a cycle, in one compute unit"
        if complaint:
            raise CompileError(complaint, where=self._where, accepted="more units (assign-units{strategy=memory})")


def _between(graph: nx.MultiDiGraph[str], first: str, last: str) -> set[str]:
    """The tasks on a way from `first` to `last`."""
    return nx.descendants(graph, first) & nx.ancestors(graph, last)


def _arguments_behind(value: SSAValue) -> list[BlockArgument]:
    """The arguments of the function that a tensor is made of."""
    found = [operand for op in operations_behind(value) for operand in op.operands] + [value]
    return [each for each in found if isinstance(each, BlockArgument)]


def _attribute(places: Sequence[Place | None]) -> ArrayAttr[Attribute] | None:
    if all(place is None for place in places):
        return None
    return ArrayAttr([NoneAttr() if place is None else InPlaceAttr(place) for place in places])


def _stream_of(task: TaskOp) -> SSAValue:
    """The stream of a task that has one."""
    (stream,) = (value for value in (*task.ins, *task.outs) if isinstance(value.type, StreamType))
    return stream


def _repeated(task: TaskOp) -> list[Operation]:
    """What a task does for a layer: all but its constants, the sizes known at run time, and its arrays."""
    return [op for op in task.body.block.ops if not isinstance(op, arith.ConstantOp | SizeOp | memref.AllocOp | YieldOp)]


def _is_rolled(op: Operation) -> bool:
    """Whether `op` is a loop in hardware."""
    return isinstance(op, scf.ForOp) and not is_unrolled(op)


def _up_to_writes(body: Sequence[Operation]) -> list[list[Operation]]:
    """Parts of a body without loops, each up to what it sends."""
    parts: list[list[Operation]] = [[]]
    for op in body:
        parts[-1].append(op)
        if isinstance(op, WriteOp):
            parts.append([])
    return parts[:-1]


def _once(task: TaskOp, body: Sequence[Operation]) -> scf.ForOp:
    """`body` in a loop of one iteration, which ends with it: alone in the loop over layers it would be one pipeline for all."""
    for op in body:
        op.detach()
    inside = _one_iteration(Builder(InsertPoint.before(task.terminator)))
    for op in body:
        inside.insert(op)
    return _loop_at(inside)


def _one_iteration(builder: Builder) -> Builder:
    """A new loop of one iteration, which drains."""
    _, inside = loop_nest(builder, [Loop(1, 1)], ["once"])
    DRAINS.put(_loop_at(inside), None)
    return inside


def _loop_at(builder: Builder) -> scf.ForOp:
    loop = builder.insertion_point.block.parent_op()
    assert isinstance(loop, scf.ForOp)
    return loop


def _over_layers(builder: Builder, first: int, count: int, body: Sequence[Operation] = ()) -> Block:
    """The body of a new loop over layers from `first` on, of `count` in all."""
    lower, upper, step = (index_constant(builder, number) for number in (first, count, 1))
    block = Block([*body, scf.YieldOp()], arg_types=[IndexType()])
    block.args[0].name_hint = "layer"
    builder.insert(scf.ForOp(lower, upper, step, [], block))
    return block


def _pass_on(builder: Builder, tokens: int, source: SSAValue, target: SSAValue) -> None:
    """A loop that sends on each of so many tokens."""
    _, body = loop_nest(builder, [Loop(tokens, 1)], ["token"])
    body.insert(WriteOp(body.insert(ReadOp(source)).result, target))
