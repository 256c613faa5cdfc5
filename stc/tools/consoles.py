"""Where all commands print: messages to stderr, results to stdout.

On a terminal a table is at most as wide as the terminal. In a pipe or a file it is as wide as its longest entries, so that nothing
is cut or wrapped, unless the environment variable COLUMNS says how wide it may be.
"""

from __future__ import annotations

import json
import os
import sys

from rich.console import Console

WIDEST = 100_000
"""Columns: more than any table has."""


def result_console(markup: bool = True) -> Console:
    """For stdout. Text is never wrapped; `markup`: whether [tags] in it are styles."""
    return Console(width=_width(), highlight=False, soft_wrap=True, emoji=False, markup=markup)


def _width() -> int | None:
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns) > 0:
        return int(columns)
    return None if sys.stdout.isatty() else WIDEST


MOST_IN_COLOURS = 100_000
"""Characters of JSON that a terminal shows in colours, which take half a minute for a megabyte."""


def print_json(content: object) -> None:
    """To stdout, indented; in colours on a terminal, unless it is long."""
    text = json.dumps(content, indent=2, ensure_ascii=False)
    if output.is_terminal and len(text) <= MOST_IN_COLOURS:
        output.print_json(text)
    else:
        output.file.write(text + "\n")


messages = Console(stderr=True, highlight=False, soft_wrap=True)
output = result_console()
