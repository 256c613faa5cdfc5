"""`repeat-layers`: one launch computes several layers, one after the other, on the same tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import groupby
from math import prod

import networkx as nx
from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, func, memref, scf
from xdsl.dialects.builtin import IntegerAttr, MemRefType, ModuleOp, TensorType, VectorType, i64
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.traits import Pure
from xdsl.utils.hints import isa

from stc.analysis.behind_layers import end_of_layers
from stc.analysis.kernel_memory import bits_of
from stc.analysis.loops import Bounds, constant_bounds, integer_constant, is_unrolled
from stc.analysis.task_graph import ends_of, streams_of, task_graph, tasks_of, units_of
from stc.design_space.parallelism import PORT_BITS
from stc.diagnostics import CompileError
from stc.dialects.dataflow import (
    PROVENANCE,
    KernelOp,
    MemoryOp,
    PackOp,
    TaskKind,
    TaskOp,
    UnpackOp,
    YieldOp,
    own_kernel_of,
)
from stc.dialects.dataflow.boundary import stored_type
from stc.dialects.dataflow.memory_ops import striped
from stc.dialects.facts import BEHIND_LAYERS, DRAINS, ENDS_LAYERS, PARAMETER
from stc.dialects.itensor import ItensorType
from stc.dialects.stream import CreateOp, StreamType, WriteOp
from stc.dialects.use_def import arguments_behind, through_reshapes, uses_through
from stc.iteration.layout_orders import row_major
from stc.iteration.order import StreamOrder
from stc.iteration.vectorize import largest_divisor
from stc.network.units import complaint_about
from stc.transforms.dataflow.pack_interfaces import packed_type
from stc.transforms.index_constant import index_constant
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.stream.kernel_operands import without_operands
from stc.transforms.stream.loops import before_terminator, coordinates, join_loops, order_nest, total
from stc.transforms.stream.lower_dmas import load_operand
from stc.transforms.stream.names import UniqueNames, symbols_of
from stc.transforms.stream.repeated_bodies import offset, once, one_iteration, repeated_block, repeated_ops, repeats, stack_ports
from stc.transforms.stream.stacked_arguments import StackedArguments, stacked_memory
from stc.transforms.stream.token_moves import receive, send


@dataclass(frozen=True)
class RepeatLayers(ModulePass):
    """Let a kernel of one layer compute `count` layers in a launch, each on what the one before returned.

    Every task runs once per layer, in a loop around its body. What a layer has of its own gets a leading dimension: parameters, and
    what is updated in place (a cache). All else is the same for all layers, and read again for each. A new task, the mover, holds
    what a layer takes, sends it to all who read it, one after the other as they stand (who takes a token of each stripe gets them
    together), and takes what the layer returns, which the next one takes: the cycle that this closes has to go through two compute
    units (`assign-units`). The input of the first layer it gets from one load, in place of those that a layer had. Where a task
    says what layers end with (`stc.ends_layers`), the mover takes its place: what is marked to be behind it (`mark-behind-layers`:
    tasks, or parts of one that works for layers, too) runs once, on what the last layer returns, and its parameters stay as they
    are. A loop that would be one with that over layers, on the way from the first task to the last, drains instead (`stc.drains`):
    its last tokens would wait in its pipeline for those of the next layer, which depend on them. It is one with the loops in it,
    where bits of its number say which of their iterations it is, or nobody asks: else it would drain in each of its own. What a
    task gets of another whose loops run as often as a launch says comes in bursts, between which it had better drain: there only
    what nobody asks for is one.

    Options:
    * `count`: of layers; 1 (default) changes nothing.
    * `port-bits` (default 512): of the words in which the first layer's input lies.

    Accepted: one kernel without own kernels; one tensor that each of its runs takes (through any number of loads) and returns
    (through one store, or one for each of its stripes), and no other result but updates in place.

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
        dataflow.task @move_x ins(%x = ..., %up = ...) outs(%down = ..., %last = ...) unit @memory {...}
    """

    name = "repeat-layers"

    count: int = 1
    port_bits: int = PORT_BITS

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.count < 1:
            raise CompileError(f"count is {self.count}", where=self.name, accepted="a number of layers from 1")
        kernels = [found for found in op.walk() if isinstance(found, KernelOp)]
        if self.count == 1:
            return
        if len(kernels) != 1:
            raise CompileError(f"{len(kernels)} kernels", where=self.name, accepted="one kernel, of one layer")
        _Repetition(kernels[0], self.count, self.port_bits).run()
        erase_dead_ops(op)  # how the host laid out the input for each of its readers
        op.attributes.pop(PROVENANCE, None)  # which says what arrays one layer gets


@dataclass(frozen=True)
class _Port:
    """A task that moves what `order` enumerates of a tensor of this `shape`, all of it or a stripe, through a memory port and one
    `stream`, once; or that hands on what layers end with, which it takes from there."""

    task: TaskOp
    stream: SSAValue
    order: StreamOrder
    shape: tuple[int, ...]


@dataclass(frozen=True)
class _State:
    """What goes from layer to layer: the argument `first`, into the kernel through `loads`, in any shapes, and out through
    `stores`, each of which moves a stripe: token by token in turn. `last`: where a task ends layers, which is the only one of
    `stores` then, what it sends on of the last."""

    first: BlockArgument
    loads: Sequence[_Port]
    stores: Sequence[_Port]
    last: _Port | None = None

    @property
    def ports(self) -> list[_Port]:
        return [*self.loads, *self.stores]


class _Repetition:
    def __init__(self, kernel: KernelOp, count: int, port_bits: int):
        function = kernel.parent_op()
        assert isinstance(function, func.FuncOp)
        self._kernel, self._function, self._count, self._port_bits = kernel, function, count, port_bits
        self._where = f"{RepeatLayers.name} @{kernel.sym_name.data}"
        self._arguments = StackedArguments(function, kernel, count, self._where)

    def run(self) -> None:
        state = self._state()
        _require_apart(self._kernel, self._where)
        graph = task_graph(self._kernel).graph
        moved = {port.task for port in state.ports}
        ways = [(load.task.sym_name.data, store.task.sym_name.data) for load in state.loads for store in state.stores]
        between = set[str]().union(*(_between(graph, first, last) for first, last in ways))
        others = [task for task in tasks_of(self._kernel) if task not in moved and not BEHIND_LAYERS.on(task)]
        bursts = _in_bursts(graph, tasks_of(self._kernel))
        self._stack()
        counts = _counts(others)
        for task in others:
            if not _lengthen_for_both(task, counts, self._count):
                name = task.sym_name.data
                self._repeat(task, in_cycle=name in between, in_bursts=name in bursts)
        once = [out for task in tasks_of(self._kernel) if BEHIND_LAYERS.on(task) for out in task.outs]
        self._count_tokens([*once, *self._move(state)], counts)
        self._require_units()
        self._arguments.update_signature()
        self._arguments.erase_replaced()

    # What goes from layer to layer --------------------------------------------------------------------------------------

    def _state(self) -> _State:
        arguments, end = self._function.body.block.args, end_of_layers(self._kernel)
        given = [argument for argument in arguments if argument not in self._of_the_last]
        taken = {argument: packs for argument in given if (packs := self._only_packed(argument))}
        pairs = [(argument, unpack) for argument in taken for unpack, kind in self._returned() if kind == argument.type]
        go_in = {argument for argument, _ in pairs}
        if len(go_in if end else pairs) != 1:  # what ends layers says which comes out, whatever else is as large
            what = f"{len(pairs)} pairs of a tensor that goes in and one that comes out"
            raise CompileError(what, where=self._where, accepted="one of one shape, that only the kernel reads and writes")
        argument, unpack = pairs[0]
        self._require_no_other(() if end else unpack.stripes)
        loads, inputs = list[_Port](), list(enumerate(self._kernel.inputs))
        for pack in taken[argument]:
            for stripe, order in _stripes(pack):
                operands = [self._kernel.arguments[index] for index, value in inputs if value is stripe]
                loads += [self._port(operand, order, pack.layout) for operand in operands]
        position = {task: at for at, task in enumerate(tasks_of(self._kernel))}
        loads.sort(key=lambda load: position[ends_of(load.stream)[1]])  # which the mover serves one after the other
        if end is not None:
            return self._ended(argument, loads, end)
        results = [(self._kernel.outputs.index(stripe), order) for stripe, order in _stripes(unpack)]
        stores = [self._port(self._kernel.terminator.arguments[index], order, unpack.layout) for index, order in results]
        return _State(argument, loads, stores)

    def _ended(self, first: BlockArgument, loads: Sequence[_Port], end: TaskOp) -> _State:
        """What goes from layer to layer where a task says what layers end with."""
        stores, last = _end_ports(end, self._where)
        if any(prod(load.shape) != prod(last.shape) for load in loads):
            sizes = f"{prod(last.shape)} entries, and the next takes {prod(loads[0].shape)}"
            raise CompileError(f"a layer ends with {sizes}", where=self._where, accepted="as many")
        return _State(first, loads, stores, last)

    def _require_no_other(self, returned: Sequence[SSAValue]) -> None:
        """What else a layer returned would be lost, but for the last one's."""
        for result, place in zip(self._kernel.outputs, self._kernel.places, strict=True):
            if place is None and result not in returned and not self._is_last(result):
                what = f"%{result.name_hint or 'result'} is a result of each layer"
                raise CompileError(what, where=self._where, accepted="the tensor that goes round, and updates in place")

    def _is_last(self, result: SSAValue) -> bool:
        """Whether a result of the kernel is of what follows the last layer."""
        memory = self._kernel.terminator.arguments[self._kernel.outputs.index(result)]
        stores = [use.operation for use in memory.uses if isinstance(use.operation, TaskOp)]
        return bool(stores) and all(BEHIND_LAYERS.on(store) for store in stores)

    def _only_packed(self, argument: BlockArgument) -> list[PackOp]:
        """The packs of an argument that is the same for all layers, if that is all that happens to it but for reshapes."""
        users = [use.operation for use in uses_through(argument)]
        updated = [self._kernel.inputs[index] for index in self._kernel.updated]
        packs = [user for user in users if isinstance(user, PackOp) and not {*user.stripes} & {*updated}]
        return packs if len(packs) == len(users) and not self._is_own(argument) else []

    def _returned(self) -> Iterator[tuple[UnpackOp, Attribute]]:
        """What the function returns of the results of the kernel that are no updates, and as which type."""
        terminator = self._function.body.block.last_op
        assert terminator is not None
        for value in terminator.operands:
            unpack = through_reshapes(value).owner
            outputs = self._kernel.outputs
            free = [result for result, place in zip(outputs, self._kernel.places, strict=True) if place is None]
            if isinstance(unpack, UnpackOp) and {*unpack.stripes} <= {*free}:
                yield unpack, value.type

    def _port(self, memory: SSAValue, order: StreamOrder, layout: ItensorType) -> _Port:
        tasks = [use.operation for use in memory.uses if isinstance(use.operation, TaskOp)]
        streams = [value for task in tasks for value in (*task.ins, *task.outs) if isinstance(value.owner, CreateOp)]
        if len(tasks) != 1 or len(streams) != 1:
            what = f"%{memory.name_hint or 'tensor'} has {len(tasks)} tasks that move it, with {len(streams)} streams"
            raise CompileError(what, where=self._where, accepted="one task with one stream")
        port = _Port(tasks[0], streams[0], order, layout.order.static_shape)
        if (count := self._tokens(port.stream)) != order.token_count:
            what = f"task @{port.task.sym_name.data} moves {count} tokens of {order.token_count}"
            raise CompileError(what, where=self._where, accepted="each token once")
        return port

    def _is_own(self, argument: BlockArgument) -> bool:
        """Whether each layer has its own."""
        entries = self._function.arg_attrs
        return entries is not None and PARAMETER.on(entries.data[argument.index]) and argument not in self._of_the_last

    @cached_property
    def _of_the_last(self) -> set[BlockArgument]:
        """The arguments that nothing but what follows the last layer reads. CompileError for what both read."""
        used: dict[bool, set[BlockArgument]] = {True: set(), False: set()}
        for value, memory in zip(self._kernel.inputs, self._kernel.arguments, strict=True):
            for use in memory.uses:
                used[isinstance(use.operation, TaskOp) and _is_read_last(use.operation, use.index)] |= {*arguments_behind(value)}
        entries = self._function.arg_attrs
        for argument in used[True] & used[False]:
            if entries is not None and PARAMETER.on(entries.data[argument.index]):
                what = f"%{argument.name_hint or 'parameter'} is read by layers and by what follows the last"
                raise CompileError(what, where=self._where, accepted="parameters of one of both")
        return used[True] - used[False]

    # Arguments and results ----------------------------------------------------------------------------------------------

    def _stack(self) -> None:
        """Parameters, and what is updated in place, are of all layers."""
        updated = self._kernel.updated
        behind = {argument for index in updated for argument in arguments_behind(self._kernel.inputs[index])}
        own = [each for each in self._function.body.block.args if each in behind or self._is_own(each)]
        self._arguments.stack(own)
        for index in updated:
            if not self._arguments.is_stacked(value := self._kernel.inputs[index]):
                what = f"%{value.name_hint or 'operand'} is updated in place"
                raise CompileError(what, where=self._where, accepted="arguments of the function")
        self._stack_results()

    def _stack_results(self) -> None:
        places = list(self._kernel.places)
        for index, (result, place) in enumerate(zip(self._kernel.outputs, places, strict=True)):
            if place is None:
                continue
            value = self._kernel.terminator.arguments[index]
            if not isinstance(value.owner, MemoryOp):
                what = f"%{result.name_hint or 'result'} is no memory of the kernel's"
                raise CompileError(what, where=self._where, accepted="a result that dataflow.memory makes")
            Rewriter.replace_value_with_new_type(value, stacked_memory(value.type, self._count))
            Rewriter.replace_value_with_new_type(result, self._kernel.inputs[place.operand].type)
            layout = None if place.layout is None else self._arguments.layout(place.layout)
            places[index] = replace(place, offsets=(0, *place.offsets), scalars=(False, *place.scalars), layout=layout)
        self._kernel.places = places
        self._arguments.stack_results(
            [result for result, place in zip(self._kernel.outputs, places, strict=True) if place is not None]
        )

    # Tasks --------------------------------------------------------------------------------------------------------------

    def _repeat(self, task: TaskOp, *, in_cycle: bool, in_bursts: bool) -> None:
        """A loop over layers around the body of `task`; `in_cycle`: whether the next layer waits for what it sends; `in_bursts`:
        whether what it reads comes so (`_in_bursts`)."""
        if own_kernel_of(task) is not None:
            what = f"task @{task.sym_name.data} is an own kernel"
            raise CompileError(what, where=self._where, accepted="tasks whose loops the compiler made")
        if task.kind == TaskKind.HOLD:
            task.kind_attr = None  # of each layer it takes all before it sends any: not of all layers
        words = stack_ports(task, self._count)
        following = [op for op in task.body.block.ops if BEHIND_LAYERS.on(op)]
        repeated = [op for op in repeated_ops(task) if op not in following]
        made = {result for op in repeated for result in op.results}
        if any(value in made for op in following for inner in op.walk() for value in inner.operands):
            what = f"task @{task.sym_name.data} computes a value for layers and for what follows the last"
            raise CompileError(what, where=self._where, accepted="a part for each, with values of its own")
        effects = [op for op in repeated if not op.has_trait(Pure)]
        if not in_cycle and not following and len(effects) == 1 and self._lengthen(effects[0], words):
            return
        loops = [op for each in repeated for op in each.walk() if isinstance(op, scf.ForOp) and not is_unrolled(op)]
        if not any(repeats(loop) for loop in loops):  # else alone in the loop over layers, which would be one pipeline
            if in_cycle or loops:
                repeated = effects = [once(task, repeated)]
            elif sum(isa(port.type, MemRefType) for port in task.body.block.args) > 1:  # in one pipeline they would take turns
                repeated = [once(task, part) for part in _up_to_writes(repeated)]
        if in_cycle and len(effects) == 1 and isinstance(effects[0], scf.ForOp):
            _let_drain(effects[0], in_bursts=in_bursts)
        for op in repeated:
            op.detach()
        block = repeated_block(Builder(InsertPoint.before(task.terminator)), "layer", self._count, repeated)
        for port, count in words.items():
            offset(task, port, count, block, self._where)
        for op in following:
            op.detach()
            Rewriter.insert_op(op, InsertPoint.before(task.terminator))

    def _lengthen(self, loop: Operation, words: Mapping[SSAValue, int]) -> bool:
        """Let a loop over all words of a layer run over those of all layers; whether it is one."""
        if not isinstance(loop, scf.ForOp) or loop.iter_args or len(words) != 1 or len(list(loop.body.block.args[0].uses)) != 1:
            return False
        if constant_bounds(loop) != Bounds(0, next(iter(words.values())), 1):
            return False
        moved = [op for op in loop.walk() if isinstance(op, memref.LoadOp | memref.StoreOp) and op.memref in words]
        if len(moved) != 1 or list(moved[0].indices) != [loop.body.block.args[0]] or moved[0].parent_op() is not loop:
            return False
        loop.operands[1] = index_constant(Builder(InsertPoint.before(loop)), self._count * next(iter(words.values())))
        return True

    # The mover ----------------------------------------------------------------------------------------------------------

    def _move(self, state: _State) -> list[SSAValue]:
        """A task that sends the input of each layer, which it holds, and takes its output: the next one's input. Returns the
        streams by which it gets the first input and sends the last output."""
        downs, ups = [port.stream for port in state.loads], [port.stream for port in state.stores]
        stores = {port.task for port in state.stores}
        earliest = next(task for task in tasks_of(self._kernel) if task in stores)
        first = self._load_first(state)
        names = symbols_of(self._kernel)
        lasts = [state.last.stream] if state.last else [self._last_stream(port, names, earliest) for port in state.stores]
        name = names.fresh(f"move_{state.first.name_hint or 'layers'}")
        mover = TaskOp(name, [first.stream, *ups], [*downs, *lasts], unit=first.task.unit)
        Builder(InsertPoint.before(earliest)).insert(mover)
        arriving, *returns = mover.input_ports
        sends, ends = mover.output_ports[: len(downs)], mover.output_ports[len(downs) :]
        builder = Builder(InsertPoint.at_end(mover.body.block))
        held = builder.insert(memref.AllocOp.get(_token(arriving).element_type, shape=[prod(first.shape)])).memref
        held.name_hint = "held"
        _hold(builder, [first], [arriving], held)
        block = repeated_block(builder, "layer", self._count)
        inside = before_terminator(block)
        sending = inside if any(port.order.loops for port in state.loads) else one_iteration(inside)
        for served in _served_at_once(state.loads, sends):
            _send(sending, list(served), held, list(served.values()))
        _hold(inside if state.stores[0].order.loops else one_iteration(inside), state.stores, returns, held)
        for nest in [op for op in block.ops if isinstance(op, scf.ForOp)]:
            _let_drain(nest, in_bursts=False)
        _send(builder, [state.last] if state.last else state.stores, held, ends)
        builder.insert(YieldOp())
        if state.last:
            Rewriter.erase_op(earliest)
        return [first.stream, *lasts]

    def _load_first(self, state: _State) -> _Port:
        """A load of the first layer's input, entry by entry, in place of those that each layer had."""
        kernel, kind, unit = self._kernel, state.first.type, state.loads[0].task.unit
        memories = {value for load in state.loads for value in load.task.ins if isinstance(value.type, MemRefType)}
        for load in state.loads:
            Rewriter.erase_op(load.task)
        without_operands(kernel, [port for port in kernel.arguments if port in memories])
        assert isa(kind, TensorType)
        shape, entry = kind.get_shape(), kind.element_type
        widest = self._port_bits // bits_of(stored_type(entry, self._port_bits))
        element = (*(1 for _ in shape[:-1]), largest_divisor(shape[-1], widest)) if shape else ()
        layout = ItensorType.from_order(row_major(shape, element), entry)
        pack = PackOp(state.first, layout, packed_type(layout, self._port_bits))
        Builder(InsertPoint.before(kernel)).insert(pack).result.name_hint = state.first.name_hint
        stream = load_operand(kernel, pack.result, layout)
        task = next(use.operation for use in stream.uses)
        assert isinstance(task, TaskOp)
        if unit is not None:
            task.unit = unit
        return _Port(task, stream, layout.order, shape)

    def _last_stream(self, port: _Port, names: UniqueNames, at: TaskOp) -> SSAValue:
        """What carries the last layer's output, in place of a stream that carries those of all layers from now on; in front of the
        task `at`."""
        old = port.stream
        assert isinstance(old.owner, CreateOp) and isinstance(old.type, StreamType)
        name, tokens = names.fresh(f"{old.owner.sym_name.data}_last"), self._tokens(old)
        create = Builder(InsertPoint.before(at)).insert(CreateOp(name, old.type, tokens, tokens, old.owner.carries))
        create.result.name_hint = name
        port.task.operands = [create.result if value is old else value for value in port.task.operands]
        return create.result

    def _tokens(self, stream: SSAValue) -> int:
        """Tokens of a layer."""
        assert isinstance(stream.owner, CreateOp)
        if stream.owner.tokens is None:
            what = f"%{stream.name_hint or 'stream'} carries as many tokens as a run-time size says"
            raise CompileError(what, where=self._where, accepted="a tensor of one size, from layer to layer")
        return stream.owner.tokens

    def _count_tokens(self, once: Collection[SSAValue], counts: Mapping[SSAValue, _Tokens]) -> None:
        """Of all layers, but for the streams that carry one layer's, or what follows the last (`once`); some carry both (`counts`).
        """
        for create in streams_of(self._kernel):
            if create.result in once:
                continue
            following = counts[create.result].following if create.result in counts else 0
            for name in ("tokens", "distinct_tokens"):
                if (count := getattr(create, name)) is not None:
                    create.properties[name] = IntegerAttr(self._count * (count - following) + following, i64)

    def _require_units(self) -> None:
        """Between units the layers form a cycle, inside one they may not."""
        graph, units = task_graph(self._kernel), units_of(self._kernel)
        cycle = graph.cycle()
        complaint = complaint_about(graph, units)
        if not units and cycle:
            complaint = f"tasks {', '.join(cycle)} form a cycle, in one compute unit"
        if complaint:
            raise CompileError(complaint, where=self._where, accepted="more units (--units memory, assign-units{strategy=memory})")


