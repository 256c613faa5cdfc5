"""Sums of products of small integers within groups, exactly and fast: PyTorch multiplies integers one at a time."""

from __future__ import annotations

import numpy as np

BLOCK_ENTRIES = 1 << 18
"""Weights that are widened at a time: as floats they stay in a core's cache."""


def group_sums(activations: np.ndarray, weights: np.ndarray, zeros: np.ndarray | None = None) -> np.ndarray:
    """int32 [tokens, outputs, groups]: of activations [tokens, groups, size] and weights [outputs, groups, size], int8 all, less
    `zeros` [outputs, groups].

    Products and their sums are floats that hold every integer that comes up, so that no order of additions changes any; what does
    not fit into 32 bits wraps around, as sums of i32 do.
    """
    outputs, groups, size = weights.shape
    largest = size * 2**7 * (2**8 if zeros is not None else 2**7)
    kind = np.float32 if largest <= 2**24 else np.float64
    left = activations.astype(kind).swapaxes(0, 1)
    sums = np.empty((left.shape[1], outputs, groups), np.int32)
    rows = max(1, BLOCK_ENTRIES // max(1, groups * size))
    for first in range(0, outputs, rows):
        block = weights[first : first + rows].astype(kind)
        if zeros is not None:
            block -= zeros[first : first + rows, :, np.newaxis]
        sums[:, first : first + rows] = np.matmul(left, block.transpose(1, 2, 0)).transpose(1, 2, 0).astype(np.int64)
    return sums
