"""Test files have names of their own: pytest imports them without their folder, and refuses a second."""

from __future__ import annotations

from collections import Counter
from pathlib import Path


def test_no_two_files_have_one_name() -> None:
    found = Counter(path.name for path in Path(__file__).parents[1].rglob("test_*.py"))
    assert [name for name, count in found.items() if count > 1] == []
