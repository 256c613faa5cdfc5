"""xDSL's lexer takes time exponential in the length of a string that is not closed."""

from __future__ import annotations

import re

from xdsl.utils.mlir_lexer import MLIRLexer


class LinearLexer(MLIRLexer):
    """xDSL's lexer with possessive repetitions: a string is tried once."""

    _unescaped_characters_regex = re.compile(r'"(?:[^"\\\n\v\f]++|\\(?:["nt\\]|[0-9A-Fa-f]{2}))*+"')
