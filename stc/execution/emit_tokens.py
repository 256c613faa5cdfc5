"""Translation of accesses to sequences of tokens: an access that must wait yields (port, tokens taken so far) to the scheduler."""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from stc.dialects import itensor, stream
from stc.dialects.itensor.destinations import root_of
from stc.execution.channels import ReadPort, RingReader, RingWriter, WritePort
from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import scalar_type
from stc.execution.emit_memory import blank_memory
from stc.execution.source import Source
from stc.execution.translation import emits


def _port(source: Source, value: SSAValue) -> tuple[object, str]:
    """What a port is connected to, and the prefix of the names that belong to it."""
    root = root_of(value)
    return source.ports[root], source.names[root]


def open_port(source: Source, argument: SSAValue, port: object, prefix: str) -> None:
    """Make the parts of a port local variables whose names start with `prefix`."""
    source.ports[argument] = port
    source.names[argument] = prefix
    source.line(f"{prefix} = {source.refer(port, 'port')}")
    match port:
        case ReadPort() | RingReader():
            source.line(f"{prefix}_queue = {prefix}.queue")
            source.line(f"{prefix}_take = {prefix}.queue.popleft")
            source.line(f"{prefix}_count = 0")
        case WritePort() | RingWriter():
            if port.queues:
                source.line(f"{prefix}_queue = {prefix}.queues[0]")
            for index in range(len(port.queues)):
                source.line(f"{prefix}_put{index} = {prefix}.queues[{index}].append")
        case _:
            pass


def _emit_take(source: Source, stream_value: SSAValue, result: SSAValue) -> str:
    _, name = _port(source, stream_value)
    source.line(f"while not {name}_queue: yield {name}, {name}_count")
    source.line(f"{name}_count += 1")
    source.assign(result, f"{name}_take()")
    return name


def _puts(port: WritePort | RingWriter, name: str, value: str) -> list[str]:
    return [f"{name}_put{index}({value})" for index in range(len(port.queues))]


def _write_port(source: Source, value: SSAValue) -> tuple[WritePort, str]:
    port, name = _port(source, value)
    assert isinstance(port, WritePort)
    return port, name


def _emit_put(source: Source, port: WritePort, name: str, value: str) -> None:
    if source.bounded and port.channel.depth is not None and port.queues:
        source.line(f"while len({name}_queue) >= {port.channel.depth}: yield {name}, 0")
    for text in _puts(port, name, value):
        source.line(text)


@emits(itensor.ReadOp)
def emit_itensor_read(source: Source, op: itensor.ReadOp) -> None:
    _emit_take(source, op.source, op.result)


@emits(itensor.WriteOp)
def emit_itensor_write(source: Source, op: itensor.WriteOp) -> None:
    port, name = _write_port(source, op.destination)
    _emit_put(source, port, name, source.name(op.value))


@emits(stream.ReadOp)
def emit_stream_read(source: Source, op: stream.ReadOp) -> None:
    _emit_take(source, op.stream, op.result)
    port, _ = _port(source, op.stream)
    assert isinstance(port, ReadPort)
    name = source.name(op.result)
    if (text := _retyped(source, name, port.channel.token_type, op.result.type)) != name:
        source.line(f"{name} = {text}")


@emits(stream.WriteOp)
def emit_stream_write(source: Source, op: stream.WriteOp) -> None:
    port, name = _write_port(source, op.stream)
    _emit_put(source, port, name, _retyped(source, source.name(op.value), op.value.type, port.channel.token_type))


def _retyped(source: Source, name: str, found: Attribute | None, required: Attribute | None) -> str:
    """A token read as another type of the same width, bit by bit."""
    if required is None or found is None or found == required:
        return name
    dtype = numpy_type(scalar_type(required))
    text = f"np.atleast_1d({name}).view({source.refer(dtype, 'dtype')})"
    return text if isinstance(required, VectorType) else f"{text}[0]"


@emits(itensor.EmptyOp)
def emit_empty(_source: Source, _op: itensor.EmptyOp) -> None:
    """Nothing: a placeholder."""


@emits(stream.AcquireOp)
def emit_acquire(source: Source, op: stream.AcquireOp) -> None:
    """Take a buffer, and give it back at the end of the block: to the reader if this task writes it."""
    port, name = _port(source, op.block)
    if isinstance(port, RingWriter):
        if source.bounded:
            source.line(f"while not {name}.is_ready(): yield {name}, 0")
        blank = source.refer(blank_memory(op.buffer.type), "blank")
        source.assign(op.buffer, f"{blank}.copy()")
        source.line(f"{name}.ring.taken += 1")
        source.releases[-1] += [f"{name}.ring.taken -= 1", *_puts(port, name, source.name(op.buffer))]
        return
    _emit_take(source, op.block, op.buffer)
    source.line(f"{name}.ring.taken += 1")
    source.releases[-1].append(f"{name}.ring.taken -= 1")
