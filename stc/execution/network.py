"""The body of a kernel as a network of processes and channels: built from the IR, run, and its results collected.

Forks and casts are wires, not processes: a fork's copies are further readers of its source. Tasks that contain tasks are
transparent. Itensors have no depth; with `bounded`, streams and rings have the depth of their type. It is no channel graph
(`stc.network.graph`): it holds the running tokens of one execution at any level, where a value may have many readers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from xdsl.dialects.builtin import MemRefType, VectorType
from xdsl.ir import Block, Operation, SSAValue

from stc.diagnostics import CompileError
from stc.dialects import itensor, stream
from stc.dialects.dataflow import MemoryOp, TaskOp, YieldOp
from stc.dialects.itensor import ItensorType
from stc.dialects.stream import StreamType
from stc.execution import movers
from stc.execution.channels import Channel, Port, ReadPort, Ring
from stc.execution.emit_memory import blank_memory
from stc.execution.emit_tokens import open_port
from stc.execution.scheduler import Process, Steps, run_processes
from stc.execution.source import Source
from stc.execution.translation import emit_block, evaluate
from stc.iteration.order import StreamOrder

Bound = Any
"""What a value of a kernel's body is at run time: a Channel, a Ring, memory (an array), or a scalar."""


@dataclass
class Network:
    """A kernel's body, while it is built and run. `values`: of the symbols in its types."""

    where: str
    bounded: bool
    values: Mapping[str, int] = field(default_factory=dict[str, int])
    runs: Mapping[str, int] = field(default_factory=dict[str, int])
    """How often a task, by name, runs, one time behind the other; once where nothing is said."""
    bound: dict[SSAValue, Bound] = field(default_factory=dict[SSAValue, Bound])
    channels: list[Channel | Ring] = field(default_factory=list[Channel | Ring])
    processes: list[Process] = field(default_factory=list[Process])
    tasks: list[tuple[TaskOp, dict[SSAValue, Any], Process]] = field(
        default_factory=list[tuple[TaskOp, dict[SSAValue, Any], Process]]
    )
    """Tasks to translate once all readers are known."""

    # Building ---------------------------------------------------------------------------------------------------------

    def build(self, block: Block) -> list[Bound]:
        """Add the operations of a block; returns what it yields."""
        for op in block.ops:
            if isinstance(op, YieldOp):
                return [self.bound[value] for value in op.operands]
            self._add(op)
        return []

    def _add(self, op: Operation) -> None:
        match op:
            case itensor.EmptyOp() | itensor.InstanceOp():
                pass
            case itensor.ForkOp():
                for copy in op.copies:
                    self.bound[copy] = self.bound[op.source]
            case itensor.CastOp() | stream.CastOp():
                self.bound[op.result] = self.bound[op.source]
            case itensor.ReassociateOp() | stream.FromItensorOp() | stream.ToItensorOp():
                self._relay(op, op.source, op.result)
            case itensor.ReorderOp() | itensor.ConverterOp() | itensor.ChunkOp() | itensor.ConcatOp():
                self._move(op)
            case itensor.SplitOp() | itensor.MergeOp():
                self._move(op)
            case stream.CreateOp():
                self.channel(op.result, op.sym_name.data)
            case stream.BufferOp():
                ring_type = op.result.type
                assert isinstance(ring_type, stream.BlockType)
                ring = Ring(f"@{op.sym_name.data}", ring_type.count if self.bounded else None)
                self.channels.append(ring)
                self.bound[op.result] = ring
            case MemoryOp():
                assert isinstance(op.result.type, MemRefType)
                self.bound.setdefault(op.result, blank_memory(op.result.type))
            case TaskOp():
                self._task(op)
            case _:
                self._evaluate(op)

    def channel(self, value: SSAValue, name: str = "") -> Channel:
        """The new channel that `value` is."""
        kind = value.type
        name = f"@{name}" if name else f"%{value.name_hint or len(self.channels)}"
        channel = Channel(name)
        if isinstance(kind, StreamType):
            channel = Channel(name, "stream", kind.depth if self.bounded else None, kind.element_type)
        self.channels.append(channel)
        self.bound[value] = channel
        return channel

    def reader(self, value: SSAValue, name: str) -> ReadPort:
        """A new reader, called `name`, of the channel that `value` is."""
        channel = self.bound[value]
        assert isinstance(channel, Channel)
        return channel.read_by(name)

    def process(self, name: str, ports: Sequence[Port], steps: Steps) -> Process:
        process = Process(name, ports, steps)
        self.processes.append(process)
        return process

    def _relay(self, op: Operation, source: SSAValue, result: SSAValue) -> None:
        """The same tokens in another shape; a bridge that nobody crosses takes none."""
        if not result.uses:
            return
        name = f"{op.name} {self.bound[source].name}"
        reader = self.reader(source, name)
        writer = self.channel(result).written_by(name)
        self.process(name, [reader, writer], movers.relay(reader, writer, self._token_count(op), _token_shape(result)))

    def _move(self, op: Operation) -> None:
        kinds = (value.type for value in (*op.operands, *op.results) if isinstance(value.type, ItensorType))
        kind = next((kind for kind in kinds if not kind.order.is_static), None)
        if kind is not None and isinstance(op, itensor.ReorderOp | itensor.MergeOp):
            raise CompileError(f"'{op.name}' of {kind}", where=self.where, accepted="integer sizes")
        name = f"{op.name} {' '.join(f'%{result.name_hint}' for result in op.results if result.name_hint)}".strip()
        readers = [self.reader(value, name) for value in op.operands]
        writers = [self.channel(result).written_by(name) for result in op.results]
        match op:
            case itensor.ReorderOp():
                steps = movers.reorder(op, readers[0], writers[0])
            case itensor.ConverterOp():
                steps = movers.convert(op, readers[0], writers[0], self.values)
            case itensor.ChunkOp():
                steps = movers.chunk(op, readers[0], writers, self.values)
            case itensor.ConcatOp():
                steps = movers.concat(op, readers, writers[0], self.values)
            case itensor.SplitOp():
                steps = movers.split(readers[0], writers, self._token_count(op))
            case _:
                steps = movers.merge(readers, writers[0], self._token_count(op))
        self.process(name, [*readers, *writers], steps)

    def _task(self, op: TaskOp) -> None:
        if any(isinstance(inner, TaskOp) for inner in op.body.block.ops):
            self._transparent(op)
            return
        name = f"@{op.sym_name.data}"
        ports: dict[SSAValue, Any] = {}
        for value, argument in zip(op.ins, op.input_ports, strict=True):
            bound = self.bound[value]
            ports[argument] = bound.read_by(name) if isinstance(bound, Channel | Ring) else bound
        results = iter(op.outputs)
        for value, argument in zip(op.outs, op.output_ports, strict=True):
            if isinstance(argument.type, ItensorType):
                symbol = value.owner.sym_name.data if isinstance(value.owner, itensor.InstanceOp) else ""
                ports[argument] = self.channel(next(results), symbol).written_by(name)
            else:
                bound = self.bound[value]
                ports[argument] = bound.written_by(name) if isinstance(bound, Channel | Ring) else bound
        connected = [port for port in ports.values() if _is_port(port)]
        self.tasks.append((op, ports, self.process(name, connected, iter(()))))

    def _transparent(self, op: TaskOp) -> None:
        """A task of tasks: its ports are the outer values, its results what it yields."""
        for value, argument in zip((*op.ins, *op.outs), op.body.block.args, strict=True):
            if value in self.bound:
                self.bound[argument] = self.bound[value]
        for result, bound in zip(op.outputs, self.build(op.body.block), strict=True):
            self.bound[result] = bound

    def _evaluate(self, op: Operation) -> None:
        """Anything else computes on scalars."""
        self.bound.update(zip(op.results, evaluate(op, self.bound, self.where), strict=True))

    def _token_count(self, op: Operation) -> int:
        """Tokens that pass an operation between itensors, or an itensor and a stream; of a merge, those of its first input."""
        kinds = [value.type for value in (*op.operands, *op.results)]
        return next(self.order_of(kind).token_count for kind in kinds if isinstance(kind, ItensorType))

    def order_of(self, kind: ItensorType) -> StreamOrder:
        """The order of the tokens of this run."""
        return kind.order.at(self.values)

    # Running ----------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        """Translate the tasks and run all processes."""
        for op, ports, process in self.tasks:
            process.steps = translate_task(op, ports, self.where, self.bounded, self.runs.get(op.sym_name.data, 1))
        run_processes(self.processes, self.channels, self.where)


def _is_port(port: object) -> bool:
    return hasattr(port, "is_ready")


def _token_shape(value: SSAValue) -> tuple[int, ...]:
    kind = value.type
    if isinstance(kind, ItensorType):
        return kind.element_shape
    assert isinstance(kind, StreamType)
    return kind.element_type.get_shape() if isinstance(kind.element_type, VectorType) else ()


def translate_task(op: TaskOp, ports: Mapping[SSAValue, Any], where: str, bounded: bool, runs: int = 1) -> Steps:
    """A task as a generator over its ports, which does `runs` times what it does."""
    source = Source(f"{where}: @{op.sym_name.data}", bounded=bounded)
    for index, (argument, port) in enumerate(ports.items()):
        if _is_port(port):
            open_port(source, argument, port, f"p{index}")
        else:
            source.names[argument] = source.refer(port, "memory")
    source.line("if False: yield")
    emit_block(source, op.body.block)
    once = source.compile([])
    return once() if runs == 1 else chain.from_iterable(once() for _ in range(runs))
