"""The choice of memories: against every other choice of small cases, and what it does when nothing is scarce."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping, Sequence
from itertools import product

import pytest

from stc.design_space.storage import COMFORTABLE, GAP, SUM_WEIGHT, Shares, choose_memories

RESOURCES = ("lut", "bram", "uram")


def value(buffers: Sequence[Mapping[str, Shares]], used: Shares, chosen: Sequence[str]) -> float:
    """What the choice makes small."""
    total = dict(used)
    for options, option in zip(buffers, chosen, strict=True):
        for resource, share in options[option].items():
            total[resource] = total.get(resource, 0.0) + share
    return max(COMFORTABLE, *total.values()) + SUM_WEIGHT * sum(total.values())


@pytest.mark.parametrize("seed", range(12))
def test_no_other_choice_is_better(seed: int) -> None:
    draw = random.Random(seed)
    used = {resource: draw.choice([0.0, 0.3, 0.6]) for resource in RESOURCES}
    kinds = [
        {resource: {resource: draw.choice([0.02, 0.05, 0.11, 0.3])} for resource in draw.sample(RESOURCES, draw.randint(1, 3))}
        for _ in range(3)
    ]
    buffers = [draw.choice(kinds) for _ in range(7)]
    chosen = choose_memories(buffers, used)
    best = min(value(buffers, used, other) for other in product(*buffers))
    assert value(buffers, used, chosen) <= best * (1 + 2 * GAP)


def test_with_room_to_spare_each_takes_what_costs_least() -> None:
    small, large = {"lut": {"lut": 0.001}, "bram": {"bram": 0.002}}, {"lut": {"lut": 0.2}, "bram": {"bram": 0.05}}
    assert choose_memories([small, large, small], {"bram": 0.3}) == ["lut", "bram", "lut"]


def test_what_is_full_is_left_for_what_is_free() -> None:
    buffers = [{"bram": {"bram": 0.1}, "uram": {"uram": 0.15}}] * 4
    chosen = choose_memories(buffers, {"bram": 0.7})
    assert sorted(chosen) == ["uram"] * 4
    assert choose_memories(buffers, {"bram": 0.7}) == chosen


def test_a_larger_option_is_never_taken_and_equal_ones_keep_their_order() -> None:
    assert choose_memories([{"bram": {"bram": 0.2}, "more": {"bram": 0.3}}], {}) == ["bram"]
    assert choose_memories([{"first": {"bram": 0.2}, "second": {"bram": 0.2}}], {}) == ["first"]


def test_nothing_and_nothing_allowed() -> None:
    assert choose_memories([], {"lut": 0.9}) == []
    with pytest.raises(ValueError, match="no option"):
        choose_memories([{}], {})


def test_thousands_of_buffers_take_seconds() -> None:
    draw = random.Random(0)
    buffers: list[Mapping[str, Shares]] = []
    for _ in range(5000):
        bits, words = 32 * draw.choice([1, 2, 4, 16]), draw.choice([8, 20, 64, 128, 300, 512, 1024, 3000])
        lut, bram = 8 * -(-bits // 7) * -(-words // 64), -(-bits // 36) * -(-words // 512)
        uram = -(-bits // 72)
        buffers.append({"lut": {"lut": lut / 790e3}, "bram": {"bram": bram / 2842}, "uram": {"uram": uram / 768}})
    begin = time.process_time()
    choose_memories(buffers, {"lut": 0.6, "bram": 0.2})
    assert time.process_time() - begin < 2
