"""What the user asked to be compiled, and the model that it names."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.builtin import ModuleOp

from stc.diagnostics import CompileError, UnsupportedError
from stc.pipeline import APART, BEHIND_LAYERS, PipelineOptions
from stc.tools.plan import Plan

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel

STAGES, DECODER = "stages", "decoder"
"""The kinds of accelerators that a model becomes (`stc.tools.targets`)."""
WHOLE_MODEL = "model"
"""The `stage` that is all of a language model (`stc.tools.language_model`)."""
OF_TOKEN = "token"
"""The `stage` that is a layer, or all of them, and the head behind (`stc.frontend.sources`)."""


@dataclass(frozen=True)
class CompileRequest:
    """What the user asked for. `options` decide the passes, the rest the model; `dtype` both, as `options.quantize` in short.

    `minimise_depths`: the part of the cycles that may be lost where runs of the emitted design minimise FIFO depths; None: no such
    runs. `check_semantics`: whether the module is executed on the model's inputs before and after each pass, and compared.
    `check_inputs`: the draws of inputs (stc.frontend.draws) that references are made for; None: those that suit the design's size.
    `plan`: which passes run, where it is not the pipeline; `first`: with which pass to begin on IR, empty for what the IR says.
    `confirm`: how many of the search's best designs are run, of which the fastest is kept; 0 or 1: none is run.
    `host`: the submodules that PyTorch runs on the host, between kernels; None: none.
    `target`: what kind of accelerator a whole model becomes (`stc.tools.targets`).
    `given`: the fields (of this and of `options`) that were said, which is more than what IR says of itself.
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
    minimise_depths: float | None = None
    check_semantics: bool = False
    check_inputs: tuple[str, ...] | None = None
    plan: Plan = field(default_factory=Plan)
    first: str = ""
    given: frozenset[str] = frozenset()
    max_seq: int | None = None
    run_time_sizes: bool | None = None
    confirm: int = 0
    host: tuple[str, ...] | None = None
    target: str = STAGES

    def __post_init__(self) -> None:
        if self.host and self.options.layers > 1:
            accepted = "one layer in a launch, or no --host"
            raise CompileError(f"--host {self.host[0]} with --layers {self.options.layers}", accepted=accepted)
        if self.options.head == BEHIND_LAYERS and self.stage not in (WHOLE_MODEL, OF_TOKEN):
            raise CompileError(f"--head {BEHIND_LAYERS} with --stage {self.stage}", accepted=f"--stage {WHOLE_MODEL} or {OF_TOKEN}")
        if not (self.options.quantize and self.options.schedule):  # whose formats of layers have been added to what `dtype` says
            object.__setattr__(self, "options", with_dtype(self.options, self.dtype))


def with_dtype(options: PipelineOptions, dtype: str) -> PipelineOptions:
    """The options, with what `--dtype` stands for; CompileError where `--quantize` says something else."""
    from stc.quantisation.formats import format_of_dtype

    meant = format_of_dtype(dtype, "--dtype")
    if meant and options.quantize not in ("", meant):
        raise CompileError(f"--dtype {dtype} and --quantize {options.quantize}", accepted=f"one of both ({dtype} is '{meant}')")
    return replace(options, quantize=options.quantize or meant)


def in_folder(model: str, weights: str | None) -> tuple[str, str | None]:
    """What the front end calls a model, and where its weights are: a folder of transformers is `config:FOLDER`, with its own."""
    path = Path(model)
    if not (path / "config.json").is_file():
        return model, weights
    return f"config:{model}", weights or (model if any(path.glob("*.safetensors")) else None)


def load(request: CompileRequest) -> ExportedModel:
    """The model that `request` names; CompileError where it is unusable, UnsupportedError where it cannot be expressed."""
    from stc.analysis.support import obstacles
    from stc.frontend.sources import load_model

    try:
        return load_model(
            request.model,
            stage=request.stage,
            seq=request.seq,
            dtype=request.dtype,
            quantize=request.options.quantize,
            seed=request.seed,
            weights=request.weights,
            layer=request.layer,
            max_seq=request.max_seq,
            run_time_sizes=request.run_time_sizes,
            check_inputs=request.check_inputs,
            host=request.host or (),
        )
    except UnsupportedError as error:
        rest = obstacles(error.rest) if isinstance(error.rest, ModuleOp) else []
        raise UnsupportedError([*error.obstacles, *rest]) from None


def load_layers(
    request: CompileRequest, first: ExportedModel, progress: Callable[[str], None] = lambda _: None
) -> list[ExportedModel]:
    """The layers that a launch of `request` computes, of which `first` is the first: with weights the next ones, else others of its
    kind.

    The head that follows (`--stage token`) is of the last alone, so that the first is another then. CompileError where one is of
    another kind. `progress`: told which layer is next.
    """
    from stc.frontend.layers import require_one_kind
    from stc.frontend.sources import layer_stages

    stages = layer_stages(request.stage, request.options.layers)
    layers = [first] if stages[0] == request.stage else []
    for number, stage in list(enumerate(stages))[len(layers) :]:
        progress(f"export of layers: {number + 1} of {len(stages)}")
        alike = request if stage == request.stage else _in_front(request, first, stage)
        if request.weights is not None:
            layers.append(load(replace(alike, layer=_first_layer(request) + number)))
        else:
            layers.append(load(replace(alike, seed=request.seed + number)))
    require_one_kind([first, *layers])
    return layers


def _in_front(request: CompileRequest, first: ExportedModel, stage: str) -> CompileRequest:
    """The request of a layer in front of one that the head follows: what formats say of the head is not its."""
    from stc.quantisation.formats import HEAD, of_part

    matrices = (name for name, array in first.parameters.items() if name.endswith(".weight") and array.ndim > 1)
    paths = [name.removesuffix(".weight") for name in matrices if name != f"{HEAD}.weight"]
    options = replace(request.options, head=APART, quantize=of_part(request.options.quantize, paths, has_cache=True))
    return replace(request, stage=stage, dtype=CompileRequest.dtype, options=options)


def _first_layer(request: CompileRequest) -> int:
    """The layer that `request` means: of a preset without a number it is the first of its kind."""
    from stc.frontend.presets import find_preset

    if request.layer is not None or ":" in request.model or request.model.endswith(".mlir"):
        return request.layer or 0
    return find_preset(request.model).layer(None)


def named(options: PipelineOptions, model: str) -> PipelineOptions:
    """The options, with the name of the kernel, which is the model's where none is given."""
    from stc.names import cpp_identifier

    return options if options.kernel_name else replace(options, kernel_name=cpp_identifier(model))
