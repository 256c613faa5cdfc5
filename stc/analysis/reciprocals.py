"""Divisions by constants: which are a product, exactly; and divisions of 1, which have an operator of their own.

x / 2^k and x * 2^-k are the same real number, rounded once, so that they are the same float for every x, subnormal results and
infinities included. That needs 2^-k to be representable; it is also wanted to be a normal number, since hardware may take others
for zero.
"""

from __future__ import annotations

from math import frexp, isfinite

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    VectorType,
)
from xdsl.ir import Attribute, Operation, SSAValue

_NORMAL_EXPONENTS: dict[type[Attribute], tuple[int, int]] = {
    Float16Type: (-14, 15),
    BFloat16Type: (-126, 127),
    Float32Type: (-126, 127),
    Float64Type: (-1022, 1023),
}
"""The least and the largest exponent of a normal number."""


def exact_reciprocal(value: float, kind: AnyFloat) -> float | None:
    """1 / `value` where `value` is a power of two, of either sign, and 1 / `value` a normal number of type `kind`; else None."""
    if not isfinite(value) or value == 0 or abs(frexp(value)[0]) != 0.5 or type(kind) not in _NORMAL_EXPONENTS:
        return None
    least, most = _NORMAL_EXPONENTS[type(kind)]
    exponent = 1 - frexp(value)[1]
    return 1 / value if least <= exponent <= most else None


def is_reciprocal(op: Operation) -> bool:
    """Whether `op` divides 1 by a float of 32 bits that is no constant: `hls::recip`, whose operator takes 8 DSPs where a divider
    takes some thousand LUTs. As of other functions, the vendor's manual promises a few units in the last place of the result."""
    return isinstance(op, arith.DivfOp) and op.result.type == Float32Type() and _constant(op.lhs) == 1 and _constant(op.rhs) is None


def constant_divisor(division: arith.DivfOp) -> float | None:
    """The constant that every entry is divided by, None where there is none."""
    return _constant(division.rhs)


def exact_factor(division: arith.DivfOp) -> float | None:
    """What to multiply by instead of dividing, where that is exact; else None."""
    divisor, kind = constant_divisor(division), division.rhs.type
    element = kind.element_type if isinstance(kind, VectorType) else kind
    return exact_reciprocal(divisor, element) if divisor is not None and isinstance(element, AnyFloat) else None


def _constant(value: SSAValue) -> float | None:
    if not isinstance(owner := value.owner, arith.ConstantOp):
        return None
    held = owner.value
    if isinstance(held, DenseIntOrFPElementsAttr) and held.is_splat():
        held = next(iter(held.iter_attrs()))
    return held.value.data if isinstance(held, FloatAttr) else None
