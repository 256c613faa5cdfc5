"""Sizes known at run time: the scalar behind a symbol of the types, and what is computed from it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Data, Operation, SSAValue, TypeAttribute
from xdsl.irdl import IRDLOperation, irdl_attr_definition, irdl_op_definition, prop_def, result_def, traits_def, var_operand_def
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from stc.dialects.itensor.syntax import parse_size
from stc.iteration.size import Size, Symbol, symbols_in


@irdl_attr_definition
class SymbolType(Data[Symbol], TypeAttribute):
    """A scalar of a kernel that sizes in the types are named after, from 0 to its maximum.

    Example: `!itensor.symbol<pos<=15>`, an argument of a kernel: `%pos = %p : index as !itensor.symbol<pos<=15>`.
    """

    name = "itensor.symbol"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Symbol:
        with parser.in_angle_brackets():
            position = parser.pos
            symbol = parse_size(parser)
            if not isinstance(symbol, Symbol):
                parser.raise_error(f"'{symbol}' is no symbol, expected 'name<=maximum'", position)
        return symbol

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_attr_definition
class SizeAttr(Data[Size]):
    """A size: `#itensor.size<min(sum(pos<=15, 1), 8)>`."""

    name = "itensor.size"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> Size:
        with parser.in_angle_brackets():
            return parse_size(parser)

    def print_parameter(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(str(self.data))


@irdl_op_definition
class SizeOp(IRDLOperation):
    """The value of a size, computed from the scalars behind its symbols: the bound of a loop, or an index.

    A loop from 0 to it has trips that the verifier compares with those of a type. The operands are the symbols of the size by name,
    each once.

    Example: `%n = itensor.size min(sum(pos<=15, 1), 8) of %pos`
    """

    name = "itensor.size"

    symbols = var_operand_def(SymbolType)
    size_attr = prop_def(SizeAttr, prop_name="size")
    result = result_def(IndexType)

    traits = traits_def(Pure())

    def __init__(self, size: Size | SizeAttr, symbols: Sequence[SSAValue | Operation]):
        attribute = size if isinstance(size, SizeAttr) else SizeAttr(size)
        super().__init__(operands=[symbols], properties={"size": attribute}, result_types=[IndexType()])

    @property
    def size(self) -> Size:
        return self.size_attr.data

    def verify_(self) -> None:
        try:
            expected = [SymbolType(symbol) for symbol in symbols_in([self.size])]
        except ValueError as error:
            raise VerifyException(str(error)) from error
        if not expected:
            raise VerifyException(f"computes {self.size}, expected a size with a symbol, or an arith.constant")
        if [value.type for value in self.symbols] != expected:
            found, wanted = (", ".join(map(str, types)) for types in ([value.type for value in self.symbols], expected))
            raise VerifyException(f"computes {self.size} of ({found}), expected ({wanted}): its symbols by name")

    @classmethod
    def parse(cls, parser: Parser) -> SizeOp:
        position = parser.pos
        size = parse_size(parser)
        parser.parse_keyword("of")
        operands = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_unresolved_operand)
        try:
            types = [SymbolType(symbol) for symbol in symbols_in([size])]
        except ValueError as error:
            parser.raise_error(str(error), position)
        return cls(size, parser.resolve_operands(operands, types, position))

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.size} of ")
        printer.print_list(self.symbols, printer.print_ssa_value)
