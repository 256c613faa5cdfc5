"""IR to text, exactly: what is printed parses back to the same constants and attributes, here and in MLIR's tools.

As in MLIR, affine maps are printed once, as aliases at the top of the module (`#map = affine_map<...>`), and by name from there
on; so are itensor types and other long attributes that it mentions more than once (`!itensor1 = !itensor.itensor<...>`).
"""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr, AnyFloat, DenseIntOrFPElementsAttr, IndexType, IntegerType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.printer import Printer

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.itensor.type import ItensorType, OrderAttr
from stc.dialects.stream.types import BlockType, StreamType
from stc.dialects.upstream import constants
from stc.dialects.upstream.syntax import printer_of

LONGEST_LIST = 64
"""Dense constants with more elements are printed as one hexadecimal string."""

ALIASES: dict[type[Attribute], str] = {
    AffineMapAttr: "#map",
    AffineSetAttr: "#set",
    ScheduleAttr: "#schedule",
    OrderAttr: "#order",
    ItensorType: "!itensor",
    StreamType: "!stream",
    BlockType: "!block",
}
"""What may be aliased, and the name of the first alias of that kind; the next ones are numbered. None of them contains another."""

LONGEST_INLINE = 48
"""Attributes of at most so many characters are not aliased, affine maps and sets apart."""


class ExactPrinter(Printer):
    """xDSL's printer, with exact dense constants, MLIR's syntax for linalg, and names that are never given twice.

    By itself xDSL numbers the second `%a` as `%a_1` even where that is what another value is called.
    """

    def print_ssa_value(self, value: SSAValue) -> str:
        if (hint := value.name_hint) is not None and value not in self._ssa_values:
            index = self.ssa_names.get(hint, 0)
            while index > 0 and f"{hint}_{index}" in self.ssa_names:
                index += 1
            self.ssa_names[hint] = index
        name = super().print_ssa_value(value)
        self.ssa_names.setdefault(name, 1)
        return name

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


class _Pieces(io.TextIOBase):
    """What was printed: text, and attributes whose spelling is decided when everything is printed."""

    def __init__(self) -> None:
        self.all: list[str | Attribute] = []

    def write(self, text: str, /) -> int:
        self.all.append(text)
        return len(text)


class AliasingPrinter(ExactPrinter):
    """Prints into pieces, so that one walk both prints and counts what may become an alias."""

    def __init__(self, *, print_generic_format: bool = False) -> None:
        self._pieces = _Pieces()
        super().__init__(stream=self._pieces, print_generic_format=print_generic_format)  # pyright: ignore[reportArgumentType]

    def print_attribute(self, attribute: Attribute) -> None:
        if type(attribute) in ALIASES:
            self._pieces.all.append(attribute)
        else:
            super().print_attribute(attribute)

    def text(self) -> str:
        """Everything printed so far, after the definitions of the aliases it uses."""
        mentions = Counter(piece for piece in self._pieces.all if not isinstance(piece, str))
        spelling = {attribute: _inline(attribute) for attribute in mentions}
        names = _alias_names([a for a, count in mentions.items() if _has_alias(a, count, spelling[a])])
        definitions = [f"{name} = {spelling[attribute]}\n" for attribute, name in names.items()]
        body = (piece if isinstance(piece, str) else names.get(piece) or spelling[piece] for piece in self._pieces.all)
        return "".join([*definitions, *body])


def _inline(attribute: Attribute) -> str:
    stream = io.StringIO()
    ExactPrinter(stream=stream).print_attribute(attribute)
    return stream.getvalue()


def _has_alias(attribute: Attribute, mentions: int, text: str) -> bool:
    return isinstance(attribute, AffineMapAttr | AffineSetAttr) or (mentions > 1 and len(text) > LONGEST_INLINE)


def _alias_names(attributes: Sequence[Attribute]) -> dict[Attribute, str]:
    """Names by kind and then in order of first mention: `#map`, `#map1`, ..., `!itensor`, `!itensor1`, ..."""
    names: dict[Attribute, str] = {}
    for kind, name in ALIASES.items():
        for index, attribute in enumerate(a for a in attributes if type(a) is kind):
            names[attribute] = f"{name}{index or ''}"
    return names


def print_module(module: Operation, *, aliases: bool = True, generic: bool = False) -> str:
    """The text of a module (or any operation), ending in a newline; `parse_module` reads back exactly the same IR.

    `aliases`: name long types and maps at the top. `generic`: operations in their generic form.
    """
    if aliases:
        printer = AliasingPrinter(print_generic_format=generic)
        printer.print_op(module)
        return printer.text() + "\n"
    stream = io.StringIO()
    ExactPrinter(stream=stream, print_generic_format=generic).print_op(module)
    return stream.getvalue() + "\n"
