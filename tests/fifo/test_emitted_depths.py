"""Emitted depths: never less than required, and never at the cost of another block."""

from __future__ import annotations

import pytest

from stc.fifo.emission import emitted_depth
from stc.platforms.fifo_storage import fifo_cost, largest_depth_of_same_cost

WIDTHS = (1, 8, 9, 31, 32, 36, 64, 72, 255, 512, 513, 1024, 4096)
DEPTHS = (1, 2, 3, 16, 17, 63, 64, 65, 127, 128, 129, 511, 512, 513, 1024, 2047, 2048, 4095, 4096, 4097)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("depth", DEPTHS)
def test_one_more_than_the_largest_depth_of_same_cost_costs_something_else(bits: int, depth: int) -> None:
    largest = largest_depth_of_same_cost(bits, depth)
    assert largest >= depth
    assert fifo_cost(bits, largest) == fifo_cost(bits, depth)
    assert fifo_cost(bits, largest + 1) != fifo_cost(bits, depth)


@pytest.mark.parametrize("bits", WIDTHS)
@pytest.mark.parametrize("required", DEPTHS)
def test_an_emitted_depth_has_the_margin_and_costs_no_more_than_that(bits: int, required: int) -> None:
    tokens = 5 * required
    emitted = emitted_depth(bits, tokens, required, margin=10)
    assert required <= emitted <= max(2, tokens)
    if required > 2:
        assert emitted >= 1.1 * required
        assert fifo_cost(bits, emitted) == fifo_cost(bits, -(-required * 110 // 100))


@pytest.mark.parametrize(("required", "tokens", "emitted"), [(1, 100, 2), (2, 100, 2), (3, 3, 3), (60, 61, 61), (60, 1000, 128)])
def test_examples(required: int, tokens: int, emitted: int) -> None:
    assert emitted_depth(512, tokens, required, margin=10) == emitted
