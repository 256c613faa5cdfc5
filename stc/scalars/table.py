"""What is known of each scalar operation: C++ form, numpy function, operators in hardware, magnitude of the results."""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects import arith, math
from xdsl.ir import Operation

from stc.scalars.forms import (
    BITS,
    EQUALITY,
    MAXIMUM,
    MINIMUM,
    PRIMARY,
    PRODUCT,
    SHIFT,
    SUM,
    UNARY,
    Form,
    call,
    connective,
    infix,
    strict,
)
from stc.scalars.numpy_functions import (
    ceiling_division,
    ceiling_division_unsigned,
    erf,
    multiply_add,
    power_of_integer,
    round_half_away,
    rsqrt,
    truncating_division,
)

ADD, MULTIPLY, DIVIDE, ROOT = "fadd_f32_full_dsp", "fmul_f32_max_dsp", "fdiv_f32_no_dsp", "fsqrt_f32_no_dsp"
SUBTRACT, RECIPROCAL, EXPONENTIAL = "fsub_f32_full_dsp", "frecip_f32_full_dsp", "fexp_f32_full_dsp"
COMPARE, CONVERT = "fcmp_f32_no_dsp", "sitofp_i32_no_dsp"
"""Operators of the published tables (stc.platforms.operators)."""
_POLYNOMIAL = (MULTIPLY, ADD) * 5
_ERF = (MULTIPLY, ADD, RECIPROCAL, *_POLYNOMIAL, EXPONENTIAL, MULTIPLY, ADD)
"""Abramowitz and Stegun 7.1.26: a polynomial of 1 / (1 + px), times exp(-x^2)."""


