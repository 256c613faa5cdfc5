"""Work in native code that may take the process down with it: torch-mlir's passes, code compiled from a user's file.

A division by zero in the reference run of a file, or a fault inside torch-mlir, ends a process by a signal that Python cannot
catch. Run in a child process, it becomes a sentence.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import signal
import sys
from collections.abc import Callable
from typing import TypeVar

from stc.diagnostics import CompileError

Result = TypeVar("Result")


def isolated(work: Callable[[], Result], what: str, *, where: str, accepted: str) -> Result:
    """`work()`, run in a child process; its result, or its exception, comes back pickled.

    `what` names the work in the CompileError that reports its death, by a signal or an exit. Changes `work` makes to memory stay in
    the child.
    """
    sys.stdout.flush()
    sys.stderr.flush()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _answer(work, writer)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        answer = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        name = signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
        raise CompileError(f"{what} crashed ({name})", where=where, accepted=accepted)
    if not answer:
        raise CompileError(f"{what} ended its process (exit code {os.WEXITSTATUS(status)})", where=where, accepted=accepted)
    succeeded, value = pickle.loads(answer)
    if succeeded:
        return value
    raise value


def _answer(work: Callable[[], object], writer: int) -> None:
    """Do the work and leave the process at once: what the parent registered to be done at exit is not the child's to do."""
    faulthandler.disable()  # the parent says in a sentence what happened
    try:
        answer = pickle.dumps((True, work()))
    except Exception as error:  # whatever it is, the parent raises it
        answer = pickle.dumps((False, error))
    with os.fdopen(writer, "wb") as pipe:
        pipe.write(answer)
    os._exit(0)
