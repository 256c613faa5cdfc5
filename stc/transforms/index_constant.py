"""Index constants, named after their value so that IR can be read."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue


def index_constant(builder: Builder, value: int) -> SSAValue:
    """A new constant of type index."""
    result = builder.insert(arith.ConstantOp.from_int_and_width(value, IndexType())).result
    result.name_hint = f"c{value}"
    return result
