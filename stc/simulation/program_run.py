"""One run of a simulation program: environment, time limit, exit code and report are dealt with here and nowhere else."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from stc.diagnostics import CompileError

UNUSABLE = 2
"""Exit code of a program that refuses its input."""


@dataclass(frozen=True)
class ProgramRun:
    """How a run ended. `report`: what `stc_sim::Report` wrote, or None, and then `failure` says in words why there is none.
    `message`: what the program printed to stderr.

    `seconds`: elapsed, the start of the process and the reading of the report included.
    """

    outcome: Literal["reported", "timeout", "crash", "error"]
    report: Mapping[str, Any] | None
    failure: str | None
    seconds: float
    message: str = ""


def run_program(
    program: Sequence[str],
    directory: Path,
    report: str | None,
    variables: Mapping[str, str],
    timeout: float,
    arguments: Sequence[str] = (),
    tables: Mapping[str, str] | None = None,
) -> ProgramRun:
    """Run `program` in and on the project `directory` for at most `timeout` seconds, with `variables` added to its environment and
    `arguments` behind the directory. `tables`: texts that it reads from files, by the variable that names each. `report`: the name
    under which what it reports stays in DIR/build; None: nothing stays.

    Files of a run have a folder of their own until it has ended, so that several may go on at once. CompileError where the program
    refuses its input: a file of the project that is missing or has another size, no room for the report.
    """
    build = directory / "build"
    if report is not None:
        (build / report).unlink(missing_ok=True)
    begin = time.perf_counter()
    with tempfile.TemporaryDirectory(prefix=".run_", dir=build) as name:
        folder = Path(name)
        own, named = folder / "report.json", dict(variables)
        for variable, text in (tables or {}).items():
            named[variable] = str(folder / variable)
            (folder / variable).write_text(text, encoding="utf-8")
        try:
            done = subprocess.run(
                [*program, str(directory), *arguments],
                cwd=directory,
                env={**os.environ, **named, "STC_SIM_REPORT": str(own)},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return ProgramRun("timeout", None, f"the design did not end within {timeout:g} s", timeout)
        message = done.stderr.strip()
        if done.returncode == UNUSABLE:
            raise CompileError(message or "the testbench refuses its input", where=str(directory))
        if done.returncode < 0 or not own.is_file():
            text = f"the simulation {_how_it_ended(done.returncode)}" + (f": {message}" if message else "")
            return ProgramRun("crash", None, text, time.perf_counter() - begin)
        content = json.loads(own.read_text(encoding="utf-8"))
        if report is not None:
            own.replace(build / report)
    return ProgramRun("reported", content, None, time.perf_counter() - begin, message)


def _how_it_ended(code: int) -> str:
    """An exit code in words."""
    if code >= 0:
        return f"ended with code {code} and without a report"
    try:
        return f"died of {signal.Signals(-code).name}"
    except ValueError:
        return f"died of signal {-code}"
