"""Arrays, memory ports, streams and block buffers of a task as C++."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import Operation, SSAValue

from stc.analysis.partitions import bank_words
from stc.codegen.body import BodyPrinter, Handler
from stc.codegen.cpp_types import retained_dimensions
from stc.codegen.expressions import Expression
from stc.diagnostics import CompileError
from stc.dialects.facts import PARTITION, STORAGE
from stc.dialects.stream import AcquireOp, ReadOp, WriteOp
from stc.iteration.storage import READ_LATENCY


def element_text(printer: BodyPrinter, array: SSAValue, indices: Sequence[SSAValue]) -> Expression:
    """`array[i][j]`, a read of memory."""
    assert isinstance(array.type, MemRefType)
    name, retained = printer.text(array, 0), retained_dimensions(array.type)
    return Expression(name + "".join(f"[{printer.text(indices[dimension])}]" for dimension in retained), 0, reads_memory=True)


def partition_pragmas(operation: memref.AllocOp, name: str) -> list[str]:
    """The `array_partition` pragmas of the array that `operation` makes, called `name`."""
    assert isinstance(operation.memref.type, MemRefType)
    retained, pragmas = retained_dimensions(operation.memref.type), list[str]()
    for dimension, factor in PARTITION.of(operation) or ():
        if dimension in retained:
            kind = "type=complete" if factor == 0 else f"type=cyclic factor={factor}"
            pragmas.append(f"array_partition variable={name} {kind} dim={retained.index(dimension) + 1}")
    return pragmas


def storage_pragmas(operation: memref.AllocOp, name: str) -> list[str]:
    """The `bind_storage` pragma of the array that `operation` makes, called `name`; none of registers, nor where none is chosen."""
    storage = STORAGE.of(operation)
    if storage is None or bank_words(operation, operation.memref.type) <= 1:
        return []
    return [f"bind_storage variable={name} type={storage.ports} impl={storage.memory} latency={READ_LATENCY}"]


def _print_alloc(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, memref.AllocOp)
    result = operation.results[0]
    assert isinstance(result.type, MemRefType)
    name = printer.scope.declare(result.name_hint or "buffer")
    extents = "".join(f"[{result.type.get_shape()[dimension]}]" for dimension in retained_dimensions(result.type))
    printer.lines.add(f"{printer.typedefs.value_type(result.type.element_type)} {name}{extents};")
    for pragma in (*partition_pragmas(operation, name), *storage_pragmas(operation, name)):
        printer.lines.pragma(pragma)
    printer.bind(result, Expression(name))


def _print_load(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, memref.LoadOp)
    loaded = element_text(printer, operation.memref, operation.indices)
    printer.define(operation.res, loaded, f"{_stem(printer, operation.memref)}_value")


def _stem(printer: BodyPrinter, array: SSAValue) -> str:
    return printer.text(array, 0).removesuffix("_stream")


def _print_store(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, memref.StoreOp)
    target = element_text(printer, operation.memref, operation.indices).text
    stored = printer.vector(operation.value)
    printer.flush()
    printer.lines.add(f"{target} = {stored};")


def _print_read(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, ReadOp)
    stream = printer.text(operation.stream, 0)
    printer.flush()
    result = operation.results[0]
    if not result.uses:
        printer.lines.add(f"{stream}.read();")
        return
    printer.declare(result, Expression(f"{stream}.read()"), f"{stream.removesuffix('_stream')}_token")


def _print_write(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, WriteOp)
    token = printer.vector(operation.value)
    stream = printer.text(operation.stream, 0)
    printer.flush()
    printer.lines.add(f"{stream}.write({token});")


def _print_acquire(printer: BodyPrinter, operation: Operation) -> None:
    assert isinstance(operation, AcquireOp)
    block_type = printer.block_types.get(operation.block)
    if block_type is None:
        raise CompileError("a block is acquired from something that is no port of the task", where=printer.where)
    lock = "write_lock" if operation.block in printer.written_ports else "read_lock"
    result = operation.buffer
    blocks = printer.text(operation.block, 0)
    name = printer.scope.declare(result.name_hint or "block")
    printer.flush()
    printer.lines.add(f"hls::{lock}<{block_type}> {name}({blocks});")
    printer.bind(result, Expression(name))


MEMORY: dict[type[Operation], Handler] = {
    memref.AllocOp: _print_alloc,
    memref.LoadOp: _print_load,
    memref.StoreOp: _print_store,
    ReadOp: _print_read,
    WriteOp: _print_write,
    AcquireOp: _print_acquire,
}
