"""A whole compile: from a model's name to an emitted project and its report."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.converter_figures import converter_figures
from stc.analysis.external_traffic import external_traffic
from stc.analysis.host_trips import host_trips
from stc.analysis.index_proofs import BoundsProofs
from stc.analysis.loop_report import loop_report
from stc.analysis.memory_figures import MemoryFigures, converter_count, external_bytes, intermediate_bytes, on_chip_bytes
from stc.analysis.port_words import port_words
from stc.analysis.rereads import reread_report
from stc.analysis.resources import resource_report
from stc.analysis.stream_proofs import StreamProofs
from stc.analysis.support import obstacles
from stc.codegen.project import emit_project, require_free
from stc.diagnostics import UnsupportedError
from stc.dialects.context import make_context
from stc.dialects.dataflow import KernelOp, TaskOp
from stc.dialects.printing import print_module
from stc.dialects.stream import CreateOp
from stc.names import cpp_identifier
from stc.pipeline import PipelineOptions, Stage, stages
from stc.platforms.platform import load_platform
from stc.tools.check_semantics import SemanticsCheck
from stc.tools.reproducer import run_or_reproduce
from stc.tools.trim import apply_depths, trimmed_sizing, trimming_report
from stc.transforms import all_passes
from stc.transforms.dataflow.verify_streams import VerifyStreams
from stc.transforms.pass_pipeline import read_pipeline
from stc.transforms.stream.size_fifos import KernelSizing, SizeFifos
from stc.transforms.stream.verify_bounds import VerifyBounds

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel

BEFORE_FUSION = "fold-transposes"
"""The last linalg pass before element-wise fusion: where "unfused linalg" is measured."""


@dataclass(frozen=True)
class CompileRequest:
    """What the user asked for. `options` decide the passes, the rest the model.

    `trim`: the part of the cycles that trimming FIFOs by runs of the emitted design may lose; None: no trimming. `check_semantics`:
    whether the module is executed on the model's inputs before and after each pass, and compared. `check_inputs`: the draws of
    inputs (stc.frontend.draws) that references are made for; None: those that suit the design's size.
    """

    model: str
    stage: str = "prefill"
    seq: int = 32
    dtype: str = "f32"
    seed: int = 0
    weights: str | None = None
    layer: int | None = None
    emit_ir: bool = False
    options: PipelineOptions = field(default_factory=PipelineOptions)
    crash_reproducer: Path | None = None
    trim: float | None = None
    check_semantics: bool = False
    check_inputs: tuple[str, ...] | None = None


Progress = Callable[[str], None]
"""Told the name of each step as it begins."""


def compile_model(request: CompileRequest, out: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Compile `request` into the new folder `out`; the contents of its report.json.

    CompileError for whatever is unusable, SemanticsChanged for a pass that changes a value; then nothing is left of `out`.
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
    recorder = Recorder(request.emit_ir, progress, request.crash_reproducer)
    if request.check_semantics:
        recorder.semantics = SemanticsCheck()
        progress("executing the module")
        recorder.semantics.begin(model.module, list(model.arguments.values()))
    options = _named(request.options, model.name)
    design = design_report(model.module, options, recorder)
    references = model.timings.get("references", 0.0)
    front_end = {
        "origin": "executed", "torch_import": imported - begin, "export": exported - imported - references, "references": references
    }
    report = {
        "model": model.name,
        "check_inputs": {"draws": [draw.name for draw in model.references], "left_out": dict(model.draws_left_out)},
        **design,
        "compile_seconds": front_end | design["compile_seconds"],
    }
    manifest_options = _manifest_options(request, options)
    if request.trim is not None:
        report |= _trimmed(model, manifest_options, request.trim, recorder, options.platform)
    progress("code generation")
    emit_project(model.module, model, out, manifest_options, report, recorder.texts)
    return report


def _trimmed(
    model: ExportedModel, options: dict[str, Any], slack: float, recorder: Recorder, platform: str
) -> dict[str, Any]:
    """Give the FIFOs of the finished module the depths that runs of it find; what that changes in the report."""
    sizing = trimmed_sizing(lambda folder: emit_project(model.module, model, folder, options, {}), slack, recorder.progress)
    recorder.sizings.clear()
    apply_depths(model.module, sizing, _RecordedSizes(platform=platform, recorder=recorder))
    return {
        "memory_bytes": _memory_report(model.module, recorder),
        "fifo_sizing": _fifo_report(recorder) | {"trimming": trimming_report(sizing)},
        "resources": resource_report(model.module, load_platform(platform)),
    }


def design_report(module: ModuleOp, options: PipelineOptions, recorder: Recorder) -> dict[str, Any]:
    """Run all passes on `module`, in place; what report.json says of them and of the design. CompileError where refused."""
    sequence = [_recorded(stage, recorder) for stage in stages(options)]
    timings = run_or_reproduce(module, make_context(), sequence, [recorder], recorder.begin, recorder.crash_reproducer)
    return {
        "compile_seconds": {"origin": "executed", **timings.by_stage},
        "pass_seconds": [{"stage": stage, "pass": name, "seconds": seconds} for stage, name, seconds in timings.by_pass],
        **_design_figures(module),
        "converter_buffers": {"origin": "inferred from the types; the bound counted token by token", "list": recorder.converters},
        "memory_bytes": _memory_report(module, recorder),
        "external_traffic_bytes": {"origin": "counted in the IR, per run", **external_traffic(module)},
        "rereads": reread_report(module),
        "port_words": {"origin": "counted in the IR", "list": [asdict(words) for words in port_words(module)]},
        "host_trips": {"origin": "counted in the IR", "list": [asdict(trip) for trip in host_trips(module)]},
        "proofs": {**recorder.proofs.report(), "bounds": recorder.bounds.report()},
        **_semantics_report(recorder),
        "fifo_sizing": _fifo_report(recorder),
        "loops": loop_report(module, load_platform(options.platform)),
        "resources": resource_report(module, load_platform(options.platform)),
    }


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
            check_inputs=request.check_inputs,
        )
    except UnsupportedError as error:
        rest = obstacles(error.rest) if isinstance(error.rest, ModuleOp) else []
        raise UnsupportedError([*error.obstacles, *rest]) from None


def _named(options: PipelineOptions, model: str) -> PipelineOptions:
    return options if options.kernel_name else PipelineOptions(**{**asdict(options), "kernel_name": cpp_identifier(model)})


_NOT_OF_THE_DESIGN = ("options", "emit_ir", "crash_reproducer", "check_semantics")
"""What a request says about how to compile, not about what."""


def _manifest_options(request: CompileRequest, options: PipelineOptions) -> dict[str, Any]:
    model = {key: value for key, value in asdict(request).items() if key not in _NOT_OF_THE_DESIGN}
    return {**model, **asdict(options)}


@dataclass
class Recorder:
    """Watches the pipeline: IR texts if asked for, and the sizes of intermediates on the way."""

    keep_ir: bool = False
    progress: Progress = lambda _: None
    crash_reproducer: Path | None = None
    """Where to write a reproducer if a pass crashes; None for a new file in the temporary folder."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    converters: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    before: int = 0
    before_unfused: int = 0
    proofs: StreamProofs = field(default_factory=StreamProofs)
    bounds: BoundsProofs = field(default_factory=BoundsProofs)
    sizings: list[KernelSizing] = field(default_factory=list[KernelSizing])
    semantics: SemanticsCheck | None = None
    """Executes the module after each pass, if asked for."""
    count: int = 0

    def begin(self, stage: Stage, name: str) -> None:
        self.progress(f"{stage.name}: {name}")

    def __call__(self, stage: Stage, name: str, module: ModuleOp) -> None:
        if name == BEFORE_FUSION:
            self.before_unfused = intermediate_bytes(module)
        if name == VerifyStreams.name:  # no pass changes converters any more
            self.converters = [asdict(figures) for figures in converter_figures(module)]
        if stage.name == "linalg optimisation":
            self.before = intermediate_bytes(module)
        if self.keep_ir:
            self.texts[f"{self.count:02d}_{name}.mlir"] = print_module(module)
        if self.semantics is not None:
            self.progress(f"{stage.name}: {name}, executed")
            self.semantics.after(name, module)
        self.count += 1


