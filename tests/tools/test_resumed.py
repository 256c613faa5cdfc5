"""An interrupt leaves what was finished, an error nothing, and neither anything half-written in its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from stc.diagnostics import CompileError
from stc.tools.resumed import FinishedFiles, resumed_folder


def write(files: FinishedFiles, *, key: str = "k", interrupted: bool = False) -> list[str]:
    """Two files; the names of those that had to be made."""
    made: list[str] = []

    def contents(name: str) -> Iterator[bytes]:
        made.append(name)
        yield b"half"
        if interrupted and name == "b":
            raise KeyboardInterrupt
        yield name.encode()

    for name in ("a", "b"):
        assert files.file(f"parameters/{name}", key, lambda name=name: contents(name)).bytes == 5
    return made


def interrupt(out: Path, work: object) -> None:
    with pytest.raises(KeyboardInterrupt), resumed_folder(out, work) as files:
        write(files, interrupted=True)
    assert not out.exists()


def names(folder: Path) -> Iterable[str]:
    return sorted(path.name for path in folder.rglob("*"))


def test_finished_files_are_taken_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    interrupt(out, ["work"])
    with resumed_folder(out, ["work"]) as files:
        assert write(files) == ["b"]
    assert names(tmp_path) == ["a", "b", "out", "parameters"]
    assert (out / "parameters" / "b").read_bytes() == b"halfb"


@pytest.mark.parametrize("other", ["work", "key", "content"])
def test_files_of_other_work_are_not(tmp_path: Path, other: str) -> None:
    out = tmp_path / "out"
    interrupt(out, ["work"])
    if other == "content":
        (tmp_path / ".out.partial" / "parameters" / "a").write_bytes(b"other")
    with resumed_folder(out, ["other" if other == "work" else "work"]) as files:
        assert write(files, key="other" if other == "key" else "k") == ["a", "b"]
    assert (out / "parameters" / "a").read_bytes() == b"halfa"


def test_what_nobody_asks_for_again_goes(tmp_path: Path) -> None:
    """Other options: of the interrupted compile only what this one names is left, in the folders that it has."""
    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt), resumed_folder(out, ["work"]) as files:
        (files.folder / "prefill").mkdir()
        (files.folder / "prefill" / "manifest.json").write_text("{}")
        (files.folder / "table").write_text("of the interrupted one")
        write(files, interrupted=True)
    with resumed_folder(out, ["work"]) as files:
        assert names(files.folder) == ["a", "finished.jsonl", "lock", "parameters", "work.json"]
        files.file("parameters/other/c", "k", lambda: [b"c"])
    assert names(tmp_path) == ["c", "other", "out", "parameters"]


def test_an_error_leaves_nothing(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(CompileError, match="wrong"), resumed_folder(out, ["work"]) as files:
        write(files)
        raise CompileError("wrong")
    assert names(tmp_path) == []


def test_one_at_a_time(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with resumed_folder(out, ["work"]), pytest.raises(CompileError, match="another process writes this folder"):
        resumed_folder(out, ["work"]).__enter__()
    assert out.is_dir()
