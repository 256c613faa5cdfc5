"""Operations that compute each entry on its own: one numpy function per operation, for scalars and arrays alike.

A semantics is written once, `@elementwise(arith.AddiOp)` on a function from the operation to a numpy function, which translated
code calls (`emit_scalars.py`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute, Operation

Function = Callable[..., Any]
Maker = Callable[[Any], Function]
_MakerT = TypeVar("_MakerT", bound=Maker)

_MAKERS: dict[type[Operation], Maker] = {}


def elementwise(*operations: type[Operation]) -> Callable[[_MakerT], _MakerT]:
    """Register the decorated function, which returns the numpy function of an operation, for these operations."""

    def register(make: _MakerT) -> _MakerT:
        _MAKERS.update(dict.fromkeys(operations, make))
        return make

    return register


def function_of(op: Operation) -> Function | None:
    """The numpy function that computes `op`'s only result from its operands; None where it is no such operation."""
    make = _MAKERS.get(type(op))
    return None if make is None else make(op)


def scalar_type(kind: Attribute) -> Attribute:
    """The type of one entry of a vector or tensor, or of a scalar itself."""
    return kind.element_type if isinstance(kind, VectorType | TensorType) else kind
