"""Escaped UTF-8 in a string (`"\\C3\\A9"`, as MLIR prints it), which xDSL takes for bytes that are no text."""

from __future__ import annotations

from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind, StringLiteral


class EscapedTextParser(Parser):
    """xDSL's parser, which reads it."""

    def parse_optional_str_literal(self) -> str | None:
        """As xDSL; also where the bytes are text."""
        if self._current_token.kind is MLIRTokenKind.BYTES_LIT:
            try:
                text = StringLiteral.from_span(self._current_token.span).string_contents
            except UnicodeDecodeError:
                return None
            self._consume_token()
            return text
        return super().parse_optional_str_literal()
