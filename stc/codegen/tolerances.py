"""By how much an entry of an output may differ from the reference.

    allowed = rtol (|reference| + rms of the reference over its last dimension)
            + 4 (|uncertainty| + rms of the uncertainty over its last dimension)

The first part is never an absolute constant, and never more than rtol of the output's largest magnitude and, where the output is
the update of an input, of the largest change: a large entry hides no small ones. The second is next to nothing unless the model
itself is ill-conditioned on these inputs (a softmax over logits of 1e6, a variance of what is constant): the uncertainty is by how
much rounding errors alone move each entry of the reference. Another order of adding up makes other errors of the same size; 4 times
what a few samples of them show is granted, and reported.

Where what is granted is no less than half of |reference| + rms of the reference over its last dimension, the entry is undecided:
zeros would pass in every entry of a row. It is marked by the sign of what is allowed, and says nothing unless the design has the
very same value. So is an entry that rounding errors make infinite or NaN, or the reverse: allowed is minus infinity. C
simulation has the first part of the rule for testbenches that bring no such files (`stc_sim::compare`).
"""

from __future__ import annotations

import numpy as np

from stc.scalars.bf16 import bits_of, number_of

SAFETY = 4.0


def granted(uncertainty: np.ndarray) -> np.ndarray:
    """What of each entry is due to rounding errors, where some samples of them move it by `uncertainty` (absolute)."""
    return SAFETY * _spread(_finite(uncertainty))


def allowed_bf16(reference: np.ndarray, before: np.ndarray, uncertainty: np.ndarray) -> tuple[np.ndarray, float]:
    """By how much the numbers of bf16 of which `reference` are the bits (int16) may differ, for each entry: not at all, but where
    what they are rounded from, `before` (f32), is so near to a tie that its uncertainty (as granted above) moves it over; and the
    largest part that is granted of it, as `allowed_errors` has it. Infinite where rounding errors make it infinite or NaN, or the
    reverse.

    Numbers are compared, not bits: of these everything from 0 to the largest lies between two small numbers of either sign.
    """
    finite = _finite(before.astype(np.float64))
    moves = granted(uncertainty)
    with np.errstate(over="ignore", invalid="ignore"):
        ends = [number_of(bits_of((before + step).astype(np.float32))).astype(np.float64) for step in (-moves, moves)]
        moved = np.max([np.abs(end - number_of(reference)) for end in ends], axis=0)
    magnitude = float(np.abs(finite).max(initial=0))
    share = float(moves.max(initial=0)) / magnitude if magnitude else 0.0
    return np.where(np.isfinite(uncertainty), np.where(np.isnan(moved), 0, moved), np.inf), share


def allowed_errors(
    reference: np.ndarray, uncertainty: np.ndarray | None, tolerance: float, updated: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Absolute, for each entry of the float array `reference` (f64; negative where the entry is undecided, else of no meaning where
    it is not finite), and the largest finite part of it that is due to `uncertainty` (absolute, same shape; None: none), in parts
    of the largest magnitude.

    `updated`: the input that the output is the update of.
    """
    reference = reference.astype(np.float64)
    finite = _finite(reference)
    magnitude = float(np.abs(finite).max(initial=0))
    least = magnitude if updated is None else min(magnitude, _largest_change(reference, updated.astype(np.float64)))
    moved = np.zeros(reference.shape) if uncertainty is None else uncertainty
    moves = granted(moved)
    spread = _spread(finite)
    allowed = np.where(np.isfinite(moved), np.minimum(tolerance * spread, tolerance * least) + moves, np.inf)
    undecided = np.isfinite(reference) & (2 * moves >= spread) & (moves > 0) | np.isinf(allowed)
    return np.where(undecided, -allowed, allowed), float(moves.max(initial=0)) / magnitude if magnitude else 0.0


def _largest_change(reference: np.ndarray, updated: np.ndarray) -> float:
    """Of an entry that was no number before, all of what it is now."""
    with np.errstate(invalid="ignore"):
        return float(np.abs(_finite(reference - _finite(updated))).max(initial=0))


def _finite(array: np.ndarray) -> np.ndarray:
    return np.where(np.isfinite(array), array, 0)


def _spread(array: np.ndarray) -> np.ndarray:
    """|entry| + root mean square over the last dimension."""
    rows = np.abs(np.atleast_1d(array))
    scale = rows.max(axis=-1, keepdims=True, initial=0)
    scale[scale == 0] = 1  # squares of numbers near 1 neither overflow nor vanish
    rms = scale * np.sqrt(np.mean((rows / scale) ** 2, axis=-1, keepdims=True))
    return (rows + rms).reshape(array.shape)
