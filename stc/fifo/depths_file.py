"""Depths of FIFOs as a file: a JSON object of depths by name, or one of `depths` and what is known of them (`proof`)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from stc.diagnostics import CompileError
from stc.user_files import json_of

ACCEPTED = 'a JSON object of FIFO names and integer depths, or {"depths": that object, "proof": a text}'


def depths_text(depths: Mapping[str, int], proof: str) -> str:
    """The file. `proof`: what is known of a design with these depths."""
    return json.dumps({"proof": proof, "depths": depths}, indent=2) + "\n"


def read_depths(path: Path | None) -> dict[str, int]:
    """Depths by name, none without a file; CompileError for one that cannot be used."""
    if path is None:
        return {}
    try:
        content = json_of(path.read_text(encoding="utf-8"), object_pairs_hook=_without_repetition)
    except (OSError, ValueError) as error:
        raise CompileError(f"cannot read depths ({error})", where=str(path), accepted=ACCEPTED) from None
    if isinstance(content, dict) and isinstance(content.get("depths"), dict):
        content = content["depths"]
    if not isinstance(content, dict):
        raise CompileError("not a JSON object", where=str(path), accepted=ACCEPTED)
    for name, depth in content.items():
        if type(depth) is not int:
            raise CompileError(f"FIFO '{name}' has depth {json.dumps(depth)}", where=str(path), accepted="an integer")
    return content


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; ValueError for a name that comes twice, of which json would silently take the last."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"'{next(name for name in names if names.count(name) > 1)}' comes twice")
    return content
