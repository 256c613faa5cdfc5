"""`stc` has the commands of installed packages, and says which package is at fault where one cannot be imported."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import Any

import pytest
import typer

import stc.tools.installed_commands as installed
from stc.tools.command_line import run_app


class Other:
    name = "other-package"


def entry(name: str, value: str) -> EntryPoint:
    found = EntryPoint(name, value, installed.GROUP)
    vars(found)["dist"] = Other()
    return found


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch) -> typer.Typer:
    entries = [entry("words", "string:capwords"), entry("broken", "no_such_package:f"), entry("own", "no_such_package:f")]
    monkeypatch.setattr(installed, "entry_points", lambda group: entries)
    found = typer.Typer()
    found.command("own")(lambda: print("ours"))
    return found


def commands(app: typer.Typer) -> list[Any]:
    return [command.name for command in app.registered_commands]


def test_only_the_command_that_is_asked_for_is_loaded(app: typer.Typer):
    installed.add_installed_commands(app, "words")
    installed.add_installed_commands(app, "words")
    assert commands(app) == ["own", "words"]


def test_a_command_of_ours_is_not_replaced(app: typer.Typer):
    installed.add_installed_commands(app, "own")
    assert commands(app) == ["own"]


@pytest.mark.parametrize("word", ["broken", "--help"])
def test_the_package_at_fault_is_named(app: typer.Typer, word: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        run_app(lambda arguments, **_: installed.add_installed_commands(app, arguments[0]), "stc", [word])
    assert ended.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "package 'other-package' cannot be imported: ModuleNotFoundError" in line


def test_the_compiler_does_without_the_testing_package():
    program = "import sys; sys.modules['stc_testing'] = None; import stc.tools.stc, stc.tools.stc_opt, stc.universe"
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
