"""`assign-dies`: schedules that say dies which cannot be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.dialects.parsing import parse_module
from stc.pipeline import PipelineOptions
from stc.tools.schedule_file import with_schedule
from stc.transforms.stream.assign_dies import AssignDies

PROGRAM = (Path(__file__).parents[3] / "filecheck_tests" / "transforms" / "stream" / "assign_dies.mlir").read_text()
"""A kernel @k of units memory and body."""

SAID = {
    "a die that is none": ('"k.memory" = 0\n"k.body" = 3', "'k.body' is on die 3, of dies 0 to 2"),
    "away from the memory": ('"k.memory" = 1\n"k.body" = 0', "'k.memory' is on die 1, its memory ports are at die 0"),
    "a misspelled unit": ('"k.memory" = 0\n"k.bodi" = 0', "no unit is called 'k.bodi', did you mean 'k.body'?"),
    "one that is left out": ('"k.memory" = 0', "'k.body' has no die"),
    "no number": ('"k.memory" = 0\n"k.body" = true', "stc.dies is no table of dies"),
}


@pytest.mark.parametrize("case", SAID)
def test_what_a_schedule_says_is_checked(case: str, tmp_path: Path) -> None:
    table, what = SAID[case]
    (tmp_path / "schedule.toml").write_text(f"[stc.dies]\n{table}\n")
    with pytest.raises(CompileError) as refused:
        AssignDies(schedule=str(tmp_path / "schedule.toml")).apply(make_context(), parse_module(PROGRAM))
    assert what in str(refused.value) and "; accepted: " in str(refused.value), refused.value


def test_what_was_assigned_has_to_fit_still(tmp_path: Path) -> None:
    """As after FIFOs got deeper: a second run of the pass changes nothing, and says what lacks."""
    platform = (Path(__file__).parents[3] / "stc" / "platforms" / "data" / "u280.toml").read_text()
    (tmp_path / "mine.toml").write_text(platform.replace('name = "u280"', 'name = "mine"').replace("lut = 384960", "lut = 100"))
    module = parse_module(PROGRAM)
    AssignDies("optimum").apply(make_context(), module)
    with pytest.raises(CompileError, match=r"die 0 lacks .* LUT \(70 may be used; 'k.memory' takes"):
        AssignDies("unassigned", platform=str(tmp_path / "mine.toml")).apply(make_context(), module)


def test_a_platform_that_says_nothing_of_crossings(tmp_path: Path) -> None:
    text = (Path(__file__).parents[3] / "stc" / "platforms" / "data" / "u280.toml").read_text()
    (tmp_path / "mine.toml").write_text(re.sub(r"\[crossing\]\n.*\n.*\n", "", text).replace('name = "u280"', 'name = "mine"'))
    with pytest.raises(CompileError, match=r"mine: the platform has 3 dies and no table 'crossing'; accepted: \[crossing\] with"):
        AssignDies("optimum", platform=str(tmp_path / "mine.toml")).apply(make_context(), parse_module(PROGRAM))


def test_where_nothing_is_assigned_nothing_is_asked_of_the_platform(tmp_path: Path) -> None:
    """Platform files of users may say nothing of crossings: --minimise-depths, which looks for dies, goes through."""
    text = (Path(__file__).parents[3] / "stc" / "platforms" / "data" / "u280.toml").read_text()
    (tmp_path / "mine.toml").write_text(re.sub(r"\[crossing\]\n.*\n.*\n", "", text).replace('name = "u280"', 'name = "mine"'))
    assert AssignDies(platform=str(tmp_path / "mine.toml")).find(make_context(), parse_module(PROGRAM)) is None


@pytest.mark.parametrize("strategy", ["optimum", "greedy"])
def test_a_platform_without_ultra_ram(strategy: str, tmp_path: Path) -> None:
    head, dies = (Path(__file__).parents[3] / "stc" / "platforms" / "data" / "u280.toml").read_text().split("[[slr]]", 1)
    text = f"{head}[[slr]]{re.sub('uram = [0-9]+', 'uram = 0', dies)}"
    (tmp_path / "mine.toml").write_text(text.replace('name = "u280"', 'name = "mine"'))
    report = AssignDies(strategy, platform=str(tmp_path / "mine.toml")).find(make_context(), parse_module(PROGRAM))
    assert report is not None and [die["share_uram"] for die in report["dies"]] == [0, 0, 0]


def test_dies_that_would_be_ignored_are_refused(tmp_path: Path) -> None:
    schedule = tmp_path / "schedule.toml"
    schedule.write_text('[stc.dies]\n"k.memory" = 0\n"k.body" = 1\n')
    options = PipelineOptions(schedule=str(schedule))
    with pytest.raises(CompileError, match=r"a table 'stc.dies', and dies are 'unassigned'; accepted: dies = \"optimum\" in"):
        with_schedule(options, ())
    assert with_schedule(replace(options, dies="greedy"), ("dies",)).dies == "greedy"
