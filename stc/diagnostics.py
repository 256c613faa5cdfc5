"""The one exception a user is meant to see.

Every refusal, at every level, is a `CompileError`: one sentence that says *what* is wrong, *where*, and *what would be
accepted*. The command line prints it on one line and exits with code 2; anything else that escapes is a defect of `stc`.
"""

from __future__ import annotations


class CompileError(Exception):
    """Unusable input or environment.

    `what` is the complaint, `where` the module path, operation, file or option concerned, `accepted` what would work.
    """

    def __init__(self, what: str, *, where: str | None = None, accepted: str | None = None):
        self.what = what
        self.where = where
        self.accepted = accepted
        super().__init__(str(self))

    def __str__(self) -> str:
        text = self.what if self.where is None else f"{self.where}: {self.what}"
        return text if self.accepted is None else f"{text}; accepted: {self.accepted}"
