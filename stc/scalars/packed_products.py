"""Two products of small integers that share a factor, in one multiplier of a DSP48E2: 27 by 18 bits, sums of 48.

Weights w0 and w1 and an activation x: A = w1 * 2^s + w0 is one factor, P the sum of A * x over several terms. Then the low s bits
of P, taken with their sign, are the sum of w0 * x. That of w1 * x is P / 2^s, rounded down, and one more where bit s - 1 is set.
Both hold as long as the sum of w0 * x is a number of s bits, and that of w1 * x one of the bits above, but the
least, of which a negative number below borrows (AMD's white papers WP486 and WP521).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

FACTOR_BITS = 27
OTHER_FACTOR_BITS = 18
SUM_BITS = 48

SUM_WIDTHS = (40, SUM_BITS)
"""Bits of sums, in whole bytes, narrowest first."""


@dataclass(frozen=True)
class Interval:
    """Integers from `least` to `most`, both included."""

    least: int
    most: int

    @classmethod
    def of_bits(cls, bits: int) -> Interval:
        """All signed integers of so many bits."""
        return cls(-(1 << bits - 1), (1 << bits - 1) - 1)

    @classmethod
    def unsigned(cls, bits: int) -> Interval:
        """All integers of so many bits without a sign."""
        return cls(0, (1 << bits) - 1)

    def __contains__(self, other: Interval) -> bool:
        return self.least <= other.least and other.most <= self.most

    def times(self, other: Interval) -> Interval:
        corners = [x * y for x in (self.least, self.most) for y in (other.least, other.most)]
        return Interval(min(corners), max(corners))

    def scaled(self, factor: int) -> Interval:
        """Sums of so many entries; `factor` is not negative."""
        return Interval(factor * self.least, factor * self.most)

    def plus(self, other: Interval) -> Interval:
        return Interval(self.least + other.least, self.most + other.most)


@dataclass(frozen=True)
class PackedProducts:
    """Weights and activations in these intervals, packed `shift` bits apart; sums are of `bits`."""

    weights: Interval
    activations: Interval
    shift: int
    bits: int = SUM_BITS

    @property
    def fits(self) -> bool:
        """Whether both factors have room in the multiplier."""
        factor = self.weights.scaled(1 << self.shift).plus(self.weights)
        return factor in Interval.of_bits(FACTOR_BITS) and self.activations in Interval.of_bits(OTHER_FACTOR_BITS)

    @property
    def longest_sum(self) -> int:
        """Terms after which both sums can still be told apart."""
        product = self.weights.times(self.activations)
        return min(_terms(product, self.low), _terms(product, self.high))

    @property
    def low(self) -> Interval:
        """What has room below."""
        return Interval.of_bits(self.shift)

    @property
    def high(self) -> Interval:
        """What has room above, also where a negative number below borrows 1 of it."""
        room = Interval.of_bits(self.bits - self.shift)
        return Interval(room.least + 1, room.most)

    def of_sums(self, terms: int, bits: int) -> PackedProducts:
        """The packing with room for so many `terms`, of at least so many `bits`, 48 at most: the fewest, then the least shift."""
        if terms > self.longest_sum:
            raise ValueError(f"sums of {terms} terms, of which {self.longest_sum} have room")
        widths = [width for width in SUM_WIDTHS if width >= min(bits, SUM_BITS)]
        packings = (each for width in widths for each in _packings(self.weights, self.activations, width))
        return next(each for each in packings if each.longest_sum >= terms)


def _terms(product: Interval, room: Interval) -> int:
    """The longest sum of numbers in `product` that stays in `room`, which holds 0."""
    counts = [room.most // product.most] if product.most > 0 else []
    counts += [room.least // product.least] if product.least < 0 else []
    return min(counts, default=1 << SUM_BITS)


def packing(weights: Interval, activations: Interval) -> PackedProducts | None:
    """The packing with the longest sums; None where not even one product has room."""
    packings = (each for each in _packings(weights, activations, SUM_BITS) if each.longest_sum > 0)
    return max(packings, key=lambda each: each.longest_sum, default=None)


def _packings(weights: Interval, activations: Interval, bits: int) -> Iterator[PackedProducts]:
    """All that have room in the multiplier, the weights closest together first."""
    packings = (PackedProducts(weights, activations, shift, bits) for shift in range(1, FACTOR_BITS))
    return (each for each in packings if each.fits)
