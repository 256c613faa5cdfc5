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
def resumed_folder(out: Path, work: object) -> Generator[FinishedFiles]:
    """Files in a folder beside `out`, which becomes `out` at the end: whole or not at all.

    `work` (plain JSON values) says what is done: where an interrupt left such a folder by the same work, its finished files are
    still there; those that are not asked for again are gone at the end. Another exception leaves nothing. CompileError where
    another process works for the same `out`.
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
            _remove(folder, lambda name: name != _LOCK)
            (folder / _WORK).write_text(text, encoding="utf-8")
        files = FinishedFiles(folder)
        _remove(folder, lambda name: name not in {_LOCK, _WORK, _JOURNAL, *files.names})
        try:
            yield files
        except Exception:
            shutil.rmtree(folder)
            raise
        _remove(folder, lambda name: name in {_LOCK, _WORK, _JOURNAL, *files.names} - files.asked)
        if out.exists():
            out.rmdir()
        folder.rename(out)


def _remove(folder: Path, is_unwanted: Callable[[str], bool]) -> None:
    """Files, by their path in `folder`, and the folders that become empty."""
    for path in sorted(folder.rglob("*"), reverse=True):
        if not path.is_dir():
            if is_unwanted(path.relative_to(folder).as_posix()):
                path.unlink()
        elif not any(path.iterdir()):
            path.rmdir()


@dataclass
class FinishedFiles:
    """The files of a `resumed_folder` that are worth keeping, each noted in a journal once it is whole; `asked`: those made or
    found by now."""

    folder: Path
    asked: set[str] = field(default_factory=set[str])
    _known: dict[tuple[str, str], CheckedFile] = field(init=False, repr=False)

    def __post_init__(self):
        self._known = {(file.path, key): file for key, file in _entries(self.folder / _JOURNAL)}

    @property
    def names(self) -> set[str]:
        """Of the files that were finished before."""
        return {name for name, _ in self._known}

    def file(self, name: str, key: str, make: Callable[[], Iterable[bytes]]) -> CheckedFile:
        """The file called `name`, of what `make` gives, unless it was finished before with the same `key` and is still intact."""
        self.asked.add(name)
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
