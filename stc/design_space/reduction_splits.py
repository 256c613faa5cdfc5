"""Into how many partial sums a reduction is split, so that lanes or copies find parallel work in it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from stc.design_space.parallelism import PORT_LANES, lane_counts
from stc.iteration.reshape import Groups


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


def arg_max_groups(extents: Sequence[int]) -> Groups:
    """How the dimensions of terms, of which the largest is found, are split: the outermost part of the first is copies, the
    innermost of the last lanes, each of which finds the largest of its own.

    Lanes as those of sums. Copies are a power of two, as words and lanes of what makes the terms mostly are, and so many that all
    parts take about as long to compare as one takes to find its own: at most twice as many in all as terms in each.
    """
    total, copies = prod(extents), 1
    lanes = max(count for count in lane_counts(extents[-1]) if count <= PORT_LANES and count * count <= total)
    first = extents[0] // (lanes if len(extents) == 1 else 1)
    while first % (2 * copies) == 0 and (2 * copies * lanes) ** 2 <= 2 * total:
        copies *= 2
    if len(extents) == 1:
        return ((copies, first // copies, lanes),)
    return ((copies, first // copies), *((extent,) for extent in extents[1:-1]), (extents[-1] // lanes, lanes))
