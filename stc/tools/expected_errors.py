"""`--verify-diagnostics` in the style of MLIR: comments in the input say which errors are expected, and on which line."""

from __future__ import annotations

import re
from dataclasses import dataclass

from stc.tools.source import Diagnostic, Source

_EXPECTED = re.compile(r"expected-error\s*(@unknown|@above|@below|@[+-]\d+)?\s*\{\{(.*?)\}\}")


@dataclass(frozen=True)
class ExpectedError:
    """A comment `expected-error @+1 {{text}}`: an error whose message contains `text` on `line` (None: anywhere)."""

    text: str
    line: int | None
    stands_on: int

    def matches(self, diagnostic: Diagnostic) -> bool:
        return self.text in diagnostic.message and self.line in (None, diagnostic.line_number)


def expected_errors(source: Source) -> list[ExpectedError]:
    """The expectations written in a source."""
    found: list[ExpectedError] = []
    for number, line in enumerate(source.text.splitlines(), start=1):
        for match in _EXPECTED.finditer(line):
            found.append(ExpectedError(match.group(2), _line(match.group(1), number), number))
    return found


def _line(where: str | None, number: int) -> int | None:
    match where:
        case None:
            return number
        case "@unknown":
            return None
        case "@above":
            return number - 1
        case "@below":
            return number + 1
        case _:
            return number + int(where[1:])


def unmet(source: Source, diagnostic: Diagnostic | None) -> list[str]:
    """What disagrees between the expectations of `source` and the one error that it produced, as lines for the user."""
    expected = expected_errors(source)
    complaints = [
        f"{source.name}:{error.stands_on}: error: expected error '{error.text}' was not produced"
        for error in expected
        if diagnostic is None or not error.matches(diagnostic)
    ]
    if diagnostic is not None and not any(error.matches(diagnostic) for error in expected):
        complaints.append(f"unexpected: {diagnostic}")
    return complaints
