"""What `--budget` says: amounts that print as they were read, numbers on a platform, and refusals in one sentence."""

from __future__ import annotations

from itertools import permutations

import pytest

from stc.diagnostics import CompileError
from stc.pipeline import PipelineOptions, stages
from stc.platforms.budget import Budget, Counts, in_one_binary, part_of, parts_by_work, rest_of, searched_limits
from stc.platforms.platform import load_platform

U55C = load_platform("u55c")
PLANNED = Counts(dsp=6643, lut=791_700, ff=1_132_500, bram=2841, uram=768, ports=32)


def test_what_is_not_named_is_the_plan() -> None:
    assert Budget.parse("plan").limits(U55C) == PLANNED
    assert Budget.parse("dsp=60%,bram=17,uram=0,ports=29").limits(U55C) == Counts(4982, 791_700, 1_132_500, 17, 0, 29)
    assert Budget.parse("dsp=100%,lut=33.5%").limits(U55C) == Counts(8304, 378_885, 1_132_500, 2841, 768, 32)


@pytest.mark.parametrize(
    "text", ["plan", "plan/3", "plan/1.42", "dsp=60%/2", "dsp=60%", "dsp=2500,lut=33.5%,ff=0,bram=100%,uram=1,ports=29"]
)
def test_prints_as_read(text: str) -> None:
    assert str(Budget.parse(text)) == text


def test_a_part_is_of_all_but_ports() -> None:
    assert Budget.parse("plan/3").limits(U55C) == Counts(2214, 263_900, 377_500, 947, 256, 32)
    assert Budget.parse("dsp=60%,ports=29/2").limits(U55C) == Counts(2491, 395_850, 566_250, 1420, 384, 29)
    assert Budget.parse("dsp=1000,ports=29/1.6").limits(U55C)[::5] == (625, 29)
    assert (part_of("plan", 3), part_of("dsp=60%/2", 3), part_of("small", 3)) == ("plan/3", "dsp=60%/6", "small")
    assert part_of("plan/2", 1.415) == "plan/2.83"
    assert part_of("plan", 1234567.5) == "plan/1234567.5" == str(Budget.parse("plan/1234567.5"))


def test_parts_together_are_no_more_than_all() -> None:
    whole = Budget.parse("plan").limits(U55C)
    for work in ({"decode": 4_000_000, "head": 64}, {"prefill": 9, "decode": 9, "head": 5}, dict.fromkeys("abcdefg", 1)):
        taken = [Budget.parse(part_of("plan", parts)).limits(U55C) for parts in parts_by_work(work).values()]
        assert in_one_binary(taken).fits(whole)


def test_parts_by_work_make_the_sum_of_times_least() -> None:
    work = {"prefill": 900, "decode": 900, "head": 100, "nothing": 0}
    shares = {name: 1 / part for name, part in parts_by_work(work).items()}

    def time(of: dict[str, float]) -> float:
        return sum(work[name] / share for name, share in of.items())

    assert sum(shares.values()) == pytest.approx(1) and shares["prefill"] == shares["decode"] == pytest.approx(3 * shares["head"])
    for more, less in permutations(["prefill", "decode", "head"], 2):
        assert time(shares) < time(shares | {more: shares[more] + 0.01, less: shares[less] - 0.01})


def test_the_rest_is_what_the_scarcest_resource_leaves() -> None:
    limits = Counts(100, 1000, 1000, 10, 0, 32)
    assert rest_of(Counts(40, 100, 0, 6, 0, 32), limits) == pytest.approx(0.4)
    assert rest_of(Counts(0, 1200, 0, 0, 0, 1), limits) == 0


def test_order_and_spaces_do_not_matter() -> None:
    assert str(Budget.parse(" lut=70%, dsp = 5")) == "dsp=5,lut=70%"


def test_small_is_no_search() -> None:
    assert searched_limits("small", "u55c") is None
    assert searched_limits("plan", "u55c") == PLANNED


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "budget has ''; accepted: small, plan, or dsp, lut, ff, bram, uram, ports with"),
        ("plan/", "budget has '/'; accepted: / and a number from 1"),
        ("plan/2/2", "budget has '/2/2'"),
        ("plan/0.5", "budget has '/0.5'"),
        ("small/2", "budget has 'small'"),
        ("dsp", "budget has 'dsp'"),
        ("dps=5", "budget has 'dps=5'"),
        ("dsp=5,", "budget has ''"),
        ("dsp=5,dsp=6", "budget says dsp twice; accepted: each name once"),
        ("dsp=-5", "budget says dsp=-5; accepted: a number from 0, or a share from 0% to 100%"),
        ("lut=101%", "budget says lut=101%"),
        ("dsp=1.5", "budget says dsp=1.5"),
        ("ports=many", "budget says ports=many"),
        ("dsp=8305", "u55c: budget says dsp=8305, over 100 % of the platform's; accepted: at most 8304"),
        ("ports=33", "u55c: budget says ports=33, over 100 % of the platform's; accepted: at most 32"),
    ],
)
def test_refusals(text: str, said: str) -> None:
    with pytest.raises(CompileError) as caught:
        searched_limits(text, "u55c")
    assert str(caught.value).startswith(said)


def test_the_pipeline_takes_it_in_one_spelling() -> None:
    passes = [one for stage in stages(PipelineOptions(budget="ports=29, dsp=60%")) for one in stage.passes]
    assert 'choose-parallelism{budget="dsp=60%,ports=29" platform="u55c" strategy="shortest"}' in passes
