"""Tile sizes and loop orders (method.md section 4)."""

from __future__ import annotations

from collections.abc import Sequence

from stc.iteration.vectorize import largest_divisor


def default_tiles(extents: Sequence[int], default_tile_size: int) -> tuple[int, ...]:
    """One default for every loop: the largest divisor of its extent that is not above the default."""
    return tuple(largest_divisor(extent, default_tile_size) for extent in extents)


def default_order(loop_count: int, reductions: Sequence[int]) -> tuple[int, ...]:
    """Tile loops, outermost first: parallel loops outside, reductions inside, otherwise as written."""
    parallel = [loop for loop in range(loop_count) if loop not in reductions]
    return (*parallel, *reductions)
