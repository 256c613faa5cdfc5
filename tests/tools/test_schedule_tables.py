"""Tables that are taken out of a schedule, and those of a cut: nothing else changes, and what is written otherwise is refused."""

from __future__ import annotations

import tomllib

import pytest

from stc.diagnostics import CompileError
from stc.tools.schedule_file import with_cut, without_table

TEXT = """\
# Every decision.

[stc.options]
# How many.
units = "one"
# Where they lie.
dies = "unassigned"
tile = 16

[fc]
# loops: 8 parallel
tile = [4]
units = "of another table"

# Tokens that each FIFO has to hold.
# Leave this table out.
[stc.fifos]
h = 8  # of 64 tokens
"a.b" = 2

# Of what each is built.
[stc.memories]
"fc.acc" = "lutram"
h = "srl"
"""


def test_a_table_goes_with_its_heading_and_comments() -> None:
    found = without_table(TEXT, "fifos", "s.toml")
    assert found == TEXT[: TEXT.index("# Tokens")] + TEXT[TEXT.index("# Of what") :]
    assert without_table(found, "fifos", "s.toml") == found, "what is not there goes, too"
    assert "loops" not in without_table("[stc.loops]\n'a.b' = [1,\n  2]\n", "loops", "s.toml")


def test_what_is_kept_of_a_table_stays_as_it_is() -> None:
    found = without_table(TEXT, "memories", "s.toml", keeps=lambda key: "." in key)
    assert found == TEXT.replace('h = "srl"\n', "")
    options = without_table(TEXT, "options", "s.toml", keeps=lambda key: key == "tile")
    assert "How many" not in options and "Where" not in options and "tile = 16" in options and "of another table" in options


def test_a_cut_has_its_units_and_nothing_that_followed_from_others() -> None:
    said = tomllib.loads(with_cut(TEXT, {"a": "die0", "b.c": "die1"}, "s.toml"))
    options = {"units": "memory", "dies": "optimum", "tile": 16}
    assert said == {"stc": {"options": options, "units": {"a": "die0", "b.c": "die1"}}, "fc": tomllib.loads(TEXT)["fc"]}
    bare = tomllib.loads(with_cut("[fc]\ntile = [4]\n", {"a": "die0"}, "s.toml"))
    assert bare == {"fc": {"tile": [4]}, "stc": {"options": {"units": "memory", "dies": "optimum"}, "units": {"a": "die0"}}}
    again = with_cut(with_cut(TEXT, {"a": "die0"}, "s.toml"), {"a": "die2"}, "s.toml")
    assert tomllib.loads(again)["stc"]["units"] == {"a": "die2"} and again.count("# A compute unit") == 1


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[stc]\nfifos = { h = 8 }\n", "'stc.fifos' is not written with a line for each entry"),
        ("[stc]\nfifos.h = 8\n", "'stc.fifos' is not written with a line for each entry"),
        ("[stc.options]  # mine\ntile = 4\n", "schedule is not TOML (Cannot declare"),
        ("[stc]\nfifos = 3\n", "'stc.fifos' is no table"),
        ("stc = 3\n", "'stc' is no table"),
        ("[stc.fifos\n", "schedule is not TOML (Expected"),
    ],
)
def test_what_is_written_otherwise_is_refused(text: str, what: str) -> None:
    with pytest.raises(CompileError) as refused:
        with_cut(text, {"a": "die0"}, "s.toml")
    assert str(refused.value).startswith(f"s.toml: {what}"), refused.value
