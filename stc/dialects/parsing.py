"""Text to IR, exactly: constants keep their bits, errors say file, line and column.

See `stc.xdsl_gaps` for what xDSL 0.74 reads wrongly.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
    UnknownLoc,
)
from xdsl.ir import AttributeInvT, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap
from xdsl.parser import UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.lexer import Input, Span

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.locations import SourceLines, source_location
from stc.dialects.verification import first_violation
from stc.xdsl_gaps.dense_constants import ConstantsParser
from stc.xdsl_gaps.dense_resources import resolve_resources
from stc.xdsl_gaps.escaped_text import EscapedTextParser
from stc.xdsl_gaps.operation_syntax import SyntaxParser
from stc.xdsl_gaps.unclosed_strings import LinearLexer

MOST_NESTED = 64
"""How deep brackets of any kind may be nested, and how many operators an affine expression may have.

Everything that walks IR recurs along its nesting, as xDSL does; the loops of a kernel are a tenth as deep.
"""
# The `>=` of an affine set closes nothing, the `<=` of a size opens nothing.
_BRACKETS = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|->|[<>]=|(?P<open>[\[({<])|(?P<close>[\])}>])')


def _refuse_deep_nesting(source: Input) -> None:
    """ParseError at the first bracket that is nested too deep."""
    depth = 0
    for found in _BRACKETS.finditer(source.content):
        if found["close"] is not None:
            depth = max(0, depth - 1)
        elif found["open"] is not None:
            depth += 1
            if depth > MOST_NESTED:
                raise ParseError(Span(found.start(), found.end(), source), f"nested more than {MOST_NESTED} deep")


class ExactParser(EscapedTextParser, SyntaxParser, ConstantsParser):
    """xDSL's parser, with exact constants and MLIR's syntax for linalg.

    ParseError where the text begins with no token, or is nested too deep.
    """

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        source = Input(input, name)
        _refuse_deep_nesting(source)
        self._parser_state = ParserState(LinearLexer(source))
        self._lines = SourceLines(input, name)
        self._first_uses: dict[str, Span] = {}
        self._begun: list[Span] = []

    @property
    def operation_span(self) -> Span:
        """The name of the operation that is being read; between operations, the token that is read next."""
        return self._begun[-1] if self._begun else self._current_token.span

    def _parse_op_result_list(self) -> list[tuple[Span, int]]:
        results = super()._parse_op_result_list()
        self._begun.append(self._current_token.span)
        return results

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        operation = super().parse_operation()
        self.was_read(operation, self._begun.pop())
        if isinstance(operation.location, UnknownLoc):
            operation.location = self._lines.location(start)
        return operation

    def was_read(self, operation: Operation, name: Span) -> None:
        """Called for every operation, with the place of its name."""

    def parse_affine_map(self) -> AffineMap:
        start = self._current_token.span
        result = super().parse_affine_map()
        if any(_operators(expression) > MOST_NESTED for expression in result.results):
            self.raise_error(f"affine expression with more than {MOST_NESTED} operators", start)
        return result

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def undefined_value(self) -> Span | None:
        """Where a value that has no definition so far is used first."""
        return next((self._first_uses[name] for name in self.forward_ssa_references if name in self._first_uses), None)

def _operators(expression: AffineExpr) -> int:
    """Operators of an affine expression, however deep it is nested."""
    count, rest = 0, [expression]
    while rest:
        part = rest.pop()
        if isinstance(part, AffineBinaryOpExpr):
            count += 1
            rest += [part.lhs, part.rhs]
    return count


ExactParserT = TypeVar("ExactParserT", bound=ExactParser)


@dataclass
class MalformedText(Exception):
    """Text that is no IR: `complaint` is one sentence, `span` the place."""

    complaint: str
    span: Span[Any]


def read_module(make_parser: Callable[[], ExactParserT]) -> tuple[ModuleOp, ExactParserT]:
    """The module that a new parser reads, not verified, and the parser. MalformedText, whatever xDSL makes of the text."""
    try:
        parser = make_parser()
    except ParseError as error:  # in the first token
        raise MalformedText(_complaint_of(error), error.span) from None
    try:
        module = parser.parse_module()
        resolve_resources(module, parser.ctx)
    except ParseError as error:
        undefined = parser.undefined_value() if "not defined" in error.msg else None
        if undefined is None:
            raise MalformedText(_complaint_of(error), error.span) from None
        ours = not error.msg.startswith("values used")  # a region that is isolated says what it uses from outside
        raise MalformedText(one_line(error.msg) if ours else f"{undefined.text} is used but not defined", undefined) from None
    except (VerifyException, UnregisteredConstructException, ValueError, NotImplementedError) as error:
        raise MalformedText(one_line(error), parser.operation_span) from None
    except RecursionError:
        raise MalformedText("nested too deep", parser.operation_span) from None
    except Exception as error:  # xDSL met text that it did not expect: an operation without the operands it takes, ...
        raise MalformedText(f"cannot be read: {type(error).__name__}: {one_line(error)}", parser.operation_span) from None
    return module, parser


def parse_module(text: str, file_name: str = "<input>", context: Context | None = None, *, verify: bool = True) -> ModuleOp:
    """Read MLIR text and verify it; every operation remembers its line (`stc.dialects.locations.source_location`).

    `context` defaults to a fresh `make_context()`. Raises CompileError with `file:line:column` for malformed text, unknown
    operations, and IR that does not verify.
    """
    context = make_context() if context is None else context
    try:
        module, _ = read_module(lambda: ExactParser(context, text, file_name))
    except MalformedText as error:
        raise CompileError(error.complaint, where=str(error.span.get_location())) from None
    if verify and (violation := first_violation(module)) is not None:
        raise CompileError(violation.sentence, where=source_location(violation.operation) or file_name)
    return module


def _complaint_of(error: ParseError) -> str:
    if not error.msg.startswith("Could not parse entire input"):
        return one_line(error.msg)
    rest = error.span.input.content[error.span.start :].strip()
    return "expected an operation" if rest else "expected an operation, found the end of the text"


def one_line(error: Exception | str) -> str:
    """The complaint without xDSL's dump of the module around it."""
    cause = error.__cause__ if isinstance(error, Exception) and error.__cause__ is not None else error
    return " ".join(str(cause).split()) or "the IR does not verify"