# What follows the last layer ---------------------------------------------------------------------------------------------


def _end_ports(end: TaskOp, where: str) -> tuple[list[_Port], _Port]:
    """The task with which layers end, by what it takes, and by what it sends on."""
    ports = [_carrying(end, stream, stream.owner) for stream in (*end.ins, *end.outs) if isinstance(stream.owner, CreateOp)]
    given = [port for port in ports if port is not None]
    if (len(end.ins), len(end.outs), len(given)) != (1, 1, 2) or given[0].shape != given[1].shape:
        what = f"task @{end.sym_name.data} ends layers, and takes or sends more than one tensor"
        raise CompileError(what, where=where, accepted="one stream, of which it sends on what it takes")
    return given[:1], given[1]


def _carrying(task: TaskOp, stream: SSAValue, create: CreateOp) -> _Port | None:
    order = None if create.carries is None else create.carries.order
    return None if order is None else _Port(task, stream, order, order.static_shape)


def _require_apart(kernel: KernelOp, where: str) -> None:
    """CompileError where what follows the last layer takes anything of the layers but what they end with."""
    for task in [task for task in tasks_of(kernel) if BEHIND_LAYERS.on(task)]:
        for stream in [value for value in task.ins if isinstance(value.owner, CreateOp)]:
            writer, _ = ends_of(stream)
            port = writer.output_ports[list(writer.outs).index(stream)]
            top = writer.body.block
            of_layers = [use for use in port.uses if not BEHIND_LAYERS.on(top.find_ancestor_op_in_block(use.operation))]
            if of_layers and not (BEHIND_LAYERS.on(writer) or ENDS_LAYERS.on(writer)):
                what = f"task @{task.sym_name.data} follows the last layer, and takes what @{writer.sym_name.data} sends in each"
                raise CompileError(what, where=where, accepted="what layers end with, and parameters of its own")


