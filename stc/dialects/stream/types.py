"""Types of the `stream` dialect: FIFOs and rings of buffers."""

from __future__ import annotations

from math import prod
from typing import Generic

from xdsl.dialects.builtin import (
    AnyFloat,
    ContainerType,
    IndexType,
    IntAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Attribute, AttributeCovT, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa

from stc.dialects.itensor.size_ops import SymbolType


@irdl_attr_definition
class StreamType(ParametrizedAttribute, TypeAttribute, ContainerType[AttributeCovT], Generic[AttributeCovT]):
    """A FIFO of scalars or vectors with room for `depth` of them (`hls::stream`).

    Example: `!stream.stream<vector<8xf32>, depth: 34>`. One of symbols, `!stream.stream<!itensor.symbol<pos<=15>, depth: 2>`, has
    the scalar of a launch, and nothing else can be written to it.
    """

    name = "stream.stream"

    element_type: AttributeCovT
    depth_attr: IntAttr

    def __init__(self, element_type: AttributeCovT, depth: int | IntAttr = 2):
        super().__init__(element_type, IntAttr(depth) if isinstance(depth, int) else depth)

    @property
    def depth(self) -> int:
        """Tokens that fit."""
        return self.depth_attr.data

    @property
    def lanes(self) -> int:
        """Scalars per token."""
        return prod(self.element_type.get_shape()) if isinstance(self.element_type, VectorType) else 1

    @property
    def scalar_type(self) -> Attribute:
        return self.element_type.element_type if isinstance(self.element_type, VectorType) else self.element_type

    def get_element_type(self) -> AttributeCovT:
        return self.element_type

    def verify(self) -> None:
        if not isa(self.scalar_type, AnyFloat | IntegerType | IndexType) and not isinstance(self.element_type, SymbolType):
            raise VerifyException(
                f"stream has elements of type {self.element_type}, expected a float, integer or index type or a vector of one"
            )
        if self.depth < 1:
            raise VerifyException(f"stream has depth {self.depth}, expected at least 1")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[Attribute, Attribute]:
        with parser.in_angle_brackets():
            element_type = parser.parse_type()
            return element_type, _parse_count(parser, "depth")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.element_type)
            printer.print_string(f", depth: {self.depth}")


@irdl_attr_definition
class BlockType(ParametrizedAttribute, TypeAttribute):
    """A ring of `count` buffers passed from one writer to one reader, whole buffers at a time (`hls::stream_of_blocks`).

    `count` 2 is a ping-pong buffer, 1 a single one. Example: `!stream.block<memref<16x64xf32>, count: 2>`
    """

    name = "stream.block"

    buffer_type: MemRefType[Attribute]
    count_attr: IntAttr

    def __init__(self, buffer_type: MemRefType[Attribute], count: int | IntAttr = 2):
        super().__init__(buffer_type, IntAttr(count) if isinstance(count, int) else count)

    @property
    def count(self) -> int:
        """Number of buffers."""
        return self.count_attr.data

    def verify(self) -> None:
        if not self.buffer_type.has_static_shape():
            raise VerifyException(f"block has buffers of type {self.buffer_type}, expected a static shape")
        if self.count < 1:
            raise VerifyException(f"block has count {self.count}, expected at least 1")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> tuple[Attribute, Attribute]:
        with parser.in_angle_brackets():
            position = parser.pos
            buffer_type = parser.parse_type()
            if not isinstance(buffer_type, MemRefType):
                parser.raise_error(f"block has buffers of type {buffer_type}, expected a memref", position)
            return buffer_type, _parse_count(parser, "count")

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_attribute(self.buffer_type)
            printer.print_string(f", count: {self.count}")


def _parse_count(parser: AttrParser, keyword: str) -> IntAttr:
    parser.parse_punctuation(",")
    parser.parse_keyword(keyword)
    parser.parse_punctuation(":")
    return IntAttr(parser.parse_integer(allow_boolean=False))
