"""`send-scalars`: compute units that nobody starts get the scalars of a launch as tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from stc.analysis.task_graph import tasks_of
from stc.dialects.dataflow import KernelOp, TaskOp, YieldOp
from stc.dialects.itensor import SymbolType
from stc.dialects.stream import CreateOp, ReadOp, StreamType, WriteOp
from stc.fifo.depths import SHALLOW
from stc.transforms.stream.assign_units import has_port


@dataclass(frozen=True)
class SendScalars(ModulePass):
    """Let a task of a unit without memory ports read a scalar of the launch as its first token, in place of an argument.

    Such a unit has no register that the host writes. A task of the first unit that has ports takes the scalars and sends each to
    every task that wants it. The token's type is the symbol, so that it is the launch's value and no other.

        %pos = ... : !itensor.symbol<pos<=15>
        dataflow.task @scores ins(%p = %pos : !itensor.symbol<pos<=15>, ...) outs(...) unit @body {...}
      becomes
        %s = stream.create @scores_pos : !stream.stream<!itensor.symbol<pos<=15>, depth: 2>
        dataflow.task @send_scalars ins(%p = %pos : !itensor.symbol<pos<=15>) outs(%o = %s : ...) unit @memory {
          stream.write %p into %o : ...
        }
        dataflow.task @scores ins(%i = %s : ..., ...) outs(...) unit @body {
          %p = stream.read %i : ... }
    """

    name = "send-scalars"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            ports = [task.unit for task in tasks_of(kernel) if task.unit is not None and has_port(task)]
            wanted = [
                (task, index)
                for task in tasks_of(kernel)
                if task.unit is not None and task.unit not in ports
                for index, value in enumerate(task.ins)
                if isinstance(value.type, SymbolType)
            ]
            if ports and wanted:
                _send(kernel, ports[0], wanted)


def _send(kernel: KernelOp, unit: str, wanted: Sequence[tuple[TaskOp, int]]) -> None:
    """Send the scalars that are `wanted`, inputs of tasks by their index, from a new task of `unit`."""
    builder = Builder(InsertPoint.before(tasks_of(kernel)[0]))
    scalars = list(dict.fromkeys(task.ins[index] for task, index in wanted))
    streams = [_received(builder, task, index) for task, index in wanted]
    sent = [next(scalar for scalar in scalars if scalar.type == _symbol(stream)) for stream in streams]
    sender = builder.insert(TaskOp("send_scalars", scalars, streams, unit=unit))
    inside = Builder(InsertPoint.at_end(sender.body.block))
    ports = dict(zip(scalars, sender.input_ports, strict=True))
    for scalar, port in zip(sent, sender.output_ports, strict=True):
        inside.insert(WriteOp(ports[scalar], port))
    inside.insert(YieldOp())


def _received(builder: Builder, task: TaskOp, index: int) -> SSAValue:
    """A new stream from which `task` reads the scalar that was its input `index`."""
    symbol, argument = task.ins[index].type, task.input_ports[index]
    assert isinstance(symbol, SymbolType)
    create = builder.insert(CreateOp(f"{task.sym_name.data}_{symbol.data.name}", StreamType(symbol, SHALLOW)))
    create.result.name_hint = create.sym_name.data
    port = task.body.block.insert_arg(create.result.type, argument.index)
    read = Builder(InsertPoint.at_start(task.body.block)).insert(ReadOp(port))
    read.result.name_hint = argument.name_hint
    port.name_hint = create.sym_name.data
    argument.replace_all_uses_with(read.result)
    task.body.block.erase_arg(argument)
    task.operands[index] = create.result
    return create.result


def _symbol(stream: SSAValue) -> SymbolType:
    assert isinstance(stream.type, StreamType) and isinstance(stream.type.element_type, SymbolType)
    return stream.type.element_type
