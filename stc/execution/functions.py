"""Dialect `math` on numpy scalars and arrays, in the exact type (results are rounded once to it)."""

from __future__ import annotations

import numpy as np
from xdsl.dialects import math
from xdsl.ir import Operation

from stc.execution.dtypes import numpy_type
from stc.execution.elementwise import Function, elementwise, scalar_type
from stc.scalars.table import ROWS

_OPERATIONS = [kind for kind, row in ROWS.items() if row.numpy is not None and kind in set(math.Math.operations)]


@elementwise(*_OPERATIONS)
def mathematical(op: Operation) -> Function:
    function, dtype = ROWS[type(op)].numpy, numpy_type(scalar_type(op.results[0].type))
    assert function is not None
    return lambda *operands: np.asarray(function(*operands)).astype(dtype, copy=False)[()]
