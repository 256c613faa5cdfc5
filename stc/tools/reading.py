"""Reading and verifying IR for the command line: every failure is a `Diagnostic` at a place in the input."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException

from stc.dialects.parsing import resolve_resources
from stc.tools.source import Diagnostic, LocatingParser, Positions, Source
from stc.tools.verification import first_violation


@dataclass(frozen=True)
class Reading:
    """A module, the text it comes from, and where its operations stood there."""

    source: Source
    module: ModuleOp
    positions: Positions

    def verify(self, stage: str = "") -> None:
        """Raise the first Diagnostic about the module; `stage` is put in front of the message ("after pass 'x': ")."""
        if (violation := first_violation(self.module)) is not None:
            raise Diagnostic(self.source, f"{stage}{violation}", self.positions.of(violation.operation))


def read(source: Source, context: Context) -> Reading:
    """Parse a module without verifying it; Diagnostic where the text is malformed."""
    if _is_blank(source.text):
        return Reading(source, ModuleOp([]), Positions())
    try:
        parser = LocatingParser(context, source)
    except ParseError as error:  # in the first token
        raise Diagnostic(source, _one_line(error.msg), error.span.start) from None
    try:
        module = parser.parse_module()
        resolve_resources(module, context)
    except ParseError as error:
        undefined = parser.undefined_value() if "not defined" in error.msg else None
        position = error.span.start if undefined is None else undefined.start
        raise Diagnostic(source, _one_line(error.msg), position) from None
    except (VerifyException, UnregisteredConstructException, ValueError, NotImplementedError, AssertionError) as error:
        raise Diagnostic(source, _one_line(str(error)), parser.position) from None
    return Reading(source, module, parser.positions)


def _is_blank(text: str) -> bool:
    """Whether there is nothing but comments: an empty module, as for mlir-opt."""
    return all(not line.strip() or line.lstrip().startswith("//") for line in text.splitlines())


def _one_line(message: str) -> str:
    return " ".join(message.split())
