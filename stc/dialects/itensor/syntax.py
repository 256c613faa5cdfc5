"""Textual form of stream orders: sizes, iteration space and iteration map."""

from __future__ import annotations

from xdsl.parser import AttrParser
from xdsl.printer import Printer

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.size import SYNTAX, Size, Symbol, sum_of


def parse_size(parser: AttrParser, allow_negative: bool = False) -> Size:
    """Parse an integer, `name<=maximum`, or a sum, minimum, maximum or ceiling division of sizes: `min(sum(pos<=9, 1), 4)`."""
    value = parser.parse_optional_integer(allow_boolean=False, allow_negative=allow_negative)
    if value is not None:
        return value
    position = parser.pos
    name = parser.parse_optional_identifier()
    if name is None:
        written = ", ".join(f"'{function}(...)'" for function in SYNTAX)
        parser.raise_error(f"expected a size: an integer, 'name<=maximum', or one of {written}")
    return _parse_named_size(parser, name, position)


def _parse_named_size(parser: AttrParser, name: str, position: int) -> Size:
    try:
        if name in SYNTAX:
            return _parse_call(parser, name)
        parser.parse_punctuation("<", f" after size symbol '{name}': its maximum is written '{name}<=maximum'")
        parser.parse_punctuation("=")
        return Symbol(name, parser.parse_integer(allow_boolean=False, allow_negative=False))
    except ValueError as error:
        parser.raise_error(str(error), position, parser.pos)


def _parse_call(parser: AttrParser, name: str) -> Size:
    """Parse the operands of `name` of `SYNTAX`; integers among them may be negative, a divisor is an integer."""
    position = parser.pos
    operands = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: parse_size(parser, allow_negative=True))
    if name == "ceildiv" and (len(operands) != 2 or not isinstance(operands[1], int)):
        parser.raise_error("expected 'ceildiv(size, divisor)' with an integer as divisor", position)
    return SYNTAX[name](*operands)


def parse_order_body(parser: AttrParser, element: tuple[int, ...]) -> StreamOrder:
    """Parse `, iter_space: [..] * [..], iter_map: (..) -> (..)` for tokens of shape `element`."""
    parser.parse_punctuation(",")
    parser.parse_keyword("iter_space")
    parser.parse_punctuation(":")
    position = parser.pos
    trips = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: parse_size(parser))
    parser.parse_punctuation("*")
    steps = parser.parse_comma_separated_list(
        parser.Delimiter.SQUARE, lambda: parser.parse_integer(allow_boolean=False)
    )
    if len(trips) != len(steps):
        parser.raise_error(
            f"iteration space has {len(trips)} trip counts and {len(steps)} steps, expected as many of each", position
        )
    parser.parse_punctuation(",")
    parser.parse_keyword("iter_map")
    parser.parse_punctuation(":")
    coordinates = _parse_map(parser, len(trips))
    try:
        loops = tuple(Loop(trip, step) for trip, step in zip(trips, steps, strict=True))
        return StreamOrder(element, loops, coordinates)
    except ValueError as error:
        parser.raise_error(str(error), position, parser.pos)


def _parse_map(parser: AttrParser, loop_count: int) -> tuple[Coordinate, ...]:
    position = parser.pos
    names = parser.parse_comma_separated_list(
        parser.Delimiter.PAREN, lambda: parser.parse_identifier(" for a loop of the iteration map")
    )
    if len(names) != loop_count:
        parser.raise_error(
            f"iteration map has {len(names)} loops but the iteration space has {loop_count}", position
        )
    if len(set(names)) != len(names):
        parser.raise_error("iteration map names a loop twice, expected distinct names", position)
    parser.parse_punctuation("->")
    results = parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_result(parser, names))
    return tuple(results)


def _parse_result(parser: AttrParser, names: list[str]) -> Coordinate:
    """Parse a sum of loops and constants."""
    position = parser.pos
    loops: list[int] = []
    constants: list[Size] = []
    while True:
        _parse_term(parser, names, loops, constants)
        if parser.parse_optional_punctuation("+") is None:
            break
    _refuse_other_operators(parser, position)
    try:
        return Coordinate(tuple(loops), sum_of(*constants))
    except ValueError as error:
        parser.raise_error(str(error), position, parser.pos)


def _refuse_other_operators(parser: AttrParser, position: int) -> None:
    found = parser.parse_optional_keyword_in({"floordiv", "ceildiv", "mod"})
    if found is not None or parser.parse_optional_punctuation("*") or parser.parse_optional_punctuation("-"):
        parser.raise_error("map results are sums of loops plus a constant, without coefficients, divisions or mod", position)


def _parse_term(parser: AttrParser, names: list[str], loops: list[int], constants: list[Size]) -> None:
    position = parser.pos
    name = parser.parse_optional_identifier()
    if name is None:
        constants.append(parse_size(parser))
    elif name in names:
        loops.append(names.index(name))
    else:
        constants.append(_parse_named_size(parser, name, position))


def print_order_body(printer: Printer, order: StreamOrder) -> None:
    """Print what `parse_order_body` reads."""
    trips = ", ".join(str(loop.trip) for loop in order.loops)
    steps = ", ".join(str(loop.step) for loop in order.loops)
    names = ", ".join(f"d{loop}" for loop in range(len(order.loops)))
    results = ", ".join(_result_text(coordinate) for coordinate in order.coordinates)
    printer.print_string(f", iter_space: [{trips}] * [{steps}], iter_map: ({names}) -> ({results})")


def _result_text(coordinate: Coordinate) -> str:
    terms = [f"d{loop}" for loop in coordinate.loops]
    if coordinate.constant != 0 or not terms:
        terms.append(str(coordinate.constant))
    return " + ".join(terms)
