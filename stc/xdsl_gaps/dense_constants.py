"""Constants, bit for bit: reading, printing, and the bytes xDSL stores.

xDSL 0.74 reads a hexadecimal float inside `dense<...>` as an integer (4.28657869e+09 for -inf), takes a dense constant of 0.0 and
-0.0 for a splat, and converts NaNs through Python floats, which drops payloads. Everything here works on *cells*: one
compile-time-sized group of bytes per element, little-endian, as xDSL stores them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    RankedStructure,
    TensorType,
)
from xdsl.ir import Attribute
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Span
from xdsl.utils.mlir_lexer import MLIRTokenKind

Element = AnyFloat | IntegerType | IndexType
MOST_BYTES = 1 << 31
"""Size of the largest dense constant. A splat is stored as all its elements."""


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
    return kind.pack(tuple(kind.get_normalized_value(value & ((1 << kind.bitwidth) - 1)) for value in raw))


def blob_of_cells(attribute: DenseIntOrFPElementsAttr) -> bytes:
    """The data of a dense constant in MLIR's blob layout, the inverse of `cells_of_blob`."""
    kind = attribute.get_element_type()
    size = kind.compile_time_size
    if not isinstance(kind, IntegerType) or kind.bitwidth == 8 * size:
        return attribute.data.data
    mask = (1 << kind.bitwidth) - 1
    return b"".join((int.from_bytes(cell, "little") & mask).to_bytes(size, "little") for cell in cells(attribute))


def bytes_of_hexadecimal(text: str) -> bytes:
    """The bytes of `0x...`; ValueError if it is something else."""
    if not text.startswith(("0x", "0X")):
        raise ValueError(f"not a hexadecimal string: {text[:20]!r}")
    try:
        return bytes.fromhex(text[2:])
    except ValueError:
        raise ValueError(f"not a hexadecimal string of whole bytes: {text[:20]!r}") from None


# Reading


class ConstantsParser(Parser):
    """xDSL's parser with exact constants."""

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        token = self._current_token
        if token.kind != MLIRTokenKind.INTEGER_LIT or token.text[:2] not in ("0x", "0X"):
            try:
                return super().parse_optional_builtin_int_or_float_attr()
            except OverflowError:
                self.raise_error(f"{token.text} is out of range for its type", token.span)
        bits = self.parse_integer()
        if self.parse_optional_punctuation(":") is None:
            return IntegerAttr(bits, 64)
        kind = self.parse_type()
        if not isinstance(kind, AnyFloat):
            return self._integer(bits, kind, token.span)
        try:
            return FloatAttr(scalar_float(bits, kind), kind)
        except ValueError as error:
            self.raise_error(str(error), token.span)

    def _integer(self, value: int, kind: Attribute, span: Span) -> IntegerAttr:
        try:
            return IntegerAttr(value, kind)  # pyright: ignore[reportArgumentType, reportCallIssue]
        except VerifyException as error:
            self.raise_error(str(error), span)

    def parse_dense_int_or_fp_elements_attr(self, type: RankedStructure | None) -> DenseIntOrFPElementsAttr:
        start = self._current_token.span
        self.parse_punctuation("<", " in dense attribute")
        blob = self.parse_optional_str_literal()
        elements, shape = [], [0]
        if blob is None and self._current_token.kind != MLIRTokenKind.GREATER:
            elements, shape = self._parse_tensor_literal()
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        if not isa(type, RankedStructure[AnyDenseElement]):
            self.raise_error("dense constants are tensors, vectors or memrefs of numbers", start)
        kind, count = type.get_element_type(), math.prod(type.get_shape())
        if count < 0 or count * kind.compile_time_size > MOST_BYTES:
            self.raise_error(f"dense constant of {type}, expected a static shape and at most {MOST_BYTES} bytes", start)
        if blob is None and shape and shape != list(type.get_shape()) and (elements or count):
            self.raise_error(f"dense literal of shape {shape}, where the type has shape {list(type.get_shape())}", start)
        try:
            if blob is not None:
                data = _blob_cells(bytes_of_hexadecimal(blob), kind, count)
            else:
                data = b"".join(self._element_cell(element, kind) for element in elements) * (1 if shape else count)
        except ValueError as error:
            self.raise_error(str(error), start)
        return DenseIntOrFPElementsAttr(type, BytesAttr(data))

    def _element_cell(self, element: AttrParser._TensorLiteralElement, kind: AnyDenseElement) -> bytes:
        text = element.span.input.content[element.span.start : element.span.end]
        if isinstance(kind, AnyFloat) and text[:2] in ("0x", "0X"):
            return float_cell(int(text, 16), kind)
        if isinstance(kind, AnyFloat) and isinstance(element.value, int):
            self.raise_error("expected a floating point literal, or its bits in hexadecimal", element.span)
        value = element.to_type(self, kind)
        if isinstance(kind, AnyFloat) and isinstance(value, float) and not _fits(value, kind):
            self.raise_error(f"{text} is out of range for {kind.name}", element.span)
        return DenseIntOrFPElementsAttr.from_list(TensorType(kind, []), [value]).data.data  # pyright: ignore[reportCallIssue, reportArgumentType]


