"""What an entry may differ by: never an absolute constant, and no more for a small entry because of a large one."""

from __future__ import annotations

import numpy as np
import pytest

from stc.codegen.tolerances import allowed_errors

RTOL = 1e-4


@pytest.mark.parametrize("scale", [1e-30, 1.0, 1e30])
def test_relative_to_the_entry_and_its_row(scale: float) -> None:
    rows = scale * np.array([[3.0, 4, 0, 0], [0, 0, 0, 0]]).astype(np.float32)
    allowed, uncertain = allowed_errors(rows.astype(np.float32), None, RTOL)
    rms = 2.5
    # Of the largest entry no more than of the output's magnitude.
    np.testing.assert_allclose(allowed[0], scale * RTOL * np.minimum(np.array([3, 4, 0, 0]) + rms, 4), rtol=1e-6)
    assert not allowed[1].any() and uncertain == 0


def test_relative_to_the_change_of_an_input() -> None:
    x = np.full((2, 3), 100, np.float32)
    allowed, _ = allowed_errors(x + np.float32(1), None, RTOL, x)
    np.testing.assert_allclose(allowed, RTOL)


def test_relative_to_what_replaces_no_number() -> None:
    """A row of a cache that was NaN changes by all that it is."""
    x = np.array([[100, 100], [np.nan, np.nan], [np.nan, np.nan]], np.float32)
    allowed, _ = allowed_errors(np.array([[100, 100], [1, 1], [np.nan, np.nan]], np.float32), None, RTOL, x)
    np.testing.assert_allclose(allowed[:2], RTOL)


def test_what_is_not_finite_allows_nothing_and_hides_nothing() -> None:
    reference = np.array([[np.inf, np.nan, 1.0, -1.0]], np.float32)
    allowed, _ = allowed_errors(reference, None, RTOL)
    np.testing.assert_allclose(allowed, RTOL * np.array([[0.5**0.5, 0.5**0.5, 1, 1]]), rtol=1e-6)


@pytest.mark.parametrize("shape", [(), (1,), (2, 1)])
def test_small_ranks(shape: tuple[int, ...]) -> None:
    allowed, _ = allowed_errors(np.full(shape, 2, np.float32), None, RTOL)
    assert allowed.shape == shape
    np.testing.assert_allclose(allowed, 2 * RTOL)


def test_uncertainty_is_granted_and_reported() -> None:
    reference = np.array([[1.0, 2.0]], np.float32)
    allowed, uncertain = allowed_errors(reference, np.array([[0.03, 0.04]]), RTOL)
    plain, _ = allowed_errors(reference, None, RTOL)
    granted = 4 * (np.array([[0.03, 0.04]]) + np.sqrt((0.03**2 + 0.04**2) / 2))
    np.testing.assert_allclose(allowed, plain + granted)
    assert uncertain == pytest.approx(granted.max() / 2)


def test_entries_that_rounding_drowns_are_undecided() -> None:
    """Marked by the sign; the bound stays, and other rows stay decided. Zeros without uncertainty are decided, infinities are."""
    reference = np.array([[1.0, 2.0], [1e-7, -1e-7], [0.0, 0.0], [np.inf, 1.0]], np.float32)
    uncertainty = np.array([[1e-8, 1e-8], [1e-7, 0.0], [0.0, 0.0], [5.0, 5.0]])
    allowed, _ = allowed_errors(reference, uncertainty, RTOL)
    assert (allowed < 0).tolist() == [[False, False], [True, True], [False, False], [False, True]]
    np.testing.assert_allclose(np.abs(allowed[1, 1]), 4e-7 * 0.5**0.5 + RTOL * 2e-7, rtol=1e-4)


def test_any_value_will_do_where_rounding_makes_infinities() -> None:
    """Infinite and undecided; its row keeps the bound that its other entries have."""
    reference = np.array([[3e38, 1e38, np.inf, np.nan]], np.float32)
    moved = np.array([[np.inf, 0.0, np.inf, 0.0]])
    allowed, uncertain = allowed_errors(reference, moved, RTOL)
    without, _ = allowed_errors(reference, None, RTOL)
    assert np.isneginf(allowed[0, [0, 2]]).all() and np.array_equal(allowed[0, [1, 3]], without[0, [1, 3]]) and uncertain == 0


@pytest.mark.parametrize("uncertain", [0.1, 0.13, 0.2, 0.3])
@pytest.mark.parametrize("row", [[1.0, -1.0, 1.0], [3.0, 0.0, 1.0]])
def test_zeros_do_not_pass_where_they_are_decided(row: list[float], uncertain: float) -> None:
    """Of every row that is decided, the largest entry is more than what is allowed."""
    reference = np.array([row], np.float32)
    allowed, _ = allowed_errors(reference, np.full((1, 3), uncertain), RTOL)
    assert (allowed < 0).any() or (np.abs(reference) > allowed).any()
