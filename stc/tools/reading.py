"""Reading and verifying IR for the command line: every failure is a `Diagnostic` at a place in the input."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from stc.dialects.parsing import MalformedText, read_module
from stc.dialects.verification import Violation
from stc.tools.source import Diagnostic, LocatingParser, Positions, Source


@dataclass(frozen=True)
class Reading:
    """A module, the text it comes from, and where its operations stood there."""

    source: Source
    module: ModuleOp
    positions: Positions

    def require(self, rule: Callable[[ModuleOp], Violation | None], stage: str = "") -> None:
        """Raise a Diagnostic at the violation that `rule` finds; `stage` is put in front of it ("after pass 'x': ")."""
        if (violation := rule(self.module)) is not None:
            raise Diagnostic(self.source, f"{stage}{violation}", self.positions.of(violation.operation))


def read(source: Source, context: Context) -> Reading:
    """Parse a module without verifying it; Diagnostic where the text is malformed."""
    if _is_blank(source.text):
        return Reading(source, ModuleOp([]), Positions())
    try:
        module, parser = read_module(lambda: LocatingParser(context, source))
    except MalformedText as error:
        raise Diagnostic(source, error.complaint, error.span.start) from None
    return Reading(source, module, parser.positions)


def _is_blank(text: str) -> bool:
    """Whether there is nothing but comments: an empty module, as for mlir-opt."""
    return all(not line.strip() or line.lstrip().startswith("//") for line in text.splitlines())

