"""What a FIFO costs while its depth is looked for, by depth and width, in steps; `choose-storage` weighs all memories later."""

from __future__ import annotations

from math import ceil
from typing import Literal

from stc.platforms.memories import MemoryCost, memory_cost, shapes

FifoStorage = Literal["srl", "lutram", "bram", "uram"]

# Shift registers are free up to either; a LUT holds 64 bits of distributed RAM, so that depth, not size, decides against
# block RAM, whose blocks are 512 deep at full width.
SRL_MAX_DEPTH = 2
SRL_MAX_BITS = 1024
LUTRAM_MAX_DEPTH = 128
LUTRAM_MAX_WIDTH = 512
_OF_FIFOS = [shape for shape in shapes() if "fifo" in shape.ports]
_LUTRAM, _URAM = (next(shape for shape in _OF_FIFOS if shape.memory == memory) for memory in ("lutram", "uram"))
_BRAM = [shape for shape in _OF_FIFOS if shape.memory == "bram"]

MARGIN = 10
"""Per cent. Loop depths are estimates; a FIFO that bridges a distance in time should survive that they are a little off."""
# Below half of an URAM's depth block RAM is the better fit, whatever the width.
URAM_MIN_DEPTH = _URAM.words // 2


def fifo_storage(bits: int, depth: int) -> FifoStorage:
    """The memory for a FIFO of `depth` tokens of `bits` each, where nothing else says."""
    if depth <= SRL_MAX_DEPTH or bits * depth <= SRL_MAX_BITS:
        return "srl"
    if depth <= LUTRAM_MAX_DEPTH and bits <= LUTRAM_MAX_WIDTH:
        return "lutram"
    if depth >= URAM_MIN_DEPTH and bits >= _URAM.width // 2:
        return "uram"
    return "bram"


LUT_BITS = 64
"""Bits of distributed RAM in one LUT."""


def fifo_cost(bits: int, depth: int) -> MemoryCost:
    """The cost of a FIFO of `depth` tokens of `bits` each: a step function of the depth. Shift registers count as nothing."""
    storage = fifo_storage(bits, depth)
    return MemoryCost() if storage == "srl" else memory_cost(storage, "fifo", bits, depth)


def largest_depth_of_same_cost(bits: int, depth: int) -> int:
    """The largest depth, at least `depth`, in the same memory and at the same cost."""
    match fifo_storage(bits, depth):
        case "srl":
            return max(SRL_MAX_DEPTH, SRL_MAX_BITS // bits)
        case "lutram":
            return _LUTRAM.words * ceil(depth / _LUTRAM.words)
        case "uram":
            return _URAM.words * ceil(depth / _URAM.words)
        case "bram":
            blocks = fifo_cost(bits, depth).bram18
            largest = max(blocks // ceil(bits / shape.width) * shape.words for shape in _BRAM)
            return min(largest, URAM_MIN_DEPTH - 1) if bits >= _URAM.width // 2 else largest
