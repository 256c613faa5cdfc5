"""How many groups the reduction of a contraction is filled up to, so that more tasks divide them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import floor

from stc.design_space.parallelism import divisors

MOST_FILLED = Fraction(1, 6)
"""Of the groups: what may be filled up with zeros, which ports bring as well."""

WORTH_FILLED = 2
"""How many times the part by which it gets more groups a contraction has to be over sooner: what ports bring, others wait for."""


def filled_groups(groups: int, words: int, tasks: int) -> int:
    """As many groups as `groups`, or a few more, which are all zeros.

    `words`: of rows, each of which a task computes for one group after the other; `tasks`: the most that may be side by side. Where
    there are several for each word of rows, they take groups in turn, as many as divide these: of 7 groups all or one, of 8 four.
    """
    most = tasks // words
    if groups == 1 or most < 2:
        return groups
    best = min(_filled(groups), key=lambda count: (_turns(count, most), count))
    sooner = 1 - Fraction(_turns(best, most), _turns(groups, most))
    return best if sooner > WORTH_FILLED * (Fraction(best, groups) - 1) else groups


def _filled(groups: int) -> Iterator[int]:
    yield from range(groups, floor(groups * (1 + MOST_FILLED)) + 1)


def _turns(groups: int, most: int) -> int:
    """How many groups each task has, of at most so many tasks."""
    return groups // max(parts for parts in divisors(groups) if parts <= most)
