"""Which upstream operations are read and printed by us instead of by xDSL.

The classes stay xDSL's own, so that passes and patterns for them apply; only reading and printing is replaced.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.tensor import EmptyOp
from xdsl.ir import Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from stc.dialects.upstream import linalg_syntax, tensor_syntax


def reader_of(operation: type[Operation]) -> Callable[[Parser], Operation] | None:
    """The function that reads the custom form of `operation` in MLIR's syntax, or None where xDSL's own is right."""
    if operation is EmptyOp:
        return tensor_syntax.parse_empty
    return linalg_syntax.reader_of(operation)


def printer_of(operation: Operation) -> Callable[[Printer], None] | None:
    """The function that prints what follows the name of `operation`, or None where xDSL's own printing is right."""
    if isinstance(operation, EmptyOp):
        return lambda printer: tensor_syntax.print_empty(operation, printer)
    return linalg_syntax.printer_of(operation)
