"""Text to IR, exactly: constants keep their bits, errors say file, line and column.

See `stc.dialects.upstream.constants` for what xDSL 0.74 reads wrongly. `dense_resource` constants become ordinary dense constants,
so that they belong to the IR and not to a store shared by everything parsed in this process.
"""

from __future__ import annotations

import functools
import math
import re

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
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.parser.generic_parser import ParserState
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException
from xdsl.utils.hints import isa
from xdsl.utils.lexer import Input, Span
from xdsl.utils.mlir_lexer import MLIRLexer, MLIRTokenKind

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.locations import SourceLines, source_location
from stc.dialects.upstream import constants
from stc.dialects.upstream.syntax import reader_of


class _Lexer(MLIRLexer):
    """xDSL's lexer, which by itself takes time exponential in the length of a string that is not closed."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')


class ExactParser(Parser):
    """xDSL's parser, with exact constants and MLIR's syntax for linalg. ParseError where the text begins with no token."""

    def __init__(self, ctx: Context, input: str, name: str = "<unknown>") -> None:
        super().__init__(ctx, "", name)
        self._parser_state = ParserState(_Lexer(Input(input, name)))
        self._lines = SourceLines(input, name)
        self._first_uses: dict[str, Span] = {}

    def where(self) -> str:
        """`file:line:column` of the token to be read next."""
        return str(self._current_token.span.get_location())

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        operation = super().parse_operation()
        if isinstance(operation.location, UnknownLoc):
            operation.location = self._lines.location(start)
        return operation

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
            return super().parse_optional_builtin_int_or_float_attr()
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
        return DenseIntOrFPElementsAttr.from_list(TensorType(kind, []), [value]).data.data  # pyright: ignore[reportCallIssue, reportArgumentType]


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


def parse_module(text: str, file_name: str = "<input>", context: Context | None = None, *, verify: bool = True) -> ModuleOp:
    """Read MLIR text and verify it; every operation remembers its line (`stc.dialects.locations.source_location`).

    `context` defaults to a fresh `make_context()`. Raises CompileError with `file:line:column` for malformed text, unknown
    operations, and IR that does not verify.
    """
    context = make_context() if context is None else context
    try:
        parser = ExactParser(context, text, file_name)
    except ParseError as error:
        raise _located(error) from None
    try:
        module = parser.parse_module()
        resolve_resources(module, context)
    except ParseError as error:
        undefined = parser.undefined_value()
        if "not defined" in error.msg and undefined is not None:
            raise CompileError(f"{undefined.text} is used but not defined", where=str(undefined.get_location())) from None
        raise _located(error) from None
    except (VerifyException, UnregisteredConstructException, ValueError, NotImplementedError, AssertionError) as error:
        raise CompileError(_one_line(error), where=parser.where()) from None
    if verify:
        verify_module(module, file_name)
    return module


def verify_module(module: ModuleOp, file_name: str = "<input>") -> None:
    """Verify every operation; CompileError names the first that fails, and its place in the text if it has one."""
    for operation in module.walk():
        try:
            operation.verify(verify_nested_ops=False)
        except (VerifyException, ValueError) as error:
            where = source_location(operation) or file_name
            raise CompileError(f"{operation.name}: {_one_line(error)}", where=where) from None
    try:
        module.verify()
    except VerifyException as error:
        raise CompileError(_one_line(error), where=file_name) from None


def _located(error: ParseError) -> CompileError:
    return CompileError(_one_line(error.msg), where=str(error.span.get_location()))


def _one_line(error: Exception | str) -> str:
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
