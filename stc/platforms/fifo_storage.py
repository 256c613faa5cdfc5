"""Which memory a FIFO is built of, and what it costs: a step function of depth and width."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Literal

from stc.platforms.platform import Resources

FifoStorage = Literal["srl", "lutram", "bram", "uram"]

# Shift registers are free up to either; a LUT holds 64 bits of distributed RAM, so that depth, not size, decides against
# block RAM, whose blocks are 512 deep at full width.
SRL_MAX_DEPTH = 2
SRL_MAX_BITS = 1024
LUTRAM_MAX_DEPTH = 128
LUTRAM_MAX_WIDTH = 512
URAM_WIDTH = 72
URAM_DEPTH = 4096

MARGIN = 10
"""Per cent. Loop depths are estimates; a FIFO that bridges a distance in time should survive that they are a little off."""
# Below half of an URAM's depth block RAM is the better fit, whatever the width.
URAM_MIN_DEPTH = URAM_DEPTH // 2
# (width, depth) of a BRAM18 in its three useful shapes.
BRAM18_SHAPES = ((36, 512), (18, 1024), (9, 2048))


def fifo_storage(bits: int, depth: int) -> FifoStorage:
    """The memory for a FIFO of `depth` tokens of `bits` each."""
    if depth <= SRL_MAX_DEPTH or bits * depth <= SRL_MAX_BITS:
        return "srl"
    if depth <= LUTRAM_MAX_DEPTH and bits <= LUTRAM_MAX_WIDTH:
        return "lutram"
    if depth >= URAM_MIN_DEPTH and bits >= URAM_WIDTH // 2:
        return "uram"
    return "bram"


def bram18_blocks(bits: int, depth: int) -> int:
    """BRAM18 blocks (18 kbit) of a FIFO in block RAM, in the best of the three shapes."""
    return min(ceil(bits / width) * ceil(depth / words) for width, words in BRAM18_SHAPES)


def uram_blocks(bits: int, depth: int) -> int:
    """URAM blocks (288 kbit) of a FIFO in ultra RAM."""
    return ceil(bits / URAM_WIDTH) * ceil(depth / URAM_DEPTH)


LUT_BITS = 64
"""Bits of distributed RAM in one LUT."""


@dataclass(frozen=True)
class FifoCost:
    """What a FIFO takes: LUTs of distributed RAM, or blocks of BRAM18 or of URAM; shift registers count as nothing."""

    lut: int = 0
    bram18: int = 0
    uram: int = 0

    def share(self, usable: Resources) -> float:
        """The part of a device with these `usable` resources, summed over kinds: what makes different memories comparable."""
        return self.lut / usable.lut + self.bram18 / (2 * usable.bram36) + self.uram / usable.uram


def fifo_cost(bits: int, depth: int) -> FifoCost:
    """The cost of a FIFO of `depth` tokens of `bits` each: a step function of the depth."""
    match fifo_storage(bits, depth):
        case "srl":
            return FifoCost()
        case "lutram":
            return FifoCost(lut=bits * ceil(depth / LUT_BITS))
        case "bram":
            return FifoCost(bram18=bram18_blocks(bits, depth))
        case "uram":
            return FifoCost(uram=uram_blocks(bits, depth))


def largest_depth_of_same_cost(bits: int, depth: int) -> int:
    """The largest depth, at least `depth`, in the same memory and at the same cost."""
    match fifo_storage(bits, depth):
        case "srl":
            return max(SRL_MAX_DEPTH, SRL_MAX_BITS // bits)
        case "lutram":
            return LUT_BITS * ceil(depth / LUT_BITS)
        case "uram":
            return URAM_DEPTH * ceil(depth / URAM_DEPTH)
        case "bram":
            blocks = bram18_blocks(bits, depth)
            largest = max(blocks // ceil(bits / width) * words for width, words in BRAM18_SHAPES)
            return min(largest, URAM_MIN_DEPTH - 1) if bits >= URAM_WIDTH // 2 else largest
