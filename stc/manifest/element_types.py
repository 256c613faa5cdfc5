"""Element types of external memory and of the host's tensors: the manifest's name, numpy's and C's."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from stc.diagnostics import CompileError

if TYPE_CHECKING:
    import numpy as np

    from stc.manifest.schema import Port

_BYTE = 8


@dataclass(frozen=True)
class ElementType:
    """`name` as in MLIR. `bits`: of an entry of a memory port's words, a power of two: that which holds the type.

    Below 8 bits entries are packed, the first in the lowest bits. Tensors of the host have whole bytes for an entry (`host_type`,
    `c_type` where HLS code has another name for it, `numpy`, little-endian), with the sign extended. A truth value (i1) is a byte,
    0 or 1, everywhere.
    """

    name: str
    bits: int
    c_type: str
    host_type: str
    numpy: str

    @property
    def host_bytes(self) -> int:
        """Bytes of an entry of a tensor of the host."""
        return int(self.numpy[2:])

    @property
    def is_packed(self) -> bool:
        """Whether a byte of a port's words holds several entries."""
        return self.bits < _BYTE


def _integer(width: int) -> ElementType:
    bits = 1 << (width - 1).bit_length()
    host = max(bits, _BYTE)
    return ElementType(f"i{width}", bits, f"int{host}_t", f"int{host}_t", f"<i{host // _BYTE}" if host > _BYTE else "|i1")


_TYPES = (
    ElementType("f32", 32, "float", "float", "<f4"),
    ElementType("f16", 16, "half", "uint16_t", "<f2"),
    ElementType("i1", 8, "int8_t", "int8_t", "|b1"),
    *(_integer(width) for width in range(2, 65)),
)
ELEMENT_TYPES = {entry.name: entry for entry in _TYPES}
ACCEPTED = "f32, f16, i1 to i64"
IN_PORTS = ("f32", "f16", *(f"i{bits}" for bits in (2, 4, 8, 16, 32, 64)))
"""Of the words of memory ports."""


def element_type(name: str) -> ElementType:
    """The element type `name`; CompileError where the host has no tensors of it."""
    if name not in ELEMENT_TYPES:
        raise CompileError(f"element type {name} cannot cross a memory port", accepted=ACCEPTED)
    return ELEMENT_TYPES[name]


def word_bytes(port: Port) -> int:
    """Bytes of a word of `port`, its part of the padding of the buffer left out."""
    return port.lanes * ELEMENT_TYPES[port.element_type].bits // _BYTE


def fits_port(name: str, stored: str) -> bool:
    """Whether the words of a port may have entries of type `stored` for a tensor of type `name`.

    That is the type of as many bits as an entry takes, or i8 where words of less than a byte would be needed.
    """
    element = element_type(name)
    if name.startswith("f") or stored not in IN_PORTS or stored.startswith("f"):
        return stored == name
    bits = ELEMENT_TYPES[stored].bits
    return bits == element.bits or (element.is_packed and bits == _BYTE)


def numpy_type(name: str) -> np.dtype:
    """The little-endian numpy type of tensors of element type `name` on the host."""
    import numpy as np  # which `stc-opt` starts without

    return np.dtype(element_type(name).numpy)
