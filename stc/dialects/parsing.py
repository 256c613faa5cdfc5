"""Text to IR, exactly: constants keep their bits, errors say file, line and column.

See `stc.dialects.upstream.constants` for what xDSL 0.74 reads wrongly. `dense_resource` constants become ordinary dense constants,
so that they belong to the IR and not to a store shared by everything parsed in this process.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from xdsl.context import Context
from xdsl.dialect_interfaces.op_asm import OpAsmDialectInterface
from xdsl.dialects.builtin import (
    AnyDenseElement,
    AnyFloat,
    ArrayAttr,
    BytesAttr,
    ComplexType,
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    RankedStructure,
    TensorType,
    UnknownLoc,
)
from xdsl.ir import Attribute, AttributeInvT, Operation, SSAValue
from xdsl.ir.affine import AffineBinaryOpExpr, AffineExpr, AffineMap
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind, StringLiteral

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.locations import SourceLines, source_location
from stc.dialects.upstream import constants
from stc.dialects.upstream.syntax import reader_of
from stc.dialects.verification import first_violation


class _Lexer(MLIRLexer):
    """xDSL's lexer, which by itself takes time exponential in the length of a string that is not closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


MOST_NESTED = 64
"""How deep brackets of any kind may be nested, and how many operators an affine expression may have.

Everything that walks IR recurs along its nesting, as xDSL does; the loops of a kernel are a tenth as deep.
"""
MOST_BYTES = 1 << 31
"""Size of the largest dense constant. A splat is stored as all its elements."""
_BRACKETS = re.compile(r'"(?:[^"\\\n]|\\.)*+"|//[^\n]*+|->|(?P<open>[\[({<])|(?P<close>[\])}>])')


def _refuse_deep_nesting(source: Input) -> None:
    """ParseError at the first bracket that is nested too deep."""
    depth = 0
    for found in _BRACKETS.finditer(source.content):
        if found["close"] is not None:
            depth = max(0, depth - 1)  # the `>=` of an affine set opens nothing
        elif found["open"] is not None:
            depth += 1
            if depth > MOST_NESTED:
                raise ParseError(Span(found.start(), found.end(), source), f"nested more than {MOST_NESTED} deep")


class ExactParser(Parser):
    """xDSL's parser, with exact constants and MLIR's syntax for linalg.

    ParseError where the text begins with no token, or is nested too deep.
    """

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        source = Input(input, name)
        _refuse_deep_nesting(source)
        self._parser_state = ParserState(_Lexer(source))
        self._lines = SourceLines(input, name)
        self._first_uses: dict[str, Span] = {}
        self._begun: list[Span] = []

    def parse_optional_str_literal(self) -> str | None:
        """As xDSL, which takes escaped UTF-8 (as MLIR prints it) for bytes that are no text."""
        if self._current_token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                text = StringLiteral.from_span(self._current_token.span).string_contents
            except UnicodeDecodeError:
                return None
            self._consume_token()
            return text
        return super().parse_optional_str_literal()

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

    def resolve_operand(self, operand: UnresolvedOperand, type: AttributeInvT) -> SSAValue[AttributeInvT]:
        self._first_uses.setdefault(operand.operand_name, operand.span)
        return super().resolve_operand(operand, type)

    def undefined_value(self) -> Span | None:
        """Where a value that has no definition so far is used first."""
        return next((self._first_uses[name] for name in self.forward_ssa_references if name in self._first_uses), None)

    def parse_optional_builtin_int_or_float_attr(self) -> IntegerAttr | FloatAttr | None:
        token = self._current_token
        if token.kind != MLIRTokenKind.INTEGER_LIT or token.text[:2] not in ("0x", "0X"):
            try:
                return super().parse_optional_builtin_int_or_float_attr()
            except OverflowError:
                self.raise_error(f"{token.text} is out of range for its type", token.span)
        bits = self.parse_integer()
        if self.parse_optional_punctuation(":") is None:
            return IntegerAttr(bits, 64)
        kind = self.parse_type()
        if not isinstance(kind, AnyFloat):
            return self._integer(bits, kind, token.span)
        try:
            return FloatAttr(constants.scalar_float(bits, kind), kind)
        except ValueError as error:
            self.raise_error(str(error), token.span)

    def _integer(self, value: int, kind: Attribute, span: Span) -> IntegerAttr:
        try:
            return IntegerAttr(value, kind)  # pyright: ignore[reportArgumentType, reportCallIssue]
        except VerifyException as error:
            self.raise_error(str(error), span)

    def parse_dense_int_or_fp_elements_attr(self, type: RankedStructure | None) -> DenseIntOrFPElementsAttr:
        start = self._current_token.span
        self.parse_punctuation("<", " in dense attribute")
        blob = self.parse_optional_str_literal()
        elements, shape = [], [0]
        if blob is None and self._current_token.kind != MLIRTokenKind.GREATER:
            elements, shape = self._parse_tensor_literal()
        self.parse_punctuation(">", " in dense attribute")
        if type is None:
            self.parse_punctuation(":", " in dense attribute")
            type = self._parse_dense_literal_type()
        if not isa(type, RankedStructure[AnyDenseElement]):
            self.raise_error("dense constants are tensors, vectors or memrefs of numbers", start)
        kind, count = type.get_element_type(), math.prod(type.get_shape())
        if count < 0 or count * kind.compile_time_size > MOST_BYTES:
            self.raise_error(f"dense constant of {type}, expected a static shape and at most {MOST_BYTES} bytes", start)
        if blob is None and shape and shape != list(type.get_shape()) and (elements or count):
            self.raise_error(f"dense literal of shape {shape}, where the type has shape {list(type.get_shape())}", start)
        try:
            if blob is not None:
                data = _blob_cells(constants.bytes_of_hexadecimal(blob), kind, count)
            else:
                data = b"".join(self._element_cell(element, kind) for element in elements) * (1 if shape else count)
        except ValueError as error:
            self.raise_error(str(error), start)
        return DenseIntOrFPElementsAttr(type, BytesAttr(data))

    def _element_cell(self, element: AttrParser._TensorLiteralElement, kind: AnyDenseElement) -> bytes:
        text = element.span.input.content[element.span.start : element.span.end]
        if isinstance(kind, AnyFloat) and text[:2] in ("0x", "0X"):
            return constants.float_cell(int(text, 16), kind)
        if isinstance(kind, AnyFloat) and isinstance(element.value, int):
            self.raise_error("expected a floating point literal, or its bits in hexadecimal", element.span)
        value = element.to_type(self, kind)
        if isinstance(kind, AnyFloat) and isinstance(value, float) and not _fits(value, kind):
            self.raise_error(f"{text} is out of range for {kind.name}", element.span)
        return DenseIntOrFPElementsAttr.from_list(TensorType(kind, []), [value]).data.data  # pyright: ignore[reportCallIssue, reportArgumentType]


