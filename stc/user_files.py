"""JSON and TOML that somebody else wrote, and why a file cannot be read: whatever is wrong is a ValueError or an OSError."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def reason_of(error: OSError | UnicodeDecodeError) -> str:
    """Why a text file cannot be read."""
    return (error.strerror or str(error)) if isinstance(error, OSError) else "not a text file"


def json_of(text: str, object_pairs_hook: Callable[[list[tuple[str, Any]]], Any] | None = None) -> Any:
    """The value that `text` holds; ValueError where it is no JSON, brackets that are nested too deep included."""
    try:
        return json.loads(text, object_pairs_hook=object_pairs_hook)
    except RecursionError:
        raise ValueError("nested too deep") from None


def toml_of(text: str) -> dict[str, Any]:
    """The tables that `text` holds; ValueError as `json_of`."""
    import tomllib  # few runs read any

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise ValueError("nested too deep") from None
