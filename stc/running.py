"""What of the user's is running, in memory that outlives the process: `stc.tools.entry` says it of a process that died."""

from __future__ import annotations

import mmap

_ROOM = mmap.mmap(-1, 512)  # shared with the children that are made afterwards


def note(what: str) -> None:
    """`what` is running from now on; nothing where it is empty."""
    _ROOM[:] = what.encode(errors="replace")[: len(_ROOM)].ljust(len(_ROOM), b"\0")


def noted() -> str:
    """What was noted last, by this process or one that it made."""
    return _ROOM[:].rstrip(b"\0").decode(errors="replace")
