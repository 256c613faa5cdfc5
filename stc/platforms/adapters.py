"""What the adapter of a memory port takes, by the width of its words."""

from __future__ import annotations

ADAPTER_BRAM18 = {32: 2, 256: 16, 512: 30}
"""Blocks of 18 kbit by bits: published with the other figures of adapters (`m_axi_adapter_512b` in the table of operators)."""

ASSUMED_BRAM18 = {128: 8}
"""Between the published 32 and 256 bit, for platforms whose ports are no wider, as `m_axi_adapter_128b` of the operators."""

WIDEST = max(ADAPTER_BRAM18)


def adapter_width(bits: int, widest: int = WIDEST) -> int:
    """The width with figures that words of `bits` have, on a platform whose widest ports have `widest`: the next one."""
    assumed = [width for width in ASSUMED_BRAM18 if widest <= width]
    widths = sorted([*ADAPTER_BRAM18, *assumed])
    return next((width for width in widths if width >= bits), WIDEST)


def adapter_bram18(bits: int, widest: int = WIDEST) -> int:
    """Blocks of 18 kbit of the adapter of a port with words of `bits`, on such a platform."""
    return (ADAPTER_BRAM18 | ASSUMED_BRAM18)[adapter_width(bits, widest)]
