"""The choice of lanes and copies under a budget of DSPs and ports."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import replace
from math import prod

import pytest

from stc.design_space.makespan import Dependence, Makespan
from stc.design_space.parallelism import (
    PORT_BITS,
    PORT_LANES,
    MemoryOperand,
    MemoryPorts,
    Parallelism,
    Work,
    adders_for_luts,
    counts_of,
    dsps_of_adders,
    lane_counts,
    may_be,
    memory_ports,
)
from stc.design_space.parallelism_search import balanced_parallelism, shortest_parallelism
from stc.design_space.tiling import LEAST_SUMS
from stc.platforms.budget import Counts


def within(dsp: int, ports: int) -> Counts:
    return Counts(dsp, 10**9, 10**9, 10**9, 10**9, ports)


def work(key: str, rows: int, columns: int, depth: int, dsp: int = 5, family: int = 0, at_once: int = 0) -> Work:
    """A matrix product whose rows copies divide and whose columns lanes run along, `at_once` of them out of a port if not 0."""
    memory = (MemoryOperand(f"{key}.w", False, at_once), MemoryOperand(f"{key}.x", True, None)) if at_once else ()
    return Work(key, rows * columns * depth, rows * columns, Counts(dsp=dsp), columns, rows, False, family, memory)


def used(works: list[Work], chosen: Mapping[str, Parallelism]) -> int:
    return sum(one.point.dsp * chosen[one.name].lanes * chosen[one.name].copies for one in works)


def test_one_product_takes_lanes_first_then_copies():
    chosen = balanced_parallelism([work("a", 200, 220, 240)], within(2552, 32))
    assert (chosen["a"].lanes, chosen["a"].copies) == (55, 8)


def with_rows(rows: int, columns: int, depth: int, sums_at_once: int = 1) -> Work:
    """A product whose weights come through memory ports, and whose rows may be computed at once or by copies."""
    one = work("a", rows, columns, depth, at_once=PORT_LANES)
    return replace(one, row_extent=rows, divides_rows=True, sums_at_once=sums_at_once)


def test_rows_use_a_word_of_weights_again_before_lanes_take_more_ports():
    assert balanced_parallelism([with_rows(64, 64, 64)], within(640, 32))["a"] == Parallelism(16, 1, 8)
    assert balanced_parallelism([with_rows(64, 256, 64)], within(1280, 32))["a"] == Parallelism(16, 2, 8)


@pytest.mark.parametrize("sums_at_once", [1, 2, 5])
@pytest.mark.parametrize(("rows", "columns"), [(128, 67), (97, 71), (130, 90), (64, 256)])
def test_a_task_has_no_more_multipliers_and_banks_than_it_may_have(rows: int, columns: int, sums_at_once: int):
    """Emission rule 18: 128 multiply-accumulates, and 1,024 banks, in tokens of up to 64 entries along the sum."""
    chosen = balanced_parallelism([with_rows(rows, columns, 66, sums_at_once)], within(6000, 32))["a"]
    assert chosen.points > 1 or rows == 97
    assert chosen.lanes * chosen.rows * sums_at_once <= 128 and chosen.rows * 64 <= 1024


def test_rows_do_not_keep_copies_from_what_is_faster():
    """5 rows of 18 lanes leave 26 rows to a copy: more copies would have 2 or 13. 45 lanes and 10 copies are faster."""
    one = with_rows(130, 90, 66)
    without = replace(one, row_extent=1, divides_rows=False)
    with_and_without = [balanced_parallelism([each], within(2500, 32))["a"].points for each in (one, without)]
    assert with_and_without[0] >= with_and_without[1] == 450


def test_the_slowest_gets_most():
    works = [work("big", 64, 64, 64, family=0), work("small", 64, 64, 4, family=1)]
    chosen = balanced_parallelism(works, within(5 * 34, 32))
    speeds = {key: one.lanes * one.copies for key, one in chosen.items()}
    assert speeds == {"big": 32, "small": 2}


def test_a_family_has_one_number_of_copies():
    works = [work("up", 512, 256, 128), work("down", 512, 128, 256)]
    chosen = balanced_parallelism(works, within(2944, 32))
    assert {(one.lanes, one.copies) for one in chosen.values()} == {(64, 4)}


def test_ports_after_a_change_are_those_of_the_plan():
    shared, own = MemoryOperand("w", True, 16), MemoryOperand("x", False, None)
    some = [MemoryOperand("b", False, 16, shared=0), MemoryOperand("y", True, 16, is_written=True), shared]
    works = [Work(key, 64, 64, Counts(5), 64, 8, False, 0, tuple(memory)) for key, memory in (("a", [shared, own]), ("c", some))]
    plan = {"a": Parallelism(1, 1), "c": Parallelism(1, 1)}
    ports = MemoryPorts.of(works, plan)
    assert ports.count == 4  # w, x, b and y
    for changed in ({"a": Parallelism(32, 2)}, {"c": Parallelism(16, 8)}, {"a": Parallelism(1, 1), "c": Parallelism(64, 1)}):
        plan |= changed
        ports = ports.changed([work for work in works if work.name in changed], plan)
        assert ports.count == MemoryPorts.of(works, plan).count == memory_ports(plan, works)
    assert ports.count == 4 + 1 + 1 + 4  # four words for 64 lanes of w and of y


def test_ports_limit_copies():
    one = [work("a", 64, 64, 64, at_once=PORT_LANES)]
    assert balanced_parallelism(one, within(5000, 100))["a"].copies == 8
    assert balanced_parallelism(one, within(5000, 4 + 2))["a"].copies == 2


@pytest.mark.parametrize(("bits", "copies"), [(32, 2), (16, 4), (8, 4), (4, 4)])
def test_a_port_brings_more_of_narrow_entries(bits: int, copies: int):
    """64 lanes are 4 ports of f32, 2 of f16 and 1 of int8: the others are for copies."""
    one = [work("a", 64, 64, 64, at_once=PORT_BITS // bits)]
    chosen = balanced_parallelism(one, within(5000, 4 + 2))["a"]
    assert (chosen.lanes, chosen.copies) == (64, copies)


def test_nothing_fits():
    chosen = balanced_parallelism([work("a", 8, 8, 8)], within(4, 32))
    assert (chosen["a"].lanes, chosen["a"].copies) == (1, 1)


def test_nothing_to_choose():
    assert balanced_parallelism([], within(100, 32)) == {}


@pytest.mark.parametrize("extent", [1, 7, 64, 97, 190, 210, 220])
def test_lanes_divide_and_ports_are_half_full(extent: int):
    for lanes in lane_counts(extent):
        assert extent % lanes == 0 and lanes <= 64
        assert lanes <= 16 or any(lanes % width == 0 for width in range(8, 17))
    assert lane_counts(extent)[0] == 1


def drawn(generator: random.Random, index: int) -> Work:
    rows, columns, depth = (generator.choice([1, 2, 3, 7, 12, 30, 64]) for _ in range(3))
    dsp, family, at_once = generator.choice([0, 2, 5]), generator.randint(0, 2), generator.choice([16, 64])
    return work(f"w{index}", rows, columns, depth, dsp, family, at_once)


@pytest.mark.parametrize("seed", range(40))
def test_generated_choices_are_legal(seed: int):
    generator = random.Random(seed)
    works: list[Work] = []
    for index in range(generator.randint(1, 6)):
        works.append(drawn(generator, index))
    budget = generator.choice([10, 100, 1000])
    chosen = balanced_parallelism(works, within(budget, 32))
    least = sum(one.point.dsp for one in works)
    assert used(works, chosen) <= max(budget, least)
    for one in works:
        lanes, copies = chosen[one.name].lanes, chosen[one.name].copies
        assert one.lane_extent % lanes == 0 and one.divided_extent % copies == 0
        assert one.sums == one.points or prod((lanes, copies)) == 1 or one.sums >= LEAST_SUMS * lanes * copies
    for family in {one.family for one in works}:
        assert len({chosen[one.name].copies for one in works if one.family == family}) == 1


def test_lanes_and_copies_of_one_loop():
    """The loop is divided first, lanes then divide the share."""
    one = Work("a", 190 * 210 * 220, 190 * 210, Counts(dsp=5), 210, 210, True, 0)
    chosen = balanced_parallelism([one], within(1050, 32))["a"]
    assert (chosen.lanes, chosen.copies) == (42, 5)


def test_every_resource_bounds():
    """One lane takes 5 DSPs, 2 blocks, 30 LUTs and FFs; two ports take 3 of these each."""
    read = (MemoryOperand("w", False, 16), MemoryOperand("x", False, None))
    one = Work("a", 64 * 64, 64, Counts(5, 30, 30, 2), 64, 1, False, 0, read)
    port = Counts(0, 3, 3, 3, ports=1)
    enough = Counts(dsp=40, lut=246, ff=246, bram=22, uram=0, ports=2)
    assert balanced_parallelism([one], enough, port)["a"].lanes == 8
    for name in ("dsp", "lut", "ff", "bram"):
        assert balanced_parallelism([one], enough._replace(**{name: getattr(enough, name) - 1}), port)["a"].lanes == 4
    assert counts_of([one], {"a": Parallelism(8, 1)}, port) == enough


def adding(key: str, lanes: int) -> Work:
    """A product of 3 DSPs, and an adder of 2 or of 140 LUTs more."""
    return replace(work(key, 64, lanes, 64, family=ord(key)), point=Counts(5, 276), adders_in_luts=Counts(-2, 140, -75))


@pytest.mark.parametrize("search", [balanced_parallelism, shortest_parallelism])
def test_adders_take_luts_where_dsps_are_short(search: Callable[..., Mapping[str, Parallelism]]):
    """64 lanes take 192 DSPs and 26,624 LUTs with adders of LUTs, 320 and 17,664 without."""
    works = [adding("a", 64)]
    few, enough = (Counts(dsp, 26_624, 10**9, 10**9, 10**9, 32) for dsp in (192, 320))
    assert search(works, few)["a"] == Parallelism(64, 1, adders_in_luts=True)
    assert search(works, enough)["a"] == Parallelism(64, 1)
    assert search(works, few._replace(lut=26_623))["a"].points == 32
    assert counts_of(works, search(works, few), Counts(ports=1)).dsp == 192


def test_as_few_adders_of_luts_as_dsps_are_short():
    """The largest that gives no more than is short, then the smallest of the others."""
    works = [adding("a", 64), adding("b", 16), adding("c", 4)]
    plan = {"a": Parallelism(64, 1), "b": Parallelism(16, 1), "c": Parallelism(4, 1)}
    dsps = dsps_of_adders(works, plan)
    assert list(adders_for_luts(dsps, 32)) == ["b"]
    assert list(adders_for_luts(dsps, 33)) == ["b", "c"]
    assert list(adders_for_luts(dsps, 9)) == ["c", "b"]
    assert list(adders_for_luts(dsps, 1000)) == ["a", "b", "c"]
    dsps = dsps_of_adders(works, {**plan, "b": replace(plan["b"], adders_in_luts=True)})
    assert list(adders_for_luts(dsps, 33)) == ["c", "a"]


def test_what_hardly_takes_time_gets_no_lanes():
    """An activation of 3 % of the slowest's time stays as it is, however many DSPs are left; of half of it, it is shortened."""
    sizes = {"slow": (10_000, 1), "short": (300, 64), "half": (5_000, 64)}
    works = [Work(key, points, points, Counts(5), lanes, 1, False, ord(key[1])) for key, (points, lanes) in sizes.items()]
    chosen = balanced_parallelism(works, within(6_000, 32))
    assert {key: one.lanes for key, one in chosen.items()} == {"slow": 1, "short": 1, "half": 16}


