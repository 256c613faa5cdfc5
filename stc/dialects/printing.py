"""IR to text, exactly: what is printed parses back to the same constants and attributes, here and in MLIR's tools.

As in MLIR, affine maps are printed once, as aliases at the top of the module (`#map = affine_map<...>`), and by name from there
on; so are itensor types and other long attributes that it mentions more than once (`!itensor1 = !itensor.itensor<...>`).
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence

from xdsl.dialects.builtin import AffineMapAttr, AffineSetAttr
from xdsl.ir import Attribute, Operation

from stc.dialects.dataflow.schedule import ScheduleAttr
from stc.dialects.itensor.type import ItensorType, OrderAttr
from stc.dialects.stream.types import BlockType, StreamType
from stc.xdsl_gaps.dense_constants import ConstantsPrinter
from stc.xdsl_gaps.operation_syntax import SyntaxPrinter
from stc.xdsl_gaps.value_names import UniqueNamesPrinter

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


class ExactPrinter(UniqueNamesPrinter, SyntaxPrinter, ConstantsPrinter):
    """xDSL's printer, with exact dense constants, MLIR's syntax for linalg, and names that are never given twice."""


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
