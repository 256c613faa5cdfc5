"""IR to text, exactly: what is printed parses back to the same constants and attributes, here and in MLIR's tools."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat, DenseIntOrFPElementsAttr, IndexType, IntegerType
from xdsl.ir import Attribute, Operation
from xdsl.printer import Printer

from stc.dialects.upstream import constants
from stc.dialects.upstream.syntax import printer_of

LONGEST_LIST = 64
"""Dense constants with more elements are printed as one hexadecimal string."""


class ExactPrinter(Printer):
    """xDSL's printer, with exact dense constants and MLIR's syntax for linalg."""

    def print_op(self, op: Operation) -> None:
        custom = None if self.print_generic_format else printer_of(op)
        if custom is None or op in self.diagnostic.op_messages:
            super().print_op(op)
            return
        self._print_results(op)
        self.print_string(op.name)
        custom(self)

    def print_attribute(self, attribute: Attribute) -> None:
        if not isinstance(attribute, DenseIntOrFPElementsAttr) or not _is_simple(attribute):
            super().print_attribute(attribute)
            return
        self.print_string("dense<")
        self._print_dense_contents(attribute)
        self.print_string("> : ")
        self.print_attribute(attribute.get_type())

    def _print_dense_contents(self, attribute: DenseIntOrFPElementsAttr) -> None:
        cells = constants.cells(attribute)
        if not cells:
            return
        if constants.is_splat(attribute):
            self._print_cell(cells[0], attribute.get_element_type())
        elif len(cells) > LONGEST_LIST:
            self.print_string(f'"0x{constants.blob_of_cells(attribute).hex().upper()}"')
        else:
            self._print_nested(cells, attribute.get_shape(), attribute.get_element_type())

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
        text = constants.non_finite_text(cell, kind)
        if text is None:
            self.print_float(next(iter(kind.iter_unpack(cell))), kind)
        else:
            self.print_string(text)


def _is_simple(attribute: DenseIntOrFPElementsAttr) -> bool:
    return isinstance(attribute.get_element_type(), AnyFloat | IntegerType | IndexType)


def print_module(module: Operation) -> str:
    """The text of a module (or any operation), ending in a newline; `parse_module` reads back exactly the same IR."""
    stream = io.StringIO()
    ExactPrinter(stream=stream).print_op(module)
    stream.write("\n")
    return stream.getvalue()
