"""A whole language model as a folder: an emitted project for each stage and kind of layer, parameters of all layers, model.json."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stc.codegen.design import Design, design_of
from stc.codegen.layer_parameters import PackedParameter, packed_parameters
from stc.codegen.manifest_builder import tensor_names
from stc.codegen.project import DEFAULT_TOLERANCE, require_free
from stc.codegen.templates import render_model
from stc.diagnostics import CompileError, NoRunTimeSize, warn
from stc.frontend.draws import EXAMPLE, FOR_LARGE, Draws
from stc.manifest.codec import encode
from stc.manifest.files import MANIFEST, digest, read_manifest
from stc.manifest.model_files import MODEL, cache_layout, checked_file, model_to_json, parameter_layouts, require_cache
from stc.manifest.model_schema import (
    DECODE,
    MODEL_VERSION,
    PREFILL,
    CheckedFile,
    LaunchCycles,
    LayerKind,
    LayerParameter,
    ModelLayer,
    ModelManifest,
    StageProject,
    Table,
)
from stc.manifest.schema import Manifest
from stc.names import cpp_identifier
from stc.pipeline import PipelineOptions
from stc.platforms.budget import part_of
from stc.platforms.platform import load_platform
from stc.quantisation.formats import read_quantisation
from stc.tools.compile import Progress, compile_from
from stc.tools.model_room import lacking_room
from stc.tools.reproducer import versions
from stc.tools.request import CompileRequest, in_folder
from stc.tools.resumed import FinishedFiles, resumed_folder
from stc.tools.start import Start

if TYPE_CHECKING:
    from stc.frontend.sources import LanguageModelSource

ROWS = 16
"""Tokens of a launch of prefill where nothing is said."""

TOKENIZER = "tokenizer.json"
POSITION = "pos"
ESTIMATED = "estimated by FIFO sizing, without synthesis"


def model_request(
    model: str, max_seq: int | None, weights: str | None, seed: int, options: PipelineOptions
) -> CompileRequest:
    """What is asked for a preset, or for a folder of transformers, whose weights are its own where nothing else is said."""
    model, weights = in_folder(model, weights)
    return CompileRequest(model, seed=seed, weights=weights, options=options, given=frozenset({"rows"}), max_seq=max_seq)


def compile_language_model(
    request: CompileRequest,
    out: Path,
    progress: Progress = lambda _: None,
    check: Callable[[LanguageModelSource], object] = lambda _: None,
) -> ModelManifest:
    """Compile the whole model of `request` into the new folder `out`; what its model.json says.

    `check` may refuse what was read, before anything is compiled. CompileError for whatever is unusable; then nothing is left of
    `out`. Interrupted, and asked for the same again, it packs no parameters again that were packed before.
    """
    require_free(out)
    if request.host:
        accepted = "a module, or a layer's prefill without a cache"
        raise CompileError("stages of generation have no host program that runs PyTorch", where=f"--host {request.host[0]}",
                           accepted=accepted)
    progress("reading the model")
    from stc.frontend.sources import find_language_model

    source = find_language_model(request.model, max_seq=request.max_seq, seed=request.seed, weights=request.weights)
    check(source)
    with resumed_folder(out, _work(request)) as files:
        model = _Compiler(request, source, files, progress).compiled()
        (files.folder / MODEL).write_text(model_to_json(model), encoding="utf-8")
    return model


def _work(request: CompileRequest) -> list[Any]:
    """What decides the packed parameters, beside the designs: the model, and its weights as files."""
    weights = Path(request.weights or "")
    files = sorted([*weights.glob("*.safetensors"), *weights.glob("*.json")]) if request.weights else []
    states = [[file.name, file.stat().st_size, file.stat().st_mtime_ns] for file in files]
    return [versions(), request.model, request.max_seq, request.seed, request.weights, states]


@dataclass(frozen=True)
class _Stage:
    """A compiled stage: its project as model.json and as its own manifest has it, and the design that parameters are packed for."""

    project: StageProject
    manifest: Manifest
    design: Design

    def input_name(self, name: str) -> str:
        """What the project calls an input of the model: `cos`, a function of C, is `cos_` there."""
        return next(own for tensor, own in tensor_names(self.design).items() if tensor.role == "input" and tensor.name == name)


class _Compiler:
    def __init__(self, request: CompileRequest, source: LanguageModelSource, files: FinishedFiles, progress: Progress):
        self._request, self._source, self._files, self._progress = request, source, files, progress
        self._folder = files.folder
        self._platform = load_platform(request.options.platform)
        self._model, self._quantize, self._count = source.model, request.options.quantize, request.options.layers
        asked = request.options.rows if "rows" in request.given else ROWS
        if self._quantize:
            self._model.require_quantisation(self._quantize)
        self._rows = max(1, min(asked, self._model.max_seq - 2))  # a cached layer leaves room
        self._rows_of = {PREFILL: self._rows, DECODE: 1} if self._rows > 1 else {DECODE: 1}
        kernels = len(set(self._model.layer_kinds)) * len(self._rows_of) + 1
        self._budget = part_of(request.options.budget, kernels)  # one binary has all of them

    def compiled(self) -> ModelManifest:
        model = self._model
        model.require_equal_kinds()
        launches = _launches(model.layer_kinds, self._count, self._source.name)
        firsts = {kind: model.layer_kinds.index(kind) for kind in model.layer_kinds}
        stages = {kind: self._stages(kind, first) for kind, first in firsts.items()}
        packed = {kind: _packed(stages[kind]) for kind in firsts}
        kinds = {kind: self._kind(kind, first, stages[kind], packed[kind]) for kind, first in firsts.items()}
        layers = [self._launch(layers, packed[model.layer_kinds[layers[0]]]) for layers in launches]
        head = self._stage("head", "", None, 1)
        timing = head.manifest.memory
        assert timing is not None
        made = [*(stage for by_name in stages.values() for stage in by_name.values()), head]
        manifests = {stage.project.folder: stage.manifest for stage in made}
        self._link(manifests)
        self._progress("embedding")
        embedding = model.embedding
        whole = ModelManifest(
            version=MODEL_VERSION,
            name=self._source.name,
            source={name: getattr(self._request, name) for name in ("model", "weights", "seed")} | {"quantize": self._quantize},
            max_seq=model.max_seq,
            hidden=embedding.tokens.shape[1],
            vocabulary=embedding.tokens.shape[0],
            kinds=kinds,
            layers=tuple(layers),
            layers_per_launch=self._count,
            head=head.project,
            tokens=self._table("tokens.bin", embedding.tokens),
            positions=None if embedding.positions is None else self._table("positions.bin", embedding.positions),
            tokenizer=self._tokenizer(),
            end_tokens=self._source.end_tokens,
            tolerance=DEFAULT_TOLERANCE,
            clock_mhz=timing.clock_mhz,
            launch_us=timing.launch_us,
        )
        if (lacking := lacking_room(whole, manifests, self._platform)) is not None:
            warn(lacking)
        return whole

    def _stages(self, kind: str, layer: int) -> dict[str, _Stage]:
        return {stage: self._stage(stage, kind, layer, count) for stage, count in self._rows_of.items()}

    def _stage(self, stage: str, kind: str, layer: int | None, rows: int) -> _Stage:
        """A compiled stage; where no rule gives its streams run-time sizes, one that reads the whole cache under a mask."""
        if stage not in (PREFILL, DECODE):
            return self._compiled_stage(stage, kind, layer, rows, False, ESTIMATED)
        try:
            return self._compiled_stage(stage, kind, layer, rows, True, ESTIMATED)
        except NoRunTimeSize as refusal:
            origin = f"{ESTIMATED}, and {stage} reads the whole cache, since {refusal}"
            return self._compiled_stage(stage, kind, layer, rows, False, origin)

    def _compiled_stage(self, stage: str, kind: str, layer: int | None, rows: int, sized: bool, origin: str) -> _Stage:
        from stc.frontend.layers import require_one_kind
        from stc.frontend.sources import Part, export_part

        begin = time.perf_counter()
        name = f"{stage}_{kind}" if kind else stage
        self._progress(f"{name}: export to linalg")
        quantize = self._model.quantisation_of(layer, self._quantize)
        alone = {"layers": 1, "units": PipelineOptions.units} if layer is None and self._count > 1 else {}
        of_part = replace(self._request.options, quantize=quantize, budget=self._budget, **alone)
        asked = replace(self._request, options=of_part)
        # The example is the last position: of a layer another one is compared, too, behind which there are rows that must stay.
        draws = asked.check_inputs or (FOR_LARGE if stage in (PREFILL, DECODE) else (EXAMPLE,))
        request = replace(
            asked, stage=stage, seq=rows, max_seq=self._model.max_seq, layer=layer, check_inputs=draws, run_time_sizes=sized or None
        )
        part = Part(stage, rows, request.max_seq, layer, sized)
        parts = [part] if layer is None else [replace(part, layer=index) for index in range(layer, layer + self._count)]
        models = [export_part(self._model, each, Draws(draws, request.seed, quantize), self._source.name) for each in parts]
        options = replace(request.options, kernel_name=cpp_identifier(f"{self._source.name}_{name}"))
        require_one_kind(models)
        model, layers = models[0], models if options.layers > 1 else ()
        start = Start(request, model, options, request.plan.steps(options), 0, {"reference": model.reference}, tuple(layers))
        seconds = {"torch_import": 0.0, "export": time.perf_counter() - begin}
        report = compile_from(start, self._folder / name, lambda step: self._progress(f"{name}: {step}"), seconds)
        manifest = read_manifest(self._folder / name)
        stored = checked_file(self._folder / name / MANIFEST, f"{name}/{MANIFEST}")
        cycles = _cycles(report, self._model.max_seq - rows)
        reads_all = not sized and stage in (PREFILL, DECODE)
        project = StageProject(name, rows, stored, cycles, origin, reads_all)
        design = design_of(model.module.clone(), self._platform)  # the one that was checked and emitted
        return _Stage(project, manifest, design)

    def _kind(self, name: str, layer: int, stages: Mapping[str, _Stage], packed: list[PackedParameter]) -> LayerKind:
        from stc.frontend.families.cached_layer import cache_names
        from stc.quantisation.rows import ROW_FORMATS

        decode, tables = stages[DECODE], self._model.tables(layer)
        names = cache_names(ROW_FORMATS[read_quantisation(self._request.options.quantize).kv])
        caches = {key: cache_layout(decode.manifest, key, decode.project.folder) for key in names}
        for stage in stages.values():
            for key, layout in caches.items():
                require_cache(stage.manifest, key, layout, stage.project.folder)
        folder = f"tables/{name}" if name else "tables"
        offsets = accumulate((parameter.layout.bytes for parameter in packed), initial=0)
        return LayerKind(
            caches=caches,
            parameters=tuple(LayerParameter(at, it.layout, it.buffers) for at, it in zip(offsets, packed, strict=False)),
            mask=self._table(f"{folder}/mask.bin", tables.mask),
            rows={decode.input_name(key): self._table(f"{folder}/{key}.bin", array) for key, array in tables.rows.items()},
            stages={name: stage.project for name, stage in stages.items()},
        )

    def _launch(self, layers: range, packed: list[PackedParameter]) -> ModelLayer:
        """What a launch takes for these layers: of several, the parameters of one behind those of the other."""
        self._progress(f"packing layer {layers[-1]} of {len(self._model.layer_kinds)}")
        from stc.frontend.arrays import to_numpy
        from stc.frontend.eager_run import module_state

        def words() -> Iterator[bytes]:
            states = [module_state(self._model.layer(index)) for index in layers]
            each = [{name: to_numpy(value, name) for name, value in state.items()} for state in states]
            parameters = each[0] if len(each) == 1 else {name: np.stack([own[name] for own in each]) for name in each[0]}
            return (parameter.words(parameters) for parameter in packed)

        decides = [[asdict(parameter.recipe), encode(parameter.layout)] for parameter in packed]
        key = digest(json.dumps(decides).encode())
        first = layers[0]
        return ModelLayer(self._model.layer_kinds[first], self._files.file(f"parameters/{first:03d}.bin", key, words))

    def _link(self, manifests: Mapping[str, Manifest]) -> None:
        """What makes one binary of the kernels of all stages."""
        for name, text in render_model(self._source.name, manifests, self._platform).items():
            (self._folder / name).write_text(text, encoding="utf-8")

    def _table(self, name: str, array: np.ndarray) -> Table:
        path = self._folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        np.ascontiguousarray(array, "<f4").tofile(path)
        return Table(tuple(array.shape), checked_file(path, name))

    def _tokenizer(self) -> CheckedFile | None:
        if (tokenizer := tokenizer_of(self._source)) is None:
            return None
        shutil.copyfile(tokenizer, self._folder / TOKENIZER)
        return checked_file(self._folder / TOKENIZER, TOKENIZER)


def _launches(kinds: Sequence[str], count: int, where: str) -> list[range]:
    """The layers of each launch, `count` of one kind in a row; CompileError where the model does not consist of such rows."""
    if not _are_rows(kinds, count):
        possible = [str(number) for number in range(1, len(kinds) + 1) if _are_rows(kinds, number)]
        several = f" of the kinds {', '.join(kinds)}" if len({*kinds}) > 1 else ""
        what = f"--layers {count}, and the model has {len(kinds)}{several}"
        raise CompileError(what, where=where, accepted=f"--layers {' or '.join(possible)}: rows of layers of one kind")
    return [range(first, first + count) for first in range(0, len(kinds), count)]


def _are_rows(kinds: Sequence[str], count: int) -> bool:
    return len(kinds) % count == 0 and all(len({*kinds[first : first + count]}) == 1 for first in range(0, len(kinds), count))


def tokenizer_of(source: LanguageModelSource) -> Path | None:
    """The model's own tokenizer, None where it has none."""
    path = None if source.folder is None else source.folder / TOKENIZER
    return path if path is not None and path.is_file() else None


def _cycles(report: Mapping[str, Any], last: int) -> tuple[LaunchCycles, ...]:
    """Of a launch at the positions up to the `last` at which it was scheduled, kernels one after the other; none where the time of
    one is not modelled."""
    if (largest := report["throughput"]["cycles"]) is None:
        return ()
    kernels = report["fifo_sizing"]["kernels"]
    elsewhere = [{at["values"][POSITION]: at["cycles"] for at in kernel["elsewhere"]} for kernel in kernels]
    found = {last: largest} | {
        position: sum(cycles.get(position, kernel["makespan"]) for cycles, kernel in zip(elsewhere, kernels, strict=True))
        for position in {position for cycles in elsewhere for position in cycles}
    }
    depends = len(set(found.values())) > 1
    return tuple(LaunchCycles(*pair) for pair in sorted(found.items()) if depends or pair[0] == last)


def _packed(stages: Mapping[str, _Stage]) -> list[PackedParameter]:
    """The parameters of a kind of layer."""
    designs = {name: stage.design for name, stage in stages.items()}
    return packed_parameters(designs, {name: parameter_layouts(stage.manifest) for name, stage in stages.items()})
