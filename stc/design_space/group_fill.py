"""How many groups or rows a contraction is filled up to, so that more tasks divide them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor

from stc.design_space.parallelism import divisors

MOST_FILLED = Fraction(1, 6)
"""Of groups or rows: what may be filled up with zeros, which ports bring as well."""

WORTH_FILLED = 2
"""How many times the part by which they get more contractions have to be over sooner: what ports bring, others wait for."""


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


@dataclass(frozen=True)
class Tiles:
    """A contraction as words of rows, in so many `groups` of its reduction: what tasks divide."""

    words: int
    groups: int

    def turns(self, tasks: int) -> int:
        """How many words each task computes for a group, where at most so many divide them evenly: words, and the groups of each
        share of words as well if a task has one, or one word (`may_be_dealt`)."""
        shares = [(words, parts) for words in divisors(self.words) for parts in divisors(self.groups) if words * parts <= tasks]
        may_be = (words * parts for words, parts in shares if parts in (1, self.groups) or words == self.words)
        return self.words * self.groups // max(may_be)


def filled_hidden(units: int, makers: Sequence[Tiles], readers: Sequence[Tiles], tasks: int) -> int:
    """As many units of a dimension between contractions as `units`, or a few more, which are all zeros.

    `makers` make its rows, so many words for each unit; it is what `readers` reduce, so many groups for each. `tasks`: as many
    as may be side by side, of one contraction after the other. Where 32 words of rows of 8 groups leave 16 tasks of 24, 33 leave
    all.
    """

    def turns(count: int) -> int:
        made = [Tiles(each.words * count, each.groups) for each in makers]
        read = [Tiles(each.words, each.groups * count) for each in readers]
        return sum(each.turns(tasks) for each in (*made, *read))

    best = min(_filled(units), key=lambda count: (turns(count), count))
    sooner = 1 - Fraction(turns(best), turns(units))
    return best if sooner > WORTH_FILLED * (Fraction(best, units) - 1) else units
