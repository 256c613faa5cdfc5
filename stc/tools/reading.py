"""Reading and verifying IR for the command line: every failure is a `Diagnostic` at a place in the input."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, UnregisteredOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import ParseError, UnregisteredConstructException, VerifyException

from stc.analysis.dominance import uses_before_definition
from stc.dialects.parsing import resolve_resources
from stc.tools.source import Diagnostic, LocatingParser, Positions, Source


@dataclass(frozen=True)
class Reading:
    """A module, the text it comes from, and where its operations stood there."""

    source: Source
    module: ModuleOp
    positions: Positions

    def verify(self, stage: str = "") -> None:
        """Raise the first Diagnostic about the module; `stage` is put in front of the message ("after pass 'x': ").

        Nested operations come first, as in MLIR, then use before definition, which xDSL does not check.
        """
        try:
            self.module.verify()
        except (VerifyException, ValueError) as error:
            self._refuse_innermost(stage)
            self._refuse(self.module, f"{stage}{_one_line(str(error))}")
        for use in uses_before_definition(self.module):
            self._refuse(use.operation, f"{stage}{use}")

    def _refuse_innermost(self, stage: str) -> None:
        """Find the operation that does not verify; xDSL's error does not say which it is."""
        for operation in _innermost_first(self.module):
            try:
                operation.verify()
            except (VerifyException, ValueError) as error:
                self._refuse(operation, f"{stage}'{_name(operation)}' op {_one_line(str(error))}")

    def _refuse(self, operation: Operation, message: str) -> None:
        raise Diagnostic(self.source, message, self.positions.of(operation))


def read(source: Source, context: Context) -> Reading:
    """Parse a module without verifying it; Diagnostic where the text is malformed."""
    if _is_blank(source.text):
        return Reading(source, ModuleOp([]), Positions())
    parser = LocatingParser(context, source)
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


def _name(operation: Operation) -> str:
    return operation.op_name.data if isinstance(operation, UnregisteredOp) else operation.name


def _is_blank(text: str) -> bool:
    """Whether there is nothing but comments: an empty module, as for mlir-opt."""
    return all(not line.strip() or line.lstrip().startswith("//") for line in text.splitlines())


def _innermost_first(operation: Operation) -> Iterator[Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for nested in block.ops:
                yield from _innermost_first(nested)
    yield operation


def _one_line(message: str) -> str:
    return " ".join(message.split())
