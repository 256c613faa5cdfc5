"""MLIR's syntax for `tensor.empty`, whose attributes xDSL 0.74 neither reads nor prints."""

from __future__ import annotations

from xdsl.dialects.builtin import IndexType
from xdsl.dialects.tensor import EmptyOp
from xdsl.parser import Parser
from xdsl.printer import Printer


def parse_empty(parser: Parser) -> EmptyOp:
    """`(%sizes) {attributes} : type`."""
    position = parser.pos
    names = parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_unresolved_operand)
    sizes = parser.resolve_operands(names, [IndexType()] * len(names), position)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    operation = EmptyOp(sizes, parser.parse_type())
    operation.attributes |= attributes
    return operation


def print_empty(operation: EmptyOp, printer: Printer) -> None:
    """What follows the name, as `parse_empty` reads it."""
    with printer.in_parens():
        printer.print_list(operation.dynamic_sizes, printer.print_ssa_value)
    printer.print_op_attributes(operation.attributes)
    printer.print_string(" : ")
    printer.print_attribute(operation.tensor.type)
