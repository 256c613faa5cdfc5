"""Constants as C++ text that reads back as the same bits."""

from __future__ import annotations

import math

import numpy as np
from xdsl.dialects.builtin import Float16Type, FloatAttr, IndexType, IntegerAttr, IntegerType
from xdsl.ir import Attribute

from stc.codegen.cpp_types import C_INTEGERS, scalar_type
from stc.diagnostics import CompileError

# Constants that kernel.h defines where they are used: C++ has no literal for them.
F32_INFINITY = "F32_INFINITY"
F32_NAN = "F32_NAN"


def float_literal(value: float) -> str:
    """`value`, rounded to f32, in the shortest decimal text that reads back as the same f32; infinities and NaN by name."""
    single = np.float32(value)
    if math.isnan(single):
        return F32_NAN
    if math.isinf(single):
        return F32_INFINITY if single > 0 else f"-{F32_INFINITY}"
    magnitude = abs(float(single))
    if magnitude != 0 and not 1e-4 <= magnitude < 1e7:
        text = np.format_float_scientific(single, unique=True, trim="0", exp_digits=1)
    else:
        text = np.format_float_positional(single, unique=True, trim="0")
    return f"{text}f"


def literal(attribute: Attribute) -> str:
    """The C++ text of a scalar constant; CompileError where its type has none."""
    match attribute:
        case FloatAttr():
            text = float_literal(attribute.value.data)
            return f"half({text})" if isinstance(attribute.type, Float16Type) else text
        case IntegerAttr():
            return _integer_literal(attribute.value.data, attribute.type)
        case _:
            raise CompileError(f"constant {attribute} has no HLS C++ counterpart", accepted="float and integer scalars")


def _integer_literal(value: int, kind: IntegerType | IndexType) -> str:
    if not isinstance(kind, IntegerType):
        return str(value)
    if kind.width.data == 1:
        return "true" if value else "false"
    if kind.width.data > 64:
        return f'{scalar_type(kind)}("{value}", 10)'
    if kind.width.data > 32:
        text = "(-9223372036854775807LL - 1)" if value == -(2**63) else f"{value}LL"
    else:
        text = "(-2147483647 - 1)" if value == -(2**31) else str(value)
    # With its type: a choice between a number of any width and a plain one is ambiguous.
    return text if kind.width.data in C_INTEGERS else f"{scalar_type(kind)}({text})"
