"""The control of tasks as published reports of Vitis HLS list it."""

from __future__ import annotations

import csv
from importlib import resources

import pytest

from stc.platforms.control import (
    CountedLoop,
    arithmetic,
    bank_decoder,
    bank_multiplexer,
    multiplexer,
    pipeline,
    sequence,
)


def published() -> list[dict[str, str]]:
    text = resources.files("stc.platforms").joinpath("data", "vitis_control.csv").read_text()
    return list(csv.DictReader(text.splitlines()))


def nest_of(row: dict[str, str]) -> list[CountedLoop]:
    loops = zip(row["trips_bits"].split(), row["used"].split(), strict=True)
    return [CountedLoop(2 ** int(bits) - 1, 2 ** int(bits) - 1, used == "1") for bits, used in loops]


def listed(row: dict[str, str]) -> int:
    """By our rule; a task that starts another has a handshake more."""
    carried = [int(bits) for bits in row["carried"].split()]
    channels = int(row["channels"]) + int(row["starts"])
    return pipeline(nest_of(row), int(row["depth"]), int(row["interval"]), channels, carried).lut


@pytest.mark.parametrize("row", published(), ids=lambda row: row["module"])
def test_a_published_module(row: dict[str, str]) -> None:
    """But for its shift registers, which delay data."""
    assert abs(listed(row) - (int(row["module_lut"]) - int(row["srl_lut"]))) <= 20


def test_published_modules_together() -> None:
    rows = published()
    assert len(rows) > 10
    assert sum(map(listed, rows)) == pytest.approx(sum(int(row["module_lut"]) - int(row["srl_lut"]) for row in rows), rel=0.03)


@pytest.mark.parametrize(("bits", "luts"), [(5, 12), (7, 14), (12, 19), (16, 23), (20, 27), (32, 39), (64, 71)])
def test_published_sums_and_comparisons(bits: int, luts: int) -> None:
    assert arithmetic(bits) == luts


@pytest.mark.parametrize(("inputs", "luts"), [(1, 0), (2, 9), (3, 14), (5, 25), (6, 31), (7, 37), (8, 42), (10, 54)])
def test_published_multiplexers(inputs: int, luts: int) -> None:
    assert multiplexer(inputs) == luts


@pytest.mark.parametrize(
    ("used", "counters"),
    [
        ((False, False, False), [10]),                # of all 4 * 8 * 16 iterations
        ((False, False, True), [10, 5]),
        ((False, True, False), [10, 4, 5]),           # it goes on when the innermost is over
        ((True, False, False), [10, 3, 8]),           # when both inside are, which one counter counts
        ((True, True, True), [10, 3, 4, 5, 8]),       # the five of a published nest of three
    ],
)
def test_counters_of_merged_loops(used: tuple[bool, ...], counters: list[int]) -> None:
    nest = [CountedLoop(trips, trips, is_used) for trips, is_used in zip((4, 8, 16), used, strict=True)]
    assert pipeline(nest, 1, 1, 0).ff - 2 == sum(counters)  # besides a state, and that it is over


def test_a_size_known_at_run_time_is_an_int() -> None:
    assert pipeline([CountedLoop(None, None)], 1, 1, 0).ff - 2 == 32
    assert pipeline([CountedLoop(None, None, is_used=False), CountedLoop(4, 4, is_used=False)], 1, 1, 0).ff - 2 == 32 + 3


def test_what_calls_its_loops_takes_what_published_ones_do() -> None:
    """116 to 177 LUTs, besides the loops: a loop around two that are pipelined."""
    assert 116 <= sequence([CountedLoop(8, 8)], calls=2, cycles=0, channels=4, shared=1).lut <= 177


@pytest.mark.parametrize(("banks", "luts"), [(1, 0), (2, 16), (3, 32), (4, 32), (5, 64), (8, 64), (16, 128)])
def test_multiplexers_of_banks(banks: int, luts: int) -> None:
    assert bank_multiplexer(banks, 32) == luts
    assert bank_decoder(banks) == (0 if banks == 1 else banks)
