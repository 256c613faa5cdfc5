"""lit's shell, whose `stc-opt` and `filecheck` are forks of the process that runs the test: to start them is most of the time.

A fork has the arguments, folder, environment and streams of the command and ends with its exit code; nothing that a command does is
seen by the next. That the installed programs start from nothing is for tests/tools to show.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, NoReturn

import filecheck.main
import lit.TestRunner

import stc.tools.entry
import stc.tools.stc_opt  # read before the first fork
from stc.transforms import our_passes

FEW = 5
"""Commands that one process starts before it reads everything."""
PROGRAMS: dict[str, Callable[[], Any]] = {"stc-opt": stc.tools.entry.stc_opt, "filecheck": filecheck.main.main}


class ForkedPopen(subprocess.Popen[str]):
    """A command that Python runs in the child, which has its streams and folder by then, in place of the program's file."""

    started = 0

    def __init__(self, args: Sequence[str], *, executable: str, env: Mapping[str, str], **others: Any) -> None:
        ForkedPopen.started += 1
        if ForkedPopen.started == FEW:
            _read_all()
        main = PROGRAMS.get(os.path.basename(executable))
        run = None if main is None else lambda: _run(main, args, env)
        super().__init__(args, executable=executable, env=env, preexec_fn=run, **others)


def _read_all() -> None:
    """Read what passes need, before the forks that will need it: a run over all tests gains, one over a single test would lose."""
    for make in our_passes().values():
        make()
    _settle()


def _settle() -> None:
    gc.collect()
    gc.freeze()  # a fork shares these objects' memory as long as nobody looks through them


def _run(main: Callable[[], Any], arguments: Sequence[str], environment: Mapping[str, str]) -> NoReturn:
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # among them the pipe that tells the parent that the program has started
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = list(arguments)
    sys.stdin, sys.stdout, sys.stderr = (open(number, mode) for number, mode in enumerate(("r", "w", "w")))  # noqa: SIM115
    code = 1
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def install() -> None:
    """Let lit start commands by `ForkedPopen`."""
    _settle()
    lit.TestRunner.subprocess = SimpleNamespace(**{**vars(subprocess), "Popen": ForkedPopen})
