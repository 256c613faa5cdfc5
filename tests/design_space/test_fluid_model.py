"""The fluid model of run-ahead: what can be said without it of demands, ports and FIFOs, and what a simulated run asks for."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stc.design_space.fluid_model import Demand, Launch, demands_of

DEMANDS = st.lists(st.tuples(st.integers(0, 3000), st.integers(1, 3000)).map(lambda pair: Demand(*pair)), min_size=1, max_size=12)


def launch(*demands: Demand, rate: float = 0.8, speed: float = 1.0, behind: float = 0.0) -> Launch:
    return Launch(demands, behind, rate, speed, 4)


def test_a_port_that_is_slower_binds_what_never_waits() -> None:
    assert launch(Demand(0, 800)).cycles(10**6) == pytest.approx(1000)
    assert launch(Demand(0, 800), rate=2.0).cycles(16) == pytest.approx(800)


def test_what_came_in_a_gap_is_taken_at_the_speed_of_the_element() -> None:
    """400 words are there after 500 cycles, and 800 of 1,000 by cycle 1,000 of these; the last come as the port brings them."""
    assert launch(Demand(500, 1000)).cycles(10**6) == pytest.approx(500 + 1000)
    assert launch(Demand(500, 3000)).cycles(10**6) == pytest.approx(3000 / 0.8)
    assert launch(Demand(500, 1000)).cycles(100) == pytest.approx(500 + 500 + (1000 - 500) / 0.8)
    assert launch(Demand(500, 1000), behind=7).cycles(10**6) == pytest.approx(1507)


@given(DEMANDS, st.floats(0.1, 2.0), st.integers(1, 4096), st.integers(0, 4096))
def test_more_room_is_never_slower_and_nothing_is_faster_than_its_bounds(
    demands: list[Demand], rate: float, depth: int, more: int
) -> None:
    of = launch(*demands, rate=rate)
    words, gaps = sum(each.words for each in demands), sum(each.gap for each in demands)
    cycles = of.cycles(depth)
    assert of.cycles(depth + more) <= cycles + 1e-6
    assert max(gaps + words / of.speed, words / rate) - 1e-6 <= cycles <= gaps + words / min(rate, of.speed) + 1e-6


def test_two_elements_at_a_port_have_half_of_its_words_each() -> None:
    one = launch(Demand(100, 800), Demand(2000, 800))
    two = one.with_array(4, 2)
    assert [each.words for each in two.demands] == [400, 400]
    assert two.cycles(10**6) == pytest.approx(100 + 400 / 0.4 - 100 + 2000 + 400)
    assert one.with_array(8, 1).demands == two.demands


def test_demands_of_a_run() -> None:
    """60 cycles of work, 40 without activations, then 100, of which 20 were waited for words."""
    demands, speed = demands_of(0, 200, [(60, 100, 40, True), (150, 170, 20, False)], 70)
    assert speed == pytest.approx(0.5)
    assert demands == [Demand(0, 30), Demand(40, 40)]
    assert sum(each.gap + each.words / speed for each in demands) == 200 - 20
