"""Lines of C++ text under construction: indentation, pragmas at the margin, long lines broken."""

from __future__ import annotations

import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from textwrap import wrap

from stc.names import comment_text

MAX_COLUMN = 120


class SourceLines:
    """Collects lines; blocks nest by context manager."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self._depth = 0

    def add(self, text: str) -> None:
        """A line, or a statement broken behind operators and commas outside quotes where it is too long."""
        lead = "  " * self._depth
        first, *others = _broken(text, MAX_COLUMN - len(lead)) or [""]
        self.lines.append(f"{lead}{first}" if first else "")
        self.lines += [f"{lead}    {line}" for line in others]

    def pragma(self, text: str) -> None:
        """`#pragma HLS text`, at the margin as is usual."""
        self.lines.append(f"#pragma HLS {text}")

    def directive(self, text: str) -> None:
        """A line of the preprocessor."""
        self.lines.append(text)

    def comment(self, text: str) -> None:
        """`// text`, a comment whatever stands in the text, in several lines where it is long."""
        lead = "  " * self._depth + "// "
        width = max(40, MAX_COLUMN - len(lead))
        for line in wrap(comment_text(text), width, break_long_words=False, break_on_hyphens=False) or [""]:
            self.lines.append(f"{lead}{line}".rstrip())

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Generator[None]:
        """`head {`, the lines added inside, `tail`."""
        self.add(f"{head} {{")
        self._depth += 1
        yield
        self._depth -= 1
        self.add(tail)

    @contextmanager
    def indented(self) -> Generator[None]:
        self._depth += 1
        yield
        self._depth -= 1

    @contextmanager
    def chained(self) -> Generator[None]:
        """What is added inside stands indented below `} else {`, the last line; a choice alone becomes `else if`."""
        begin, lead = len(self.lines), "  " * (self._depth + 1)
        with self.indented():
            yield
        inside = self.lines[begin:]
        own = [line for line in inside if line.startswith(lead) and not line.startswith(f"{lead} ")]
        is_chain = bool(own) and own[0].startswith(f"{lead}if (") and all(line.startswith(f"{lead}}} else") for line in own[1:-1])
        if is_chain and own[-1] == inside[-1] == f"{lead}}}" and inside[0] == own[0] and own[0].endswith("{"):
            less = [line[2:] if line.startswith("  ") else line for line in inside[:-1]]
            self.lines[begin - 1 :] = [f"{self.lines[begin - 1].rstrip('{')}{less[0].lstrip()}", *less[1:]]

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


def broken_lines(text: str) -> str:
    """C++ whose lines were filled with names: the long ones broken."""
    result: list[str] = []
    for line in text.splitlines():
        code = line.lstrip()
        lead = line[: len(line) - len(code)]
        first, *others = _broken(code, MAX_COLUMN - len(lead)) or [""]
        result += [f"{lead}{first}", *(f"{lead}    {other}" for other in others)]
    return "\n".join(result) + "\n"


def _broken(text: str, width: int) -> list[str]:
    """A statement in parts of at most `width` columns where it can be broken: behind `,`, `=` and `(`, before operators."""
    if len(text) <= width or text.startswith(("//", "#")):
        return [text]
    quoted = [match.span() for match in re.finditer(r'"[^"]*"', text)]
    found = re.finditer(r"(?<=, )|(?<= = )|(?<=\w\()(?!\))|(?<= )(?=(?:[-+*/?:]|&&|\|\||==|<=?|>=?) )", text)
    places = [match.start() for match in found if not any(begin < match.start() < end for begin, end in quoted)]
    best = max((place for place in places if width // 3 < place <= width), default=None)
    if best is None:
        return [text]
    return [text[:best].rstrip(), *_broken(text[best:], width - 4)]