def behind(one: Work, producer: str, first: float, rest: float) -> Work:
    return replace(one, after=(*one.after, Dependence(producer, first, 1.0, rest)))


def makespan(works: list[Work], chosen: Mapping[str, Parallelism]) -> float:
    return Makespan({one.name: one.cycles(chosen[one.name]) for one in works}, {one.name: one.after for one in works}).total


def test_phases_share_the_multipliers_by_the_roots_of_their_work():
    """Of two that follow one another, one with four times the work of the other, the total is least with twice the lanes."""
    works = [work("a", 64, 512, 64, family=0), behind(work("b", 64, 512, 256, family=1), "a", 1.0, 1.0)]
    chosen = shortest_parallelism(works, within(5 * 96, 32))
    assert (chosen["a"].points, chosen["b"].points) == (32, 64)


def test_what_overlaps_is_sped_up_together():
    """Three at the same time, of which none alone gains anything."""
    works = [work("x", 64, 64, 64, family=0)]
    works += [behind(work(key, 64, 64, 64, family=index), "x", 0.1, 0.1) for index, key in enumerate("abc", 1)]
    chosen = shortest_parallelism(works, within(5 * 64, 32))
    assert {chosen[one.name].points for one in works} == {16}


def test_what_is_beside_the_longest_way_stays_small():
    works = [work("x", 64, 64, 64), behind(work("long", 64, 64, 64, family=1), "x", 1.0, 1.0), work("short", 8, 8, 8, family=2)]
    assert shortest_parallelism(works, within(1000, 32))["short"].points == 1


