"""How far groups of a reduction are filled up for tasks that take them in turn."""

from __future__ import annotations

from fractions import Fraction

import pytest

from stc.design_space.group_fill import MOST_FILLED, WORTH_FILLED, filled_groups

CASES = [
    (7, 7, 40, 8),  # a task for each word had all seven groups; four have two each
    (38, 7, 40, 40),  # 19 each of two, or 8 each of five
    (32, 8, 40, 32),  # four divide it: five of 35 would be over a fourth sooner than with a tenth more to bring
    (8, 32, 40, 8),  # more words than half of the tasks: one for each
    (7, 1, 40, 7),  # a task for each group
    (1, 1, 40, 1),  # a whole row
    (5, 2, 4, 5),  # a sixth of five is less than one
    (13, 1, 7, 14),
]


@pytest.mark.parametrize(("groups", "words", "tasks", "filled"), CASES)
def test_groups(groups: int, words: int, tasks: int, filled: int) -> None:
    assert filled_groups(groups, words, tasks) == filled


def test_what_is_filled_up_is_worth_it() -> None:
    def turns(count: int, most: int) -> int:
        return min(count // parts for parts in range(1, most + 1) if count % parts == 0)

    more = 0
    for groups in range(1, 60):
        for words in (1, 2, 3, 7):
            for tasks in range(0, 41, 5):
                filled, most = filled_groups(groups, words, tasks), max(1, tasks // words)
                assert groups <= filled <= groups * (1 + MOST_FILLED)
                sooner = 1 - Fraction(turns(filled, most), turns(groups, most))
                assert filled == groups or sooner > WORTH_FILLED * (Fraction(filled, groups) - 1)
                more += filled > groups
    assert more > 100
