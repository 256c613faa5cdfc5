"""`move-converters`: a converter goes to the other side of an element-wise task where that makes it smaller."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.kernel_memory import bytes_of
from stc.design_space.converter_moves import MovingTask, Network, cheapest_plans, unroll_of
from stc.design_space.orders import LoopPlan
from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import CastOp, ConverterOp, EmptyOp, ItensorType
from stc.iteration.normal_form import normal_form
from stc.iteration.order import StreamOrder
from stc.transforms.dataflow.connections import connect
from stc.transforms.dataflow.elementwise_tasks import ElementwiseTask, elementwise_task


@dataclass(frozen=True)
class MoveConverters(ModulePass):
    """Give element-wise tasks other tiles and loop orders where the converters around them become smaller in total.

    A task that is one parallel computation on tiles, each input read and its output written once, is built anew over the order of
    one of its streams, so that the converter of that stream goes and others come or change (`stc.design_space.converter_moves`).
    That must lower the bytes of converters, ping-pong included, with and without those of tiles. Tasks in a row move together.
    An input of the kernel that only this task reads comes in the new order from memory (if that reads it no more often), and a
    result leaves in it. Tasks whose schedule a user gave stay, as does everything that is not element-wise.

    Options: `lanes` (default 16), the most points of a tile computed at once.

        %a1 = itensor.converter %a {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !R to !C
        %b1 = itensor.converter %b {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !R to !C
        %s = dataflow.task @add ins(... = %a1 : !C, ... = %b1 : !C) outs(...) -> !C      // column by column
      becomes
        %s0 = dataflow.task @add ins(... = %a : !R, ... = %b : !R) outs(...) -> !R       // row by row
        %s = itensor.converter %s0 {shared_loops = 0, buffer_shape = [64, 64], blocks = 1} : !R to !C
    """

    name = "move-converters"

    lanes: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.lanes < 1:
            raise CompileError(f"lanes is {self.lanes}", where=self.name, accepted="at least 1 lane")
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            if any(isinstance(found, ConverterOp) for found in kernel.body.block.ops):
                _Moves(kernel, self.lanes).run()


@dataclass(frozen=True)
class _Reader:
    """Operand `index` of `op`, which wants a stream in the order of `type`."""

    op: Operation
    index: int
    type: ItensorType


@dataclass
class _Moves:
    """One kernel. `readers`: who takes each stream (before casts and converters) in which order."""

    kernel: KernelOp
    lanes: int
    readers: dict[SSAValue, list[_Reader]] = field(default_factory=dict[SSAValue, list[_Reader]])
    tasks: dict[str, ElementwiseTask] = field(default_factory=dict[str, ElementwiseTask])

    def run(self) -> None:
        for op in self.kernel.body.block.ops:
            for index, operand in enumerate(op.operands):
                if isinstance(operand.type, ItensorType) and not isinstance(op, CastOp | ConverterOp):
                    self.readers.setdefault(stream_of(operand), []).append(_Reader(op, index, operand.type))
            found = elementwise_task(op) if isinstance(op, TaskOp) else None
            if found is not None and not found.is_fixed:
                self.tasks[found.task.sym_name.data] = found
        network = self._network()
        touched: dict[SSAValue, None] = {}
        for name, plan in cheapest_plans(network).items():
            if plan != network.tasks[name].plan:
                touched |= dict.fromkeys(self._rebuild(self.tasks[name], plan, network.tasks[name]))
        for stream in touched:
            if stream in self.readers:
                self._reconnect(stream)
        if touched:
            _erase_unread(self.kernel)

    # The problem ------------------------------------------------------------------------------------------------------

    def _network(self) -> Network:
        tasks = {name: self._moving(found) for name, found in self.tasks.items()}
        moving = {found.task for found in self.tasks.values()}
        made = {stream: _type(stream).order for stream in self.readers if stream.owner not in moving}
        required = {stream: self._required_by_others(stream, moving) for stream in self.readers}
        widths = {stream: bytes_of(_type(stream).element_type) for stream in self.readers}
        obliging = frozenset(
            stream
            for stream, readers in self.readers.items()
            if isinstance(stream, BlockArgument) and len(readers) == 1 and readers[0].op in moving
        )
        return Network(tasks, made, required, widths, obliging)

    def _moving(self, found: ElementwiseTask) -> MovingTask:
        streams = [stream_of(found.task.ins[port]) for port in found.ports]
        return MovingTask(found.computation(streams, found.task.outputs[0]), found.plan, self.lanes)

    def _required_by_others(self, stream: SSAValue, moving: set[TaskOp]) -> tuple[StreamOrder, ...]:
        """What the readers of a stream want, but for tasks that may move; a result of the kernel leaves as such a task makes it."""
        adapts = stream.owner in moving and self.kernel.in_place is None
        others = [reader for reader in self.readers[stream] if reader.op not in moving]
        return tuple(reader.type.order for reader in others if not (adapts and isinstance(reader.op, YieldOp)))

    # The rewriting ----------------------------------------------------------------------------------------------------

    def _rebuild(self, found: ElementwiseTask, plan: LoopPlan, moving: MovingTask) -> list[SSAValue]:
        """Replace one task; the streams whose readers have to be connected anew."""
        old = found.task
        streams = {port: stream_of(value) for port, value in enumerate(old.ins)}
        new = found.rebuilt(plan, unroll_of(moving, plan), streams)
        result = new.outputs[0]
        for stream in streams.values():
            self.readers[stream] = [reader for reader in self.readers[stream] if reader.op is not old]
        for port in new.input_ports:
            self.readers[new.ins[port.index]].append(_Reader(new, port.index, _type(port)))
        self.readers[result] = self.readers.pop(old.outputs[0], [])
        destination = old.outs[0].owner
        old.outputs[0].replace_all_uses_with(result)
        Rewriter.erase_op(old)
        if isinstance(destination, EmptyOp) and not destination.result.uses:
            Rewriter.erase_op(destination)
        return [*new.ins, result]

    def _reconnect(self, stream: SSAValue) -> None:
        """Connect every reader of `stream` to it, as directly as its order allows; equal sequences once."""
        readers = self.readers[stream]
        if isinstance(stream, BlockArgument) and len(readers) == 1 and isinstance(readers[0].op, TaskOp):
            stream = Rewriter.replace_value_with_new_type(stream, readers[0].type)
        point = InsertPoint.at_start(stream.owner) if isinstance(stream.owner, Block) else InsertPoint.after(stream.owner)
        builder = Builder(point)
        converted: dict[StreamOrder, SSAValue] = {normal_form(_type(stream).order): stream}
        for reader in readers:
            required = _type(stream) if self._leaves_as_made(stream, reader) else reader.type
            order = normal_form(required.order)
            if order not in converted:
                converted[order] = connect(builder, stream, required)
            reader.op.operands[reader.index] = connect(builder, converted[order], required)

    def _leaves_as_made(self, stream: SSAValue, reader: _Reader) -> bool:
        return isinstance(reader.op, YieldOp) and isinstance(stream.owner, TaskOp) and self.kernel.in_place is None


def stream_of(value: SSAValue) -> SSAValue:
    """What a value is before casts and converters."""
    while isinstance(value.owner, CastOp | ConverterOp):
        value = value.owner.source
    return value


def _type(value: SSAValue) -> ItensorType:
    assert isinstance(value.type, ItensorType)
    return value.type


def _erase_unread(kernel: KernelOp) -> None:
    """Erase the casts and converters that nobody reads any more."""
    for op in reversed(list(kernel.body.block.ops)):
        if isinstance(op, CastOp | ConverterOp) and not op.result.uses:
            Rewriter.erase_op(op)