def test_other_ends_of_the_search_come_by_rank() -> None:
    """All differ and fit, none is shorter than the one before, and past the last one there is no other."""
    works = [work("a", 64, 512, 64, family=0), behind(work("b", 64, 512, 256, family=1), "a", 1.0, 1.0)]
    found = [shortest_parallelism(works, within(5 * 96, 32), rank=rank) for rank in range(1, 20)]
    different = [one for number, one in enumerate(found) if one not in found[:number]]
    assert 1 < len(different) < 19 and found == [*different, *[different[-1]] * (19 - len(different))]
    totals = [makespan(works, one) for one in different]
    assert totals == sorted(totals)


@pytest.mark.parametrize("seed", range(40))
def test_the_shortest_is_legal_and_no_longer(seed: int):
    """Random graphs: within the budget, families of one number of copies, and never longer than the shortest interval's."""
    generator = random.Random(seed)
    works: list[Work] = []
    for index in range(generator.randint(1, 7)):
        one = drawn(generator, index)
        for other in generator.sample(works, generator.randint(0, min(2, len(works)))):
            one = behind(one, other.name, generator.random(), generator.random())
        works.append(one)
    most = within(generator.choice([50, 200, 1000]), 32)
    chosen = shortest_parallelism(works, most)
    assert not counts_of(works, chosen, Counts(ports=1)).beyond(most) or {one.points for one in chosen.values()} == {1}
    assert makespan(works, chosen) <= makespan(works, balanced_parallelism(works, most))
    for one in works:
        assert one.lane_extent % chosen[one.name].lanes == 0 and one.divided_extent % chosen[one.name].copies == 0
    for family in {one.family for one in works}:
        assert len({chosen[one.name].copies for one in works if one.family == family}) == 1


