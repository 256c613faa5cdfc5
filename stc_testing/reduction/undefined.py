"""Whether what a module computes depends on the contents of memory that nobody has written (`tensor.empty`, a buffer).

A reduction may produce such a module; a pass is free to change its value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from stc.execution.run import execute
from stc.execution.undefined import undefined_as


def depends_on_undefined(module: ModuleOp, inputs: Sequence[np.ndarray]) -> bool:
    """Whether the results on `inputs` change with what such memory holds; CompileError where the module cannot be executed."""
    results: list[list[np.ndarray]] = []
    for contents in (0, 1):
        with undefined_as(contents):
            results.append(execute(module, inputs))
    return any(not np.array_equal(one, other, equal_nan=one.dtype.kind == "f") for one, other in zip(*results, strict=True))
