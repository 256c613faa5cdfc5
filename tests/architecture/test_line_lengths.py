"""Files that a project carries as they stand here have lines that fit a screen: found before any project is emitted."""

from __future__ import annotations

from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "stc"
FILES = sorted(path for path in PACKAGE.rglob("*") if path.suffix in (".h", ".hpp", ".cpp"))
LONGEST = 132


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_lines_fit_a_screen(path: Path) -> None:
    assert [line for line in path.read_text().splitlines() if len(line) > LONGEST] == []