def _fits(value: float, kind: AnyFloat) -> bool:
    try:
        kind.pack((value,))
    except OverflowError:
        return False
    return True


def _operators(expression: AffineExpr) -> int:
    """Operators of an affine expression, however deep it is nested."""
    count, rest = 0, [expression]
    while rest:
        part = rest.pop()
        if isinstance(part, AffineBinaryOpExpr):
            count += 1
            rest += [part.lhs, part.rhs]
    return count


def _blob_cells(blob: bytes, kind: AnyDenseElement, count: int) -> bytes:
    splat = len(blob) == kind.compile_time_size
    if isinstance(kind, ComplexType):
        if not splat and len(blob) != kind.compile_time_size * count:
            raise ValueError(f"{len(blob)} bytes of data, where {count} elements of {kind} are expected")
        return blob * count if splat else blob
    return constants.cells_of_blob(blob, kind, 1) * count if splat else constants.cells_of_blob(blob, kind, count)


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
        raise MalformedText(one_line(error.msg), error.span) from None
    try:
        module = parser.parse_module()
        resolve_resources(module, parser.ctx)
    except ParseError as error:
        undefined = parser.undefined_value() if "not defined" in error.msg else None
        if undefined is None:
            raise MalformedText(one_line(error.msg), error.span) from None
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


def one_line(error: Exception | str) -> str:
    """The complaint without xDSL's dump of the module around it."""
    cause = error.__cause__ if isinstance(error, Exception) and error.__cause__ is not None else error
    return " ".join(str(cause).split()) or "the IR does not verify"


def resolve_resources(module: ModuleOp, context: Context) -> None:
    """Make every `dense_resource` constant of a module that was just parsed in `context` an ordinary dense one.

    ValueError where a blob is missing or has the wrong size.
    """
    interface = context.get_dialect("builtin").get_interface(OpAsmDialectInterface)
    for operation in module.walk():
        for table in (operation.attributes, operation.properties):
            for name, value in table.items():
                table[name] = _resolved(value, interface)


def _resolved(value: Attribute, interface: OpAsmDialectInterface | None) -> Attribute:
    if isinstance(value, DenseResourceAttr):
        text = None if interface is None else interface.lookup(value.resource_handle.data)
        return constants.resource_to_dense(value, text)
    if isinstance(value, ArrayAttr):
        return ArrayAttr([_resolved(entry, interface) for entry in value])
    if isinstance(value, DictionaryAttr):
        return DictionaryAttr({name: _resolved(entry, interface) for name, entry in value.data.items()})
    return value
