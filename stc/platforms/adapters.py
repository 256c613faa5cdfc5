"""What the adapter of a memory port takes, by the width of its words."""

from __future__ import annotations

ADAPTER_BRAM18 = {32: 2, 256: 16, 512: 30}
"""Blocks of 18 kbit by bits: published with the other figures of adapters (`m_axi_adapter_512b` in the table of operators)."""


def adapter_width(bits: int) -> int:
    """The published width that words of `bits` have: the next one."""
    return next((width for width in ADAPTER_BRAM18 if width >= bits), max(ADAPTER_BRAM18))
