"""Entry points of `stc` and `stc-opt`: the work is done in a child process, and its end is always told.

To be interrupted is one line and exit code 130, also while libraries are being read. A process that ends without having said how
(the user's Python code or a library may leave it by any door: `_exit`, a signal, a fault) is one line and exit code 2.

Next to nothing of ours, and as little as possible of Python's, is imported before the signal has its handler.
"""

import gc
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module

from stc.running import noted

INTERRUPTED = 130
UNUSABLE = 2
RARELY = 500_000
"""Objects made between two looks for garbage, of which every other one goes through the older ones, too. IR is a graph of cycles:
with Python's 700 the looks are a quarter of a compile, with these next to nothing."""
FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_WATCHED = (*FORWARDED, signal.SIGCHLD)
_DIE_WITH_PARENT = 1  # PR_SET_PDEATHSIG of <linux/prctl.h>


def stc() -> None:
    _run("stc", "stc.tools.stc")


def stc_opt() -> None:
    _run("stc-opt", "stc.tools.stc_opt")


def _run(program: str, module: str) -> None:
    """Exit with what `main` of `module` exits with, in a process of its own."""
    _open_closed_streams()
    reader, writer = os.pipe()
    signal.pthread_sigmask(signal.SIG_BLOCK, _WATCHED)  # kept until somebody is there to take them
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # where it is ignored, nobody learns how a child ended
    parent = os.getpid()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _work(program, module, writer, parent)
    os.close(writer)
    status, told = _await(child)
    os.set_blocking(reader, False)  # a process that the work left behind may keep the other end
    try:
        verdict = os.read(reader, 1)
    except BlockingIOError:
        verdict = b""
    if verdict:
        raise SystemExit(verdict[0])
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    if number in told:
        raise SystemExit(128 + number)
    how = f"by signal {number}, {signal.strsignal(number)}" if number else f"with exit code {os.WEXITSTATUS(status)}"
    accepted = "models whose Python code, and the libraries below, do not end the process"
    what = f"{noted()} ended the process" if noted() else "the process ended before it had a result"
    os.write(2, f"{program}: error: {what} ({how}); accepted: {accepted}\n".encode())
    raise SystemExit(UNUSABLE)


def _open_closed_streams() -> None:
    """What was started without a standard stream (`>&-`, a daemon) has the null device there: otherwise Python has None, and the
    next file or pipe that is opened takes the stream's place."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != number:
                os.dup2(null, number)
                os.close(null)
            os.set_inheritable(number, True)
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115


def _await(child: int) -> tuple[int, set[int]]:
    """How the child ended, and the signals that came meanwhile. Those of a terminal reach the child too, others are passed on."""
    told: set[int] = set()
    while True:
        came = signal.sigwaitinfo(_WATCHED)
        if came.si_signo == signal.SIGCHLD:
            ended, status = os.waitpid(child, os.WNOHANG)
            if ended:
                return status, told
            continue  # it was stopped, or goes on
        told.add(came.si_signo)
        if came.si_code <= 0:  # sent by a process, to this one
            os.kill(child, came.si_signo)


def _work(program: str, module: str, writer: int, parent: int) -> None:
    """Run `main`; the exit code goes to `writer` before Python's and the libraries' own ends, which may change it."""

    def leave(*_: object) -> None:
        # At once: libraries turn a KeyboardInterrupt in the middle of their initialisation into whatever they like.
        os.write(2, f"{program}: interrupted\n".encode())
        os.write(writer, bytes([INTERRUPTED]))
        os._exit(INTERRUPTED)

    came: list[int] = []

    def interrupt(number: int, _: object) -> None:
        came.append(number)  # an exception in a destructor or a callback of a library is lost
        raise KeyboardInterrupt

    signal.signal(signal.SIGINT, leave)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WATCHED)
    _end_with(parent)
    gc.set_threshold(RARELY, 1, 1)
    main = import_module(module).main
    signal.signal(signal.SIGINT, interrupt)
    code = 1  # of an exception that is a defect of ours
    try:
        main()
        code = 0
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        raise
    except KeyboardInterrupt:
        leave()
    finally:
        with suppress(OSError, ValueError):  # nobody reads it any more
            sys.stdout.flush()
        if came and code == 0:
            leave()
        os.write(writer, bytes([code & 0xFF]))
    raise SystemExit(code)


def _end_with(parent: int) -> None:
    """Have this process killed when the parent is: by SIGKILL, which it cannot pass on."""
    import ctypes

    ctypes.CDLL(None).prctl(_DIE_WITH_PARENT, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(UNUSABLE)
