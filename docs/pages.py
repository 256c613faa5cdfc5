"""Generated pages, written or compared with what stands there: what the scripts beside this file end with."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

DOCS = Path(__file__).parent


def written_or_compared(pages: Mapping[str, Callable[[], str]], script: str, arguments: Sequence[str]) -> int:
    """Write each page of this folder where it has changed; with `--check` among `arguments` only say so. The exit code: 1 where
    a page is out of date and stays so."""
    stale = 0
    for name, generate in pages.items():
        text, path = generate(), DOCS / name
        if path.is_file() and path.read_text() == text:
            continue
        if "--check" in arguments:
            print(f"{path.relative_to(DOCS.parent)} is out of date: run `python docs/{script}`")
            stale = 1
        else:
            path.write_text(text)
    return stale
