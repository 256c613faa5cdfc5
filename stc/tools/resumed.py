"""Work on a large folder that an interrupt does not undo: what was finished is kept until the same work is asked for again."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError
from stc.manifest.codec import decode, encode
from stc.manifest.model_files import checked_file, require_intact
from stc.manifest.model_schema import CheckedFile

_LOCK, _WORK, _JOURNAL = "lock", "work.json", "finished.jsonl"


@contextmanager
def resumed_folder(out: Path, work: object) -> Generator[Path]:
    """A folder beside `out`, which becomes `out` at the end: whole or not at all.

    `work` (plain JSON values) says what is done: where an interrupt left such a folder by the same work, its files are still there.
    Another exception leaves nothing. CompileError where another process works for the same `out`.
    """
    out = out.absolute()
    folder = out.with_name(f".{out.name}.partial")
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise CompileError("another process writes this folder", where=str(out), accepted="one at a time") from None
        text = json.dumps(work, indent=1)
        if not (folder / _WORK).is_file() or (folder / _WORK).read_text(encoding="utf-8") != text:
            _clear(folder)
            (folder / _WORK).write_text(text, encoding="utf-8")
        try:
            yield folder
        except Exception:
            shutil.rmtree(folder)
            raise
        for name in (_LOCK, _WORK, _JOURNAL):
            (folder / name).unlink(missing_ok=True)
        if out.exists():
            out.rmdir()
        folder.rename(out)


def _clear(folder: Path) -> None:
    for path in folder.iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        elif path.name != _LOCK:
            path.unlink()


@dataclass
class FinishedFiles:
    """The files of a `resumed_folder` that are worth keeping, each noted in a journal once it is whole."""

    folder: Path
    _known: dict[tuple[str, str], CheckedFile] = field(init=False, repr=False)

    def __post_init__(self):
        self._known = {(file.path, key): file for key, file in _entries(self.folder / _JOURNAL)}

    def file(self, name: str, key: str, make: Callable[[], Iterable[bytes]]) -> CheckedFile:
        """The file called `name`, of what `make` gives, unless it was finished before with the same `key` and is still intact."""
        if (known := self._known.get((name, key))) is not None and _is_intact(self.folder, known):
            return known
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(f"{path.name}.partial")
        with partial.open("wb") as file:
            file.writelines(make())
        os.replace(partial, path)
        finished = checked_file(path, name)
        with (self.folder / _JOURNAL).open("a", encoding="utf-8") as journal:
            journal.write(json.dumps([key, encode(finished)]) + "\n")
        return finished


def _entries(journal: Path) -> Generator[tuple[str, CheckedFile]]:
    """What a journal notes; its last line may be cut off."""
    if journal.is_file():
        for line in journal.read_text(encoding="utf-8").splitlines():
            try:
                entry: Any = json.loads(line)
            except ValueError:
                continue
            yield entry[0], decode(CheckedFile, entry[1], "", str(journal))


def _is_intact(folder: Path, file: CheckedFile) -> bool:
    try:
        require_intact(folder, file)
    except CompileError:
        return False
    return True
