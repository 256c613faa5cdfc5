"""Reading and writing `manifest.json` and the binary files it names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.codec import decode, encode
from stc.manifest.element_types import numpy_type
from stc.manifest.schema import SCHEMA_VERSION, Kernel, Manifest

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
    _check_sizes(manifest, source)
    return manifest


def read_manifest(directory: Path) -> Manifest:
    """The manifest of the project in `directory`."""
    path = directory / MANIFEST
    if not path.is_file():
        what = "no manifest.json here" if directory.is_dir() else "no such folder"
        raise CompileError(what, where=str(directory), accepted="a folder written by `stc compile`")
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
    needed = {tensor.name for tensor in manifest.tensors if tensor.role in ("input", "output")}
    for index, draw in enumerate(manifest.draws):
        if draw.tensors.keys() != needed:
            missing = ", ".join(sorted(needed ^ draw.tensors.keys()))
            raise CompileError(f"field 'draws[{index}].tensors' has not the inputs and outputs: '{missing}'", where=source)
    for index, copy in enumerate(manifest.copies):
        for field, name in (("source", copy.source), ("target", copy.target)):
            if name not in tensors:
                raise CompileError(f"field 'copies[{index}].{field}' names no tensor: '{name}'", where=source)


def _check_sizes(manifest: Manifest, source: str) -> None:
    """Sizes and cycles must be possible: whatever divides or multiplies them may then do so without checks."""
    memory = manifest.memory
    sizes = [size for index, kernel in enumerate(manifest.kernels) for size in _sizes(kernel, f"kernels[{index}]")]
    sizes += [("memory", memory, ("burst_words", "outstanding_bursts"), ("read_latency", "launch_us"))] if memory else []
    for path, owner, positive, not_negative in sizes:
        for least, fields in ((1, positive), (0, not_negative)):
            for field in fields:
                value = getattr(owner, field)
                if value is not None and not least <= value < math.inf:
                    raise CompileError(f"field '{path}.{field}' is {value}", where=source, accepted=f"at least {least}")
    for field in ("clock_mhz", "channel_bytes_per_cycle") if memory else ():
        value = getattr(memory, field)
        if not 0 < value < math.inf:
            raise CompileError(f"field 'memory.{field}' is {value}", where=source, accepted="a positive number")


def _sizes(kernel: Kernel, path: str) -> Iterator[tuple[str, object, tuple[str, ...], tuple[str, ...]]]:
    """Where, whose, which fields are at least 1 (or None), and which at least 0."""
    for index, port in enumerate(kernel.ports):
        yield f"{path}.ports[{index}]", port, ("lanes", "words", "bytes"), ()
    for index, stream in enumerate(kernel.streams):
        yield f"{path}.streams[{index}]", stream, ("lanes", "bits", "depth", "required"), ("tokens",)
    for index, block in enumerate(kernel.blocks):
        yield f"{path}.blocks[{index}]", block, ("count", "bits"), ("blocks",)
    for index, loop in enumerate(kernel.schedule):
        yield f"{path}.schedule[{index}]", loop, ("ii", "depth", "unroll"), ("trip",)


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