class Sign(enum.Enum):
    """How an operation takes the bits of its operands."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"


class Unit(enum.Enum):
    """What an operation on integers takes in hardware."""

    WIRES = "wires"
    LOGIC = "logic"
    MULTIPLIER = "multiplier"
    DIVIDER = "divider"


@dataclass(frozen=True)
class Scalar:
    """One row.

    `cpp`: the form of its C++ text, `boolean_cpp` on i1; None where `typed_cpp` (types and attributes decide,
    stc.codegen.expressions.TYPED_FORMS) or where there is none. `numpy`: the function of numbers in their exact type; None where
    attributes decide (stc.execution.scalars). `floats`: published operators one after the other, on f32; `is_published`: as the
    tables have it, else composed of those that are in them along the way vendor libraries compute it. `unit`: on integers; WIRES:
    on any type. `bound`: largest magnitude of results from those of the operands, None where they decide more than that. `rounds`:
    libraries may differ in the last bit. `jumps`: not continuous.
    """

    operation: type[Operation]
    sign: Sign
    cpp: Form | None = None
    boolean_cpp: Form | None = None
    typed_cpp: bool = False
    numpy: Callable[..., Any] | None = None
    floats: tuple[str, ...] | None = None
    is_published: bool = False
    unit: Unit | None = None
    bound: Callable[..., float] | None = None
    rounds: bool = False
    jumps: bool = False

    @property
    def has_cpp(self) -> bool:
        return self.typed_cpp or self.cpp is not None


def _float(operation: type[Operation], cpp: Form | None, numpy: Callable[..., Any], *chain: str, **known: Any) -> Scalar:
    """On floats, composed of these operators; without any there is no figure."""
    return Scalar(operation, Sign.FLOAT, cpp, numpy=numpy, floats=chain or None, **known)


def _published(operation: type[Operation], cpp: Form | None, numpy: Callable[..., Any], operator: str, **known: Any) -> Scalar:
    return Scalar(operation, Sign.FLOAT, cpp, numpy=numpy, floats=(operator,), is_published=True, **known)


def _signed(operation: type[Operation], cpp: Form | None, numpy: Callable[..., Any], unit: Unit | None, **known: Any) -> Scalar:
    return Scalar(operation, Sign.SIGNED, cpp, numpy=numpy, unit=unit, typed_cpp=cpp is None, **known)


def _unsigned(operation: type[Operation], numpy: Callable[..., Any], unit: Unit, *, typed_cpp: bool = True) -> Scalar:
    return Scalar(operation, Sign.UNSIGNED, numpy=numpy, unit=unit, typed_cpp=typed_cpp)


def _typed(operation: type[Operation], sign: Sign, **known: Any) -> Scalar:
    """Whose C++ and value depend on types or attributes."""
    return Scalar(operation, sign, typed_cpp=True, **known)


def _same(x: float) -> float:
    return x


def _one(*_: float) -> float:
    return 1.0


def _next(x: float) -> float:
    return x + 1


def _sum(x: float, y: float) -> float:
    return x + y


def _product(x: float, y: float) -> float:
    return x * y


def _bits(x: float, y: float) -> float:
    return 2 * max(x, y)


_BOTH, _EITHER, _DIFFERS = connective("&&", "both"), connective("||", "either"), strict("!=", EQUALITY, "differs")

EXTREMES = (arith.MaximumfOp, arith.MinimumfOp, arith.MaxnumfOp, arith.MinnumfOp)
"""Which give the same of any number of terms in any order (but for the sign of a zero)."""

_TABLE: tuple[Scalar, ...] = (
    _published(arith.AddfOp, infix("+", SUM, "sum"), np.add, ADD, bound=_sum),
    _published(arith.SubfOp, infix("-", SUM, "difference"), np.subtract, SUBTRACT, bound=_sum),
    _published(arith.MulfOp, infix("*", PRODUCT, "product"), np.multiply, MULTIPLY, bound=_product),
    _published(arith.DivfOp, infix("/", PRODUCT, "quotient"), np.divide, DIVIDE),
    _float(arith.NegfOp, Form("-{0}", UNARY, (PRIMARY,), "negated"), np.negative, unit=Unit.WIRES, bound=_same),  # a bit
    _published(arith.MaximumfOp, call(MAXIMUM, 2), np.maximum, COMPARE, bound=max),
    _published(arith.MinimumfOp, call(MINIMUM, 2), np.minimum, COMPARE, bound=max),
    _published(arith.MaxnumfOp, call("hls::fmax", 2), np.fmax, COMPARE, bound=max),
    _published(arith.MinnumfOp, call("hls::fmin", 2), np.fmin, COMPARE, bound=max),
    _typed(arith.CmpfOp, Sign.FLOAT, floats=(COMPARE,), is_published=True),
    # Integers
    _signed(arith.AddiOp, infix("+", SUM, "sum"), np.add, Unit.LOGIC, boolean_cpp=_DIFFERS, bound=_sum),
    _signed(arith.SubiOp, infix("-", SUM, "difference"), np.subtract, Unit.LOGIC, bound=_sum),
    _signed(arith.MuliOp, infix("*", PRODUCT, "product"), np.multiply, Unit.MULTIPLIER, boolean_cpp=_BOTH, bound=_product),
    _signed(arith.DivSIOp, None, truncating_division, Unit.DIVIDER, bound=lambda x, y: x),
    _signed(arith.FloorDivSIOp, None, np.floor_divide, Unit.DIVIDER, bound=lambda x, y: x + 1),
    Scalar(arith.CeilDivSIOp, Sign.SIGNED, numpy=ceiling_division, unit=Unit.DIVIDER),
    _signed(arith.RemSIOp, None, np.fmod, Unit.DIVIDER, bound=lambda x, y: y),
    _signed(arith.MaxSIOp, None, np.maximum, Unit.LOGIC, bound=max),
    _signed(arith.MinSIOp, None, np.minimum, Unit.LOGIC, bound=max),
    _signed(arith.ShLIOp, strict("<<", SHIFT, "shifted"), np.left_shift, Unit.LOGIC),
    _signed(arith.ShRSIOp, strict(">>", SHIFT, "shifted"), np.right_shift, Unit.LOGIC, bound=lambda x, y: x),
    _signed(arith.AndIOp, strict("&", BITS, "bits"), np.bitwise_and, Unit.LOGIC, boolean_cpp=_BOTH, bound=_bits),
    _signed(arith.OrIOp, strict("|", BITS, "bits"), np.bitwise_or, Unit.LOGIC, boolean_cpp=_EITHER, bound=_bits),
    _signed(arith.XOrIOp, strict("^", BITS, "bits"), np.bitwise_xor, Unit.LOGIC, boolean_cpp=_DIFFERS, bound=_bits),
    _unsigned(arith.DivUIOp, np.floor_divide, Unit.DIVIDER),
    _unsigned(arith.CeilDivUIOp, ceiling_division_unsigned, Unit.DIVIDER, typed_cpp=False),
    _unsigned(arith.RemUIOp, np.remainder, Unit.DIVIDER),
    _unsigned(arith.MaxUIOp, np.maximum, Unit.LOGIC),
    _unsigned(arith.MinUIOp, np.minimum, Unit.LOGIC),
    _unsigned(arith.ShRUIOp, np.right_shift, Unit.LOGIC),
    _typed(arith.CmpiOp, Sign.SIGNED, unit=Unit.LOGIC),
    # Choices and conversions
    _typed(arith.SelectOp, Sign.SIGNED, unit=Unit.WIRES),
    _typed(arith.IndexCastOp, Sign.SIGNED, unit=Unit.WIRES),
    _typed(arith.ExtSIOp, Sign.SIGNED, unit=Unit.WIRES),
    _typed(arith.ExtUIOp, Sign.UNSIGNED, unit=Unit.WIRES),
    _typed(arith.TruncIOp, Sign.SIGNED, unit=Unit.WIRES),
    _typed(arith.BitcastOp, Sign.UNSIGNED, unit=Unit.WIRES),
    _typed(arith.SIToFPOp, Sign.SIGNED, floats=(CONVERT,), is_published=True),
    _typed(arith.UIToFPOp, Sign.UNSIGNED, floats=(CONVERT,)),
    _typed(arith.FPToSIOp, Sign.SIGNED, floats=(CONVERT,)),
    _typed(arith.FPToUIOp, Sign.UNSIGNED, floats=(CONVERT,)),
    _typed(arith.TruncFOp, Sign.FLOAT),
    _typed(arith.ExtFOp, Sign.FLOAT),
    # Functions
    _published(math.ExpOp, call("hls::exp"), np.exp, EXPONENTIAL, rounds=True),
    _float(math.Exp2Op, call("hls::exp2"), np.exp2, MULTIPLY, EXPONENTIAL, rounds=True),
    _float(math.ExpM1Op, call("hls::expm1"), np.expm1, EXPONENTIAL, ADD, rounds=True),
    _float(math.LogOp, call("hls::log"), np.log, RECIPROCAL, *_POLYNOMIAL, rounds=True),
    _float(math.Log10Op, call("hls::log10"), np.log10, RECIPROCAL, *_POLYNOMIAL, MULTIPLY, rounds=True),
    _float(math.Log1pOp, call("hls::log1p"), np.log1p, ADD, RECIPROCAL, *_POLYNOMIAL, rounds=True),
    _float(math.Log2Op, None, np.log2, rounds=True),
    _published(math.SqrtOp, call("hls::sqrt"), np.sqrt, ROOT, bound=lambda x: x**0.5),
    _float(math.RsqrtOp, call("hls::rsqrt"), rsqrt, ROOT, RECIPROCAL, rounds=True),
    _float(math.CbrtOp, call("hls::cbrt"), np.cbrt, RECIPROCAL, *_POLYNOMIAL, EXPONENTIAL, rounds=True),
    _float(math.PowFOp, call("hls::pow", 2), np.power, RECIPROCAL, *_POLYNOMIAL, MULTIPLY, EXPONENTIAL, rounds=True),
    _float(math.FPowIOp, None, power_of_integer, rounds=True),
    Scalar(math.IPowIOp, Sign.SIGNED, numpy=np.power),
    _float(math.TanhOp, call("hls::tanh"), np.tanh, EXPONENTIAL, ADD, DIVIDE, bound=_one, rounds=True),
    _float(math.SinhOp, call("hls::sinh"), np.sinh, EXPONENTIAL, RECIPROCAL, ADD, rounds=True),
    _float(math.CoshOp, call("hls::cosh"), np.cosh, EXPONENTIAL, RECIPROCAL, ADD, rounds=True),
    _float(math.SinOp, call("hls::sin"), np.sin, MULTIPLY, *_POLYNOMIAL, bound=_one, rounds=True),
    _float(math.CosOp, call("hls::cos"), np.cos, MULTIPLY, *_POLYNOMIAL, bound=_one, rounds=True),
    _float(math.TanOp, call("hls::tan"), np.tan, MULTIPLY, *_POLYNOMIAL, DIVIDE, rounds=True),
    _float(math.AtanOp, call("hls::atan"), np.arctan, RECIPROCAL, *_POLYNOMIAL, bound=lambda x: 1.6, rounds=True),
    _float(math.Atan2Op, call("hls::atan2", 2), np.arctan2, DIVIDE, *_POLYNOMIAL, bound=lambda y, x: 3.2, rounds=True),
    _float(math.AsinOp, None, np.arcsin, rounds=True),
    _float(math.AcosOp, None, np.arccos, rounds=True),
    _float(math.AsinhOp, None, np.arcsinh, rounds=True),
    _float(math.AcoshOp, None, np.arccosh, rounds=True),
    _float(math.AtanhOp, None, np.arctanh, rounds=True),
    _float(math.ErfOp, call("hls::erf"), erf, *_ERF, bound=_one, rounds=True),
    _float(math.AbsFOp, call("hls::fabs"), np.abs, unit=Unit.WIRES, bound=_same),
    _signed(math.AbsIOp, call("hls::abs"), np.abs, Unit.LOGIC, bound=_same),
    _float(math.CopySignOp, call("hls::copysign", 2), np.copysign, unit=Unit.WIRES, bound=lambda x, y: x),
    _float(math.FloorOp, call("hls::floor"), np.floor, CONVERT, CONVERT, bound=_next, jumps=True),
    _float(math.CeilOp, call("hls::ceil"), np.ceil, CONVERT, CONVERT, bound=_next, jumps=True),
    _float(math.TruncOp, call("hls::trunc"), np.trunc, CONVERT, CONVERT, bound=_same, jumps=True),
    _float(math.RoundOp, call("hls::round"), round_half_away, CONVERT, CONVERT, bound=_next, jumps=True),
    _float(math.RoundEvenOp, call("hls::rint"), np.rint, CONVERT, CONVERT, bound=_next, jumps=True),
    _float(math.FmaOp, call("hls::fma", 3), multiply_add, MULTIPLY, ADD, bound=lambda x, y, z: x * y + z, rounds=True),
)

ROWS: dict[type[Operation], Scalar] = {row.operation: row for row in _TABLE}
EMITTED: frozenset[type[Operation]] = frozenset(row.operation for row in _TABLE if row.has_cpp)
"""The scalar operations that have an HLS form."""
