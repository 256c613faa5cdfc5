"""The choice of contractions that multiply in LUTs: on works with one cost in DSPs and another in LUTs."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from stc.design_space.multipliers import Trial, multipliers_in_luts
from stc.design_space.parallelism import Work, choose_parallelism


def work(key: str, columns: int, depth: int, dsp: int = 1) -> Work:
    """A matrix product of 64 rows, which copies divide."""
    return Work(key, 64 * columns * depth, 64 * columns, dsp, columns, 64, False, int(key[1:]))


def on(works: list[Work], dsp: int, luts: Mapping[int, int]) -> Callable[[frozenset[int]], Trial]:
    """What a design of `works` is within `dsp` DSPs, where work i takes `luts[i]` LUTs a lane instead."""

    def trial(in_luts: frozenset[int]) -> Trial:
        changed = [replace(one, dsp=0) if index in in_luts else one for index, one in enumerate(works)]
        chosen = choose_parallelism(changed, dsp, 32)
        lut = sum(luts[i] * chosen[works[i].name].lanes * chosen[works[i].name].copies for i in in_luts)
        return Trial(max(one.cycles(chosen[one.name]) for one in changed), lut)

    return trial


def test_dsps_stay_where_they_do_not_bind():
    works = [work("w0", 64, 8), work("w1", 64, 8)]
    assert multipliers_in_luts([0, 1], on(works, 100_000, {0: 40, 1: 40}), 1e6) == frozenset()


def test_one_in_luts_leaves_its_dsps_to_the_other():
    """64 DSPs: both 64 lanes with one of them in LUTs, half of that without."""
    works = [work("w0", 64, 8), work("w1", 64, 8)]
    assert on(works, 64, {})(frozenset()).interval == 2 * 64 * 8
    assert multipliers_in_luts([0, 1], on(works, 64, {0: 41, 1: 40}), 1e6) == {1}


def test_several_move_that_gain_nothing_alone():
    """The slowest takes 5 DSPs a lane: the DSPs of both contractions together make it faster, those of one do not."""
    works = [work("w0", 4, 64, 5), work("w1", 2, 4, 2), work("w2", 2, 4, 2)]
    trial = on(works, 11, {1: 40, 2: 40})
    alone = {trial(frozenset(moved)).interval for moved in ((), (1,), (2,))}
    assert alone == {trial(frozenset()).interval} and trial(frozenset({1, 2})).interval < min(alone)
    assert multipliers_in_luts([1, 2], trial, 1e6) == {1, 2}


def test_there_are_so_many_luts():
    works = [work("w0", 64, 8), work("w1", 64, 8), work("w2", 64, 8)]
    trial = on(works, 16, dict.fromkeys(range(3), 40))
    assert len(multipliers_in_luts([0, 1, 2], trial, 3 * 64 * 40)) >= 2
    assert len(multipliers_in_luts([0, 1, 2], trial, 64 * 40)) == 1
    assert multipliers_in_luts([0, 1, 2], trial, 64 * 40 - 1) == frozenset()


def test_nothing_to_choose():
    assert multipliers_in_luts([], on([work("w0", 8, 8)], 8, {}), 1e6) == frozenset()


@pytest.mark.parametrize("seed", range(30))
def test_generated_choices(seed: int):
    """Within the LUTs, faster than without them, none in vain; with them given, the rest stays."""
    generator = random.Random(seed)
    sizes = [1, 2, 3, 5, 7, 12, 30, 64]
    works = [work(f"w{i}", generator.choice(sizes), generator.choice(sizes), generator.choice([1, 3, 5])) for i in range(5)]
    candidates = generator.sample(range(5), generator.randint(1, 4))
    trial = on(works, generator.choice([4, 20, 100, 400]), {i: generator.choice([40, 49, 256]) for i in candidates})
    lut = generator.choice([500, 5_000, 1e9])
    chosen = multipliers_in_luts(candidates, trial, lut)
    if chosen:
        made = trial(chosen)
        assert chosen <= set(candidates) and made.lut <= lut and made.interval < trial(frozenset()).interval
        assert all(trial(chosen - {one}).interval > made.interval for one in chosen)
    rest = [one for one in candidates if one not in chosen]
    assert multipliers_in_luts(rest, lambda more: trial(chosen | more), lut) == frozenset()
