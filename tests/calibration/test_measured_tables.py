"""Measured loops in a `schedule.toml`: read with care, and put in place of depths that follow from them."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.tools.resizing import calibrated_schedule
from stc.transforms.stream.apply_measurements import read_loops

SCHEDULE = """\
[stc.options]
tile = 16

[fc]
# loops: 5 parallel
tile = [5]

# Tokens that each FIFO has to hold.
[stc.fifos]
x_stream = 2  # of 10 tokens
"odd name" = 7

[stc.memories]
"fc.partial" = "lutram"
x_stream = "srl"

[stc.units]
fc = "body"
"""


@pytest.mark.parametrize("given", [SCHEDULE, SCHEDULE + '\n[stc.loops]\n"fc.old" = [7, 70]\n'], ids=["estimated", "measured"])
def test_what_follows_from_loops_is_left_out(given: str) -> None:
    found = tomllib.loads(calibrated_schedule(given, {("fc", "row"): (2, 19), ("act", "row"): (1, 3)}, "schedule.toml"))
    assert found == {
        "fc": {"tile": [5]},
        "stc": {
            "options": {"tile": 16}, "memories": {"fc.partial": "lutram"}, "units": {"fc": "body"},
            "loops": {"fc.row": [2, 19], "act.row": [1, 3]},
        },
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SCHEDULE.replace("x_stream = 2  # of 10 tokens\n", "[stc.fifos.x]\ny = 1\n"), "not written with a line for each entry"),
        (SCHEDULE.replace("tile = 16", "tile = "), "schedule is not TOML"),
    ],
)
def test_a_schedule_that_is_written_otherwise_is_refused(text: str, said: str) -> None:
    with pytest.raises(CompileError, match=said):
        calibrated_schedule(text, {}, "schedule.toml")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("stc.loops = 3", "'stc.loops' is no table"),
        ('[stc.loops]\n"fc.row" = 2', "'fc.row' is 2"),
        ('[stc.loops]\n"fc.row" = [2]', r"'fc.row' is \[2\]"),
        ('[stc.loops]\n"fc.row" = [0, 4]', r"'fc.row' is \[0, 4\]"),
        ('[stc.loops]\n"fc.row" = [1, 1000000001]', r"'fc.row' is \[1, 1000000001\]; accepted: .* at most 1,000,000,000"),
        ('[stc.loops]\n"fc.row" = [true, 4]', r"'fc.row' is \[True, 4\]"),
    ],
)
def test_figures_that_cannot_be_are_refused(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "schedule.toml"
    path.write_text(text)
    with pytest.raises(CompileError, match=said):
        read_loops(str(path))
