"""Reading and writing `model.json` and the files it names."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from stc.diagnostics import CompileError
from stc.manifest.codec import decode, encode
from stc.manifest.model_schema import (
    CACHE_VERSION,
    DECODE,
    MODEL_VERSION,
    CacheLayout,
    CheckedFile,
    LayerKind,
    ModelLayer,
    ModelManifest,
    Table,
)
from stc.manifest.schema import Manifest, Order
from stc.user_files import json_of

MODEL = "model.json"
ACCEPTED = "a folder written by `stc compile --stage model`"
_CHUNK = 1 << 22


def model_to_json(model: ModelManifest) -> str:
    """The text of `model.json`."""
    return json.dumps(encode(model), indent=1) + "\n"


def read_model(folder: Path) -> ModelManifest:
    """The model in `folder`; CompileError where model.json is missing, unreadable, of another version or contradicts itself."""
    path = folder / MODEL
    if not path.is_file():
        raise CompileError(f"no {MODEL} here" if folder.is_dir() else "no such folder", where=str(folder), accepted=ACCEPTED)
    try:
        value = json_of(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CompileError(f"not valid JSON ({error})", where=str(path), accepted=ACCEPTED) from error
    version = value.get("version") if isinstance(value, dict) else None
    if version != MODEL_VERSION:
        raise CompileError(f"parameters of packing version {version!r}", where=str(path), accepted=str(MODEL_VERSION))
    model = decode(ModelManifest, value, "", str(path))
    _check(model, str(path))
    return model


def cache_layout(project: Manifest, name: str, where: str) -> CacheLayout:
    """How the input `name`, which a kernel updates in place, lies on the device; CompileError where none does."""
    for port in (port for kernel in project.kernels for port in kernel.ports if port.tensor == name and port.order is not None):
        if any(other.updates == port.name for kernel in project.kernels for other in kernel.ports) and port.order is not None:
            shape = project.tensor(name).shape
            return CacheLayout(CACHE_VERSION, shape, port.element_type, port.lanes, port.bytes, port.bank, port.order)
    raise CompileError(f"no kernel updates input '{name}' in place", where=where, accepted="a layer that appends to its caches")


def require_layout(project: Manifest, name: str, layout: CacheLayout, where: str) -> None:
    """CompileError where a cache lies in another way in `project`."""
    if (found := cache_layout(project, name, where)) != layout:
        entries = [key for key, value in vars(layout).items() if getattr(found, key) != value]
        differ = ", ".join(f"{key} {_told(getattr(found, key))}" for key in entries)
        accepted = ", ".join(f"{key} {_told(getattr(layout, key))}" for key in entries)
        raise CompileError(f"{name} of the kernel has {differ}: a cache of another layout", where=where, accepted=accepted)


def _told(value: object) -> object:
    return encode(value) if isinstance(value, tuple | Order) else value


def checked_file(path: Path, name: str) -> CheckedFile:
    """What a manifest says of the file `path`, which it calls `name`."""
    return CheckedFile(name, path.stat().st_size, _digest(path))


def require_intact(folder: Path, file: CheckedFile) -> Path:
    """The path of a file whose size and checksum are those of the manifest; CompileError otherwise."""
    path = folder / file.path
    if not path.is_file():
        raise CompileError("file is missing", where=str(path), accepted=ACCEPTED)
    if (size := path.stat().st_size) != file.bytes:
        what = f"file has {size} bytes (truncated, or of another model?)"
        raise CompileError(what, where=str(path), accepted=f"{file.bytes} bytes")
    if _digest(path) != file.sha256:
        what = f"checksum differs from that in {MODEL}: the file is corrupt, or of another model"
        raise CompileError(what, where=str(path), accepted=ACCEPTED)
    return path


def mapped(folder: Path, file: CheckedFile) -> np.ndarray:
    """The bytes of a file, memory-mapped, after `require_intact`."""
    return np.memmap(require_intact(folder, file), dtype=np.uint8, mode="r")


def mapped_table(folder: Path, table: Table) -> np.ndarray:
    """A table, memory-mapped, after `require_intact`."""
    return np.memmap(require_intact(folder, table.file), dtype="<f4", mode="r", shape=table.shape)


def _digest(path: Path) -> str:
    total = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            total.update(chunk)
    return total.hexdigest()


def _check(model: ModelManifest, where: str) -> None:
    """CompileError where parts of a model contradict each other."""
    for what, accepted in _contradictions(model):
        raise CompileError(what, where=where, accepted=accepted)


def _contradictions(model: ModelManifest) -> Iterator[tuple[str, str]]:
    if not model.layers:
        yield "the model has no layers", "one at least"
    for index, layer in enumerate(model.layers):
        if layer.kind not in model.kinds:
            yield f"layer {index} is of kind '{layer.kind}'", ", ".join(model.kinds)
            return
        yield from _of_layer(index, layer, model.kinds[layer.kind])
    tables = [("tokens", model.tokens, (model.vocabulary, model.hidden))]
    tables += [("positions", model.positions, (model.max_seq, model.hidden))] if model.positions is not None else []
    for name, kind in model.kinds.items():
        for key, cache in kind.caches.items():
            if cache.version != CACHE_VERSION:
                yield f"cache {key} of kind '{name}' has layout version {cache.version}", str(CACHE_VERSION)
        tables.append((f"kinds.{name}.mask", kind.mask, (model.max_seq, model.max_seq)))
        tables += [(f"kinds.{name}.rows.{key}", table, (model.max_seq, *table.shape[1:])) for key, table in kind.rows.items()]
    for name, table, shape in tables:
        if table.shape != shape:
            yield f"table {name} has shape {list(table.shape)}", f"{list(shape)}"
        if table.file.bytes != 4 * math.prod(table.shape):
            yield f"table {name} has a file of {table.file.bytes} bytes", f"{4 * math.prod(table.shape)}"


def _of_layer(index: int, layer: ModelLayer, kind: LayerKind) -> Iterator[tuple[str, str]]:
    if DECODE not in layer.files or layer.files.keys() != kind.stages.keys():
        what = f"layer {index} has parameters for {', '.join(layer.files) or 'no stage'}"
        yield what, f"for {', '.join(kind.stages)}, {DECODE} among them"
        return
    for stage, file in layer.files.items():
        end = max((piece.offset + piece.bytes for piece in kind.stages[stage].parameters), default=0)
        if file.bytes != end:
            yield f"layer {index} has {file.bytes} bytes of parameters for {stage}", f"{end} bytes"
