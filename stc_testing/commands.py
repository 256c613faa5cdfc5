"""The command line, run in the process of a test, and how each refusal ends."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """A command that came to its end."""

    code: int
    stdout: str
    stderr: str


Stc = Callable[..., Ended]
"""The fixture `stc`: arguments of the command line, as text or paths."""


def refused(ended: Ended, *expected: str) -> None:
    """It ended as every refusal does: exit code 2 and one line, with all `expected` in it, before anything was written."""
    assert (ended.code, ended.stdout) == (2, ""), ended
    assert re.fullmatch(r"stc: error: [^\n]+\n", ended.stderr), ended.stderr
    for text in expected:
        assert text in ended.stderr
