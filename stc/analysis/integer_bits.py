"""How many bits the value of an integer takes, which may be fewer than those of its type."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerAttr, IntegerType, VectorType
from xdsl.ir import Operation, SSAValue

from stc.analysis.loops import integer_constant

DEEPEST = 8
_ANY = 1 << 16
"""More than any type has: what is shifted left by a number that is not known."""


Known: TypeAlias = Callable[[SSAValue], int | None]
"""Bits, with a sign, of a value that no operation makes; None where no more is known than its type."""


def _nothing(value: SSAValue) -> None:
    return None


def bits_of_value(value: SSAValue, depth: int = DEEPEST, known: Known = _nothing) -> int:
    """Bits, with a sign, that every value of the integer (or of each lane) fits in: those of its type at most.

    `depth`: operations behind it that are looked through. `known`: what is known of block arguments.
    """
    kind = value.type.element_type if isinstance(value.type, VectorType) else value.type
    assert isinstance(kind, IntegerType)
    width = kind.width.data
    if not isinstance(owner := value.owner, Operation):
        return min(width, known(value) or width)
    return width if depth == 0 else min(width, unwrapped_bits(owner, depth, known))


def low_zeros(value: SSAValue) -> int:
    """How many of the lowest bits are 0 in every value of the integer (or of each lane): those that a constant shifted in."""
    owner = value.owner
    match owner:
        case arith.ShLIOp() if (amount := integer_constant(owner.rhs)) is not None:
            return max(amount, 0)
        case arith.ExtSIOp() | arith.ExtUIOp():
            return low_zeros(owner.input)
        case _:
            return 0


def unwrapped_bits(op: Operation, depth: int = DEEPEST, known: Known = _nothing) -> int:
    """Bits, with a sign, of what an operation on integers computes before it is cut back to the width of its type."""

    def bits(operand: SSAValue) -> int:
        return bits_of_value(operand, depth - 1, known)

    match op:
        case arith.ExtSIOp() | arith.TruncIOp():
            return bits(op.input)
        case arith.ExtUIOp():
            return bits_of_value(op.input, 0) + 1
        case arith.AddiOp() | arith.SubiOp():
            return max(bits(op.lhs), bits(op.rhs)) + 1
        case arith.MuliOp():
            return bits(op.lhs) + bits(op.rhs)
        case arith.SelectOp():
            return max(bits(op.lhs), bits(op.rhs))
        case arith.AndIOp() if (mask := integer_constant(op.rhs)) is not None and mask >= 0:
            return mask.bit_length() + 1
        case arith.ShLIOp():
            amount = integer_constant(op.rhs)
            return bits(op.lhs) + max(amount, 0) if amount is not None else _ANY
        case arith.ShRSIOp() if (amount := integer_constant(op.rhs)) is not None:
            return max(1, bits(op.lhs) - max(amount, 0))
        case arith.ConstantOp(value=IntegerAttr() as number):
            return number.value.data.bit_length() + 1
        case _:
            return bits_of_value(op.results[0], 0)
