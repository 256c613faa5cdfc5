"""Two products in one multiplier: how long sums may be, and that both come out of it."""

from __future__ import annotations

from itertools import product

import pytest

from stc.scalars.packed_products import FACTOR_BITS, Interval, PackedProducts, packing

BYTE, NIBBLE, SYMMETRIC = Interval.of_bits(8), Interval.of_bits(4), Interval(-127, 127)


@pytest.mark.parametrize(
    ("weights", "shift", "longest"),
    [(NIBBLE, 18, 127), (NIBBLE, 19, 255), (NIBBLE, 22, 2047), (BYTE, 18, 7)],
)
def test_the_longest_sum_by_shift(weights: Interval, shift: int, longest: int):
    packed = PackedProducts(weights, BYTE, shift)
    assert packed.fits and packed.longest_sum == longest


def test_without_the_smallest_numbers_sums_are_longer():
    assert PackedProducts(SYMMETRIC, SYMMETRIC, 18).longest_sum == 8
    assert packing(SYMMETRIC, SYMMETRIC) == PackedProducts(SYMMETRIC, SYMMETRIC, 19)
    assert PackedProducts(SYMMETRIC, SYMMETRIC, 19).longest_sum == 16


def test_the_best_packing():
    assert packing(NIBBLE, BYTE) == PackedProducts(NIBBLE, BYTE, 22)
    assert packing(BYTE, BYTE) == PackedProducts(BYTE, BYTE, 18)
    assert packing(Interval.of_bits(14), BYTE) is None  # the sum of one product has no room below the other
    assert not PackedProducts(NIBBLE, BYTE, 23).fits
    assert not PackedProducts(NIBBLE, Interval.of_bits(19), 18).fits


SHORTER = [
    (NIBBLE, 31, 16, 40),
    (NIBBLE, 32, 17, 40),
    (NIBBLE, 128, 19, 40),
    (NIBBLE, 511, 20, 40),
    (NIBBLE, 512, 21, 48),
    (BYTE, 7, 18, 40),
]


@pytest.mark.parametrize(("weights", "terms", "shift", "bits"), SHORTER)
def test_sums_of_fewer_terms_have_fewer_bytes(weights: Interval, terms: int, shift: int, bits: int):
    longest = packing(weights, BYTE)
    assert longest is not None
    narrow = longest.of_sums(terms, 0)
    assert (narrow.shift, narrow.bits) == (shift, bits) and narrow.fits and narrow.longest_sum >= terms
    assert longest.of_sums(terms, 41).bits == longest.of_sums(terms, 60).bits == 48
    with pytest.raises(ValueError, match="have room"):
        longest.of_sums(longest.longest_sum + 1, 0)


def taken_apart(total: int, shift: int, bits: int) -> tuple[int, int]:
    """Both halves of a sum that an integer of so many bits holds."""
    total = (total + (1 << bits - 1)) % (1 << bits) - (1 << bits - 1)
    low = (total & (1 << shift) - 1) - ((total >> shift - 1 & 1) << shift)
    return low, (total >> shift) + (total >> shift - 1 & 1)


FACTORS = [(NIBBLE, BYTE), (BYTE, BYTE), (SYMMETRIC, SYMMETRIC), (Interval(0, 3), NIBBLE)]


@pytest.mark.parametrize(("weights", "activations"), FACTORS)
@pytest.mark.parametrize("terms", [1, 2, 5, None])
def test_the_longest_sums_of_extreme_products_come_out(weights: Interval, activations: Interval, terms: int | None):
    packed = packing(weights, activations)
    assert packed is not None
    packed = packed.of_sums(terms or packed.longest_sum, 0)
    corners = list(product((weights.least, weights.most), (weights.least, weights.most), (activations.least, activations.most)))
    for w0, w1, x in corners:
        factor = (w1 << packed.shift) + w0
        assert factor in range(-(1 << FACTOR_BITS - 1), 1 << FACTOR_BITS - 1)
        sums = (packed.longest_sum * w0 * x, packed.longest_sum * w1 * x)
        assert taken_apart(packed.longest_sum * factor * x, packed.shift, packed.bits) == sums
    longer = packed.longest_sum + 1
    assert any(
        taken_apart(longer * ((w1 << packed.shift) + w0) * x, packed.shift, packed.bits) != (longer * w0 * x, longer * w1 * x)
        for w0, w1, x in corners
    )
