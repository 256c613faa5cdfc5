"""Code of the user's: whatever it raises is his to see, in one line, with the module and the line it comes from."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NoReturn

import torch
from torch.fx.experimental.symbolic_shapes import GuardOnDataDependentSymNode

from stc.diagnostics import CompileError
from stc.running import note

LIBRARIES = tuple(str(Path(str(library)).parent) for library in (torch.__file__, __file__))


ENDS_THE_PROCESS = ("_exit", "abort", "execv", "execve")
"""What of `os` ends the process, or puts another program in its place, without raising anything."""


class UserCode:
    """Context in which anything raised becomes a CompileError, except CompileErrors and interrupts.

    So does ending the process. `purpose` is what failed, said before the reason. A `module` is watched while it runs, so that the
    error names the innermost of its submodules that was running; `name` stands for the module itself, or for whatever else is run.
    `accepted` says what works.
    """

    def __init__(self, name: str, accepted: str, *, purpose: str = "", module: torch.nn.Module | None = None):
        self._name = name
        self._accepted = accepted
        self._purpose = f"{purpose}: " if purpose else ""
        self._module = module
        self._running: list[str] = []
        self._handles: list[torch.utils.hooks.RemovableHandle] = []
        self._ends = {ending: getattr(os, ending) for ending in ENDS_THE_PROCESS}

    def __enter__(self) -> UserCode:
        for ending, original in self._ends.items():
            setattr(os, ending, _raising(ending, original))
        if self._module is not None:
            for path, module in self._module.named_modules():
                self._handles.append(module.register_forward_pre_hook(lambda *_, path=path: self._begin(path)))
                # Not called when the module raises: what raised stays on top.
                self._handles.append(module.register_forward_hook(lambda *_: self._leave()))
        self._note()
        return self

    def _begin(self, path: str) -> None:
        self._running.append(path)
        self._note()

    def _leave(self) -> None:
        self._running.pop()
        self._note()

    def _note(self) -> None:
        """For whoever finds this process dead."""
        inner = self._running[-1] if self._running else ""
        note(self._name + (f", module {inner}" if inner else ""))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        note("")
        for ending, original in self._ends.items():
            setattr(os, ending, original)
        for handle in self._handles:
            handle.remove()
        if error is None or isinstance(error, CompileError | KeyboardInterrupt):
            return
        line = _line(error)
        where, place = line or self._name, ""
        if self._module is not None:
            where = (self._running[-1] if self._running else "") or self._name
            place = f" (at {line})" if line else ""
        if isinstance(error, GuardOnDataDependentSymNode):
            raise CompileError(
                f"data-dependent control flow or shape: Python asks for the value of a tensor{place}",
                where=where,
                accepted="torch.where, branches on shapes and constants, and torch._check of what a number (.item()) may be"
                + (f", or --host {where}" if self._running and self._running[-1] else ""),
            ) from None
        what = f"{self._purpose}{type(error).__name__}: {_reason(error)}{place}"
        raise CompileError(what, where=where, accepted=self._accepted) from None


def _raising(ending: str, original: Callable[..., NoReturn]) -> Callable[..., NoReturn]:
    """In place of `original`, where this process calls it; its children may end as they like."""
    process = os.getpid()

    def end(*arguments: object) -> NoReturn:
        if os.getpid() != process:
            original(*arguments)
        raise SystemExit(f"os.{ending} ends the process")

    return end


def _line(error: BaseException) -> str:
    """`file:line` of the last line outside the libraries that was running, empty where there is none."""
    if isinstance(error, SyntaxError) and error.lineno is not None:
        return f"{error.filename}:{error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_users(frame.filename)]
    return f"{frames[-1].filename}:{frames[-1].lineno}" if frames else ""


def _is_users(filename: str) -> bool:
    return not filename.startswith((*LIBRARIES, "<"))


def _reason(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:200] if lines else "no reason given"
