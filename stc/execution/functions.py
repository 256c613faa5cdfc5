"""Dialect `math` on numpy scalars and arrays, in the exact type (results are rounded once to it)."""

from __future__ import annotations

import math as scalar_math
from collections.abc import Callable
from typing import Any

import numpy as np
from xdsl.dialects import math
from xdsl.ir import Operation

from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import Function, elementwise, scalar_type
from stc.execution.machine import Value


def _round_half_away(value: Value) -> Value:
    return np.trunc(value + np.copysign(np.asarray(value).dtype.type(0.5), value))


def _rsqrt(value: Value) -> Value:
    return np.reciprocal(np.sqrt(value))


_ELEMENTWISE_ERF = np.frompyfunc(scalar_math.erf, 1, 1)


def _erf(value: Value) -> Value:
    return np.asarray(_ELEMENTWISE_ERF(np.asarray(value, dtype=np.float64))).astype(np.float64)


_FUNCTIONS: dict[type[Operation], Callable[..., Any]] = {
    math.AbsFOp: np.abs,
    math.AbsIOp: np.abs,
    math.AcosOp: np.arccos,
    math.AcoshOp: np.arccosh,
    math.AsinOp: np.arcsin,
    math.AsinhOp: np.arcsinh,
    math.AtanOp: np.arctan,
    math.AtanhOp: np.arctanh,
    math.Atan2Op: np.arctan2,
    math.CbrtOp: np.cbrt,
    math.CeilOp: np.ceil,
    math.CopySignOp: np.copysign,
    math.CosOp: np.cos,
    math.CoshOp: np.cosh,
    math.ErfOp: _erf,
    math.Exp2Op: np.exp2,
    math.ExpM1Op: np.expm1,
    math.ExpOp: np.exp,
    math.FloorOp: np.floor,
    math.FmaOp: lambda a, b, c: a * b + c,
    math.FPowIOp: lambda base, exponent: np.power(base, np.asarray(exponent).astype(np.asarray(base).dtype)),
    math.IPowIOp: np.power,
    math.Log10Op: np.log10,
    math.Log1pOp: np.log1p,
    math.Log2Op: np.log2,
    math.LogOp: np.log,
    math.PowFOp: np.power,
    math.RoundEvenOp: np.rint,
    math.RoundOp: _round_half_away,
    math.RsqrtOp: _rsqrt,
    math.SinOp: np.sin,
    math.SinhOp: np.sinh,
    math.SqrtOp: np.sqrt,
    math.TanOp: np.tan,
    math.TanhOp: np.tanh,
    math.TruncOp: np.trunc,
}


@elementwise(*_FUNCTIONS)
def mathematical(op: Operation) -> Function:
    function, dtype = _FUNCTIONS[type(op)], numpy_type(scalar_type(op.results[0].type))
    return lambda *operands: np.asarray(function(*operands)).astype(dtype, copy=False)[()]
