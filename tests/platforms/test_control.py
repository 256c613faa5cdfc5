"""The control of tasks as published reports of Vitis HLS list it."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from stc.platforms.control import (
    BUILT,
    ControlCost,
    CountedLoop,
    addition,
    arithmetic,
    bank_decoder,
    bank_multiplexer,
    comparison,
    counters,
    multiplexer,
    pipeline,
    sequence,
)


def rows(file: str) -> list[dict[str, str]]:
    text = resources.files("stc.platforms").joinpath("data", file).read_text()
    return list(csv.DictReader(text.splitlines()))


def published() -> list[dict[str, str]]:
    return rows("vitis_control.csv")


def nest_of(row: dict[str, str]) -> list[CountedLoop]:
    loops = zip(row["trips_bits"].split(), row["used"].split(), strict=True)
    return [CountedLoop(2 ** int(bits) - 1, 2 ** int(bits) - 1, used == "1") for bits, used in loops]


def rule(row: dict[str, str]) -> ControlCost:
    """A task that starts another has a handshake more."""
    channels, carried = int(row["channels"]) + int(row["starts"]), [int(bits) for bits in row["carried"].split()]
    return pipeline(nest_of(row), int(row["depth"]), int(row["interval"]), channels, carried)


def listed(row: dict[str, str]) -> int:
    return rule(row).lut


@pytest.mark.parametrize("row", published(), ids=lambda row: row["module"])
def test_a_published_module(row: dict[str, str]) -> None:
    """But for its shift registers, which delay data."""
    assert abs(listed(row) - (int(row["module_lut"]) - int(row["srl_lut"]))) <= 20


@pytest.mark.parametrize("row", published(), ids=lambda row: row["module"])
def test_flip_flops_of_a_published_module(row: dict[str, str]) -> None:
    """With the bits of what it reads; addresses and delays come to them."""
    ours = rule(row).ff + int(row["data_bits"])
    assert -2 <= int(row["module_ff"]) - ours <= max(10, 0.7 * int(row["module_ff"]))


def test_published_modules_together() -> None:
    modules = published()
    assert len(modules) > 10
    expected = sum(int(row["module_lut"]) - int(row["srl_lut"]) for row in modules)
    assert sum(map(listed, modules)) == pytest.approx(expected, rel=0.03)


def test_no_more_is_left_of_small_tasks_than_is_counted() -> None:
    left = [int(row["built_lut"]) / int(row["listed_lut"]) for row in rows("vitis_built.csv") if row["kind"] == "stream"]
    assert len(left) > 5 and max(left) < BUILT


@pytest.mark.parametrize(("bits", "luts"), [(5, 12), (7, 14), (12, 19), (16, 23), (20, 27), (32, 39), (64, 71)])
def test_published_sums_and_comparisons(bits: int, luts: int) -> None:
    assert arithmetic(bits) == luts


@pytest.mark.parametrize(("inputs", "luts"), [(1, 0), (2, 9), (3, 14), (5, 25), (6, 31), (7, 37), (8, 42), (10, 54)])
def test_published_multiplexers(inputs: int, luts: int) -> None:
    assert multiplexer(inputs) == luts


@pytest.mark.parametrize(
    ("used", "bits"),
    [
        ((False, False, False), [10]),                # of all 4 * 8 * 16 iterations
        ((False, False, True), [10, 5]),
        ((False, True, False), [10, 4, 5]),           # it goes on when the innermost is over
        ((True, False, False), [10, 3, 8]),           # when both inside are, which one counter counts
        ((True, True, True), [10, 3, 4, 5, 8]),       # the five of a published nest of three
    ],
)
def test_counters_of_merged_loops(used: tuple[bool, ...], bits: list[int]) -> None:
    nest = [CountedLoop(trips, trips, is_used) for trips, is_used in zip((4, 8, 16), used, strict=True)]
    assert sorted(counters(nest)) == sorted(bits)


def test_a_size_known_at_run_time_is_an_int() -> None:
    assert list(counters([CountedLoop(None, None)])) == [32]
    assert list(counters([CountedLoop(None, None, is_used=False), CountedLoop(4, 4, is_used=False)])) == [32 + 3]


def test_what_calls_its_loops_takes_what_published_ones_do() -> None:
    """116 to 177 LUTs, besides the loops: a loop around two that are pipelined."""
    assert 116 <= sequence([CountedLoop(8, 8)], calls=2, cycles=0, channels=4, shared=1).lut <= 177


@pytest.mark.parametrize(("banks", "luts"), [(1, 0), (2, 16), (3, 32), (4, 32), (5, 64), (8, 64), (16, 128)])
def test_multiplexers_of_banks(banks: int, luts: int) -> None:
    assert bank_multiplexer(banks, 32) == luts
    assert bank_decoder(banks) == (0 if banks == 1 else banks)


def test_sums_and_comparisons_as_a_device_has_them() -> None:
    assert (addition(12), comparison(12), comparison(1)) == (12, 6, 1)
