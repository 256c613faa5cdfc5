"""What is searched next where a design is beyond its budget, and when no search is left."""

from __future__ import annotations

from dataclasses import replace

import pytest

from stc.diagnostics import BeyondBudget, CompileError
from stc.pipeline import PipelineOptions
from stc.platforms.budget import PLAN, SMALL, Counts
from stc.tools.budget_fit import (
    MOST_TRIES,
    Fit,
    fit_of,
    narrower,
    require_platform,
    searched_again,
    searched_between,
    without_search,
)
from stc.transforms.linalg.choose_parallelism import ChooseParallelism

OPTIONS = PipelineOptions(budget="dsp=100,lut=1000,ff=1000,bram=40,uram=0,ports=9")
TAKEN = {"dsp": 90, "lut": 2000, "ff": 800, "bram18": 50, "uram": 0}
EXPECTED = Counts(95, 900, 700, 20, 0, 9)


def fit(expected: Counts | None = EXPECTED) -> Fit:
    return fit_of(OPTIONS, TAKEN, 9, expected)


def test_what_lacks_is_searched_within_less_in_proportion() -> None:
    assert fit().lacking == "2,000 LUT of 1,000, 50 BRAM18 of 40"
    again = searched_again(OPTIONS, fit(), None, 1)
    assert again.search_within == "dsp=100,lut=427,ff=1000,bram=40,uram=0,ports=9" and again.budget == OPTIONS.budget


@pytest.mark.parametrize(("bram18", "bram"), [(50, 40), (80, 40), (100, 7)])
def test_memories_of_another_kind_are_limited_where_they_lack_more(bram18: int, bram: int) -> None:
    """Else they are beyond the budget since LUTs are short, of which the search said the largest share: 0.9, half of the BRAM18."""
    short = fit_of(OPTIONS, {**TAKEN, "bram18": bram18}, 9, EXPECTED)
    assert searched_again(OPTIONS, short, None, 1).search_within == f"dsp=100,lut=427,ff=1000,bram={bram},uram=0,ports=9"


def test_in_the_last_try_all_memories_that_lack_are_limited() -> None:
    within = searched_again(OPTIONS, fit(), None, MOST_TRIES - 1).search_within
    assert within == "dsp=100,lut=427,ff=1000,bram=15,uram=0,ports=9"


def test_memories_that_the_search_said_most_of_are_limited() -> None:
    """Here BRAM18, 38 of 40; no URAM is there at all."""
    taken = {**TAKEN, "lut": 1200, "bram18": 50, "uram": 1}
    short = fit_of(OPTIONS, taken, 9, EXPECTED._replace(bram=38))
    assert searched_again(OPTIONS, short, None, 1).search_within == "dsp=100,lut=1000,ff=1000,bram=28,uram=0,ports=9"


def test_where_little_is_missing_the_next_search_gets_little_less() -> None:
    """Half of what is missing, not a twentieth of the budget: 4 of 104 parts, and 2; 900 / 1.04 ** 1.5 is 848.6."""
    almost = fit_of(OPTIONS, {**TAKEN, "lut": 1040, "bram18": 40}, 9, EXPECTED)
    assert searched_again(OPTIONS, almost, None, 1).search_within == "dsp=100,lut=848,ff=1000,bram=40,uram=0,ports=9"


def test_a_search_within_less_that_finds_nothing_says_what_the_budget_lacks() -> None:
    """And not that its own limit, which nobody named, is too small."""
    too_few = BeyondBudget("one point of each takes 58 DSPs, the budget has 53", where=ChooseParallelism.name, accepted="dsp=58")
    with pytest.raises(BeyondBudget, match=r"^--budget dsp=100,.*takes 2,000 LUT of 1,000, 50 BRAM18 of 40; accepted: lut=2000"):
        without_search(replace(OPTIONS, search_within="dsp=53"), too_few, fit())
    with pytest.raises(BeyondBudget, match="one point of each"):
        without_search(OPTIONS, too_few, None)
    assert without_search(replace(OPTIONS, budget=PLAN), too_few, fit()).budget == SMALL


def test_between_a_search_that_fits_and_one_that_does_not() -> None:
    """1,200 LUT were taken of 1,000 where 900 were said, 800 where 600 were: nine tenths of the way to where 1,000 are."""
    missed = fit_of(OPTIONS, {**TAKEN, "lut": 1200, "bram18": 42}, 9, EXPECTED)
    fits = fit_of(OPTIONS, {**TAKEN, "lut": 800, "bram18": 30}, 9, EXPECTED._replace(lut=600))
    options = replace(OPTIONS, search_within="dsp=100,lut=650,ff=1000,bram=40,uram=0,ports=9")
    between = searched_between(options, fits, missed, 2)
    assert between is not None and between.search_within == "dsp=100,lut=735,ff=1000,bram=40,uram=0,ports=9"
    full = fit_of(OPTIONS, {**TAKEN, "lut": 980, "bram18": 30}, 9, EXPECTED._replace(lut=600))
    assert searched_between(options, full, missed, 2) is None
    assert searched_between(options, fits, missed, MOST_TRIES) is None
    assert searched_between(options, fits, None, 1) is None
    assert searched_between(options, replace(fits, expected=None), missed, 2) is None


def test_what_fits_lacks_nothing() -> None:
    assert fit_of(OPTIONS, {"dsp": 100, "lut": 1000, "ff": 1000, "bram18": 40, "uram": 0}, 9, None).lacking == ""


@pytest.mark.parametrize(
    ("expected", "before", "tries"),
    [(None, None, 1), (EXPECTED, fit(), 2), (EXPECTED, None, MOST_TRIES)],
    ids=["no search", "same", "tries"],
)
def test_no_search_is_left(expected: Counts | None, before: Fit | None, tries: int) -> None:
    with pytest.raises(CompileError, match=r"takes 2,000 LUT of 1,000, 50 BRAM18 of 40.*accepted: lut=2000,bram=50 or more"):
        searched_again(OPTIONS, fit(expected), before, tries)


def test_narrower_tokens_where_the_cheapest_design_is_beyond_the_plan() -> None:
    """The KV260's plan has 91,200 LUTs; block RAM does not shrink with lanes."""
    options, taken = PipelineOptions(platform="kv260", budget=SMALL), {"dsp": 9, "lut": 91_201, "ff": 9, "bram18": 9, "uram": 0}
    assert options.token_lanes == 4 and (one := narrower(options, taken)) is not None and one.lanes == 1
    assert narrower(one, taken) is None
    wide = narrower(replace(options, platform="u55c"), taken | {"dsp": 9999})
    assert wide is not None and wide.lanes == 4
    assert narrower(options, taken | {"lut": 91_200, "bram18": 999}) is None
    assert narrower(replace(options, lanes=2), taken) is None and narrower(replace(options, budget=PLAN), taken) is None


def test_what_takes_more_than_the_platform_has() -> None:
    options, taken = PipelineOptions(platform="kv260"), {"dsp": 9, "lut": 114_000, "ff": 9, "bram18": 288, "uram": 64}
    require_platform(options, taken)
    lacking = "114,001 LUT of 114,000, 289 BRAM18 of 288 that the platform has"
    with pytest.raises(BeyondBudget, match=f"^kv260: the design takes {lacking}; accepted: a larger platform"):
        require_platform(options, taken | {"lut": 114_001, "bram18": 289})
