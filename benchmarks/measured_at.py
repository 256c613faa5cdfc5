"""Which state of stc the figures of a document are of: written into it by every benchmark that writes one."""

from __future__ import annotations

import subprocess
from datetime import UTC, datetime
from pathlib import Path


def measured_at() -> str:
    """`Measured on 2026-11-22 at commit 1a2b3c4.`, which says so where the checkout has changes, or is none."""
    day = datetime.now(UTC).date().isoformat()
    commit = _git("rev-parse", "--short", "HEAD")
    if commit is None:
        return f"Measured on {day}, outside a checkout."
    changed = " with changes" if _git("status", "--porcelain", "--untracked-files=no") else ""
    return f"Measured on {day} at commit {commit}{changed}."


def _git(*arguments: str) -> str | None:
    """What git prints, None where there is no git or no checkout."""
    try:
        run = subprocess.run(("git", *arguments), cwd=Path(__file__).parent, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()
