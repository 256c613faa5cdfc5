"""The tutorial does what it says: its files are written, its commands run in order, and print the lines it shows."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
_BLOCK = re.compile(r"^```(sh|python)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_SAVED = re.compile(r"aved? (?:it )?as\s+`(build/tutorial/\w+\.py)`:\s*$")

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


def sessions(block: str) -> list[tuple[str, list[str]]]:
    """Commands, each with the lines shown below it."""
    found: list[tuple[str, list[str]]] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append((line[2:], []))
        else:
            found[-1][1].append(line)
    return found


def missing(shown: list[str], printed: str) -> list[str]:
    """Lines that are not among what was printed, in this order; `...` matches anything."""
    rest = iter(printed.splitlines())
    left = [line for line in shown if line.strip() != "..."]
    return [line for line in left if not any(_matches(line, found) for found in rest)]


def _matches(line: str, printed: str) -> bool:
    pattern = ".*".join(re.escape(part.rstrip()) if not rest else re.escape(part) for part, rest in _parts(line))
    return re.fullmatch(pattern, printed.rstrip()) is not None


def _parts(line: str) -> list[tuple[str, bool]]:
    parts = line.split("...")
    return [(part, index < len(parts) - 1) for index, part in enumerate(parts)]


STEPS = {text[0]: text for text in PAGE.split("\n## ")[1:]}
BUILDS_FROM_PYTORCH = ("3", "4")
"""Half a minute of g++ and PyTorch: with the full-size models."""


@pytest.mark.parametrize("step", [pytest.param(s, marks=pytest.mark.full if s in BUILDS_FROM_PYTORCH else ()) for s in STEPS])
def test_step(step: str, tmp_path: Path):
    shutil.copytree(ROOT / "examples", tmp_path / "examples", ignore=shutil.ignore_patterns("build"))
    (tmp_path / "build" / "tutorial").mkdir(parents=True)
    for block in _BLOCK.finditer(PAGE):
        if block[1] == "python":
            saved = _SAVED.search(PAGE[: block.start()].rstrip())
            assert saved is not None, block[2]
            (tmp_path / saved[1]).write_text(block[2])
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}", "COLUMNS": "200"}
    commands = [pair for block in _BLOCK.finditer(STEPS[step]) if block[1] == "sh" for pair in sessions(block[2])]
    assert commands
    for command, shown in commands:
        done = subprocess.run(command, shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode in (0, 1), f"{command}\n{done.stderr}"
        assert not missing(shown, done.stdout), f"{command}\n{done.stdout}{done.stderr}"


def test_a_line_that_is_not_printed_is_found():
    assert missing(["a ... c", "x"], "a b c\ny\n") == ["x"]
    assert missing(["b", "a"], "a\nb\n") == ["a"]
