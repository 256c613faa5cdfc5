"""Load tasks run ahead exactly as far as the gaps between their words ask for."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.fifo.run_ahead import deepest_within, depth_without_gaps
from stc.network.graph import Channel


def is_in_time(gaps: list[int], needed: list[int], retained: int, depth: int) -> bool:
    """Whether a task that takes `gaps` cycles for its words has each in the FIFO before it is needed, word by word, where the
    reader takes each so many cycles later."""
    at = -1
    for word, gap in enumerate(gaps):
        at += gap
        if word >= depth:
            at = max(at, needed[word - depth] + retained + 1)
        if at >= needed[word]:
            return False
    return True


@st.composite
def words(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    """Cycles that a load task needs for each of its words, and when they are needed by a reader that never waits too little."""
    gaps = draw(st.lists(st.sampled_from([1, 1, 1, 2, 7, 20]), min_size=1, max_size=40))
    waits = draw(st.lists(st.sampled_from([1, 1, 1, 3, 15]), min_size=len(gaps), max_size=len(gaps)))
    at, last, taken = -1, draw(st.integers(0, 30)), list[int]()
    for gap, wait in zip(gaps, waits, strict=True):
        at += gap
        last = max(at + 1, last + wait)
        taken.append(last)
    return gaps, taken


@given(words(), st.integers(0, 2))
def test_least_depth(case: tuple[list[int], list[int]], retained: int) -> None:
    gaps, needed = case
    depth = depth_without_gaps(np.cumsum(gaps) - 1, np.array(needed), np.array(needed) + retained)
    assert is_in_time(gaps, needed, retained, depth)
    assert depth == 2 or not is_in_time(gaps, needed, retained, depth - 1)


@pytest.mark.parametrize("words", [1, 2, 3, 50])
def test_words_without_gaps_need_no_room(words: int) -> None:
    written = np.arange(words)
    assert depth_without_gaps(written, written + 100, written + 100) == 2


def test_bursts_that_begin_anew_are_loaded_before() -> None:
    """Three bursts of 8 words, 50 cycles apart, which a reader takes in one go after cycle 400: two wait in the FIFO, and the first
    word of the third in the task that loads it. A reader with gaps of its own needs none of that."""
    written = (np.arange(8) + 58 * np.arange(3)[:, np.newaxis]).ravel()
    at_once, slowly = 400 + np.arange(24), 400 + 60 * np.arange(24)
    assert depth_without_gaps(written, at_once, at_once) == 16
    assert depth_without_gaps(written, slowly, slowly) == 2


def test_those_that_want_more_than_an_equal_part_get_that() -> None:
    """The others, which want less, get all that they want."""
    bits = {"wide": 512, "narrow": 8, "other": 16}
    fifos = [Channel(name, "load", "task", tokens=100, depth=4, bits=bits[name]) for name in bits]
    depths = {"wide": 10, "narrow": 14}
    assert deepest_within(160, fifos, depths) == {"narrow": 14}
    assert deepest_within(80 + 6 * 512, fifos, depths) == depths
    assert deepest_within(80 + 3 * 512, fifos, depths) == {"narrow": 14, "wide": 7}
    assert deepest_within(80 + 6 * 512 + 15, fifos, depths) == depths
    assert deepest_within(159, fifos, depths) == {"narrow": 13}
    assert deepest_within(15, fifos, depths) == {}
    alike = {"wide": 10, "other": 4 + 6 * 32, "narrow": 14}
    assert deepest_within(80 + 2 * 3 * 512, fifos, alike) == {"wide": 7, "other": 4 + 3 * 32, "narrow": 14}
