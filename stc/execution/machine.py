"""The executor's core: an environment of values and a registry of one function per operation.

Every level adds its operations in files of its own by `@implements(SomeOp)`; nothing here knows any of them. A handler receives
the machine and the operation and returns the values of its results.

Values: scalars are numpy scalars, tensors numpy arrays. Inside the body of a structured operation scalars may be arrays over
the iteration space (see `generic.py`), so scalar handlers must be written with numpy functions that accept both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from xdsl.dialects import func
from xdsl.ir import Block, Operation, SSAValue
from xdsl.traits import IsTerminator

from stc.diagnostics import CompileError
from stc.dialects.facts import MODULE, NAME
from stc.execution.dtypes import numpy_type

Value = Any
Handler = Callable[["Machine", Any], Sequence[Value]]
_HandlerT = TypeVar("_HandlerT", bound=Handler)

_HANDLERS: dict[type[Operation], Handler] = {}


def implements(*operations: type[Operation]) -> Callable[[_HandlerT], _HandlerT]:
    """Register the decorated function as the semantics of these operations and of classes derived from them."""

    def register(handler: _HandlerT) -> _HandlerT:
        for operation in operations:
            _HANDLERS[operation] = handler
        return handler

    return register


def handler_of(op: Operation) -> Handler | None:
    """The registered semantics of an operation, its own or that of the nearest class it derives from."""
    return next((_HANDLERS[kind] for kind in type(op).__mro__ if kind in _HANDLERS), None)


def location(op: Operation) -> str:
    """Where an operation comes from: its model name, its module path, or its own name."""
    name = NAME.of(op) or MODULE.of(op)
    return f"{op.name} of {name}" if name else op.name


class Machine:
    """Values of one execution."""

    def __init__(self) -> None:
        self.values: dict[SSAValue, Value] = {}
        self.loop_indices: list[Sequence[Value]] = []
        """Indices of the structured operations being executed, innermost last (for linalg.index)."""

    def operands(self, op: Operation) -> list[Value]:
        return [self.values[operand] for operand in op.operands]

    def run(self, block: Block, arguments: Sequence[Value]) -> list[Value]:
        """Execute a block on arguments; returns the operands of its terminator."""
        self.values.update(zip(block.args, arguments, strict=True))
        for op in block.ops:
            if op.has_trait(IsTerminator):
                return self.operands(op)
            self.execute(op)
        return []

    def execute(self, op: Operation) -> None:
        """Execute one operation and record its results; CompileError where it has no semantics here."""
        handler = handler_of(op)
        if handler is None:
            raise CompileError("operation cannot be executed", where=location(op))
        for result, value in zip(op.results, handler(self, op), strict=True):
            self.values[result] = value


def execute(function: func.FuncOp, inputs: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Run a function on arrays, one per argument, of exactly the argument's shape and element type; returns its results.

    CompileError names an operation that has no semantics, or the input that does not fit.
    """
    check_inputs(function, inputs)
    with np.errstate(all="ignore"):
        return [np.asarray(value) for value in Machine().run(function.body.block, list(inputs))]


def check_inputs(function: func.FuncOp, inputs: Sequence[np.ndarray]) -> None:
    """CompileError naming the input that does not fit its argument."""
    arguments = function.body.block.args
    if len(inputs) != len(arguments):
        raise CompileError(
            f"{len(inputs)} inputs given", where=f"@{function.sym_name.data}", accepted=f"{len(arguments)} inputs"
        )
    for index, (argument, array) in enumerate(zip(arguments, inputs, strict=True)):
        _check_input(function, index, argument, array)


def _check_input(function: func.FuncOp, index: int, argument: SSAValue, array: np.ndarray) -> None:
    shape_of = getattr(argument.type, "get_shape", tuple)
    element = getattr(argument.type, "element_type", argument.type)
    expected = (tuple(shape_of()), numpy_type(element))
    if (np.shape(array), np.asarray(array).dtype) != expected:
        raise CompileError(
            f"input {index} is {np.asarray(array).dtype}{list(np.shape(array))}",
            where=f"@{function.sym_name.data}",
            accepted=f"{expected[1]}{list(expected[0])}",
        )
