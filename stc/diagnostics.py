"""The one exception a user is meant to see.

Every refusal, at every level, is a `CompileError`: one sentence that says *what* is wrong, *where*, and *what would be
accepted*. The command line prints it on one line and exits with code 2; anything else that escapes is a defect of `stc`.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar


class CompileError(Exception):
    """Unusable input or environment.

    `what` is the complaint, `where` the module path, operation, file or option concerned, `accepted` what would work. `exit_code`:
    how the command line ends.
    """

    exit_code: ClassVar[int] = 2

    def __init__(self, what: str, *, where: str | None = None, accepted: str | None = None):
        self.what = what
        self.where = where
        self.accepted = accepted
        super().__init__(str(self))

    def __str__(self) -> str:
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        return text if self.accepted is None else f"{text}; accepted: {self.accepted}"


def warn(text: str) -> None:
    """Tell the user, on standard error, of something that is no reason to refuse."""
    print(f"warning: {text}", file=sys.stderr)


class BeyondBudget(CompileError):
    """No design within the budget was found."""


class UntimedError(CompileError):
    """The design is well-formed and can be built, but what its tasks do over time is not modelled."""


class NoRunTimeSize(CompileError):
    """A stream of run-time size meets what has no rule for one; the design can be compiled for the largest size."""


class PassCrashed(Exception):
    """A defect of a pass: it raised something else than a refusal, or left IR that does not verify.

    One line: which pass, what happened, and the reproducer file (`stc.tools.reproducer`).
    """


@dataclass(frozen=True)
class Obstacle:
    """Something in a model that cannot be compiled: `where` (module path, operation), `what` it is, what is `accepted` instead."""

    where: str
    what: str
    accepted: str


class UnsupportedError(CompileError):
    """The model is well-formed, but cannot be compiled. The message is the first of `obstacles`, and how many more there are.

    `rest`: a module (of xDSL) with what was found replaced by arguments (`stc.unsupported`), in which more may be found.
    """

    def __init__(self, obstacles: Sequence[Obstacle], rest: object = None):
        self.obstacles = tuple(obstacles)
        self.rest = rest
        first = self.obstacles[0]
        super().__init__(first.what, where=first.where or None, accepted=first.accepted or None)

    def __reduce__(self):
        """Pickled (`stc.frontend.isolation`) by what it was made from."""
        return UnsupportedError, (self.obstacles, self.rest)

    def __str__(self) -> str:
        more = len(self.obstacles) - 1
        return super().__str__() + (f" (and {more} more: `stc check` lists them)" if more else "")