def _is_read_last(task: TaskOp, index: int) -> bool:
    """Whether `task` reads its operand of this index for nothing but what follows the last layer."""
    if BEHIND_LAYERS.on(task):
        return True
    top = task.body.block
    users = [top.find_ancestor_op_in_block(use.operation) for use in task.body.block.args[index].uses]
    return bool(users) and all(BEHIND_LAYERS.on(user) for user in users)


@dataclass(frozen=True)
class _Tokens:
    """Of a stream: of one layer, and of what follows the last one."""

    layer: int
    following: int


def _counts(tasks: Iterable[TaskOp]) -> dict[SSAValue, _Tokens]:
    """The streams that carry tokens of layers and tokens of what follows, by what their writers do."""
    found: dict[SSAValue, _Tokens] = {}
    for task in tasks:
        for out, port in zip(task.outs, task.output_ports, strict=True):
            writes = [use.operation for use in port.uses if isinstance(use.operation, WriteOp)]
            behind = [write for write in writes if BEHIND_LAYERS.on(task.body.block.find_ancestor_op_in_block(write))]
            if len(behind) == len(writes) and isinstance(out.owner, CreateOp) and out.owner.tokens is not None:
                found[out] = _Tokens(0, out.owner.tokens)
            elif behind:
                following = sum(_times(write, task) for write in behind)
                found[out] = _Tokens(sum(_times(write, task) for write in writes) - following, following)
    return found


