"""Into how many partial sums a reduction is split, so that lanes or copies find parallel work in it."""

from __future__ import annotations

from stc.design_space.parallelism import PORT_LANES, lane_counts


def lane_sums(extent: int) -> int:
    """Partial sums that lanes of one task make side by side along a reduction of `extent` iterations; 1 for none.

    No more than a port brings at once, and few enough for combining them to take no longer than a lane takes to make its own.
    """
    return max(lanes for lanes in lane_counts(extent) if lanes <= PORT_LANES and lanes * lanes <= extent)


def copy_sums(extent: int, most: int) -> int:
    """Partial sums, at most `most`, that copies of a task make of slices of the reduction; 1 for none.

    Few enough for combining them to take no longer than a copy takes to make its own.
    """
    return max(count for count in range(1, extent + 1) if extent % count == 0 and count <= max(1, most) and count * count <= extent)
