"""A PostgreSQL server of Debian's packages, for one test, on loopback."""

from __future__ import annotations

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest

USER = "postgres"
"""Whom the server runs as where tests run as root, which it refuses; Debian's package makes that user."""

FAST = ("-c", "fsync=off", "-c", "full_page_writes=off", "-c", "unix_socket_directories=", "-c", "listen_addresses=127.0.0.1")


def programs() -> Path:
    """The folder of initdb and pg_ctl; where there is none the test fails in CI, and is skipped elsewhere."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    if not found and os.environ.get("CI") == "true":
        pytest.fail("PostgreSQL is missing: .ci/packages must install it")
    if not found:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    return found[-1].parent


@contextmanager
def server() -> Generator[str]:
    """The URL of a database of a server that is there until the end."""
    bin_, folder = programs(), Path(tempfile.mkdtemp(prefix="stc-postgresql-"))
    data, port = folder / "data", _free_port()
    try:
        if os.getuid() == 0:
            known = pwd.getpwnam(USER)
            os.chown(folder, known.pw_uid, known.pw_gid)
        _run([str(bin_ / "initdb"), "-D", str(data), "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--locale=C"])
        options = " ".join([f"-p {port}", *FAST])
        _run([str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-l", str(folder / "log"), "-o", options, "start"])
        try:
            yield f"postgresql://{USER}@127.0.0.1:{port}/postgres"
        finally:
            _run([str(bin_ / "pg_ctl"), "-D", str(data), "-w", "-m", "immediate", "stop"])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _run(command: Sequence[str]) -> None:
    prefix = ["runuser", "-u", USER, "--"] if os.getuid() == 0 else []
    done = subprocess.run([*prefix, *command], capture_output=True, text=True, timeout=120, cwd="/")
    assert done.returncode == 0, done.stdout + done.stderr


def _free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return bound.getsockname()[1]
