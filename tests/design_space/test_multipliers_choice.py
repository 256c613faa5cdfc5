"""The choice of multipliers: on works that take DSPs for two points, DSPs for one, or LUTs."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import pytest

from stc.design_space.multipliers import WORTH, Trial, choose_multipliers
from stc.design_space.parallelism import Work
from stc.design_space.parallelism_search import balanced_parallelism
from stc.platforms.budget import Counts

Choice = Mapping[int, str]
LUTS = 40
PAIRS, PLAIN = ("pairs", "lut", "dsp"), ("lut", "dsp")


def work(key: str, columns: int, depth: int, dsp: int = 1) -> Work:
    """A matrix product of 64 rows, which copies divide."""
    return Work(key, 64 * columns * depth, 64 * columns, Counts(dsp=dsp), columns, 64, False, int(key[1:]))


def of_kind(one: Work, kind: str | None) -> Work:
    """A pair has two points in one; what is no candidate stays as it is."""
    if kind == "pairs":
        return replace(one, points=one.points // 2, sums=one.sums // 2, lane_extent=one.lane_extent // 2, point=Counts(1, 6))
    return {"dsp": replace(one, point=Counts(1, 6)), "lut": replace(one, point=Counts(0, LUTS), in_luts=True), None: one}[kind]


def on(works: Sequence[Work], dsp: int, lut: float) -> Callable[[Choice], Trial]:
    """What a design of `works` is within these limits, by the kinds of some of them."""

    def trial(choice: Choice) -> Trial:
        changed = [of_kind(one, choice.get(index)) for index, one in enumerate(works)]
        chosen = balanced_parallelism(changed, Counts(dsp, int(lut), 10**9, 10**9, 10**9, 32))
        at_once = {one.name: chosen[one.name].lanes * chosen[one.name].copies for one in changed}
        used = [sum(getattr(one.point, what) * at_once[one.name] for one in changed) for what in ("dsp", "lut")]
        return Trial(max(one.cycles(chosen[one.name]) for one in changed), *used)

    return trial


def kept(candidates: Mapping[int, Sequence[str]]) -> list[int]:
    """What is in DSPs first, which only what is faster takes the place of."""
    return [one for one, kinds in candidates.items() if kinds[0] != "lut"]


def chosen(works: Sequence[Work], candidates: Mapping[int, Sequence[str]], dsp: int, lut: float) -> tuple[Choice, Trial]:
    trial = on(works, dsp, lut)
    choice = choose_multipliers(candidates, trial, dsp, lut, kept(candidates))
    return choice, trial(choice)


TWO = (work("w0", 64, 8), work("w1", 64, 8))


def test_the_first_kind_stays_where_another_is_no_faster():
    floats = work("w1", 4, 512, 60)
    for kinds in (PAIRS, PLAIN, ("dsp",)):
        assert chosen([TWO[0], floats], {0: kinds}, 100, 1e6)[0] == {0: kinds[0]}


def test_what_is_scarce_is_left_to_others():
    """As fast with either: LUTs are scarcer, so plain products take DSPs; pairs stay, and products that would free too little."""
    floats = work("w1", 4, 512, 6)
    plenty = {0: PLAIN}
    at_once = on([TWO[0], floats], 1_000, 1e9)({0: "lut"})
    assert chosen([TWO[0], floats], plenty, 1_000, 2 * at_once.lut)[0] == {0: "dsp"}
    assert chosen([TWO[0], floats], plenty, 1_000, 1e9)[0] == {0: "lut"}
    assert chosen([TWO[0], floats], {0: PAIRS}, 1_000, 2 * at_once.lut)[0] == {0: "pairs"}


def test_luts_are_bought_where_dsps_are_short():
    """Two DSPs: one pair of each at once; 1,000 LUTs multiply 16 and leave their DSPs."""
    choice, made = chosen(TWO, {0: PAIRS, 1: PAIRS}, 2, 1_000)
    assert "lut" in choice.values() and made.lut <= 1_000 and made.dsp <= 2
    assert made.interval < on(TWO, 2, 1_000)({0: "pairs", 1: "pairs"}).interval


def test_dsps_are_taken_where_luts_are_short():
    choice, made = chosen(TWO, {0: PLAIN, 1: PLAIN}, 500, 3_000)
    assert "dsp" in choice.values() and made.lut <= 3_000
    assert made.interval < on(TWO, 500, 3_000)({0: "lut", 1: "lut"}).interval


def test_luts_last_for_so_many_lanes():
    intervals = [chosen(TWO, {0: PAIRS, 1: PAIRS}, 0, lut)[1].interval for lut in (2 * LUTS, 8 * LUTS, 64 * LUTS, 512 * LUTS)]
    assert intervals == sorted(intervals, reverse=True) and len(set(intervals)) == len(intervals)


def test_no_dsp_at_all():
    choice, made = chosen(TWO, {0: PAIRS, 1: PLAIN}, 0, 1e6)
    assert set(choice.values()) == {"lut"} and made.dsp == 0


def test_no_lut_to_multiply_in():
    """12 LUTs: of two DSPs, or two that pairs share."""
    choice, made = chosen(TWO, {0: PAIRS, 1: PLAIN}, 2, 12)
    assert choice == {0: "pairs", 1: "dsp"} and made == Trial(TWO[1].points, 2, 12)


@pytest.mark.parametrize(("dsp", "lut"), [(0, 0), (1, 45), (0, 79), (2, 11)])
def test_both_too_few(dsp: int, lut: int):
    """What is needed then is more than there is; one DSP and 46 LUTs are enough."""
    made = chosen(TWO, {0: PLAIN, 1: PLAIN}, dsp, lut)[1]
    assert made.excess(Trial(0, dsp, lut)) > 0
    assert chosen(TWO, {0: PLAIN, 1: PLAIN}, 1, 46)[1].excess(Trial(0, 1, 46)) == 0


def test_several_move_that_gain_nothing_alone():
    """The slowest takes 5 DSPs a lane: the DSPs of both contractions together make it faster, those of one do not."""
    works = [work("w0", 4, 64, 5), work("w1", 2, 4), work("w2", 2, 4)]
    candidates = {1: ("dsp", "lut"), 2: ("dsp", "lut")}
    trial = on(works, 10, 1e6)
    plain = {1: "dsp", 2: "dsp"}
    assert trial(plain).interval == trial({**plain, 1: "lut"}).interval
    assert trial(dict.fromkeys(plain, "lut")).interval < trial(plain).interval
    assert chosen(works, candidates, 10, 1e6)[0] == {1: "lut", 2: "lut"}


def test_nothing_to_choose():
    assert chosen(TWO, {}, 8, 1e6)[0] == {}


@pytest.mark.parametrize("seed", range(30))
def test_generated_choices(seed: int):
    """No worse than all alike, or with any single change; what has not its first kind would be worse with it."""
    generator = random.Random(seed)
    sizes = [2, 3, 5, 7, 12, 30, 64]
    works = [work(f"w{i}", generator.choice(sizes), generator.choice(sizes), generator.choice([1, 3, 5])) for i in range(5)]
    candidates = {i: generator.choice([PAIRS, PLAIN]) for i in generator.sample(range(5), generator.randint(1, 4))}
    dsp, lut = generator.choice([0, 4, 20, 100, 400]), generator.choice([30, 500, 5_000, 1e9])
    trial, limit = on(works, dsp, lut), Trial(0, dsp, lut)
    choice, made = chosen(works, candidates, dsp, lut)

    def rank(found: Trial) -> tuple[float, int]:
        return found.excess(limit), found.interval

    def worth(one: int, other: str) -> bool:
        """Whether another kind of one candidate may take the place of its first, by what it frees."""
        is_plain = candidates[one][0] == "lut" and rank(made) == rank(trial({**choice, one: other}))
        return is_plain and made.share(limit) + WORTH <= trial({**choice, one: other}).share(limit)

    assert all(choice[one] in kinds for one, kinds in candidates.items())
    for alike in ("pairs", "lut", "dsp"):
        same = {one: alike if alike in kinds else kinds[0] for one, kinds in candidates.items()}
        assert rank(made) <= rank(trial(same))
    for one, kinds in candidates.items():
        assert all(rank(made) <= rank(trial({**choice, one: kind})) for kind in kinds)
        first = trial({**choice, one: kinds[0]})
        assert choice[one] == kinds[0] or rank(made) < rank(first) or worth(one, kinds[0])
