"""Reading and writing `model.json` and the files it names."""

from __future__ import annotations

import hashlib
import json
import math
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from stc.diagnostics import CompileError
from stc.manifest.codec import decode, encode
from stc.manifest.layouts import differing, told
from stc.manifest.model_schema import (
    DECODE,
    LAYOUT_VERSION,
    MODEL_VERSION,
    BufferLayout,
    CheckedFile,
    LayerKind,
    ModelLayer,
    ModelManifest,
    Table,
)
from stc.manifest.schema import Manifest, Port
from stc.user_files import json_of

if TYPE_CHECKING:
    import numpy as np

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


def cache_layout(project: Manifest, name: str, where: str) -> BufferLayout:
    """How the input `name`, which a kernel updates in place, lies on the device; CompileError where none does."""
    for port in (port for kernel in project.kernels for port in kernel.ports if port.tensor == name and port.order is not None):
        if any(other.updates == port.name for kernel in project.kernels for other in kernel.ports):
            return _layout(port, project.tensor(name).shape)
    raise CompileError(f"no kernel updates input '{name}' in place", where=where, accepted="a layer that appends to its caches")


def parameter_layouts(project: Manifest) -> dict[str, BufferLayout]:
    """How each parameter buffer of a project lies on the device, in the order of its ports."""
    ports = [port for kernel in project.kernels for port in kernel.ports if port.kind == "parameter" and port.buffer == port.name]
    return {port.buffer: _layout(port, port.shape) for port in ports}


def _layout(port: Port, shape: tuple[int, ...]) -> BufferLayout:
    assert port.order is not None
    return BufferLayout(LAYOUT_VERSION, shape, port.element_type, port.lanes, port.bytes, port.bank, port.order)


def require_cache(project: Manifest, name: str, layout: BufferLayout, where: str) -> None:
    """CompileError where a cache lies in another way in `project`."""
    _require_layout(name, cache_layout(project, name, where), layout, "a cache", where)


def require_parameters(project: Manifest, layouts: Mapping[str, BufferLayout], where: str) -> None:
    """CompileError where the parameter buffers of `project` are not those of `layouts`, or lie in another way."""
    found = parameter_layouts(project)
    if other := sorted(found.keys() ^ layouts.keys()):
        names = ", ".join(found)
        raise CompileError(f"parameter {other[0]} is either not packed or not the kernel's", where=where, accepted=names)
    for name, layout in layouts.items():
        _require_layout(name, found[name], layout, "parameters", where)


def _require_layout(name: str, found: BufferLayout, layout: BufferLayout, what: str, where: str) -> None:
    if entries := differing(found, layout):
        complaint = f"{name} of the kernel has {told(found, entries)}: {what} of another layout"
        raise CompileError(complaint, where=where, accepted=told(layout, entries))


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
    import numpy as np  # which `stc-opt` starts without, and knows the name of the file

    return np.memmap(require_intact(folder, file), dtype=np.uint8, mode="r")


def mapped_table(folder: Path, table: Table) -> np.ndarray:
    """A table, memory-mapped, after `require_intact`."""
    import numpy as np

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
    if model.layers_per_launch < 1:
        yield f"{model.layers_per_launch} layers of a launch", "one at least"
    for name, kind in model.kinds.items():
        yield from _of_kind(name, kind)
    for index, layer in enumerate(model.layers):
        if layer.kind not in model.kinds:
            yield f"layer {index} is of kind '{layer.kind}'", ", ".join(model.kinds)
            return
        yield from _of_layer(index, layer, model.kinds[layer.kind])
    tables = [("tokens", model.tokens, (model.vocabulary, model.hidden))]
    tables += [("positions", model.positions, (model.max_seq, model.hidden))] if model.positions is not None else []
    for name, kind in model.kinds.items():
        for what, layout in _layouts(kind):
            if layout.version != LAYOUT_VERSION:
                yield f"{what} of kind '{name}' has layout version {layout.version}", str(LAYOUT_VERSION)
        tables.append((f"kinds.{name}.mask", kind.mask, (model.max_seq, model.max_seq)))
        tables += [(f"kinds.{name}.rows.{key}", table, (model.max_seq, *table.shape[1:])) for key, table in kind.rows.items()]
    for name, table, shape in tables:
        if table.shape != shape:
            yield f"table {name} has shape {list(table.shape)}", f"{list(shape)}"
        if table.file.bytes != 4 * math.prod(table.shape):
            yield f"table {name} has a file of {table.file.bytes} bytes", f"{4 * math.prod(table.shape)}"


def _layouts(kind: LayerKind) -> Iterator[tuple[str, BufferLayout]]:
    """All that a kind of layer states, and of what."""
    yield from ((f"cache {name}", layout) for name, layout in kind.caches.items())
    yield from ((f"parameter {' = '.join(dict.fromkeys(it.buffers.values()))}", it.layout) for it in kind.parameters)


def _of_kind(name: str, kind: LayerKind) -> Iterator[tuple[str, str]]:
    if DECODE not in kind.stages:
        yield f"kind '{name}' has the stages {', '.join(kind.stages) or 'none'}", f"{DECODE} among them"
    end = 0
    for parameter in kind.parameters:
        taken = f"a parameter of kind '{name}' at byte {parameter.offset}"
        if parameter.offset != end:
            yield taken, f"byte {end}, one behind the other"
        if not parameter.buffers or not parameter.buffers.keys() <= kind.stages.keys():
            yield f"{taken} is taken by {', '.join(parameter.buffers) or 'no stage'}", ", ".join(kind.stages)
        end = parameter.offset + parameter.layout.bytes
    for stage in kind.stages:
        names = [parameter.buffers[stage] for parameter in kind.parameters if stage in parameter.buffers]
        if twice := [buffer for buffer, count in Counter(names).items() if count > 1]:
            yield f"{stage} of kind '{name}' takes parameter {twice[0]} twice", "each buffer once"


def _of_layer(index: int, layer: ModelLayer, kind: LayerKind) -> Iterator[tuple[str, str]]:
    end = sum(parameter.layout.bytes for parameter in kind.parameters)
    if layer.parameters.bytes != end:
        yield f"layer {index} has {layer.parameters.bytes} bytes of parameters", f"{end} bytes"
