"""How wide the tables of all commands are where the output is not a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from rich.console import Console
from rich.table import Table

import stc
from stc.tools.consoles import MOST_IN_COLOURS, print_json, result_console

NAME = "attn_c_proj_and_" * 20


def printed(capsys: pytest.CaptureFixture[str]) -> list[str]:
    table = Table("task", "cycles", title="a title")
    table.add_row(NAME, "1,234,567")
    console = result_console()
    console.print(table)
    console.print(NAME)
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize("columns", [None, "", "0", "-60", "wide"])
def test_nothing_is_cut_in_a_pipe(
    columns: str | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    if columns is not None:
        monkeypatch.setenv("COLUMNS", columns)
    lines = printed(capsys)
    assert sum(NAME in line and "1,234,567" in line for line in lines) == 1
    assert max(len(line) for line in lines) < len(NAME) + 30


@pytest.mark.parametrize("columns", [37, 60, 132])
def test_columns_bound_the_width_of_tables_but_not_of_text(
    columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    *table, text = printed(capsys)
    assert max(len(line) for line in table) == columns
    assert any("1,234,567" in line for line in table)
    assert text == NAME


def test_consoles_are_made_in_one_place() -> None:
    root = Path(stc.__file__).parent
    makers = [path.relative_to(root).as_posix() for path in root.rglob("*.py") if "Console(" in path.read_text()]
    assert makers == ["tools/consoles.py"]


JSON = {"name": NAME, "cycles": [1, 2.5, None], "märz": "[bold]"}


def test_json_in_a_pipe_is_text(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """To find colours for the 77 MB that `stc simulate --json` says of a whole decoder took seven of its eight minutes."""
    monkeypatch.setattr(Console, "print_json", None)
    print_json(JSON)
    assert capsys.readouterr().out == json.dumps(JSON, indent=2, ensure_ascii=False) + "\n"


def test_json_on_a_terminal_has_colours_unless_it_is_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("stc.tools.consoles.output", Console(force_terminal=True, color_system="truecolor", soft_wrap=True))
    print_json(JSON)
    assert "\x1b[" in capsys.readouterr().out
    print_json(long := ["x" * MOST_IN_COLOURS])
    assert json.loads(capsys.readouterr().out) == long
