"""Work in native code that may take the process down with it: torch-mlir's passes, code compiled from a user's file.

A division by zero in the reference run of a file, or a fault inside torch-mlir, ends a process by a signal that Python cannot
catch. Run in a child process, it becomes a sentence.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import pickle
import signal
import sys
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import IO, Generic, TypeVar

from stc.diagnostics import CompileError

Argument = TypeVar("Argument")
Result = TypeVar("Result")


def isolated(work: Callable[[], Result], what: str, *, where: str, accepted: str) -> Result:
    """`work()`, run in a child process; its result, or its exception, comes back pickled.

    `what` names the work in the CompileError that reports its death, by a signal or an exit. Changes `work` makes to memory stay in
    the child.
    """
    call: IsolatedFunction[None, Result] = IsolatedFunction(lambda: lambda _: work(), what, where=where, accepted=accepted)
    return call(None)


class IsolatedFunction(Generic[Argument, Result]):
    """A function in a child process, which `make` makes there at the first call, and which stays for more of them.

    Arguments, results and exceptions are pickled. A call that ends the child is a CompileError, as of `isolated`; the next one has
    another child.
    """

    def __init__(self, make: Callable[[], Callable[[Argument], Result]], what: str, *, where: str, accepted: str) -> None:
        self.make = make
        self.what = what
        self.where = where
        self.accepted = accepted
        self._child: _Child | None = None

    def __call__(self, argument: Argument) -> Result:
        if self._child is None or self._child.parent != os.getpid():  # or forks of this process would share it
            self._child = _begin(self.make)
            weakref.finalize(self, self._child.end)
        try:
            answer = self._child.answer(argument)
        except (EOFError, BrokenPipeError):
            status, self._child = self._child.end(), None
            raise self._death(status) from None
        succeeded, value = pickle.loads(answer)
        if succeeded:
            return value
        try:
            raise value
        finally:
            del value  # which this frame would keep, and it this frame with the child

    def _death(self, status: int) -> CompileError:
        if os.WIFSIGNALED(status):
            name = signal.strsignal(os.WTERMSIG(status)) or f"signal {os.WTERMSIG(status)}"
            return CompileError(f"{self.what} crashed ({name})", where=self.where, accepted=self.accepted)
        code = os.WEXITSTATUS(status)
        return CompileError(f"{self.what} ended its process (exit code {code})", where=self.where, accepted=self.accepted)


@dataclass
class _Child:
    """Its pipes, at the ends of the process `parent`: questions are (argument,), or None to end; answers are pickled bytes."""

    parent: int
    process: int
    questions: IO[bytes]
    answers: IO[bytes]
    status: int | None = None

    def answer(self, argument: object) -> bytes:
        pickle.dump((argument,), self.questions)
        self.questions.flush()
        return pickle.load(self.answers)

    def end(self) -> int:
        """Its exit status, as of waitpid; a fork of the parent only lets go."""
        if self.parent == os.getpid() and self.status is None:
            with contextlib.suppress(BrokenPipeError, ValueError):
                pickle.dump(None, self.questions)
                self.questions.flush()
            _, self.status = os.waitpid(self.process, 0)
        with contextlib.suppress(BrokenPipeError):
            self.questions.close()
        self.answers.close()
        return self.status or 0


def _begin(make: Callable[[], Callable[[Argument], object]]) -> _Child:
    sys.stdout.flush()
    sys.stderr.flush()
    asked, asking = os.pipe()
    answered, answering = os.pipe()
    process = os.fork()
    if process == 0:
        os.close(asking)
        os.close(answered)
        _answer(make, os.fdopen(asked, "rb"), os.fdopen(answering, "wb"))
    os.close(asked)
    os.close(answering)
    return _Child(os.getpid(), process, os.fdopen(asking, "wb"), os.fdopen(answered, "rb"))


def _answer(make: Callable[[], Callable[[Argument], object]], questions: IO[bytes], answers: IO[bytes]) -> None:
    """Answer, then leave the process at once: what the parent registered to be done at exit is not the child's to do."""
    faulthandler.disable()  # the parent says in a sentence what happened
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # nor does an interrupt unwind what the parent was doing
    function: Callable[[Argument], object] | None = None
    with contextlib.suppress(EOFError, BrokenPipeError):  # the parent has ended
        while (question := pickle.load(questions)) is not None:
            try:
                function = function or make()
                answer = pickle.dumps((True, function(*question)))
            except Exception as error:  # whatever it is, the parent raises it
                answer = pickle.dumps((False, error))
            pickle.dump(answer, answers)
            answers.flush()
    os._exit(0)
