"""bf16, the upper half of an f32: numpy has it as its 16 bits in int16, and nothing is computed in it."""

from __future__ import annotations

from typing import Any

import numpy as np
from xdsl.dialects import arith
from xdsl.dialects.builtin import bf16, f32
from xdsl.ir import Operation

from stc.scalars.table import ROWS

NAN = 0x7FC0
"""What rounding makes of every NaN: quiet, and of no sign. PyTorch makes it of single numbers, and 0xFFFF of eight at once."""

ACCEPTED = "bf16 made of f32, moved, chosen, and made f32 again"


def bits_of(numbers: Any) -> Any:
    """The bits, int16, of the numbers of bf16 that are nearest to `numbers` of f32, ties to even; `NAN` of every NaN."""
    whole = np.asarray(numbers, np.float32).view(np.uint32).astype(np.uint64)
    rounded = (whole + 0x7FFF + (whole >> 16 & 1)) >> 16
    return np.where(np.isnan(numbers), NAN, rounded).astype(np.uint16).view(np.int16)[()]


def number_of(bits: Any) -> Any:
    """The numbers of f32 that have these bits, int16, as their upper half: exact."""
    return (np.asarray(bits, np.int16).view(np.uint16).astype(np.uint32) << 16).view(np.float32)[()]


def computes_in_bf16(op: Operation) -> bool:
    """Whether a scalar operation does more with a number of bf16 than `ACCEPTED`."""
    kinds = {value.type for value in (*op.operands, *op.results)}
    if type(op) not in ROWS or bf16 not in kinds or isinstance(op, arith.SelectOp):
        return False
    return not isinstance(op, arith.ExtFOp | arith.TruncFOp) or f32 not in kinds
