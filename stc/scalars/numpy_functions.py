"""Functions of numbers that numpy does not have as MLIR defines them, on numpy scalars and arrays, in their exact type."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def round_half_away(value: Any) -> Any:
    return np.trunc(value + np.copysign(np.asarray(value).dtype.type(0.5), value))


def rsqrt(value: Any) -> Any:
    return np.reciprocal(np.sqrt(value))


_ELEMENTWISE_ERF = np.frompyfunc(math.erf, 1, 1)


def erf(value: Any) -> Any:
    return np.asarray(_ELEMENTWISE_ERF(np.asarray(value, dtype=np.float64))).astype(np.float64)


def truncating_division(left: Any, right: Any) -> Any:
    """By zero, 0: numpy's floor division says so, and its rounding up is not for it."""
    quotient = np.floor_divide(left, right)
    inexact = (np.multiply(quotient, right) != left) & (right != 0)
    return quotient + (inexact & ((left < 0) != (right < 0))).astype(np.asarray(left).dtype)


def ceiling_division(left: Any, right: Any) -> Any:
    return -np.floor_divide(-left, right)


def ceiling_division_unsigned(left: Any, right: Any) -> Any:
    """By zero, 0."""
    return np.floor_divide(left, right) + (np.remainder(left, right) != 0)


def power_of_integer(base: Any, exponent: Any) -> Any:
    """A float to the power of an integer."""
    return np.power(base, np.asarray(exponent).astype(np.asarray(base).dtype))


def multiply_add(left: Any, right: Any, addend: Any) -> Any:
    """Rounded after the product and after the sum."""
    return left * right + addend
