"""Input text and where things stand in it: positions of operations, diagnostics with the source line and a caret."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.ir import Operation
from xdsl.utils.lexer import Span

from stc.dialects.parsing import ExactParser

SPLIT_MARKER = "// -----"


@dataclass(frozen=True)
class Source:
    """One piece of an input file. `text` is padded with empty lines so that its lines have the numbers of the file."""

    name: str
    text: str

    def location(self, position: int) -> tuple[int, int]:
        """Line and column of a position in `text`, counted from one."""
        before = self.text[:position]
        return before.count("\n") + 1, position - (before.rfind("\n") + 1) + 1

    def position(self, where: str | None) -> int | None:
        """The position that `file:line:column` stands for, None where `where` is no such place in this source."""
        place = re.fullmatch(rf"{re.escape(self.name)}:(\d+):(\d+)", where or "")
        if place is None:
            return None
        lines = self.text.splitlines(keepends=True)
        return sum(len(line) for line in lines[: int(place[1]) - 1]) + int(place[2]) - 1

    def line(self, number: int) -> str:
        """The text of a line, counted from one."""
        lines = self.text.splitlines()
        return lines[number - 1] if number <= len(lines) else ""


def split_source(source: Source) -> list[Source]:
    """The pieces of a file between lines that start with `// -----`."""
    pieces: list[Source] = []
    lines: list[str] = []
    first = 0
    for number, line in enumerate(source.text.splitlines(keepends=True)):
        if line.startswith(SPLIT_MARKER):
            pieces.append(Source(source.name, "\n" * first + "".join(lines)))
            lines, first = [], number + 1
        else:
            lines.append(line)
    pieces.append(Source(source.name, "\n" * first + "".join(lines)))
    return pieces


@dataclass(eq=False)
class Diagnostic(Exception):
    """An error in an input: `message` is one sentence, `position` the place in the source's text, None where unknown.

    Not frozen: Python writes the traceback into an exception that passes through a `with` block.
    """

    source: Source
    message: str
    position: int | None = None

    @property
    def line_number(self) -> int | None:
        return None if self.position is None else self.source.location(self.position)[0]

    def __str__(self) -> str:
        if self.position is None:
            return f"{self.source.name}: error: {self.message}"
        line, column = self.source.location(self.position)
        text = self.source.line(line)
        blank = "".join("\t" if character == "\t" else " " for character in text[: column - 1])
        return f"{self.source.name}:{line}:{column}: error: {self.message}\n{text}\n{blank}^"


@dataclass
class Positions:
    """Where each operation's name stood in the text it was parsed from."""

    table: dict[Operation, int] = field(default_factory=dict)

    def of(self, operation: Operation) -> int | None:
        """The position of `operation`, or of the nearest operation around it that was in the text."""
        current: Operation | None = operation
        while current is not None:
            if current in self.table:
                return self.table[current]
            current = current.parent_op()
        return None


class LocatingParser(ExactParser):
    """The exact parser, which also notes where each operation's name stands."""

    def __init__(self, context: Context, source: Source):
        super().__init__(context, source.text, source.name)
        self.positions = Positions()

    def was_read(self, operation: Operation, name: Span) -> None:
        self.positions.table[operation] = name.start
