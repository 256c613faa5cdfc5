"""Bytes of on-chip memory a kernel needs for itself, and bits of scalar types."""

from __future__ import annotations

from math import prod

from xdsl.dialects import memref, tensor
from xdsl.dialects.builtin import AnyFloat, FixedBitwidthType, IndexType, IntegerType, MemRefType, TensorType, VectorType
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects.itensor import ItensorType, ReadOp, SymbolType


def bits_of(scalar: Attribute) -> int:
    """Bits of one scalar; an index is a 32-bit counter in hardware."""
    if isa(scalar, AnyFloat):
        return scalar.bitwidth
    if isinstance(scalar, IntegerType):
        return scalar.width.data
    if isinstance(scalar, IndexType | SymbolType):
        return 32
    raise CompileError(f"no size is known for elements of type {scalar}", accepted="floats, integers and index")


def entry_bits(kind: Attribute) -> int:
    """Bits of a token or an entry."""
    if isinstance(kind, VectorType):
        return prod(kind.get_shape()) * entry_bits(kind.element_type)
    return kind.bitwidth if isinstance(kind, FixedBitwidthType) else 32


def bytes_of(scalar: Attribute) -> int:
    """Bytes one scalar takes in memory: bits rounded up."""
    return -(-bits_of(scalar) // 8)


def bytes_of_entries(count: int, scalar: Attribute) -> int:
    """Bytes that so many scalars take side by side: their bits, rounded up once."""
    return -(-count * bits_of(scalar) // 8)


def tensor_bytes(type_: Attribute) -> int:
    """Bytes of a static tensor or memref, of scalars or vectors; 0 for anything else."""
    if not (isa(type_, TensorType) or isa(type_, MemRefType)):
        return 0
    element = type_.element_type
    if isinstance(element, VectorType):
        return bytes_of_entries(prod(type_.get_shape()) * prod(element.get_shape()), element.element_type)
    return bytes_of_entries(prod(type_.get_shape()), element)


def itensor_bytes(type_: ItensorType) -> int:
    """Bytes of all distinct tokens of an itensor: the tensor it enumerates."""
    return bytes_of_entries(type_.order.distinct_token_count * type_.order.element_count, type_.element_type)


def traffic_bytes(type_: ItensorType) -> int:
    """Bytes that a DMA of an itensor moves per run: reuse loops are read again. Padding of words is left out."""
    return bytes_of_entries(type_.order.token_count * type_.order.element_count, type_.element_type)


def local_bytes(op: Operation) -> int:
    """Bytes of the tiles and accumulators inside `op`: tiles read, tensors made, buffers allocated."""
    total = 0
    for inner in op.walk():
        match inner:
            case ReadOp() | tensor.EmptyOp():
                total += tensor_bytes(inner.results[0].type)
            case memref.AllocOp():
                total += tensor_bytes(inner.memref.type)
            case _:
                continue
    return total