def _lengthen_for_both(task: TaskOp, counts: dict[SSAValue, _Tokens], layers: int) -> bool:
    """Let a task that takes tokens of layers, and then of what follows, in alike iterations of one loop have as many as all want.

    False where it is none. What it sends is added to `counts`: as much for each iteration.
    """
    taken = [counts[value] for value in task.ins if value in counts]
    effects = [op for op in repeated_ops(task) if not op.has_trait(Pure)]
    if not taken or any(BEHIND_LAYERS.on(op) for op in effects):
        return False
    loop, parts = effects[0], {Fraction(each.following, each.layer + each.following) for each in taken}
    bounds = constant_bounds(loop) if isinstance(loop, scf.ForOp) and not loop.body.block.args[0].uses else None
    sent = [out.owner.tokens if isinstance(out.owner, CreateOp) else None for out in task.outs]
    following = [part * count for part in parts for count in (bounds.trip if bounds else None, *sent) if count is not None]
    if len(effects) > 1 or len(parts) > 1 or len(following) != 1 + len(sent) or any(each.denominator > 1 for each in following):
        what = f"task @{task.sym_name.data} takes tokens of layers and of what follows the last, in other than alike iterations"
        raise CompileError(what, where=RepeatLayers.name, accepted="one loop that does the same with each, or a part for each")
    assert isinstance(loop, scf.ForOp) and bounds is not None
    of_loop, *of_streams = [int(count) for count in following]
    loop.operands[1] = index_constant(Builder(InsertPoint.before(loop)), layers * (bounds.trip - of_loop) + of_loop)
    for out, count, last in zip(task.outs, sent, of_streams, strict=True):
        assert count is not None
        counts[out] = _Tokens(count - last, last)
    return True


