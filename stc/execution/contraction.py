"""Sums of products as matrix multiplications.

Both factors are arrays over the same iteration space in which an axis has extent 1 where the factor does not depend on that
loop. Every contraction of such a pair is batched matrix multiplication: batch axes in both factors and the result, rows in the
left only, columns in the right only, inner axes summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np


def contract(left: np.ndarray, right: np.ndarray, extents: Sequence[int], summed: Sequence[int]) -> np.ndarray:
    """Sum over axes `summed` of left * right, with those axes kept at extent 1.

    `left` and `right`: rank len(extents), each axis of the loop's extent or 1. Computed in the arrays' own type.
    """
    loops = range(len(extents))
    in_left = {loop for loop in loops if left.shape[loop] == extents[loop]}
    in_right = {loop for loop in loops if right.shape[loop] == extents[loop]}
    repeats = prod(extents[loop] for loop in summed if loop not in in_left | in_right)
    left, in_left = _sum_alone(left, in_left - in_right, in_left, summed)
    right, in_right = _sum_alone(right, in_right - in_left, in_right, summed)
    inner = [loop for loop in summed if loop in in_left & in_right]
    batch = [loop for loop in loops if loop in in_left & in_right and loop not in summed]
    rows = [loop for loop in loops if loop in in_left - in_right]
    columns = [loop for loop in loops if loop in in_right - in_left]
    product = np.matmul(
        _as_matrices(left, batch, rows, inner, extents), _as_matrices(right, batch, inner, columns, extents)
    )
    if repeats != 1:
        product = product * product.dtype.type(repeats)
    return _to_iteration_space(product, [*batch, *rows, *columns], extents)


def _sum_alone(
    factor: np.ndarray, alone: set[int], present: set[int], summed: Sequence[int]
) -> tuple[np.ndarray, set[int]]:
    """Sum what only this factor depends on, before multiplying."""
    axes = tuple(loop for loop in summed if loop in alone and factor.shape[loop] != 1)
    if not axes:
        return factor, present
    return np.add.reduce(factor, axis=axes, keepdims=True, dtype=factor.dtype), present - set(axes)


def _as_matrices(
    factor: np.ndarray, batch: list[int], rows: list[int], columns: list[int], extents: Sequence[int]
) -> np.ndarray:
    order = [*batch, *rows, *columns]
    rest = [loop for loop in range(factor.ndim) if loop not in order]
    moved = factor.transpose(*order, *rest)
    sizes = [prod(extents[loop] for loop in group) for group in (batch, rows, columns)]
    return moved.reshape(sizes)


def _to_iteration_space(product: np.ndarray, order: list[int], extents: Sequence[int]) -> np.ndarray:
    spread = product.reshape([extents[loop] for loop in order])
    by_loop = spread.transpose([order.index(loop) for loop in sorted(order)])
    return by_loop.reshape([extent if loop in order else 1 for loop, extent in enumerate(extents)])
