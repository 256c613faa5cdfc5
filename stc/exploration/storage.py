"""Where the trials of a search are kept: a journal file for the processes of one machine, PostgreSQL for those of many."""

from __future__ import annotations

import fcntl
import json
import os
import time
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Thread
from typing import Any

import optuna
from optuna.exceptions import StorageInternalError
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial

from stc.diagnostics import CompileError
from stc.user_files import json_of

JOURNAL = "trials.journal"
"""The file of a search in its folder, where no other storage is named."""

HEARTBEAT_SECONDS = 5
"""Between two heartbeats of a trial in a database."""

STALE_SECONDS = 20
"""Without a heartbeat, or without the name of its process, after which a trial counts as abandoned."""

CONNECT_SECONDS = 10

ACCEPTED = "the path of a journal file, or postgresql://USER@HOST:PORT/DATABASE"

FIRST_RECORD = b'{"op_code":0,"worker_id":"'
"""How a journal begins: with the record that makes the first study."""

LONGEST_FIRST = 1 << 16
"""Bytes; the first record has some hundred."""


class StorageLost(CompileError):
    """The storage can be read or written no more. What it has of finished trials stays there."""


optuna.logging.set_verbosity(optuna.logging.ERROR)


class _Journal(JournalFileBackend):
    """A journal whose writers may be killed at any time.

    The lock is the kernel's, which nobody can leave behind. What a killed writer left of a line is cut off by the next one. What is
    written outlives its process without being forced to the disk, which takes longer than an estimate.
    """

    def read_logs(self, log_number_from: int) -> Generator[dict[str, Any]]:
        with self._reaching():
            yield from super().read_logs(log_number_from)

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        with self._reaching(), open(self._file_path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = file.seek(0, os.SEEK_END)
            kept = _whole_lines(file.fileno(), end)
            if kept == 0:
                _require_journal(Path(self._file_path))
            file.seek(kept)
            file.truncate()
            file.write(text.encode())

    @contextmanager
    def _reaching(self) -> Generator[None]:
        try:
            yield
        except OSError as error:
            what = f"the storage is lost: {error.strerror or error}"
            raise StorageLost(what, where=self._file_path, accepted="a journal file that stays, on a disk with room") from None


def _require_journal(path: Path) -> None:
    """CompileError where a file is not empty and begins as no journal does: it is somebody else's."""
    with path.open("rb") as file:
        first = file.readline(LONGEST_FIRST)
    is_ours = _is_record(first) if first.endswith(b"\n") else first[: len(FIRST_RECORD)] == FIRST_RECORD[: len(first)]
    if not is_ours:
        raise CompileError("the file is no journal of trials", where=str(path), accepted=ACCEPTED)


def _is_record(line: bytes) -> bool:
    try:
        record = json_of(line.decode())
    except ValueError:
        return False
    return isinstance(record, dict) and "op_code" in record


def _whole_lines(file: int, end: int) -> int:
    """Bytes of an open file up to the end of its last whole line."""
    while end > 0:
        begin = max(0, end - 4096)
        found = os.pread(file, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0


def is_database(storage: str) -> bool:
    """Whether a storage is a URL, not a path."""
    return "://" in storage


def open_storage(storage: str) -> BaseStorage:
    """The storage that a path or a URL names, made if it is not there. CompileError where it cannot be reached, or is none."""
    if not is_database(storage):
        return _journal(Path(storage))
    scheme, rest = storage.split("://", 1)
    if scheme not in ("postgresql", "postgresql+psycopg"):
        raise CompileError(f"the storage is '{scheme}://...'", where="--storage", accepted=ACCEPTED)
    try:
        import psycopg  # noqa: F401  # pyright: ignore[reportUnusedImport]
    except ImportError:
        what = "PostgreSQL needs the Python package psycopg, which is not installed"
        raise CompileError(what, where="--storage", accepted="pip install 'stc[explore]', or a journal file") from None
    arguments = {"connect_args": {"connect_timeout": CONNECT_SECONDS}, "pool_pre_ping": True}
    url = f"postgresql+psycopg://{rest}"
    with reaching(storage), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # heartbeats are called experimental
        _require_url(url, storage)
        template = url.replace("{", "{{").replace("}", "}}")
        return RDBStorage(template, arguments, heartbeat_interval=HEARTBEAT_SECONDS, grace_period=STALE_SECONDS)


def _require_url(url: str, storage: str) -> None:
    """CompileError for what SQLAlchemy reads no URL in; what it says of that may show the password."""
    from sqlalchemy.engine import make_url
    from sqlalchemy.exc import ArgumentError

    try:
        make_url(url)
    except (ArgumentError, ValueError):
        raise CompileError("the URL cannot be read", where=without_password(storage), accepted=ACCEPTED) from None


def _journal(path: Path) -> BaseStorage:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise CompileError("the storage is a folder", where=str(path), accepted=ACCEPTED)
        if path.exists():
            if not path.is_file():
                raise CompileError("the storage is no file", where=str(path), accepted=ACCEPTED)
            _require_journal(path)
        return JournalStorage(_Journal(str(path)))
    except OSError as error:
        raise CompileError(f"the storage cannot be opened: {error.strerror}", where=str(path), accepted=ACCEPTED) from None
    except (ValueError, KeyError, TypeError):  # what is read first, and is no journal
        raise CompileError("the file is no journal of trials", where=str(path), accepted=ACCEPTED) from None


@contextmanager
def reaching(storage: str) -> Generator[None]:
    """Turn what a database raises that cannot be reached, or not any more, into StorageLost; journals raise it themselves."""
    if not is_database(storage):
        yield
        return
    try:
        yield
    except _database_errors() as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ is not None else error
        said = str(getattr(cause, "orig", None) or cause).strip() or type(cause).__name__
        accepted = "a PostgreSQL server that is reached, and a database in it that exists"
        what = f"the storage cannot be reached: {said.splitlines()[0]}"
        raise StorageLost(what, where=without_password(storage), accepted=accepted) from None


def _database_errors() -> tuple[type[Exception], ...]:
    from sqlalchemy.exc import SQLAlchemyError

    return StorageInternalError, SQLAlchemyError


def without_password(storage: str) -> str:
    """A URL that can be shown."""
    scheme, separator, rest = storage.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{host}"


# Processes ------------------------------------------------------------------------------------------------------------

PROCESS = "process"
"""What a trial says of who runs it."""


def this_process() -> Mapping[str, Any]:
    """A process, told apart from another one that has its number later or elsewhere, and the CPU seconds that it has taken."""
    said = {"machine": _machine(), "pid": os.getpid(), "started": _started(os.getpid())}
    return {**said, "cpu_seconds": time.process_time()}


def is_this_process(trial: FrozenTrial) -> bool:
    """Whether this process has said that it runs a trial."""
    said, own = trial.user_attrs.get(PROCESS) or {}, this_process()
    return all(said.get(name) == own[name] for name in ("machine", "pid", "started"))


def _machine() -> str:
    """Where process numbers mean the same: a machine since it was booted, and the name space of the kernel."""
    return f"{Path('/proc/sys/kernel/random/boot_id').read_text().strip()} {os.readlink('/proc/self/ns/pid')}"


def _started(pid: int) -> str | None:
    """When a process began, in the kernel's ticks; None where there is none that runs."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


def has_ended(process: Mapping[str, Any], *, in_journal: bool) -> bool:
    """Whether the process that a trial names is not there any more. A journal is of one machine: who is not found there has ended.
    Of other machines' processes only the heartbeats in their database tell."""
    if process.get("machine") != _machine():
        return in_journal
    return process.get("started") is None or _started(int(process["pid"])) != process["started"]


@contextmanager
def heartbeat(storage: BaseStorage, trial: int) -> Generator[None]:
    """Let a trial of a database, by its number in the storage, give a heartbeat from time to time. One that cannot be given is
    left out: whoever writes the result says that the storage is lost."""
    if not isinstance(storage, RDBStorage):
        yield
        return
    is_over = Event()

    def beat() -> None:
        while True:
            with suppress(*_database_errors()):
                storage.record_heartbeat(trial)
            if is_over.wait(HEARTBEAT_SECONDS):
                storage.remove_session()
                return

    thread = Thread(target=beat, daemon=True)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join(CONNECT_SECONDS)