def _times(op: Operation, task: TaskOp) -> int:
    """How often `op` runs in a launch of one layer; CompileError where that depends on anything but on which iteration of a loop
    it is, one of all."""
    times, chosen = 1, set[Operation]()
    while (parent := op.parent_op()) is not None and parent is not task:
        if isinstance(parent, scf.IfOp) and op.parent is parent.true_region.block and (loop := _loop_asked(parent)) is not None:
            chosen, op = chosen | {loop}, parent
            continue
        bounds = constant_bounds(parent) if isinstance(parent, scf.ForOp) else None
        if bounds is None:
            what = f"task @{task.sym_name.data} sends, for layers and for what follows the last, as often as a condition says"
            raise CompileError(what, where=RepeatLayers.name, accepted="loops of constant bounds")
        times, op = times * (1 if parent in chosen else bounds.trip), parent
    return times


def _loop_asked(branch: scf.IfOp) -> scf.ForOp | None:
    """The loop of one of whose iterations `branch` asks whether it is that."""
    asked = branch.cond.owner
    if not isinstance(asked, arith.CmpiOp) or asked.predicate.value.data != 0:
        return None
    index, wanted = asked.lhs, integer_constant(asked.rhs)
    loop = index.block.parent_op() if isinstance(index, BlockArgument) else None
    if not isinstance(loop, scf.ForOp) or index is not loop.body.block.args[0]:
        return None
    bounds = constant_bounds(loop)
    return loop if bounds is not None and wanted in range(bounds.lower, bounds.upper, bounds.step) else None


