"""Reductions that numpy knows, recognised in the body of a structured operation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import i1
from xdsl.ir import BlockArgument, Operation, SSAValue

from stc.dialects.use_def import depends_on

_REDUCTIONS: dict[str, np.ufunc] = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.mulf": np.multiply,
    "arith.muli": np.multiply,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "arith.maxnumf": np.fmax,
    "arith.minnumf": np.fmin,
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
}

_OF_BITS: dict[str, np.ufunc] = {
    "arith.addi": np.bitwise_xor,
    "arith.muli": np.bitwise_and,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
}
"""Modulo 2, of i1: numpy adds truth values to truth values, and takes the sign of none."""


def reduction_of(
    value: SSAValue, output: BlockArgument, outputs: Sequence[BlockArgument]
) -> tuple[np.ufunc, SSAValue] | None:
    """(combining function, term) where value is combine(output, term) and term depends on no output."""
    op = value.owner
    known = _OF_BITS if value.type == i1 else _REDUCTIONS
    if not isinstance(op, Operation) or (function := known.get(op.name)) is None or len(op.operands) != 2:
        return None
    first, second = op.operands
    if output not in (first, second) or first is second:
        return None
    term = second if first is output else first
    return None if depends_on(term, outputs) else (function, term)
