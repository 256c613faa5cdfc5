"""Where the trials of a search are kept: a journal file for the processes of one machine, PostgreSQL for those of many."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
import warnings
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import BaseStorage, JournalStorage, RDBStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState

from stc.diagnostics import CompileError

JOURNAL = "trials.journal"
"""The file of a search in its folder, where no other storage is named."""

HEARTBEAT = 5
"""Seconds between two signs of life of a trial in a database."""

GRACE = 20
"""Seconds without one after which a trial counts as dead."""

CONNECT_SECONDS = 10

ACCEPTED = "the path of a journal file, or postgresql://USER@HOST:PORT/DATABASE"

optuna.logging.set_verbosity(optuna.logging.ERROR)


class _Journal(JournalFileBackend):
    """A journal whose writers may be killed at any time.

    The lock is the kernel's, which nobody can leave behind. What a killed writer left of a line is cut off by the next one. What is
    written outlives its process without being forced to the disk, which takes longer than an estimate.
    """

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        text = "".join(json.dumps(log, separators=(",", ":")) + "\n" for log in logs)
        with open(self._file_path, "r+b") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            end = file.seek(0, os.SEEK_END)
            file.seek(_whole_lines(file.fileno(), end))
            file.truncate()
            file.write(text.encode())


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
    with reaching(storage), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # heartbeats are called experimental
        return RDBStorage(f"postgresql+psycopg://{rest}", arguments, heartbeat_interval=HEARTBEAT, grace_period=GRACE)


def _journal(path: Path) -> BaseStorage:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.is_dir():
            raise CompileError("the storage is a folder", where=str(path), accepted=ACCEPTED)
        return JournalStorage(_Journal(str(path)))
    except OSError as error:
        raise CompileError(f"the storage cannot be opened: {error.strerror}", where=str(path), accepted=ACCEPTED) from None
    except (ValueError, KeyError, TypeError):  # what is read first, and is no journal
        raise CompileError("the file is no journal of trials", where=str(path), accepted=ACCEPTED) from None


@contextmanager
def reaching(storage: str) -> Generator[None]:
    """Turn what a database raises that cannot be reached, or not any more, into a CompileError; finished trials are in it."""
    if not is_database(storage):
        yield
        return
    from optuna.exceptions import StorageInternalError
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (StorageInternalError, SQLAlchemyError) as error:
        cause = error.__cause__ if isinstance(error, StorageInternalError) and error.__cause__ is not None else error
        reason = str(getattr(cause, "orig", None) or cause).strip().splitlines()[0]
        accepted = "a PostgreSQL server that is reached, and a database in it that exists"
        raise CompileError(f"the storage cannot be reached: {reason}", where=without_password(storage), accepted=accepted) from None


def without_password(storage: str) -> str:
    """A URL that can be shown."""
    scheme, separator, rest = storage.partition("://")
    user, at, host = rest.rpartition("@")
    return f"{scheme}{separator}{user.partition(':')[0]}{at}{host}"


# Processes ------------------------------------------------------------------------------------------------------------

PROCESS = "process"
"""What a trial says of who runs it."""


def this_process() -> Mapping[str, Any]:
    """A process, told apart from another one that has its number later, and the CPU seconds that it has taken."""
    said = {"host": socket.gethostname(), "pid": os.getpid(), "started": _started(os.getpid())}
    return {**said, "cpu_seconds": time.process_time()}


def _started(pid: int) -> str | None:
    """When a process began, in the kernel's ticks; None where there is none that runs."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[19]


NAMELESS = 60
"""Seconds after which a trial is dead that is said to be running, and whose process has not said who it is: it does so first."""


def is_dead(trial: FrozenTrial) -> bool:
    """Whether a trial is said to be running by a process of this machine that is not there any more, or by nobody."""
    if trial.state != TrialState.RUNNING:
        return False
    said = trial.user_attrs.get(PROCESS)
    if not isinstance(said, dict):
        return trial.datetime_start is not None and datetime.now() - trial.datetime_start > timedelta(seconds=NAMELESS)
    if said.get("host") != socket.gethostname():
        return False
    return said.get("started") is None or _started(int(said["pid"])) != said["started"]