def _between(graph: nx.MultiDiGraph[str], first: str, last: str) -> set[str]:
    """The tasks on a way from `first` to `last`."""
    return nx.descendants(graph, first) & nx.ancestors(graph, last)


def _in_bursts(graph: nx.MultiDiGraph[str], tasks: Sequence[TaskOp]) -> set[str]:
    """The tasks that read of one whose loops run as often as a launch says: as many cycles lie between what they get of one of its
    iterations and of the next. As one loop they would keep the last tokens of the first in their pipeline for so long."""
    at_run_time = [task for task in tasks if any(isinstance(op, scf.ForOp) and constant_bounds(op) is None for op in task.walk())]
    return {reader for task in at_run_time for reader in graph.successors(task.sym_name.data)}


def _served_at_once(ports: Sequence[_Port], targets: Sequence[SSAValue]) -> Iterator[dict[_Port, SSAValue]]:
    """Ports with where they send, the stripes together of which one reader takes a token each: it would wait for those of the last
    until all of the others are sent."""
    pairs = zip(ports, targets, strict=True)
    for _, served in groupby(pairs, key=lambda pair: (ends_of(pair[0].stream)[1], pair[0].order.loops)):
        yield dict(served)


def _token(stream: SSAValue) -> VectorType[Attribute]:
    assert isinstance(stream.type, StreamType)
    token = stream.type.element_type
    assert isa(token, VectorType)
    return token


