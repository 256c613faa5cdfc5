"""What the command lines have in common: how they end."""

from __future__ import annotations

import errno
import sys
import traceback
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

import typer

from stc.diagnostics import CompileError, PassCrashed

UNUSABLE = 2
INTERRUPTED = 130
READER_GONE = 128 + 13
"""What a shell says of a program that SIGPIPE ends, as it does where nobody reads what is printed (`| head`)."""
FULL = (errno.ENOSPC, errno.EDQUOT)
"""Writing to an open file may fail with these: then the error does not name the file."""


def run_app(app: Callable[..., Any], program: str, arguments: Sequence[str]) -> NoReturn:
    """Run `app` and exit with its code; a refusal, a crash of a pass or a wrong option is one line on stderr and exit code
    2, or what the refusal says (1: a check failed)."""
    try:
        code = app(list(arguments), prog_name=program, standalone_mode=False)
    except CompileError as error:
        _refuse(program, str(error), error.exit_code)
    except PassCrashed as error:
        _refuse(program, str(error))
    except typer.TyperException as error:
        context = getattr(error, "ctx", None)
        command = program if context is None else context.command_path
        _refuse(program, f"{error.format_message()} (see {command} --help)")
    except SystemExit as end:  # of typer and rich, where nobody reads what is printed
        raise SystemExit(READER_GONE if isinstance(end.__context__, BrokenPipeError) else end.code) from None
    except BrokenPipeError:
        raise SystemExit(READER_GONE) from None
    except OSError as error:  # a folder that cannot be written, a file where a folder should be, a full disk
        if error.filename is None and error.errno not in FULL:
            raise
        _refuse(program, f"{error.filename}: {error.strerror}" if error.filename is not None else str(error.strerror))
    except typer.Abort:
        code = INTERRUPTED
    if code == INTERRUPTED:  # what typer makes of a KeyboardInterrupt, without a word
        print(f"{program}: interrupted", file=sys.stderr)
    raise SystemExit(code if isinstance(code, int) else 0)


def show_cause(error: BaseException) -> None:
    """The traceback of what an error stands for, for `--debug`."""
    if error.__cause__ is not None:
        traceback.print_exception(error.__cause__)


@contextmanager
def debugging(asked: bool) -> Generator[None]:
    """Where asked for, show what stands behind a refusal or a crash of a pass before it becomes one line."""
    try:
        yield
    except (CompileError, PassCrashed) as error:
        if asked:
            show_cause(error)
        raise


def _refuse(program: str, message: str, code: int = UNUSABLE) -> NoReturn:
    print(f"{program}: error: {' '.join(message.split())}", file=sys.stderr)
    raise SystemExit(code)
