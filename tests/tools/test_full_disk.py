"""A disk that is full: one line, exit code 2, and nothing half written."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest
import typer

from stc.tools.atomic_files import write_atomically
from stc.tools.command_line import run_app


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_the_old_file_stays_and_nothing_else_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "report.html"
    write_atomically(path, "before")
    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        write_atomically(path, "after")
    assert [entry.name for entry in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "before"


def test_an_error_that_names_no_file_is_a_refusal_too(capsys: pytest.CaptureFixture[str]) -> None:
    app = typer.Typer()
    app.command()(full_command)
    with pytest.raises(SystemExit) as ended:
        run_app(app, "stc", [])
    assert ended.value.code == 2
    assert capsys.readouterr().err == "stc: error: No space left on device\n"


def full_command() -> None:
    full()


def test_why_the_headers_of_a_project_could_not_be_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from stc.codegen.project import write_at_once
    from stc.diagnostics import CompileError

    monkeypatch.setattr(shutil, "copytree", copy_that_fails)
    with pytest.raises(CompileError, match=r"cannot write the project \(.*No space left on device"):
        write_at_once(tmp_path / "out", {"kernel.cpp": ""}, [])
    assert not list(tmp_path.iterdir())


def copy_that_fails(source: Path, target: Path, **_: object) -> None:
    raise shutil.Error([(str(source), str(target), f"[Errno {errno.ENOSPC}] {os.strerror(errno.ENOSPC)}")])
