"""Figures in documents: which state of stc they are of, and how a benchmark writes its part of one."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path

WRITTEN = (":(top,exclude)docs", ":(top,exclude)benchmarks/data")
"""What benchmarks write, and do not measure."""


def measured_at() -> str:
    """`Measured on 2026-11-22 at commit 1a2b3c4.`, which says so where the checkout has changes, or is none."""
    day = datetime.now(UTC).date().isoformat()
    commit = _git("rev-parse", "--short", "HEAD")
    if commit is None:
        return f"Measured on {day}, outside a checkout."
    changed = " with changes" if _git("status", "--porcelain", "--untracked-files=no", "--", ":/", *WRITTEN) else ""
    return f"Measured on {day} at commit {commit}{changed}."


def write_between(document: Path, begin: str, text: str, end: str) -> None:
    """Write `text` between the lines `begin` and `end` of a document, in place of what is there."""
    before, rest = document.read_text().split(begin)
    document.write_text(before + begin + text + end + rest.split(end)[1])


def _git(*arguments: str) -> str | None:
    """What git prints, None where there is no git or no checkout."""
    try:
        run = subprocess.run(("git", *arguments), cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()
