"""C++ types of IR types, and the typedefs a file needs for them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod

from xdsl.dialects.builtin import Float16Type, Float32Type, IndexType, IntegerType, MemRefType, VectorType
from xdsl.ir import Attribute

from stc.diagnostics import CompileError
from stc.dialects.itensor import SymbolType
from stc.manifest.element_types import ElementType

MAX_AP_BITS = 1024
C_INTEGERS = (8, 16, 32, 64)


def _unsupported(attribute: Attribute) -> CompileError:
    return CompileError(f"type {attribute} has no HLS C++ counterpart", accepted="f32, f16, index, i1..i1024, vectors of them")


def scalar_type(attribute: Attribute) -> str:
    """The C++ type of a scalar: float, half, bool, int (index), intN_t or ap_int<N>; CompileError for others."""
    match attribute:
        case Float32Type():
            return "float"
        case Float16Type():
            return "half"
        case IndexType() | SymbolType():
            return "int"
        case IntegerType():
            return _integer_type(attribute.width.data)
        case _:
            raise _unsupported(attribute)


def _integer_type(width: int) -> str:
    if width == 1:
        return "bool"
    if width in C_INTEGERS:
        return f"int{width}_t"
    if width > MAX_AP_BITS:
        raise CompileError(f"integer type i{width} is too wide", accepted=f"at most {MAX_AP_BITS} bits")
    return f"ap_int<{width}>"


def unsigned_type(attribute: Attribute) -> str:
    """The unsigned C++ type of the same width as an integer or index type."""
    if isinstance(attribute, IndexType):
        return "unsigned"
    assert isinstance(attribute, IntegerType)
    width = attribute.width.data
    if width == 1:
        return "bool"
    return f"uint{width}_t" if width in C_INTEGERS else f"ap_uint<{width}>"


def scalar_bits(attribute: Attribute) -> int:
    """Width in bits of a scalar type; index counts as 32."""
    match attribute:
        case Float32Type() | IndexType() | SymbolType():
            return 32
        case Float16Type():
            return 16
        case IntegerType():
            return attribute.width.data
        case _:
            raise _unsupported(attribute)


def is_packed(attribute: Attribute) -> bool:
    """Whether a value is a vector of entries that C++ has no vector of without waste: one `ap_uint` then, lane after lane.

    `hls::vector<ap_int<4>, N>` takes a byte for each entry.
    """
    if not isinstance(attribute, VectorType):
        return False
    element = attribute.element_type
    return isinstance(element, IntegerType) and element.width.data not in (1, *C_INTEGERS)


def split_token(attribute: Attribute) -> tuple[Attribute, int]:
    """Scalar type and lanes of a token type: a vector, or a scalar of one lane."""
    if isinstance(attribute, VectorType):
        return attribute.element_type, prod(attribute.get_shape())
    return attribute, 1


def token_bits(attribute: Attribute) -> int:
    """Bits of a token: lanes times the scalar's width."""
    element, lanes = split_token(attribute)
    return scalar_bits(element) * lanes


def retained_dimensions(array: MemRefType) -> list[int]:
    """The dimensions of an array in C++: those of more than one entry, and one at least."""
    extents = array.get_shape()
    return [dimension for dimension, extent in enumerate(extents) if extent != 1] or list(range(len(extents)))[-1:]


def word_typedef(element: ElementType, lanes: int) -> str:
    """What `kernel.h` calls the words of a memory port."""
    typedefs = Typedefs()
    return typedefs.packed(element.bits, lanes) if element.is_packed else typedefs.vector_of(element.c_type, lanes)


@dataclass
class Typedefs:
    """The vector and block typedefs of one project, collected while its functions are printed."""

    lines: dict[str, str] = field(default_factory=dict)

    def value_type(self, attribute: Attribute) -> str:
        """C++ type of an SSA value: a scalar type or the typedef of a vector (`float_x8`)."""
        if not isinstance(attribute, VectorType):
            return scalar_type(attribute)
        lanes = prod(attribute.get_shape())
        if is_packed(attribute):
            return self.packed(scalar_bits(attribute.element_type), lanes)
        return self.vector_of(scalar_type(attribute.element_type), lanes)

    def packed(self, bits: int, lanes: int) -> str:
        """The typedef of `lanes` integers of `bits` bits, the first in the lowest bits; CompileError where they are too many."""
        if bits * lanes > MAX_AP_BITS:
            what = f"a vector of {lanes} x i{bits} is {bits * lanes} bits"
            raise CompileError(what, accepted=f"at most {MAX_AP_BITS} bits of integers that are no 8, 16, 32 or 64 bits wide")
        name = f"int{bits}_x{lanes}"
        self.lines[name] = f"typedef ap_uint<{bits * lanes}> {name};"
        return name

    def vector_of(self, scalar: str, lanes: int) -> str:
        """The typedef of a vector of `lanes` of the C++ type `scalar`: `float_x16`; `float16` would read as half precision."""
        name = f"{re.sub('_t$|[<>]', '', scalar)}_x{lanes}"
        self.lines[name] = f"typedef hls::vector<{scalar}, {lanes}> {name};"
        return name

    def block_type(self, name: str, memref: MemRefType) -> str:
        """The typedef `name` of a block released by a stream of blocks."""
        extents = "".join(f"[{memref.get_shape()[dimension]}]" for dimension in retained_dimensions(memref))
        self.lines[name] = f"typedef {self.value_type(memref.element_type)} {name}{extents};"
        return name
