"""Textual form shared by kernels and tasks: bindings of block arguments to operands, results, bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.utils import parse_assignment, print_assignment
from xdsl.ir import Attribute, BlockArgument, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsTerminator


@dataclass(frozen=True)
class Binding:
    """A block argument and the operand it stands for."""

    argument: Parser.Argument
    value: SSAValue

    @property
    def name(self) -> str:
        """The argument's SSA name without `%`."""
        return self.argument.name.text[1:]


def parse_bindings(parser: Parser) -> list[Binding]:
    """Parse `(%inside = %outside : type, ...)`; with `as`, the inside has another type: `: type as type`."""
    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, lambda: _parse_binding(parser))


def _parse_binding(parser: Parser) -> Binding:
    argument, operand = parse_assignment(parser)
    parser.parse_punctuation(":")
    outside = parser.parse_type()
    inside = parser.parse_type() if parser.parse_optional_keyword("as") is not None else outside
    return Binding(argument.resolve(inside), parser.resolve_operand(operand, outside))


def print_bindings(printer: Printer, arguments: Sequence[BlockArgument], values: Sequence[SSAValue]) -> None:
    """Print what `parse_bindings` reads."""

    def print_binding(binding: tuple[BlockArgument, SSAValue]) -> None:
        argument, value = binding
        print_assignment(printer, argument, value)
        printer.print_string(" : ")
        print_view(printer, value.type, argument.type)

    with printer.in_parens():
        printer.print_list(list(zip(arguments, values, strict=True)), print_binding)


def print_view(printer: Printer, outside: Attribute, inside: Attribute) -> None:
    printer.print_attribute(outside)
    if inside != outside:
        printer.print_string(" as ")
        printer.print_attribute(inside)


def parse_results(parser: Parser) -> list[Attribute]:
    """Parse `-> type`, `-> (type, ...)`, or nothing."""
    if parser.parse_optional_punctuation("->") is None:
        return []
    types = parser.parse_optional_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type)
    return [parser.parse_type()] if types is None else list(types)


def print_results(printer: Printer, types: Sequence[Attribute]) -> None:
    if not types:
        return
    printer.print_string(" -> ")
    if len(types) == 1:
        printer.print_attribute(types[0])
        return
    with printer.in_parens():
        printer.print_list(types, printer.print_attribute)


def parse_body(parser: Parser, bindings: Sequence[Binding], terminator: type[Operation]) -> Region:
    """Parse the region; a missing terminator is added, without operands.

    The region is isolated, so its names are its own and may repeat names from outside, as in MLIR.
    """
    position = parser.pos
    outside, awaited = parser.ssa_values, parser.forward_ssa_references
    parser.ssa_values, parser.forward_ssa_references = {}, {}
    region = parser.parse_region([binding.argument for binding in bindings])
    if parser.forward_ssa_references:
        names = ", ".join(f"%{name}" for name in parser.forward_ssa_references)
        parser.raise_error(f"isolated region uses {names}, not defined in it, expected them among the operands", position)
    parser.ssa_values, parser.forward_ssa_references = outside, awaited
    last = region.block.last_op
    if last is None or not last.has_trait(IsTerminator, value_if_unregistered=False):
        region.block.add_op(terminator())
    return region


def print_body(printer: Printer, body: Region) -> None:
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False, print_empty_block=False)