def test_a_small_sum_does_not_keep_its_family_from_copies() -> None:
    """8 sums of a family that has a product of 1,024 times as many points: beside that they may wait for the adder."""
    product = replace(work("product", 8, 256, 512), divided_extent=8)
    small = Work("small", 1024, 8, Counts(dsp=2), 1, 8, False, 0)
    chosen = shortest_parallelism([product, small], within(2700, 32))
    assert chosen["product"].copies == chosen["small"].copies > 1
    assert small.cycles(chosen["small"]) == small.cycles(Parallelism(1, 1)) == 1024
    large = replace(small, points=product.points)
    assert shortest_parallelism([product, large], within(2700, 32))["product"].copies == 1


def test_terms_of_a_single_sum_are_lanes() -> None:
    """In front of a product that waits for the whole sum: without lanes it would take as long. A few sums with lanes would each
    come up again too soon."""
    one_sum = Work("norm", 1024, 1, Counts(dsp=5), 64, 1, False, 1, lanes_are_terms=True, takes_turns=True)
    product = replace(work("product", 1, 64, 1024), after=(Dependence("norm", 1.0, 1.0, 1.0),))
    chosen = shortest_parallelism([one_sum, product], within(1000, 32))
    assert chosen["norm"].lanes >= 8
    assert one_sum.cycles(chosen["norm"]) == 1024 // chosen["norm"].lanes
    short = replace(one_sum, points=64)  # partial sums take turns, which so few terms have no more of
    assert shortest_parallelism([short, replace(product, points=512)], within(1000, 32))["norm"].lanes == 64 // LEAST_SUMS
    few = replace(one_sum, points=2048, sums=2)
    assert shortest_parallelism([few, product], within(1000, 32))["norm"].lanes == 1


