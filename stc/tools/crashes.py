"""What is said about an exception that nobody should have raised: its type, its message, where it came from."""

from __future__ import annotations

import traceback
from pathlib import Path

from stc.diagnostics import CompileError

_FRAMES = 3


def innermost_frames(error: BaseException) -> tuple[str, ...]:
    """`file:line in function` of the innermost frames, innermost last, without the one that caught `error`; paths are shortened."""
    frames = traceback.extract_tb(error.__traceback__)[1:][-_FRAMES:]
    return tuple(f"{_short(frame.filename)}:{frame.lineno} in {frame.name}" for frame in frames)


def _short(file: str) -> str:
    parts = Path(file).parts
    for root in ("site-packages", "stc"):
        if root in parts:
            index = len(parts) - 1 - parts[::-1].index(root)
            return "/".join(parts[index + (root == "site-packages") :])
    return parts[-1]


def one_line(error: BaseException) -> str:
    return " ".join(str(error).split())


def spelled_error(error: BaseException) -> str:
    """The message, after its type where it is no refusal."""
    text = one_line(error)
    if isinstance(error, CompileError):
        return text
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def crash_sentence(name: str, error: BaseException) -> str:
    """One line for an exception that a pass should not have raised: what it is, and where it was raised."""
    frames = innermost_frames(error)
    where = f" ({frames[-1]})" if frames else ""
    return f"pass '{name}' crashes: {spelled_error(error)}{where}"
