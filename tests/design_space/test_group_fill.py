"""How far groups of a reduction, and rows between contractions, are filled up for tasks that divide them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from stc.design_space.group_fill import MOST_FILLED, WORTH_FILLED, Tiles, filled_groups, filled_hidden
from stc.design_space.parallelism import Parallelism, Work, divisors, may_be_dealt
from stc.platforms.budget import NOTHING

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


@pytest.mark.parametrize(
    ("words", "groups", "tasks", "turns"),
    [(32, 8, 24, 16), (33, 8, 24, 11), (8, 33, 24, 11), (7, 7, 48, 7), (7, 7, 49, 1), (13, 11, 1, 143), (16, 9, 24, 8)],
)
def test_turns(words: int, groups: int, tasks: int, turns: int) -> None:
    assert Tiles(words, groups).turns(tasks) == turns


def test_turns_are_those_that_the_search_has() -> None:
    """Copies of 64 lanes that divide words, and their parts, which take groups."""
    for words in range(1, 20):
        for groups in range(1, 20):
            product = Work("p", 64 * words * groups, 64 * words, NOTHING, 64, words, False, 0, dealt_extent=groups, shares=1)
            chosen = [Parallelism(64, copies, parts=parts) for copies in divisors(words) for parts in divisors(groups)]
            may_be = [each for each in chosen if may_be_dealt(product, each)]
            for tasks in (1, 2, 5, 24):
                assert Tiles(words, groups).turns(tasks) == min(product.cycles(each) for each in may_be if each.tasks <= tasks)


HIDDEN = [
    (32, [Tiles(1, 8)], [Tiles(8, 1)], 24, 33),  # of gpt2-medium: 24 tasks for 16
    (38, [Tiles(2, 7)], [Tiles(7, 1)], 24, 39),  # of qwen2.5-0.5b: 21 for 19 and 14
    (33, [Tiles(1, 8)], [Tiles(8, 1)], 24, 33),
    (32, [Tiles(1, 8)], [Tiles(8, 1)], 1, 32),  # the same for one
    (5, [Tiles(1, 1)], [Tiles(1, 1)], 6, 5),  # a sixth of five is less than one
]


@pytest.mark.parametrize(("units", "makers", "readers", "tasks", "filled"), HIDDEN)
def test_hidden(units: int, makers: list[Tiles], readers: list[Tiles], tasks: int, filled: int) -> None:
    assert filled_hidden(units, makers, readers, tasks) == filled


def test_hidden_that_is_filled_up_is_worth_it() -> None:
    more = 0
    for units in range(1, 50):
        for groups, words in ((1, 1), (8, 8), (7, 5), (3, 11)):
            for tasks in (1, 3, 16, 24, 31):

                def turns(count: int, groups: int = groups, words: int = words, tasks: int = tasks) -> int:
                    return Tiles(2 * count, groups).turns(tasks) + Tiles(words, count).turns(tasks)

                filled = filled_hidden(units, [Tiles(2, groups)], [Tiles(words, 1)], tasks)
                assert units <= filled <= units * (1 + MOST_FILLED)
                sooner = 1 - Fraction(turns(filled), turns(units))
                assert filled == units or sooner > WORTH_FILLED * (Fraction(filled, units) - 1)
                more += filled > units
    assert more > 100
