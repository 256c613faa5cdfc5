"""Shape of adder trees: how terms that are there at once come to one sum."""

from __future__ import annotations

from stc.iteration.vectorize import largest_divisor

LONGEST_CHAIN = 8
"""Products that DSPs add up one after the other, each to the sum of the one below: what a column of them does without LUTs."""


def chain_length(terms: int, *, adds_in_dsp: bool) -> int:
    """Terms of each chain in front of a tree of `terms`: more than one only where the multipliers' DSPs add."""
    return largest_divisor(terms, LONGEST_CHAIN) if adds_in_dsp else 1


def tree_strides(leaves: int) -> list[int]:
    """For each level of a tree over `leaves` numbers how far apart those are that it adds: entry n takes entry n + stride, for
    each n that twice the stride divides and that has such a neighbour. What has none waits for the next level."""
    strides = list[int]()
    while (1 << len(strides)) < leaves:
        strides.append(1 << len(strides))
    return strides