def _stripes(packing: PackOp | UnpackOp) -> Iterator[tuple[SSAValue, StreamOrder]]:
    """Each packed tensor, and what lies in it."""
    layouts = striped(packing.layout, len(packing.stripes))
    return zip(packing.stripes, (layout.order for layout in layouts), strict=True)


def _nest(builder: Builder, ports: Sequence[_Port]) -> tuple[list[SSAValue], Builder]:
    """The loops over the tokens that each of `ports`, the stripes of a tensor, moves: where the token of each begins among the
    tensor's entries, row by row, and a builder for what is inside."""
    ivs, inside = order_nest(builder, ports[0].order)
    return [_place(inside, port, ivs) for port in ports], inside


def _hold(builder: Builder, ports: Sequence[_Port], sources: Sequence[SSAValue], held: SSAValue) -> None:
    """Take a tensor, of which each of `sources` brings what its port moves, into an array."""
    places, fill = _nest(builder, ports)
    for place, source in zip(places, sources, strict=True):
        receive(fill, source, held, place)


def _send(builder: Builder, ports: Sequence[_Port], held: SSAValue, targets: Sequence[SSAValue]) -> None:
    """Send a tensor from an array, to each of `targets` what its port moves."""
    places, inside = _nest(builder, ports)
    for place, target in zip(places, targets, strict=True):
        send(inside, held, place, target)