@dataclass(frozen=True)
class _RecordedProofs(VerifyStreams):
    """`verify-streams` that also leaves what it proved with the recorder."""

    recorder: Recorder = field(default_factory=Recorder)

    def judge(self, proofs: StreamProofs) -> None:
        self.recorder.proofs = proofs
        super().judge(proofs)


@dataclass(frozen=True)
class _RecordedBounds(VerifyBounds):
    """`verify-bounds` that also leaves what it proved with the recorder."""

    recorder: Recorder = field(default_factory=Recorder)

    def judge(self, proofs: BoundsProofs) -> None:
        self.recorder.bounds = proofs
        super().judge(proofs)


@dataclass(frozen=True)
class _RecordedSizes(SizeFifos):
    """`size-fifos` that also leaves what it decided with the recorder."""

    recorder: Recorder = field(default_factory=Recorder)

    def record(self, sizing: KernelSizing) -> None:
        self.recorder.sizings.append(sizing)


def _recorded(stage: Stage, recorder: Recorder) -> Stage:
    """The stage with those passes replaced that have more to tell than the IR they leave."""
    return Stage(stage.name, tuple(_recorded_pass(entry, recorder) for entry in stage.passes))


def _recorded_pass(entry: str | ModulePass, recorder: Recorder) -> str | ModulePass:
    if entry == VerifyStreams.name:
        return _RecordedProofs(recorder=recorder)
    if entry == VerifyBounds.name:
        return _RecordedBounds(recorder)
    if isinstance(entry, str) and entry.split("{")[0] == SizeFifos.name:
        (found,) = read_pipeline(entry, all_passes())
        assert isinstance(found, SizeFifos)
        return _RecordedSizes(**asdict(found), recorder=recorder)
    return entry


def _design_figures(module: ModuleOp) -> dict[str, Any]:
    counted = {"groups": KernelOp, "tasks": TaskOp, "fifos": CreateOp}
    ops = list(module.walk())
    return {
        **{name: sum(isinstance(op, kind) for op in ops) for name, kind in counted.items()},
        "converters": converter_count(module),
    }


def _semantics_report(recorder: Recorder) -> dict[str, Any]:
    """Which passes were executed, where that was asked for."""
    if recorder.semantics is None:
        return {}
    checked, notes = recorder.semantics.checked, recorder.semantics.notes
    return {"semantics": {"origin": "executed on the model's inputs", "passes_checked": checked, "not_checked": notes}}


def _fifo_report(recorder: Recorder) -> dict[str, Any]:
    return {"kernels": [sizing.report() for sizing in recorder.sizings]}


def _memory_report(module: ModuleOp, recorder: Recorder) -> dict[str, Any]:
    return {"origin": "counted in the IR", **_memory(module, recorder).report()}


def _memory(module: ModuleOp, recorder: Recorder) -> MemoryFigures:
    return MemoryFigures(recorder.before, recorder.before_unfused, *on_chip_bytes(module), external_bytes(module))
