"""`emit_project`: a module at level L6 and its model become a folder that builds and runs by itself."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.steps import one_step
from stc.codegen.cards import GOLDEN_OF_CARDS, cards_of
from stc.codegen.design import Design, PortDesign, checked_design, design_of
from stc.codegen.golden import DrawFiles, Reference, draw_files
from stc.codegen.hls import print_hls
from stc.codegen.host_files import ModelPart, host_part_files
from stc.codegen.host_plan import Buffer, HostValue
from stc.codegen.layout import print_layout
from stc.codegen.manifest_builder import build_manifest, tensor_names
from stc.codegen.parameters import DataFile, constant_file, parameter_files
from stc.codegen.templates import CONNECTIVITY, render
from stc.codegen.vitis_rules import check_project_text
from stc.diagnostics import CompileError
from stc.manifest.bitstreams import CARDS, SEPARATE, with_bitstreams
from stc.manifest.files import MANIFEST, digest, to_json
from stc.manifest.schema import Manifest
from stc.platforms.platform import DEFAULT_PLATFORM, PLATFORM_FILE, Platform, load_platform
from stc.simulation.ap_types import copy_ap_types, uses_ap_types
from stc.simulation.package import AP_TYPES, FOLDER, copy_headers
from stc.simulation.vendor_interface import check_interface

DEFAULT_TOLERANCE = 1e-4
DIGITS = 32
"""Of the checksum that binaries for cards carry."""


class Model(Protocol):
    """What emission needs of an exported model (stc.frontend.exported.ExportedModel): arrays by `stc.name`."""

    @property
    def name(self) -> str: ...
    @property
    def parameters(self) -> Mapping[str, np.ndarray]: ...
    @property
    def references(self) -> Sequence[Reference]: ...
    @property
    def host_parts(self) -> Sequence[ModelPart]: ...


def require_free(out: Path) -> None:
    """CompileError where `out` exists and is not an empty folder, or cannot become one: call it before any work."""
    try:
        if out.is_symlink():
            raise CompileError("the output folder is a symbolic link", where=str(out), accepted="a new or empty folder")
        if out.is_dir() and any(out.iterdir()):
            raise CompileError("output folder is not empty", where=str(out), accepted="a new or empty folder")
        present = next(path for path in (out, *out.absolute().parents) if path.exists() or path.is_symlink())
    except OSError as error:  # a name that is too long, a folder that may not be read
        raise CompileError(f"cannot write here ({error.strerror})", where=str(out), accepted="a new or empty folder") from None
    if not present.is_dir():
        raise CompileError("not a folder", where=str(present), accepted="a new or empty folder for the output")
    around = out.absolute().parent if present == out else present  # written aside there, and renamed
    if not os.access(around, os.W_OK | os.X_OK):
        raise CompileError("this folder cannot be written", where=str(around), accepted="a folder that you may write in")


def emit_project(
    module: ModuleOp,
    model: Model,
    out: Path,
    options: Mapping[str, Any],
    report: dict[str, Any],
    ir: Mapping[str, str] | None = None,
    tolerance: float = DEFAULT_TOLERANCE,
    schedule: str = "",
    of_manifest: Callable[[Manifest], Mapping[str, Any]] = lambda _: {},
    progress: Callable[[str], None] = lambda _: None,
) -> None:
    """Write the project to `out`, or nothing at all.

    `options` go into the manifest; `platform` among them chooses the device. `report` becomes report.json; the time of this
    stage is added to its `compile_seconds` as "code generation" and, for the parameters, "packing"; to "references" what PyTorch
    takes for those that draws are compared with; and what `of_manifest` finds out. `ir`: texts by file name for `ir/`;
    `schedule`: the text of schedule.toml. `progress`: told what may take long. CompileError where `out` is not empty, the module
    breaks an emission rule, or the model lacks data.
    """
    begin = time.perf_counter()
    require_free(out)
    platform = load_platform(str(options.get("platform", DEFAULT_PLATFORM)))
    texts, files, manifest, apart = project_files(module, model, platform, options, tolerance, progress=progress)
    report |= of_manifest(manifest)
    seconds = report.setdefault("compile_seconds", {})
    seconds |= {"code generation": time.perf_counter() - begin - sum(apart.values()), "packing": apart["packing"]}
    seconds["references"] = seconds.get("references", 0.0) + apart["references"]
    texts[PLATFORM_FILE] = platform.text
    cards = [it.folder for it in manifest.bitstreams if it.folder is not None]
    for folder, (of_card, data) in zip(cards, _cards(module, model, platform, options, tolerance) if cards else (), strict=True):
        texts |= {f"{folder}/{name}": text for name, text in {**of_card, PLATFORM_FILE: platform.text}.items()}
        files += [replace(file, path=f"{folder}/{file.path}") for file in data]
    texts["report.json"] = json.dumps(report, indent=1) + "\n"
    texts |= {f"ir/{name}": text for name, text in (ir or {}).items()}
    texts |= {"schedule.toml": schedule} if schedule else {}
    write_at_once(out, texts, files, cards)


def _cards(
    module: ModuleOp, model: Model, platform: Platform, options: Mapping[str, Any], tolerance: float
) -> Iterator[tuple[dict[str, str], list[DataFile]]]:
    """Texts and files of the project of each card alone."""
    alone = {key: value for key, value in options.items() if key != "groups"}
    for card in cards_of(module, model.name, model.parameters, model.references):
        texts, files, _, _ = project_files(card.module, card.model, platform, alone, tolerance, {"golden": GOLDEN_OF_CARDS})
        yield texts, files


def project_files(
    module: ModuleOp, model: Model, platform: Platform, options: Mapping[str, Any], tolerance: float,
    origins: Mapping[str, str] = MappingProxyType({}), progress: Callable[[str], None] = lambda _: None,
) -> tuple[dict[str, str], list[DataFile], Manifest, Mapping[str, float]]:
    """All texts by file name and all data files, checked against the emission rules, the manifest among them, and the seconds that
    packing parameters took and references. `origins`: of figures that are not from where those of all projects are."""
    emitted = checked_design(module, platform)
    hls = print_hls(emitted)
    steps = {kernel.name: kernel.steps for kernel in emitted.kernels}
    design = emitted if max(steps.values()) == 1 else design_of(one_step(module), platform)  # what the manifest describes
    begin = time.perf_counter()
    progress("packing parameters")
    parameters = _parameters(design, model.parameters)
    packed = time.perf_counter()
    constants = _constants(design, model)
    draws: list[DrawFiles] = []
    for reference in model.references:
        progress(f"reference of draw '{reference.name}', and what rounding errors make of it")
        draws.append(draw_files(design, reference, tolerance))
    apart = {"packing": packed - begin, "references": time.perf_counter() - packed}
    stored = [draw.stored for draw in draws]
    parts, programs = host_part_files(model.host_parts)
    for step in design.host.steps:
        if step.part is not None and step.part not in {part.name for part in parts}:
            what = f"stc.host names '{step.part}', and nobody says what PyTorch runs there"
            raise CompileError(what, where="@main", accepted="IR of a model compiled with --host, as --emit-ir leaves it")
    manifest = build_manifest(model.name, design, parameters, constants, stored, platform, dict(options), tolerance, parts, steps)
    if (groups := options.get("groups")) in SEPARATE:
        manifest = with_bitstreams(manifest, cards=groups == CARDS)
    manifest = replace(manifest, origins={**manifest.origins, **origins})
    sources = {"kernel.h": hls.header, "kernel.cpp": hls.source, "layout.h": print_layout(design)}
    manifest = replace(manifest, design=digest("".join(sources.values()).encode())[:DIGITS])
    texts = {
        **sources,
        **render(manifest, platform),
        MANIFEST: to_json(manifest),
    }
    links = "".join(text for name, text in texts.items() if name.startswith(CONNECTIVITY))
    check_project_text(texts["kernel.h"], texts["kernel.cpp"], links, platform.memory)
    check_interface({name: texts[name] for name in ("kernel.h", "kernel.cpp")})
    files = [*dict.fromkeys(parameters.values()), *constants.values(), *(file for draw in draws for file in draw.files)]
    files += programs
    return texts, files, manifest, apart


def _parameters(design: Design, parameters: Mapping[str, np.ndarray]) -> dict[PortDesign, DataFile]:
    """The file of every parameter port, for parameters by `stc.name`; ports that share a buffer share its file."""
    ports = [port for kernel in design.kernels for port in kernel.ports if port.buffer.kind == "parameter"]
    first: dict[Buffer, PortDesign] = {}
    for port in ports:
        first.setdefault(port.buffer, port)
    files = dict(zip(first, parameter_files([(port, design.host) for port in first.values()], parameters), strict=True))
    return {port: files[port.buffer] for port in ports}


def _constants(design: Design, model: Model) -> dict[HostValue, DataFile]:
    names = tensor_names(design)
    constants = [tensor for tensor in design.host.tensors if tensor.role == "constant"]
    return {tensor: constant_file(names[tensor], tensor.value, design.host, model.parameters) for tensor in constants}


def write_at_once(out: Path, texts: Mapping[str, str], files: list[DataFile], inner: Sequence[str] = ()) -> None:
    """Write into a sibling folder and rename it, so that `out` is whole or absent. `inner`: its folders that are projects, too."""
    out = out.absolute()
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    except OSError as error:
        raise CompileError(f"cannot write here ({error.strerror})", where=str(out.parent)) from error
    try:
        for name, text in texts.items():
            _path(partial, name).write_text(text)
        for file in files:
            _path(partial, file.path).write_bytes(file.data)
        for project in (partial, *(partial / name for name in inner)):
            copy_headers(project / FOLDER)
            if uses_ap_types(text for name, text in texts.items() if name.endswith((".h", ".cpp"))):
                copy_ap_types(project / FOLDER / AP_TYPES)
        partial.chmod(0o755)
        if out.exists():
            out.rmdir()
        partial.rename(out)
    except OSError as error:
        raise CompileError(f"cannot write the project ({_reason(error)})", where=str(out)) from error
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _reason(error: OSError) -> str:
    """In words; of a folder that could not be copied, why its first file could not."""
    if isinstance(error, shutil.Error):
        _, _, why = error.args[0][0]
        return str(why)
    return error.strerror or str(error)


def _path(folder: Path, name: str) -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
