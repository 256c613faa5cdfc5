"""A whole compile: from a model's name to an emitted project and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp

from stc.analysis.converter_figures import converter_figures
from stc.analysis.memory_figures import MemoryFigures, external_bytes, intermediate_bytes, on_chip_bytes
from stc.analysis.support import obstacles
from stc.codegen.names import identifier
from stc.codegen.project import emit_project, require_free
from stc.diagnostics import UnsupportedError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.printing import print_module
from stc.dialects.stream import BufferOp, CreateOp
from stc.pipeline import PipelineOptions, Stage, run_stages, stages

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel

BEFORE_FUSION = "fold-transposes"
"""The last linalg pass before element-wise fusion: where "unfused linalg" is measured."""


@dataclass(frozen=True)
class CompileRequest:
    """What the user asked for. `options` decide the passes, the rest the model."""

    model: str
    stage: str = "prefill"
    seq: int = 32
    dtype: str = "f32"
    seed: int = 0
    weights: str | None = None
    layer: int | None = None
    emit_ir: bool = False
    options: PipelineOptions = field(default_factory=PipelineOptions)


Progress = Callable[[str], None]
"""Told the name of each step as it begins."""


def compile_model(request: CompileRequest, out: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Compile `request` into the new folder `out`; the contents of its report.json.

    CompileError for whatever is unusable; then nothing is left of `out`.
    """
    require_free(out)
    progress("export to linalg")
    begin = time.perf_counter()
    import torch  # noqa: F401  (takes seconds: only once it is certain to be needed, and timed apart from the export)

    imported = time.perf_counter()
    model = load(request)
    exported = time.perf_counter()
    if found := obstacles(model.module):
        raise UnsupportedError(found)
    recorder = _Recorder(request.emit_ir, progress)
    options = _named(request.options, model.name)
    timings = run_stages(model.module, make_context(), stages(options), [recorder], begin_pass=recorder.begin)
    module = model.module
    progress("code generation")
    report = {
        "model": model.name,
        "compile_seconds": {
            "origin": "executed",
            "torch_import": imported - begin,
            "export": exported - imported,
            **timings.by_stage,
        },
        "pass_seconds": [{"stage": stage, "pass": name, "seconds": seconds} for stage, name, seconds in timings.by_pass],
        **_design_figures(module),
        "converter_buffers": {"origin": "inferred from the types; the bound counted token by token", "list": recorder.converters},
        "memory_bytes": {"origin": "counted in the IR", **_memory(module, recorder).report()},
    }
    emit_project(module, model, out, _manifest_options(request, options), report, recorder.texts)
    return report


def load(request: CompileRequest) -> ExportedModel:
    """The model that `request` names; CompileError where it is unusable, UnsupportedError where it cannot be expressed."""
    from stc.frontend.sources import load_model

    try:
        return load_model(
            request.model,
            stage=request.stage,
            seq=request.seq,
            dtype=request.dtype,
            seed=request.seed,
            weights=request.weights,
            layer=request.layer,
        )
    except UnsupportedError as error:
        rest = obstacles(error.rest) if isinstance(error.rest, ModuleOp) else []
        raise UnsupportedError([*error.obstacles, *rest]) from None


def _named(options: PipelineOptions, model: str) -> PipelineOptions:
    return options if options.kernel_name else PipelineOptions(**{**asdict(options), "kernel_name": identifier(model)})


def _manifest_options(request: CompileRequest, options: PipelineOptions) -> dict[str, Any]:
    model = {key: value for key, value in asdict(request).items() if key not in ("options", "emit_ir")}
    return {**model, **asdict(options)}


@dataclass
class _Recorder:
    """Watches the pipeline: IR texts if asked for, and the sizes of intermediates on the way."""

    keep_ir: bool
    progress: Progress
    texts: dict[str, str] = field(default_factory=dict[str, str])
    converters: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    before: int = 0
    before_unfused: int = 0
    count: int = 0

    def begin(self, stage: Stage, name: str) -> None:
        self.progress(f"{stage.name}: {name}")

    def __call__(self, stage: Stage, name: str, module: ModuleOp) -> None:
        if name == BEFORE_FUSION:
            self.before_unfused = intermediate_bytes(module)
        if name == "fuse-kernels":
            self.converters = [asdict(figures) for figures in converter_figures(module)]
        if stage.name == "linalg optimisation":
            self.before = intermediate_bytes(module)
        if self.keep_ir:
            self.texts[f"{self.count:02d}_{name}.mlir"] = print_module(module)
        self.count += 1


def _design_figures(module: ModuleOp) -> dict[str, Any]:
    counted = {"groups": KernelOp, "tasks": TaskOp, "converters": BufferOp, "fifos": CreateOp}
    ops = list(module.walk())
    return {name: sum(isinstance(op, kind) for op in ops) for name, kind in counted.items()}


def _memory(module: ModuleOp, recorder: _Recorder) -> MemoryFigures:
    return MemoryFigures(recorder.before, recorder.before_unfused, *on_chip_bytes(module), external_bytes(module))
