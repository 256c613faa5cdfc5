"""Constants, bit for bit: between MLIR's text and the bytes xDSL stores.

xDSL 0.74 reads a hexadecimal float inside `dense<...>` as an integer (4.28657869e+09 for -inf), takes a dense constant of 0.0 and
-0.0 for a splat, and converts NaNs through Python floats, which drops payloads. Everything here works on *cells*: one
compile-time-sized group of bytes per element, little-endian, as xDSL stores them.
"""

from __future__ import annotations

import math

from xdsl.dialects.builtin import (
    AnyFloat,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    IndexType,
    IntegerType,
    RankedStructure,
)
from xdsl.utils.hints import isa

Element = AnyFloat | IntegerType | IndexType

BLOB_HEADER_BYTES = 4
"""A resource blob starts with its alignment, 32 bit little-endian."""


def float_cell(bits: int, kind: AnyFloat) -> bytes:
    """The cell of a float given by its bit pattern; ValueError if the pattern is wider than the type."""
    if bits >> kind.bitwidth:
        raise ValueError(f"hexadecimal float constant {bits:#x} is out of range for {kind.name}")
    return bits.to_bytes(kind.compile_time_size, "little")


def scalar_float(bits: int, kind: AnyFloat) -> float:
    """The Python float of a bit pattern.

    ValueError if the pattern is too wide, or if a Python float cannot carry it back (signalling NaNs, f16 NaN payloads).
    """
    cell = float_cell(bits, kind)
    value = next(iter(kind.iter_unpack(cell)))
    if kind.pack((value,)) != cell:
        raise ValueError(f"the NaN payload of {bits:#x} cannot be kept in a scalar {kind.name}")
    return value


def non_finite_text(cell: bytes, kind: AnyFloat) -> str | None:
    """Hexadecimal text of a cell that decimal digits cannot carry (infinities, NaNs); None for finite values."""
    value = next(iter(kind.iter_unpack(cell)))
    if math.isfinite(value):
        return None
    return f"0x{int.from_bytes(cell, 'little'):0{(kind.bitwidth + 3) // 4}X}"


def cells(attribute: DenseIntOrFPElementsAttr) -> list[bytes]:
    """The bytes of each element of a dense constant, row-major."""
    size = attribute.get_element_type().compile_time_size
    data = attribute.data.data
    return [data[i : i + size] for i in range(0, len(data), size)]


def is_splat(attribute: DenseIntOrFPElementsAttr) -> bool:
    """Whether all elements have the same *bits* (0.0 and -0.0 differ; a NaN equals itself)."""
    size = attribute.get_element_type().compile_time_size
    data = attribute.data.data
    return len(data) > 0 and data == data[:size] * (len(data) // size)


def cells_of_blob(blob: bytes, kind: Element, count: int) -> bytes:
    """The cells of a hexadecimal blob; ValueError unless it has `count` elements."""
    size = kind.compile_time_size
    if len(blob) != size * count:
        raise ValueError(f"{len(blob)} bytes of data, where {count} elements of {kind} take {size * count}")
    if not isinstance(kind, IntegerType) or kind.bitwidth == 8 * size:
        return blob
    # MLIR zero-extends odd widths, xDSL stores the signed value.
    raw = (int.from_bytes(blob[i : i + size], "little") for i in range(0, len(blob), size))
    return kind.pack(tuple(_normalized(value & ((1 << kind.bitwidth) - 1), kind) for value in raw))


def blob_of_cells(attribute: DenseIntOrFPElementsAttr) -> bytes:
    """The data of a dense constant in MLIR's blob layout, the inverse of `cells_of_blob`."""
    kind = attribute.get_element_type()
    size = kind.compile_time_size
    if not isinstance(kind, IntegerType) or kind.bitwidth == 8 * size:
        return attribute.data.data
    mask = (1 << kind.bitwidth) - 1
    return b"".join((int.from_bytes(cell, "little") & mask).to_bytes(size, "little") for cell in cells(attribute))


def _normalized(value: int, kind: IntegerType) -> int:
    normalized = kind.get_normalized_value(value)
    return value if normalized is None else normalized


def bytes_of_hexadecimal(text: str) -> bytes:
    """The bytes of `0x...`; ValueError if it is something else."""
    if not text.startswith(("0x", "0X")):
        raise ValueError(f"not a hexadecimal string: {text[:20]!r}")
    return bytes.fromhex(text[2:])


def resource_to_dense(attribute: DenseResourceAttr, text: str | None) -> DenseIntOrFPElementsAttr:
    """The dense constant that a `dense_resource` names; `text` is its hexadecimal blob.

    Raises ValueError if the blob is absent or does not fit the type.
    """
    handle, kind = attribute.resource_handle.data, attribute.type
    if not text:
        raise ValueError(f"dense_resource<{handle}> has no data in this file")
    if not isa(kind, RankedStructure[AnyFloat | IntegerType | IndexType]):
        raise ValueError(f"dense_resource<{handle}> has a type that cannot hold data")
    try:
        blob = bytes_of_hexadecimal(text)[BLOB_HEADER_BYTES:]
        data = cells_of_blob(blob, kind.get_element_type(), math.prod(kind.get_shape()))
    except ValueError as error:
        raise ValueError(f"dense_resource<{handle}>: {error}") from None
    return DenseIntOrFPElementsAttr(kind, BytesAttr(data))
