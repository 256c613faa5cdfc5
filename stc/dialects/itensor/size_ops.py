"""Sizes known at run time: the scalar behind a symbol of the types, and what is computed from it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Attribute, Data, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    BaseAttr,
    IRDLOperation,
    VarConstraint,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser, Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from stc.dialects.itensor.induction import constant_value, loop_of_induction_variable
from stc.dialects.itensor.syntax import parse_size
from stc.dialects.itensor.type import ItensorType
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
class IndexSymbolOp(IRDLOperation):
    """The induction variable of a loop as a symbol of sizes: the entry of a table that a phase or a layer looks up.

    The loop goes from 0 by 1 to the symbol's maximum, which is its last value.

    Example: `%p = itensor.index_symbol %phase : !itensor.symbol<phase<=2>` in a loop of three iterations, and inside
    `%n = itensor.size entry(phase<=2, 4, 8, 2) of %p` for the bound of a loop that runs 4, then 8, then 2 times.
    """

    name = "itensor.index_symbol"

    index = operand_def(IndexType)
    result = result_def(SymbolType)

    traits = traits_def(Pure())
    assembly_format = "$index attr-dict `:` type($result)"

    def __init__(self, index: SSAValue | Operation, symbol: Symbol):
        super().__init__(operands=[index], result_types=[SymbolType(symbol)])

    @property
    def symbol(self) -> Symbol:
        type = self.result.type
        assert isinstance(type, SymbolType)
        return type.data

    def verify_(self) -> None:
        loop = loop_of_induction_variable(self.index)
        bounds = None if loop is None else tuple(constant_value(value) for value in (loop.lb, loop.ub, loop.step))
        if bounds != (0, self.symbol.maximum + 1, 1):
            expected = f"the induction variable of a loop from 0 to {self.symbol.maximum + 1} by 1"
            raise VerifyException(f"makes {self.symbol} of another value, expected {expected}")
        if (other := self._other_of_its_name()) is not None:
            raise VerifyException(f"makes {self.symbol}, but {other} has this name, expected one of its own")

    def _other_of_its_name(self) -> str | None:
        """What else is a symbol of this name where this one is."""
        around = self.parent_op()
        while around is not None:
            arguments = [argument for region in around.regions for block in region.blocks for argument in block.args]
            if any(self.symbol.name in _names_in(value.type) for value in arguments):
                return f"an argument of '{around.name}'"
            found = (use.operation for argument in arguments for use in argument.uses)
            symbols = [op.symbol for op in found if isinstance(op, IndexSymbolOp) and op.index != self.index]
            if any(symbol.name == self.symbol.name for symbol in symbols):
                return "that of another loop around"
            around = None if around.has_trait(IsolatedFromAbove) else around.parent_op()
        return None


@irdl_op_definition
class AdvanceOp(IRDLOperation):
    """A symbol of sizes in a later step of a launch: what the launch says, and how many steps are over.

    Together they may not go beyond the symbol's maximum: a launch of several steps begins so many before it.

    Example: `%p = itensor.advance %pos by %step : !itensor.symbol<pos<=15>` in a loop over steps.
    """

    name = "itensor.advance"

    SYMBOL: ClassVar = VarConstraint("SYMBOL", BaseAttr(SymbolType))

    source = operand_def(SYMBOL)
    step = operand_def(IndexType)
    result = result_def(SYMBOL)

    traits = traits_def(Pure())
    assembly_format = "$source `by` $step attr-dict `:` type($result)"

    def __init__(self, source: SSAValue, step: SSAValue):
        super().__init__(operands=[source, step], result_types=[source.type])

    @property
    def symbol(self) -> Symbol:
        type = self.result.type
        assert isinstance(type, SymbolType)
        return type.data


def _names_in(type: Attribute) -> set[str]:
    """The names of the symbols that a scalar is, or that the sizes of a stream depend on."""
    sizes = [type.data] if isinstance(type, SymbolType) else type.order.sizes if isinstance(type, ItensorType) else []
    return {symbol.name for symbol in symbols_in(sizes)}


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
