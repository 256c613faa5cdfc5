"""Element types of external memory: the manifest's name, numpy's and C's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from stc.diagnostics import CompileError


@dataclass(frozen=True)
class ElementType:
    """`name` as in MLIR; `c_type` in HLS code; `host_type` on the host, of the same size; `numpy` little-endian.

    A truth value (i1) is a byte, 0 or 1.
    """

    name: str
    bits: int
    c_type: str
    host_type: str
    numpy: str


_TYPES = (
    ElementType("f32", 32, "float", "float", "<f4"),
    ElementType("f16", 16, "half", "uint16_t", "<f2"),
    ElementType("i1", 8, "int8_t", "int8_t", "|b1"),
    ElementType("i8", 8, "int8_t", "int8_t", "<i1"),
    ElementType("i16", 16, "int16_t", "int16_t", "<i2"),
    ElementType("i32", 32, "int32_t", "int32_t", "<i4"),
    ElementType("i64", 64, "int64_t", "int64_t", "<i8"),
)
ELEMENT_TYPES = {entry.name: entry for entry in _TYPES}


def element_type(name: str) -> ElementType:
    """The element type `name`; CompileError where external memory cannot hold it."""
    if name not in ELEMENT_TYPES:
        raise CompileError(f"element type {name} cannot cross a memory port", accepted=", ".join(ELEMENT_TYPES))
    return ELEMENT_TYPES[name]


def numpy_type(name: str) -> np.dtype:
    """The little-endian numpy type of element type `name`."""
    return np.dtype(element_type(name).numpy)
