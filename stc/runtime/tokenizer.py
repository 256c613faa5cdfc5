"""Text to tokens and back, by a model's tokenizer.json."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What a token decodes to that ends within a character."""


class Tokenizer:
    """The tokenizer in the file `path`; CompileError where it is none."""

    def __init__(self, path: Path):
        import tokenizers

        try:
            self._tokenizer: Any = tokenizers.Tokenizer.from_file(str(path))
        except Exception as error:  # of the library, which raises nothing more specific
            raise CompileError(f"no tokenizer ({error})", where=str(path), accepted="a tokenizer.json") from None

    def encode(self, text: str) -> list[int]:
        """The tokens of a text, with those that begin one."""
        return list(self._tokenizer.encode(text).ids)

    def decode(self, tokens: Iterable[int]) -> str:
        return str(self._tokenizer.decode(list(tokens)))

    def stream(self, prompt: Iterable[int], tokens: Iterable[int]) -> Iterator[tuple[int, str]]:
        """Each of `tokens` with the text that it adds behind `prompt`; a character that it does not finish comes with the next."""
        known = list(prompt)
        shown = len(self.decode(known))
        for token in tokens:
            known.append(token)
            text = self.decode(known)
            added = "" if text.endswith(UNFINISHED) else text[shown:]
            shown += len(added)
            yield token, added
