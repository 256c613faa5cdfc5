"""The files of a draw: inputs, reference outputs, and the errors that the entries of an output may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from stc.codegen.design import Design
from stc.codegen.host_plan import HostValue
from stc.codegen.manifest_builder import tensor_names
from stc.codegen.parameters import DataFile, allowed_file, golden_file
from stc.codegen.tolerances import allowed_bf16, allowed_errors
from stc.diagnostics import CompileError
from stc.manifest.schema import Draw, StoredFile


class Reference(Protocol):
    """One draw of inputs with the model's outputs (stc.frontend.exported.Reference): arrays by `stc.name`."""

    @property
    def name(self) -> str: ...
    @property
    def inputs(self) -> Mapping[str, np.ndarray]: ...
    @property
    def golden(self) -> Mapping[str, np.ndarray]: ...
    @property
    def uncertainty(self) -> Mapping[str, np.ndarray]: ...
    @property
    def unspecified(self) -> Mapping[str, np.ndarray]: ...
    @property
    def unrounded(self) -> Mapping[str, np.ndarray]: ...


@dataclass(frozen=True)
class DrawFiles:
    """A draw as the manifest has it, with its files."""

    stored: Draw
    files: tuple[DataFile, ...]


def draw_files(design: Design, reference: Reference, tolerance: float) -> DrawFiles:
    """All files of one draw; CompileError where the model lacks an array or gives one of another type or shape."""
    names = tensor_names(design)
    tensors: dict[str, DataFile] = {}
    allowed: dict[str, DataFile] = {}
    uncertainty: dict[str, float] = {}
    decides: list[str] = []
    bf16: list[str] = []
    varied = _holds_inputs(reference)
    for tensor in design.host.tensors:
        if tensor.role not in ("input", "output"):
            continue
        name, element = names[tensor], str(tensor.type.element_type)
        array = _array(tensor, reference)
        free = reference.unspecified.get(tensor.name)
        if free is not None and not np.issubdtype(array.dtype, np.floating) and free.any():
            what = f"a run-time size leaves entries of output '{tensor.name}' undefined, which is of {element}"
            raise CompileError(what, accepted="outputs of floats, or whole ones")
        tensors[name] = golden_file(reference.name, name, element, tuple(tensor.type.get_shape()), array)
        if tensor.role == "output" and (before := reference.unrounded.get(tensor.name)) is not None:
            errors, uncertainty[name] = allowed_bf16(array, before, reference.uncertainty[tensor.name])
            allowed[name] = allowed_file(reference.name, name, errors)
            bf16.append(name)
        elif tensor.role == "output" and tensor.name in reference.uncertainty and not np.issubdtype(array.dtype, np.floating):
            moved = reference.uncertainty[tensor.name]  # over ties, by noise
            allowed[name] = allowed_file(reference.name, name, moved)
            uncertainty[name] = float(moved.max(initial=0) / np.abs(array.astype(np.float64)).max(initial=1))
        if tensor.role == "output" and np.issubdtype(array.dtype, np.floating):
            moved, updated = reference.uncertainty.get(tensor.name), _updated(design, tensor, reference)
            errors, uncertainty[name] = allowed_errors(array, moved, tolerance, updated)
            if free is not None:
                errors, array = np.where(free, np.inf, errors), np.where(free, 0, array)
            allowed[name] = allowed_file(reference.name, name, errors)
            if varied and array.any() and not (errors < 0).any():
                decides.append(name)
    stored = Draw(reference.name, _stored(tensors), _stored(allowed), uncertainty, tuple(decides), tuple(bf16))
    return DrawFiles(stored, (*tensors.values(), *allowed.values()))


def _array(tensor: HostValue, reference: Reference) -> np.ndarray:
    arrays = reference.inputs if tensor.role == "input" else reference.golden
    if tensor.name not in arrays:
        raise CompileError(f"the model gives no {tensor.role} array '{tensor.name}'", accepted=", ".join(arrays))
    return arrays[tensor.name]


def _holds_inputs(reference: Reference) -> bool:
    """Whether the inputs are more than zeros; where there are floats among them, the floats."""
    arrays = reference.inputs.values()
    floats = [array for array in arrays if np.issubdtype(array.dtype, np.floating)]
    return any(array.any() for array in floats or arrays)


def _updated(design: Design, output: HostValue, reference: Reference) -> np.ndarray | None:
    """The input an output is the update of: the first of its type."""
    like = (tensor for tensor in design.host.tensors if tensor.role == "input" and tensor.type == output.type)
    return next((_array(tensor, reference) for tensor in like), None)


def _stored(files: Mapping[str, DataFile]) -> dict[str, StoredFile]:
    return {name: StoredFile(file.path, file.sha256) for name, file in files.items()}
