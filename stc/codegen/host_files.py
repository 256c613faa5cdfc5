"""The files that host.py runs parts of the model from, in PyTorch, between kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from stc.codegen.parameters import DataFile
from stc.manifest.schema import HostPart, HostSource, StoredFile
from stc.names import file_name

FOLDER = "host"


class ModelSource(Protocol):
    """How a submodule is made again (stc.frontend.exported.HostSource)."""

    @property
    def factory(self) -> str: ...
    @property
    def seed(self) -> int: ...
    @property
    def keywords(self) -> tuple[str, ...]: ...
    @property
    def state(self) -> bytes: ...
    @property
    def files(self) -> Mapping[str, bytes]: ...


class ModelPart(Protocol):
    """A call of a submodule that PyTorch runs (stc.frontend.exported.HostPart), with tensors by `stc.name`."""

    @property
    def name(self) -> str: ...
    @property
    def module(self) -> str: ...
    @property
    def takes(self) -> tuple[str, ...]: ...
    @property
    def gives(self) -> tuple[str, ...]: ...
    @property
    def program(self) -> bytes | None: ...
    @property
    def source(self) -> ModelSource | None: ...
    @property
    def reason(self) -> str: ...


def host_part_files(parts: Sequence[ModelPart]) -> tuple[list[HostPart], list[DataFile]]:
    """The parts as the manifest has them, and all their files, each once."""
    found: list[HostPart] = []
    files: dict[str, DataFile] = {}
    for number, part in enumerate(parts):
        stem = f"{FOLDER}/{number}_{file_name(part.name)}"
        program = None if part.program is None else _stored(DataFile(f"{stem}.pt2", part.program), files)
        source = None if part.source is None else _source(part.source, stem, files)
        found.append(HostPart(part.name, part.module, part.takes, part.gives, program, source, part.reason))
    return found, list(files.values())


def _source(source: ModelSource, stem: str, files: dict[str, DataFile]) -> HostSource:
    folder = f"{FOLDER}/source"
    state = _stored(DataFile(f"{stem}.state.pt", source.state), files)
    texts = tuple(_stored(DataFile(f"{folder}/{name}", text), files) for name, text in source.files.items())
    return HostSource(folder, source.factory, source.seed, source.keywords, state, texts)


def _stored(file: DataFile, files: dict[str, DataFile]) -> StoredFile:
    files[file.path] = file
    return StoredFile(file.path, file.sha256)
