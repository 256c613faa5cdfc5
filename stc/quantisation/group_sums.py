"""Sums of products of small integers within groups, exactly and fast: PyTorch multiplies integers one at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

BLOCK_ENTRIES = 1 << 18
"""Weights, or sums, of a block: as floats they stay in a core's cache."""


def group_sums(
    activations: NDArray[np.int8], weights: NDArray[np.int8], zeros: NDArray[np.int8] | None = None
) -> NDArray[np.int32]:
    """int32 [tokens, outputs, groups]: of activations [tokens, groups, size] and weights [outputs, groups, size], int8 all, less
    `zeros` [outputs, groups].

    Products and their sums are floats that hold every integer that comes up, so that no order of additions changes any; what does
    not fit into 32 bits wraps around, as sums of i32 do.
    """
    outputs, groups, size = weights.shape
    largest = size * 128 * (128 if zeros is None else 255)
    kind, whole = (np.float32, np.int32) if largest <= 2**24 else (np.float64, np.int64)
    left = activations.astype(kind).swapaxes(0, 1)
    tokens = left.shape[1]
    sums = np.empty((tokens, outputs, groups), np.int32)
    rows = max(1, BLOCK_ENTRIES // max(1, groups * max(size, tokens)))
    for first in range(0, outputs, rows):
        block = weights[first : first + rows].astype(kind)
        if zeros is not None:
            block -= zeros[first : first + rows, :, np.newaxis]
        sums[:, first : first + rows] = np.matmul(left, block.transpose(1, 2, 0)).transpose(1, 2, 0).astype(whole)
    return sums
