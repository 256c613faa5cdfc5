"""Just enough of the structure of HLS C++ for the text rules: functions, nested blocks, loops with their pragmas.

Understands code written one statement per line with braces at line ends, as the printer writes it. What stands between
`#ifndef __SYNTHESIS__` and `#endif` is not there for the tool, and not here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

NOT_SYNTHESISED = "#ifndef __SYNTHESIS__"
"""Before what C simulation alone sees."""

_FUNCTION = re.compile(r'^(?P<storage>static|extern "C")\s+void\s+(?P<name>\w+)\s*\((?P<parameters>.*)\)\s*\{$', re.DOTALL)
_LOOP = re.compile(r"^(?:(?P<label>\w+)\s*:\s*)?for\s*\(\s*(?:\w+\s+)?(?P<variable>\w+)\s*=")
_PRAGMA = re.compile(r"^#pragma\s+HLS\s+(?P<text>.*)$")


@dataclass(frozen=True)
class Pragma:
    """`#pragma HLS name options...`; options without value map to ''."""

    line: int
    name: str
    options: dict[str, str]


@dataclass(frozen=True)
class Statement:
    """Text between braces or semicolons, with the line on which it starts."""

    line: int
    text: str


@dataclass
class Node:
    """A block: its head (`for (...)`, `if (...)`, a function), what is in it in order, and the pragmas directly in it."""

    line: int
    head: str
    parent: Node | None
    items: list[Node | Statement | Pragma] = field(default_factory=list)

    @property
    def pragmas(self) -> list[Pragma]:
        return [item for item in self.items if isinstance(item, Pragma)]

    @property
    def statements(self) -> list[Statement]:
        return [item for item in self.items if isinstance(item, Statement)]

    @property
    def blocks(self) -> list[Node]:
        return [item for item in self.items if isinstance(item, Node)]

    @property
    def loop_variable(self) -> str | None:
        """The variable of a `for` loop, None for other blocks."""
        found = _LOOP.match(self.head)
        return found["variable"] if found else None

    @property
    def label(self) -> str | None:
        found = _LOOP.match(self.head)
        return found["label"] if found else None

    @property
    def is_unrolled(self) -> bool:
        return any(pragma.name == "unroll" and "factor" not in pragma.options for pragma in self.pragmas)

    def pragma(self, name: str) -> Pragma | None:
        return next((pragma for pragma in self.pragmas if pragma.name == name), None)

    def walk(self) -> list[Node]:
        """This block and all blocks in it."""
        return [self, *(inner for block in self.blocks for inner in block.walk())]

    def ancestors(self) -> list[Node]:
        """This block and those around it, innermost first."""
        return [self, *(self.parent.ancestors() if self.parent is not None else [])]


@dataclass(frozen=True)
class Function:
    """A function definition. `parameters`: (type, name)."""

    name: str
    is_top: bool
    parameters: tuple[tuple[str, str], ...]
    body: Node


def functions(source: str) -> list[Function]:
    """The function definitions of a file."""
    found: list[Function] = []
    for node in _blocks(source):
        match = _FUNCTION.match(f"{node.head} {{")
        if match:
            parameters = tuple(_parameter(text) for text in _split(match["parameters"]))
            found.append(Function(match["name"], match["storage"] != "static", parameters, node))
    return found


def _parameter(text: str) -> tuple[str, str]:
    kind, name = re.match(r"^(.*?)(\w+)$", text.strip(), re.DOTALL).groups()  # pyright: ignore[reportOptionalMemberAccess]
    return kind.strip(), name


def _split(text: str) -> list[str]:
    """Split at commas outside brackets."""
    parts, depth, current = [], 0, ""
    for character in text:
        depth += (character in "<([") - (character in ">)]")
        if character == "," and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += character
    return [*parts, current] if current.strip() else parts


def _blocks(source: str) -> list[Node]:
    root = Node(0, "", None)
    current, pending, start, is_seen = root, "", 1, True
    for number, raw in enumerate(source.splitlines(), start=1):
        line = raw.split("//")[0].strip()
        is_seen = line == "#endif" or (is_seen and line != NOT_SYNTHESISED)
        if not line or not is_seen:
            continue
        pragma = _PRAGMA.match(line)
        if pragma:
            current.items.append(_parse_pragma(number, pragma["text"]))
            continue
        if line.startswith("#"):
            continue
        while line.startswith("}"):
            current, line = current.parent or root, line[1:].strip()
        if not pending:
            start = number
        pending = f"{pending} {line}".strip()
        if pending.endswith("{"):
            node = Node(start, pending[:-1].strip(), current)
            current.items.append(node)
            current, pending = node, ""
        elif pending.endswith((";", "}")):
            # One-line definitions (`inline float f() { ... }`) and statements.
            current.items.append(Statement(start, pending))
            pending = ""
    return root.blocks


def _parse_pragma(line: int, text: str) -> Pragma:
    words = text.split()
    name = words[0].lower() if words else ""
    options: dict[str, str] = {}
    for word in words[1:]:
        key, _, value = word.partition("=")
        options[key.lower()] = value
    return Pragma(line, name, options)