def test_sums_one_after_the_other_have_partial_ones() -> None:
    """Of 16 sums of 64 entries each that come one by one, each of 8 copies has two, one after the other; of 4 entries, too few."""
    folded = Work("folded", 1024, 16, Counts(dsp=2), 1, 16, False, 1, takes_turns=True)
    assert may_be(folded, Parallelism(1, 8)) and folded.cycles(Parallelism(1, 8)) == 128
    assert not may_be(replace(folded, points=64), Parallelism(1, 8))
    assert not may_be(replace(folded, takes_turns=False), Parallelism(1, 8))


def test_sums_of_integers_wait_for_no_adder() -> None:
    """Of 32 terms each, a few take turns, since a pipeline filled anew for each would take as long as they do."""
    sums = Work("sums", 2048, 64, Counts(dsp=1), 16, 16, False, 1, of_integers=True)
    assert may_be(sums, Parallelism(8, 2)) and not may_be(sums, Parallelism(16, 2))
    assert not may_be(replace(sums, of_integers=False), Parallelism(8, 2))


def test_sums_of_many_integers_come_one_after_the_other() -> None:
    """Of 64 terms each, a lane has one sum in a register until that is over; none has half a sum."""
    sums = Work("sums", 4096, 64, Counts(dsp=1), 16, 16, False, 1, of_integers=True)
    assert may_be(sums, Parallelism(16, 4)) and sums.cycles(Parallelism(16, 4)) == 64
    assert not may_be(sums, Parallelism(16, 8))
    assert not may_be(replace(sums, of_integers=False), Parallelism(16, 4))
    assert not may_be(replace(sums, lanes_are_terms=True), Parallelism(1, 16, rows=2))


def test_each_copy_has_an_extreme_of_its_own_in_registers() -> None:
    """A task that looks for two keeps them in memory, where each comes up again too soon."""
    extremes = Work("extremes", 1024, 8, Counts(dsp=5), 64, 8, False, 1, lanes_are_terms=True, takes_turns=True)
    assert extremes.cycles(Parallelism(1, 8)) == 128 and extremes.cycles(Parallelism(2, 8)) == 64
    few = replace(extremes, sums=2, divided_extent=2)
    assert few.cycles(Parallelism(8, 2)) == 64 and few.cycles(Parallelism(8, 1)) == 256
    assert replace(extremes, takes_turns=False).cycles(Parallelism(1, 8)) == 512
