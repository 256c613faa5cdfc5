"""The depth that is emitted for a FIFO: what the sizing requires, a margin, and what little more costs nothing."""

from __future__ import annotations

from math import ceil

from stc.platforms.fifo_storage import MARGIN, SRL_MAX_DEPTH, fifo_storage, largest_depth_of_same_cost


def emitted_depth(bits: int, tokens: int, required: int, margin: int = MARGIN) -> int:
    """The depth to emit where `required` slots of `bits` each are needed and `tokens` cross: never less than required.

    `margin` per cent are added, then the depth grows to the largest in the same memory at the same cost; more than all tokens are
    of no use. In block and ultra RAM, whose steps are large, it grows by as much as the margin again at most: the rest of a block
    costs nothing either if it stays empty, and a depth that says what is needed says more. A FIFO of two slots stays as it is: it
    bridges no distance, and as a shift register it answers a cycle earlier.
    """
    if required <= SRL_MAX_DEPTH:
        return SRL_MAX_DEPTH
    wanted = min(max(tokens, required), ceil(required * (100 + margin) / 100))
    free = largest_depth_of_same_cost(bits, wanted)
    if fifo_storage(bits, wanted) in ("bram", "uram"):
        free = min(free, max(wanted, ceil(required * (100 + 2 * margin) / 100)))
    return max(required, min(tokens, free))
