"""Sums of integers within groups, against sums of int64."""

from __future__ import annotations

import numpy as np
import pytest

from stc.quantisation import group_sums as module
from stc.quantisation.group_sums import group_sums


def arrays(tokens: int, outputs: int, groups: int, size: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Activations, weights and zero points of int8, the least and the largest among them."""
    rng = np.random.default_rng([tokens, outputs, groups, size])
    activations, weights = rng.integers(-128, 128, (tokens, groups, size)), rng.integers(-128, 128, (outputs, groups, size))
    activations[0], weights[0], weights[-1] = -128, -128, 127
    zeros = rng.integers(-128, 128, (outputs, groups))
    zeros[0], zeros[-1] = 127, -128
    return activations.astype(np.int8), weights.astype(np.int8), zeros.astype(np.int8)


@pytest.mark.parametrize("has_zeros", [False, True])
@pytest.mark.parametrize(
    "shape",
    [
        (1, 1, 1, 1), (3, 7, 5, 11), (2, 5, 1, 514), (2, 5, 1, 515), (2, 5, 1, 1024), (2, 5, 1, 1025),  # f32 holds 2**24
        (1, 4, 2, 70_001), (1, 3, 1, 140_000),  # beyond i32
    ],
    ids=str,
)  # fmt: skip
def test_sums_are_those_of_integers(shape: tuple[int, int, int, int], has_zeros: bool) -> None:
    activations, weights, zeros = arrays(*shape)
    exact = weights.astype(np.int64) - (zeros.astype(np.int64)[..., np.newaxis] if has_zeros else 0)
    expected = np.einsum("tgs,ogs->tog", activations.astype(np.int64), exact).astype(np.int32)
    np.testing.assert_array_equal(group_sums(activations, weights, zeros if has_zeros else None), expected)


def test_outputs_come_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    activations, weights, zeros = arrays(2, 11, 3, 5)
    expected = group_sums(activations, weights, zeros)
    monkeypatch.setattr(module, "BLOCK_ENTRIES", 4 * 3 * 5)  # of 11 outputs the last block has 3
    np.testing.assert_array_equal(group_sums(activations, weights, zeros), expected)
