"""Numpy representation of scalar types.

Floats are kept in exactly their own width; those of bf16, which numpy lacks, as their bits (`stc.scalars.bf16`). Integers of a
width that numpy lacks (i4, i24) live in the next larger numpy type and are wrapped back to their width after every operation
(`wrap`). i1 is numpy's bool; `index` is int64.
"""

from __future__ import annotations

import numpy as np
from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float32Type, Float64Type, IndexType, IntegerType
from xdsl.ir import Attribute

from stc.diagnostics import CompileError

_FLOATS: dict[type[Attribute], type[np.number]] = {
    BFloat16Type: np.int16,
    Float16Type: np.float16,
    Float32Type: np.float32,
    Float64Type: np.float64,
}
_NATIVE_WIDTHS = (8, 16, 32, 64)


def numpy_type(element: Attribute) -> np.dtype:
    """The numpy type that holds values of a scalar IR type; CompileError for types without one."""
    if isinstance(element, IndexType):
        return np.dtype(np.int64)
    if isinstance(element, IntegerType):
        return _integer_type(element.width.data)
    if (found := _FLOATS.get(type(element))) is not None:
        return np.dtype(found)
    raise CompileError(f"values of type {element} cannot be executed", accepted="bf16, f16, f32, f64, index, i1 to i64")


def _integer_type(width: int) -> np.dtype:
    if width == 1:
        return np.dtype(np.bool_)
    for native in _NATIVE_WIDTHS:
        if width <= native:
            return np.dtype(f"int{native}")
    raise CompileError(f"values of type i{width} cannot be executed", accepted="integers up to i64")


def is_native(element: IntegerType) -> bool:
    """Whether numpy has a type of exactly this width."""
    return element.width.data in (1, *_NATIVE_WIDTHS)


def wrap(values: np.ndarray | np.generic, element: Attribute) -> np.ndarray | np.generic:
    """Values brought back into a type narrower than its numpy representation (two's complement)."""
    if not isinstance(element, IntegerType) or is_native(element):
        return values
    unused = values.dtype.itemsize * 8 - element.width.data
    return np.right_shift(np.left_shift(values, unused), unused)


def unsigned(values: np.ndarray | np.generic, element: Attribute) -> np.ndarray | np.generic:
    """The same bits read as an unsigned integer, in a numpy type wide enough."""
    if isinstance(element, IntegerType) and element.width.data == 1:
        return np.asarray(values).astype(np.uint8)
    raw = np.asarray(values)
    bits = raw.view(f"uint{raw.dtype.itemsize * 8}") if raw.ndim else raw.astype(f"uint{raw.dtype.itemsize * 8}")
    if isinstance(element, IntegerType) and element.width.data not in _NATIVE_WIDTHS:
        bits = bits & bits.dtype.type((1 << element.width.data) - 1)
    return bits
