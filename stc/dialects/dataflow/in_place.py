"""The attribute that says which operand of a kernel a result updates, and where."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from stc.dialects.itensor.type import ItensorType


@dataclass(frozen=True)
class Place:
    """A slice of a kernel operand: `operand` is its index; an offset is an integer or the index of a scalar operand.

    `scalars` has one entry per offset: True where the offset is the index of a scalar operand. `layout`: how the whole tensor lies
    in a packed operand, None of a plain one. `after_read`: whether writing begins when the kernel has read what it reads of it.
    """

    operand: int
    offsets: tuple[int, ...]
    scalars: tuple[bool, ...]
    layout: ItensorType | None = None
    after_read: bool = False


@irdl_attr_definition
class InPlaceAttr(Data[Place]):
    """A kernel result that updates a slice of an operand, given by position in the operand list.

    A packed operand comes with its layout, `of !itensor.itensor<...>`. `after read`: the slice is written when all that the kernel
    reads of the operand has been read; without it both must be disjoint (`verify-streams`).

    Example: `#dataflow.in_place<operand 1 at [0, operand 2, 0]>`; the kernel prints it with the names of its arguments, as
    `into %cache at [0, %pos, 0]`.
    """

    name = "dataflow.in_place"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Place:
        with parser.in_angle_brackets():
            parser.parse_keyword("operand")
            operand = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_keyword("at")
            entries = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_offset(parser))
            return place_behind(parser, operand, entries)

    def print_parameter(self, printer: Printer) -> None:
        place = self.data
        offsets = ", ".join(
            f"operand {offset}" if scalar else str(offset)
            for offset, scalar in zip(place.offsets, place.scalars, strict=True)
        )
        with printer.in_angle_brackets():
            printer.print_string(f"operand {place.operand} at [{offsets}]")
            print_behind(printer, place)


def place_behind(parser: AttrParser, operand: int, entries: list[tuple[int, bool]]) -> Place:
    """The place of `entries` (offset, whether it is a scalar operand), with what follows them."""
    layout = parser.parse_attribute() if parser.parse_optional_keyword("of") is not None else None
    if layout is not None and not isinstance(layout, ItensorType):
        parser.raise_error(f"the layout is {layout}, expected an itensor type")
    after_read = parser.parse_optional_keyword("after") is not None
    if after_read:
        parser.parse_keyword("read")
    return Place(operand, tuple(offset for offset, _ in entries), tuple(scalar for _, scalar in entries), layout, after_read)


def print_behind(printer: Printer, place: Place) -> None:
    """Print what `place_behind` reads."""
    if place.layout is not None:
        printer.print_string(" of ")
        printer.print_attribute(place.layout)
    if place.after_read:
        printer.print_string(" after read")


def _parse_offset(parser: AttrParser) -> tuple[int, bool]:
    scalar = parser.parse_optional_keyword("operand") is not None
    return parser.parse_integer(allow_boolean=False, allow_negative=False), scalar
