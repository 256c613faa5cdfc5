"""The attribute that holds every scheduling decision for one linalg operation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@dataclass(frozen=True)
class Schedule:
    """Tile sizes, tile-loop order (outermost first) and unroll factors, one entry per loop; vector shapes per operand."""

    tile: tuple[int, ...]
    order: tuple[int, ...]
    unroll: tuple[int, ...]
    vector: tuple[tuple[int, ...], ...] = ()


@irdl_attr_definition
class ScheduleAttr(Data[Schedule]):
    """The schedule of a linalg operation, the same names as in `schedule.toml`.

    Example: `#dataflow.schedule<tile = [16, 16, 16], order = [0, 1, 2], unroll = [1, 1, 8], vector = [[1, 8], [8, 1]]>`.
    Python: `ScheduleAttr.of([16, 16, 16], [0, 1, 2], [1, 1, 8])`.
    """

    name = "dataflow.schedule"

    @classmethod
    def of(
        cls,
        tile: Sequence[int],
        order: Sequence[int],
        unroll: Sequence[int],
        vector: Sequence[Sequence[int]] = (),
    ) -> ScheduleAttr:
        return cls(Schedule(tuple(tile), tuple(order), tuple(unroll), tuple(tuple(shape) for shape in vector)))

    @property
    def tiles(self) -> tuple[int, ...]:
        """Tile size per loop."""
        return self.data.tile

    @property
    def loop_order(self) -> tuple[int, ...]:
        """Loops from the outermost tile loop to the innermost."""
        return self.data.order

    @property
    def unrolls(self) -> tuple[int, ...]:
        """Unroll factor per loop, inside a tile."""
        return self.data.unroll

    @property
    def vectors(self) -> tuple[tuple[int, ...], ...]:
        """Vector shape per operand (inputs, then outputs); empty while undecided."""
        return self.data.vector

    def verify(self) -> None:
        count = len(self.tiles)
        if len(self.loop_order) != count or len(self.unrolls) != count:
            raise VerifyException(
                f"schedule has {count} tile sizes, {len(self.loop_order)} loops in its order and {len(self.unrolls)} unroll "
                "factors, expected one of each per loop"
            )
        if sorted(self.loop_order) != list(range(count)):
            raise VerifyException(
                f"schedule has order {list(self.loop_order)}, expected each of the loops 0 to {count - 1} once"
            )
        for what, factors in (("tile size", self.tiles), ("unroll factor", self.unrolls)):
            for loop, factor in enumerate(factors):
                if factor < 1:
                    raise VerifyException(f"schedule has {what} {factor} for loop {loop}, expected at least 1")
        for operand, shape in enumerate(self.vectors):
            if any(extent < 1 for extent in shape):
                raise VerifyException(
                    f"schedule has vector shape {list(shape)} for operand {operand}, expected extents of at least 1"
                )

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Schedule:
        with parser.in_angle_brackets():
            tile = _parse_field(parser, "tile")
            parser.parse_punctuation(",")
            order = _parse_field(parser, "order")
            parser.parse_punctuation(",")
            unroll = _parse_field(parser, "unroll")
            parser.parse_punctuation(",")
            parser.parse_keyword("vector")
            parser.parse_punctuation("=")
            vector = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _parse_integers(parser))
        return Schedule(tile, order, unroll, tuple(vector))

    def print_parameter(self, printer: Printer) -> None:
        fields = self.data
        vector = ", ".join(str(list(shape)) for shape in fields.vector)
        with printer.in_angle_brackets():
            printer.print_string(
                f"tile = {list(fields.tile)}, order = {list(fields.order)}, unroll = {list(fields.unroll)}, "
                f"vector = [{vector}]"
            )


def _parse_field(parser: AttrParser, name: str) -> tuple[int, ...]:
    parser.parse_keyword(name)
    parser.parse_punctuation("=")
    return _parse_integers(parser)


def _parse_integers(parser: AttrParser) -> tuple[int, ...]:
    return tuple(
        parser.parse_comma_separated_list(
            parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
        )
    )
