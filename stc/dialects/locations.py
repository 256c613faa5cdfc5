"""Where an operation came from, for error messages."""

from __future__ import annotations

import bisect

from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr
from xdsl.ir import Operation


class SourceLines:
    """Positions of a text as line and column, both counted from 1."""

    def __init__(self, text: str, file_name: str):
        self._file = StringAttr(file_name)
        self._starts = [0]
        position = text.find("\n")
        while position >= 0:
            self._starts.append(position + 1)
            position = text.find("\n", position + 1)

    def location(self, position: int) -> FileLineColLoc:
        line = bisect.bisect_right(self._starts, position)
        return FileLineColLoc(self._file, IntAttr(line), IntAttr(position - self._starts[line - 1] + 1))


def source_location(operation: Operation) -> str | None:
    """`file:line:column` of an operation that was parsed from text; None for one that a pass made."""
    location = operation.location
    if not isinstance(location, FileLineColLoc):
        return None
    return f"{location.filename.data}:{location.line.data}:{location.column.data}"
