"""`--load FILE.py`: what a researcher's files bring to a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stc.diagnostics import CompileError
from stc.extensions import LoadedFile, load_file
from stc.strategies.registry import registered_by
from stc.transforms import all_passes


def load_all(paths: Iterable[Path | str]) -> None:
    """Import the files, in order. CompileError where one cannot be imported, brings nothing, or a name that is taken."""
    for path in paths:
        loaded = load_file(path)
        all_passes()  # refuses names that are taken
        if not brought(loaded):
            raise CompileError("defines nothing of its own", where=str(path), accepted="a file with a ModulePass or a strategy")


def brought(loaded: LoadedFile) -> list[str]:
    """What a file defines, in words: `pass 'deepen-fifos'`, `fusion strategy 'pairs'`."""
    return [*(f"pass '{name}'" for name in loaded.passes), *registered_by(loaded.path)]
