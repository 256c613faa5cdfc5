"""Divisions by powers of two are products, bit for bit, over random floats of all magnitudes."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import bf16, f16, f32, f64

from stc.analysis.reciprocals import exact_reciprocal


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_product_is_the_quotient_for_every_power_and_dividend(sign: float) -> None:
    bits = np.random.default_rng(0).integers(0, 2**32, 4096, dtype=np.uint32)
    dividends = np.concatenate([bits.view(np.float32), np.array([0, -0.0, 1e-45, -1e-45, np.inf, -np.inf, np.nan], np.float32)])
    for exponent in range(-126, 127):
        divisor = sign * 2.0**exponent
        factor = exact_reciprocal(divisor, f32)
        assert factor is not None
        with np.errstate(all="ignore"):
            quotient, product = dividends / np.float32(divisor), dividends * np.float32(factor)
        assert np.array_equal(quotient.view(np.uint32)[~np.isnan(quotient)], product.view(np.uint32)[~np.isnan(product)])
        assert np.array_equal(np.isnan(quotient), np.isnan(product))


@pytest.mark.parametrize("divisor", [0.0, -0.0, 3.0, 1.0000001, float("inf"), float("nan"), 2.0**127, -(2.0**127)])
def test_no_reciprocal_that_is_rounded_or_subnormal(divisor: float) -> None:
    assert exact_reciprocal(divisor, f32) is None


def test_what_is_normal_depends_on_the_type() -> None:
    assert exact_reciprocal(2.0**15, f16) is None
    assert [exact_reciprocal(2.0**14, kind) for kind in (f16, bf16, f32, f64)] == [2.0**-14] * 4
    assert exact_reciprocal(2.0**1022, f64) == 2.0**-1022
