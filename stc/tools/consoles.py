"""Where all commands print: messages to stderr, results to stdout.

On a terminal a table is at most as wide as the terminal. In a pipe or a file it is as wide as its longest entries, so that nothing
is cut or wrapped, unless the environment variable COLUMNS says how wide it may be.
"""

from __future__ import annotations

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


messages = Console(stderr=True, highlight=False, soft_wrap=True)
output = result_console()
