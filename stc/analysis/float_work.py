"""Whether an operation, or something in it, computes floats."""

from __future__ import annotations

from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Operation


def computes_in_floats(op: Operation) -> bool:
    """Whether `op` makes a float of operands by arithmetic or a function, or something that stands in it does."""
    return any(_is_computed(inner) and isinstance(result.type, AnyFloat) for inner in op.walk() for result in inner.results)


def _is_computed(op: Operation) -> bool:
    return op.name.partition(".")[0] in ("arith", "math") and bool(op.operands)
