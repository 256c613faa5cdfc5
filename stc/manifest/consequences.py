"""What follows from the rest of a manifest must agree with it: types, widths, words and bytes, extents that orders stay within."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from math import prod

from stc.iteration.bus_words import packed_words
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.storage import FIFO_MEMORIES
from stc.manifest.element_types import ACCEPTED, ELEMENT_TYPES, IN_PORTS, fits_port
from stc.manifest.schema import HostTensor, Kernel, Manifest, Order, Port

BUFFER_ALIGNMENT = 64
"""Bytes that the size of a buffer is a multiple of."""
MOST_TENSOR_BYTES = 2**40
_TOKEN_TYPES = "f32, f16, index, i1 to i64"
_TOKEN_BITS = {"f32": 32, "f16": 16, "index": 32, **{f"i{bits}": bits for bits in range(1, 65)}}


@dataclass(frozen=True)
class Complaint:
    """What is wrong with the field at path `field`, as the end of a sentence that begins with the field."""

    field: str
    what: str
    accepted: str | None = None


def consequences(manifest: Manifest) -> Iterator[Complaint]:
    """Every field that contradicts what it follows from. Names and numbers are taken to be right."""
    tensors = {tensor.name: tensor for tensor in manifest.tensors}
    for index, tensor in enumerate(manifest.tensors):
        yield from _tensor(tensor, f"tensors[{index}]")
    for k, kernel in enumerate(manifest.kernels):
        for index, port in enumerate(kernel.ports):
            yield from _port(port, tensors, f"kernels[{k}].ports[{index}]")
        yield from _channels(kernel, f"kernels[{k}]")
        yield from _accesses(kernel, f"kernels[{k}]")
    for index, step in enumerate(manifest.steps):
        if step.words is not None or step.port is None:
            continue
        if step.tensor != (bound := manifest.kernel(step.kernel).port(step.port).tensor):
            yield Complaint(f"steps[{index}].tensor", f"is '{step.tensor}'", f"the tensor of port '{step.port}', '{bound}'")


def _tensor(tensor: HostTensor, path: str) -> Iterator[Complaint]:
    if tensor.element_type not in ELEMENT_TYPES:
        yield Complaint(f"{path}.element_type", f"is '{tensor.element_type}'", ACCEPTED)
    elif (size := prod(tensor.shape) * ELEMENT_TYPES[tensor.element_type].host_bytes) > MOST_TENSOR_BYTES:
        yield Complaint(f"{path}.shape", f"makes {size} bytes", f"at most {MOST_TENSOR_BYTES}")


def _port(port: Port, tensors: Mapping[str, HostTensor], path: str) -> Iterator[Complaint]:
    if port.element_type not in IN_PORTS:
        yield Complaint(f"{path}.element_type", f"is '{port.element_type}'", ", ".join(IN_PORTS))
        return
    if port.order is not None:
        yield from _order(port, port.order, path)
    size = port.words * port.lanes * ELEMENT_TYPES[port.element_type].bits // 8
    size += -size % BUFFER_ALIGNMENT
    if port.bytes != size:
        yield Complaint(f"{path}.bytes", f"is {port.bytes}", f"{size}, that of its words")
    tensor = tensors.get(port.tensor)
    if tensor is None:
        if port.kind in ("input", "output"):
            yield Complaint(f"{path}.tensor", f"names no tensor: '{port.tensor}'")
    elif tensor.element_type in ELEMENT_TYPES and not fits_port(tensor.element_type, port.element_type):
        accepted = f"that of tensor '{tensor.name}', {tensor.element_type}, or what holds it in memory"
        yield Complaint(f"{path}.element_type", f"is '{port.element_type}'", accepted)
    elif prod(port.shape) != prod(tensor.shape):
        entries = prod(tensor.shape)
        yield Complaint(f"{path}.shape", f"has {prod(port.shape)} entries", f"as many as tensor '{tensor.name}', {entries}")


def _order(port: Port, stated: Order, path: str) -> Iterator[Complaint]:
    """Sizes known at run time are not looked into."""
    sizes = (*(loop.trip for loop in stated.loops), *(coordinate.constant for coordinate in stated.coordinates))
    if any(isinstance(size, str) for size in sizes):
        return
    try:
        loops = tuple(Loop(int(loop.trip), loop.step) for loop in stated.loops)
        coordinates = tuple(Coordinate(coordinate.loops, int(coordinate.constant)) for coordinate in stated.coordinates)
        order = StreamOrder(stated.element, loops, coordinates)
    except ValueError as error:
        yield Complaint(f"{path}.order", f"is none: {error}")
        return
    if order.rank != len(port.shape):
        yield Complaint(f"{path}.order", f"has {order.rank} coordinates", f"{len(port.shape)}, one for each extent of the shape")
        return
    for dimension, extent in enumerate(port.shape):
        reached = order.span(dimension) + int(stated.coordinates[dimension].constant)
        if reached > extent:
            yield Complaint(f"{path}.order", f"reaches {reached} entries of dimension {dimension}", f"at most {extent}")
    words = packed_words(order, port.lanes)
    if words is None:
        yield Complaint(f"{path}.lanes", f"is {port.lanes}", f"lanes that hold whole tokens of {order.element_count} entries")
    elif port.words != words:
        yield Complaint(f"{path}.words", f"is {port.words}", f"{words}, those of its order")


def _channels(kernel: Kernel, path: str) -> Iterator[Complaint]:
    for index, stream in enumerate(kernel.streams):
        where = f"{path}.streams[{index}]"
        bits = _TOKEN_BITS.get(stream.element_type)
        if bits is None:
            yield Complaint(f"{where}.element_type", f"is '{stream.element_type}'", _TOKEN_TYPES)
        elif stream.bits != stream.lanes * bits:
            yield Complaint(f"{where}.bits", f"is {stream.bits}", f"{stream.lanes * bits}, that of {stream.lanes} lanes")
        if stream.storage not in FIFO_MEMORIES:
            yield Complaint(f"{where}.storage", f"is '{stream.storage}'", ", ".join(FIFO_MEMORIES))
    for index, block in enumerate(kernel.blocks):
        where = f"{path}.blocks[{index}]"
        bits = _TOKEN_BITS.get(block.element_type)
        if bits is None:
            yield Complaint(f"{where}.element_type", f"is '{block.element_type}'", _TOKEN_TYPES)
        elif block.bits % bits != 0:
            yield Complaint(f"{where}.bits", f"is {block.bits}", f"a multiple of {bits}")


def _accesses(kernel: Kernel, path: str) -> Iterator[Complaint]:
    """External memory is accessed in whole words of the buffer."""
    ports = {port.name: port for port in kernel.ports}
    for index, loop in enumerate(kernel.schedule):
        for access in loop.memory:
            port = ports[access.port]
            word = port.lanes * ELEMENT_TYPES[port.element_type].bits // 8
            if access.bytes % word != 0 or access.bytes > port.bytes:
                accepted = f"whole words of port '{port.name}', {word} bytes each, at most {port.bytes} bytes"
                yield Complaint(f"{path}.schedule[{index}].memory", f"moves {access.bytes} bytes", accepted)
