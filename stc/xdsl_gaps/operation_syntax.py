"""Which upstream operations are read and printed by us instead of by xDSL.

The classes stay xDSL's own, so that passes and patterns for them apply; only reading and printing is replaced.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.lexer import Span

from stc.xdsl_gaps import linalg_syntax, tensor_empty


def reader_of(operation: type[Operation]) -> Callable[[Parser], Operation] | None:
    """The function that reads the custom form of `operation` in MLIR's syntax, or None where xDSL's own is right."""
    if operation is EmptyOp:
        return tensor_empty.parse_empty
    return linalg_syntax.reader_of(operation)


def printer_of(operation: Operation) -> Callable[[Printer], None] | None:
    """The function that prints what follows the name of `operation`, or None where xDSL's own printing is right."""
    if isinstance(operation, EmptyOp):
        return lambda printer: tensor_empty.print_empty(operation, printer)
    return linalg_syntax.printer_of(operation)


class SyntaxParser(Parser):
    """xDSL's parser with these readers. ParseError where an operation is not registered, at its name."""

    def _get_op_by_name(self, name: str) -> type[Operation]:
        if self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack) is None:
            self.raise_error(f"operation {name} is not registered", self._name_span(name))
        operation = super()._get_op_by_name(name)
        if reader_of(operation) is None or self._name_was_quoted():
            return operation
        return _with_reader(operation)

    def _end_of_last_token(self) -> int:
        text, position = self._current_token.span.input.content, self._current_token.span.start
        while text[position - 1].isspace():
            position -= 1
        return position

    def _name_was_quoted(self) -> bool:
        """Whether the operation name just read is that of the generic form, `"linalg.generic"(...)`."""
        return self._current_token.span.input.content[self._end_of_last_token() - 1] == '"'

    def _name_span(self, name: str) -> Span:
        end = self._end_of_last_token() - self._name_was_quoted()
        return Span(end - len(name), end, self._current_token.span.input)


@functools.cache
def _with_reader(operation: type[Operation]) -> type[Operation]:
    """A stand-in for the class whose `parse` is ours; the operation that results is of xDSL's own class."""
    reader = reader_of(operation)
    assert reader is not None

    class Reader(operation):
        @classmethod
        def parse(cls, parser: Parser) -> Operation:  # pyright: ignore[reportIncompatibleMethodOverride]
            return reader(parser)

    return Reader


class SyntaxPrinter(Printer):
    """xDSL's printer with these printers."""

    def print_op(self, op: Operation) -> None:
        custom = None if self.print_generic_format else printer_of(op)
        if custom is None or op in self.diagnostic.op_messages:
            super().print_op(op)
            return
        self._print_results(op)
        self.print_string(op.name)
        custom(self)