def _place(builder: Builder, port: _Port, ivs: Sequence[SSAValue]) -> SSAValue:
    terms = [index_constant(builder, 0)]
    for dimension, index in enumerate(coordinates(builder, port.order, ivs)):
        stride = prod(port.shape[dimension + 1 :])
        terms.append(index if stride == 1 else builder.insert(arith.MuliOp(index, index_constant(builder, stride))).result)
    return total(builder, terms if len(terms) == 1 else terms[1:])


def _let_drain(nest: scf.ForOp, *, in_bursts: bool) -> None:
    """End the first loop of a nest that repeats anything with each iteration around it; the outermost where none does."""
    loop = nest
    while not repeats(loop):
        effects = [op for op in loop.body.block.ops if not op.has_trait(Pure) and not isinstance(op, scf.YieldOp)]
        if len(effects) != 1 or not isinstance(effects[0], scf.ForOp) or is_unrolled(effects[0]):
            loop = nest
            break
        loop = effects[0]
    join_loops(loop, if_asked=not in_bursts)  # which would drain in each iteration (`stc.analysis.loops.is_kept_apart`)
    DRAINS.put(loop, None)


def _up_to_writes(body: Sequence[Operation]) -> list[list[Operation]]:
    """Parts of a body without loops, but unrolled ones, each up to what it sends; one where another part uses a value of one."""
    parts: list[list[Operation]] = [[]]
    for op in body:
        parts[-1].append(op)
        if any(isinstance(inside, WriteOp) for inside in op.walk()):
            parts.append([])
    parts = [part for part in parts if part]
    made_in: dict[SSAValue, int] = {result: number for number, part in enumerate(parts) for op in part for result in op.results}
    used_in = ((value, at) for at, part in enumerate(parts) for op in part for inside in op.walk() for value in inside.operands)
    return [list(body)] if any(made_in.get(value, number) != number for value, number in used_in) else parts
