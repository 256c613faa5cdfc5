"""Reading and writing `manifest.json` and the binary files it names."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.codec import decode, encode
from stc.manifest.element_types import numpy_type
from stc.manifest.schema import SCHEMA_VERSION, Manifest

MANIFEST = "manifest.json"


def to_json(manifest: Manifest) -> str:
    """The text of `manifest.json`."""
    return json.dumps(encode(manifest), indent=1) + "\n"


def from_json(text: str, source: str = MANIFEST) -> Manifest:
    """The manifest in `text`; CompileError naming the field where it is unreadable, incomplete or of another version."""
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise CompileError(f"not valid JSON ({error.msg} at line {error.lineno})", where=source) from error
    if not isinstance(value, dict):
        raise CompileError("the manifest is not an object", where=source)
    version = value.get("schema_version")
    if version != SCHEMA_VERSION:
        raise CompileError(f"field 'schema_version' is {version!r}", where=source, accepted=str(SCHEMA_VERSION))
    manifest = decode(Manifest, value, "", source)
    _check_references(manifest, source)
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The manifest of the project in `directory`."""
    path = directory / MANIFEST
    if not path.is_file():
        raise CompileError("no manifest.json here", where=str(directory), accepted="a folder written by `stc compile`")
    return from_json(path.read_text(), str(path))


def _check_references(manifest: Manifest, source: str) -> None:
    """Names in steps must exist: a reader may then look them up without checks."""
    kernels = {kernel.name: {port.name for port in kernel.ports} for kernel in manifest.kernels}
    tensors = {tensor.name for tensor in manifest.tensors}
    for index, step in enumerate(manifest.steps):
        if step.kernel not in kernels:
            raise CompileError(f"field 'steps[{index}].kernel' names no kernel: '{step.kernel}'", where=source)
        if step.port is not None and step.port not in kernels[step.kernel]:
            raise CompileError(f"field 'steps[{index}].port' names no port: '{step.port}'", where=source)
        if step.tensor is not None and step.tensor not in tensors:
            raise CompileError(f"field 'steps[{index}].tensor' names no tensor: '{step.tensor}'", where=source)
    for index, copy in enumerate(manifest.copies):
        for field, name in (("source", copy.source), ("target", copy.target)):
            if name not in tensors:
                raise CompileError(f"field 'copies[{index}].{field}' names no tensor: '{name}'", where=source)


def digest(data: bytes) -> str:
    """Checksum of a file's content, as the manifest stores it."""
    return hashlib.sha256(data).hexdigest()


def read_array(
    directory: Path, file: str, element_type: str, count: int, sha256: str | None = None, padded_bytes: int | None = None
) -> np.ndarray:
    """`count` entries of `element_type` from a raw little-endian file, one dimension.

    `padded_bytes`: the file's size where it is padded. CompileError where the file is missing, of another size, or of
    another checksum.
    """
    path = directory / file
    if not path.is_file():
        raise CompileError("file is missing", where=str(path))
    data = path.read_bytes()
    kind = numpy_type(element_type)
    expected = count * kind.itemsize if padded_bytes is None else padded_bytes
    if len(data) != expected:
        raise CompileError(f"file has {len(data)} bytes (truncated or of another design?)", where=str(path),
                           accepted=f"{expected} bytes")
    if sha256 is not None and digest(data) != sha256:
        raise CompileError("checksum differs from the manifest's: the file is corrupt", where=str(path))
    return np.frombuffer(data, dtype=kind, count=count)
