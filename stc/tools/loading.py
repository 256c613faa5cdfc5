"""`--load FILE.py`: what a researcher's files bring to a command."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from stc.diagnostics import CompileError
from stc.dialects.context import make_context
from stc.extensions import LoadedFile, load_file
from stc.strategies.registry import registered_by
from stc.transforms import all_passes

BRINGS = "a file with a ModulePass, a dialect or a strategy"


def load_all(paths: Iterable[Path | str]) -> None:
    """Import the files, in order. CompileError where one cannot be imported, brings nothing, or a name that is taken."""
    for path in paths:
        loaded = load_file(path)
        all_passes()  # these refuse names that are taken
        make_context()
        if not brought(loaded):
            raise CompileError("defines nothing of its own", where=str(path), accepted=BRINGS)


def brought(loaded: LoadedFile) -> list[str]:
    """What a file defines, in words: `pass 'deepen-fifos'`, `fusion strategy 'pairs'`."""
    named = [f"{kind} '{name}'" for kind, names in (("pass", loaded.passes), ("dialect", loaded.dialects)) for name in names]
    return [*named, *registered_by(loaded.path)]