def _fits(value: float, kind: AnyFloat) -> bool:
    try:
        kind.pack((value,))
    except OverflowError:
        return False
    return True


def _blob_cells(blob: bytes, kind: AnyDenseElement, count: int) -> bytes:
    splat = len(blob) == kind.compile_time_size
    if isinstance(kind, ComplexType):
        if not splat and len(blob) != kind.compile_time_size * count:
            raise ValueError(f"{len(blob)} bytes of data, where {count} elements of {kind} are expected")
        return blob * count if splat else blob
    return cells_of_blob(blob, kind, 1) * count if splat else cells_of_blob(blob, kind, count)


# Printing


LONGEST_LIST = 64
"""Dense constants with more elements are printed as one hexadecimal string."""


class ConstantsPrinter(Printer):
    """xDSL's printer with exact dense constants."""

    def print_attribute(self, attribute: Attribute) -> None:
        if not isinstance(attribute, DenseIntOrFPElementsAttr) or not _is_simple(attribute):
            super().print_attribute(attribute)
            return
        self.print_string("dense<")
        self._print_dense_contents(attribute)
        self.print_string("> : ")
        self.print_attribute(attribute.get_type())

    def _print_dense_contents(self, attribute: DenseIntOrFPElementsAttr) -> None:
        found = cells(attribute)
        if not found:
            return
        if is_splat(attribute):
            self._print_cell(found[0], attribute.get_element_type())
        elif len(found) > LONGEST_LIST:
            self.print_string(f'"0x{blob_of_cells(attribute).hex().upper()}"')
        else:
            self._print_nested(found, attribute.get_shape(), attribute.get_element_type())

    def _print_nested(self, cells: Sequence[bytes], shape: Sequence[int], kind: Attribute) -> None:
        if not shape:
            self._print_cell(cells[0], kind)
            return
        step = math.prod(shape[1:])
        with self.in_square_brackets():
            parts = [cells[i : i + step] for i in range(0, len(cells), step)]
            self.print_list(parts, lambda part: self._print_nested(part, shape[1:], kind))

    def _print_cell(self, cell: bytes, kind: Attribute) -> None:
        if isinstance(kind, IntegerType | IndexType):
            self.print_int(next(iter(kind.iter_unpack(cell))), kind)
            return
        assert isinstance(kind, AnyFloat)
        text = non_finite_text(cell, kind)
        if text is None:
            self.print_float(next(iter(kind.iter_unpack(cell))), kind)
        else:
            self.print_string(text)


def _is_simple(attribute: DenseIntOrFPElementsAttr) -> bool:
    return isinstance(attribute.get_element_type(), AnyFloat | IntegerType | IndexType)
