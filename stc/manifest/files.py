"""Reading and writing `manifest.json` and the binary files it names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from stc.diagnostics import CompileError
from stc.manifest.checks import check_manifest
from stc.manifest.codec import decode, encode
from stc.manifest.schema import SCHEMA_VERSION, Manifest
from stc.user_files import json_of, reason_of

MANIFEST = "manifest.json"
RETIRED = {"memory": ("sharing",)}
"""Fields of older manifests, by object: nothing reads them any more."""


def to_json(manifest: Manifest) -> str:
    """The text of `manifest.json`."""
    return json.dumps(encode(manifest), indent=1) + "\n"


def from_json(text: str, source: str = MANIFEST) -> Manifest:
    """The manifest in `text`; CompileError naming the field where it is unreadable, incomplete or of another version."""
    try:
        value = json_of(text)
    except json.JSONDecodeError as error:
        raise CompileError(f"not valid JSON ({error.msg} at line {error.lineno})", where=source) from error
    except ValueError as error:  # a number of thousands of digits, thousands of brackets
        raise CompileError(f"not valid JSON ({error})", where=source) from error
    if not isinstance(value, dict):
        raise CompileError("the manifest is not an object", where=source)
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise CompileError(f"field 'schema_version' is {version!r}", where=source, accepted=str(SCHEMA_VERSION))
    for name, retired in RETIRED.items():
        if isinstance(inner := value.get(name), dict):
            value[name] = {key: entry for key, entry in inner.items() if key not in retired}
    manifest = decode(Manifest, value, "", source)
    check_manifest(manifest, source)
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The manifest of the project in `directory`."""
    path = directory / MANIFEST
    if not path.is_file():
        what = "no manifest.json here" if directory.is_dir() else "no such folder"
        raise CompileError(what, where=str(directory), accepted="a folder written by `stc compile`")
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = reason_of(error)
        raise CompileError(f"cannot read it ({reason})", where=str(path), accepted="a file written by `stc compile`") from error
    return from_json(text, str(path))


def digest(data: bytes) -> str:
    """Checksum of a file's content, as the manifest stores it."""
    return hashlib.sha256(data).hexdigest()
