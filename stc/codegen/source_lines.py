"""Lines of C++ text under construction: indentation, pragmas at the margin, long calls broken."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from stc.names import comment_text

MAX_COLUMN = 120


class SourceLines:
    """Collects lines; blocks nest by context manager."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def add(self, text: str) -> None:
        self.lines.append(f"{'  ' * self._depth}{text}" if text else "")

    def pragma(self, text: str) -> None:
        """`#pragma HLS text`, at the margin as is usual."""
        self.lines.append(f"#pragma HLS {text}")

    def comment(self, text: str) -> None:
        """`// text`, one line whatever stands in the text."""
        self.add(f"// {comment_text(text)}")

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """`head {`, the lines added inside, `tail`."""
        self.add(f"{head} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add(tail)

    @contextmanager
    def indented(self) -> Iterator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    def call(self, head: str, arguments: Sequence[str], tail: str) -> None:
        """`head(arguments)tail`, the arguments wrapped under the parenthesis where they are long."""
        lead = "  " * self._depth + head + "("
        if len(lead) + len(", ".join(arguments)) + len(tail) + 1 <= MAX_COLUMN:
            self.lines.append(f"{lead}{', '.join(arguments)}){tail}")
            return
        current, padding = lead, " " * min(len(lead), 24)
        for position, argument in enumerate(arguments):
            ending = ")" + tail if position == len(arguments) - 1 else ","
            if current.strip() and current != lead and len(current) + len(argument) + len(ending) + 1 > MAX_COLUMN:
                self.lines.append(current.rstrip())
                current = padding
            separator = "" if current in (lead, padding) else " "
            current = f"{current}{separator}{argument}{ending}"
        self.lines.append(current)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"
