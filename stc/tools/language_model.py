"""A whole language model as a folder: an emitted project for each stage and kind of layer, parameters of all layers, model.json."""

from __future__ import annotations

import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import accumulate
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from stc.codegen.design import Design, design_of
from stc.codegen.layer_parameters import PackedParameter, packed_parameters, packed_words
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
    HEAD,
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
from stc.pipeline import APART, BEHIND_LAYERS, PipelineOptions
from stc.platforms.budget import PLAN, SMALL, Counts, in_one_binary, part_of, parts_by_work, rest_of
from stc.platforms.platform import load_platform
from stc.quantisation.formats import read_quantisation
from stc.tools.budget_fit import Fit, fit_of, limits_of
from stc.tools.compile import Progress, compile_from
from stc.tools.model_room import lacking_room
from stc.tools.reproducer import versions
from stc.tools.request import STAGES, WHOLE_MODEL, CompileRequest, in_folder
from stc.tools.resumed import FinishedFiles, resumed_folder
from stc.tools.schedule_file import require_folder, require_stages, stage_schedule, with_schedule
from stc.tools.start import Start, with_tables
from stc.tools.targets import are_rows, for_layers

if TYPE_CHECKING:
    import torch

    from stc.frontend.exported import Arrays, ExportedModel
    from stc.frontend.sources import LanguageModelSource

ROWS = 16
"""Tokens of a launch of prefill where nothing is said."""

TOKENIZER = "tokenizer.json"
POSITION = "pos"
OF_ALL_STAGES = frozenset({"layers", "head", "platform", "quantize"})
"""Options that the schedule of one stage does not decide: its neighbours would have others."""
ESTIMATED = "estimated by FIFO sizing, without synthesis"


def model_request(
    model: str, max_seq: int | None, weights: str | None, seed: int, options: PipelineOptions, target: str = STAGES,
    given: frozenset[str] = frozenset(),
) -> CompileRequest:
    """What is asked for a preset, or for a folder of transformers, whose weights are its own where nothing else is said.

    `given`: the options that a user said, beside those of the target; rows of a prompt count as said.
    """
    model, weights = in_folder(model, weights)
    said = given | {"rows"}
    return CompileRequest(
        model, WHOLE_MODEL, seed=seed, weights=weights, options=options, given=said, max_seq=max_seq, target=target
    )


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
    require_folder(request.options.schedule)
    progress("reading the model")
    from stc.frontend.sources import find_language_model

    source = find_language_model(request.model, max_seq=request.max_seq, seed=request.seed, weights=request.weights)
    check(source)
    request = for_layers(request, source.model.layer_kinds)
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
    """A compiled stage: its project as model.json and as its own manifest has it, the design that parameters are packed for, and
    what that takes."""

    project: StageProject
    manifest: Manifest
    design: Design
    taken: Counts

    def input_name(self, name: str) -> str:
        """What the project calls an input of the model: `cos`, a function of C, is `cos_` there."""
        return next(own for tensor, own in tensor_names(self.design).items() if tensor.role == "input" and tensor.name == name)


class ModelStages:
    """The stages of a whole model, and where a compile of each begins. `rows_of`: tokens of a launch of each stage of a layer;
    `firsts`: the first layer of each kind; `has_head`: whether the head is a stage, and does not follow the last layer in its
    launch; `names`: of all stages."""

    def __init__(self, request: CompileRequest, source: LanguageModelSource):
        self._request, self._source = request, source
        self.model, self._quantize, self.count = source.model, request.options.quantize, request.options.layers
        asked = request.options.rows if "rows" in request.given else ROWS
        if self._quantize:
            self.model.require_quantisation(self._quantize)
        rows = max(1, min(asked, self.model.max_seq - 2))  # a cached layer leaves room
        self.rows_of = {PREFILL: rows, DECODE: 1} if rows > 1 else {DECODE: 1}
        self.model.require_equal_kinds()
        self.launches = _launches(self.model.layer_kinds, self.count, source.name)
        self.has_head = request.options.head != BEHIND_LAYERS
        if not self.has_head and (len(self.launches) > 1 or PREFILL in self.rows_of):
            what = f"--head {BEHIND_LAYERS} with {len(self.launches)} launches of layers and {rows} rows of a prompt"
            accepted = f"--layers {len(self.model.layer_kinds)} --rows 1, or --head {APART}"
            raise CompileError(what, where=source.name, accepted=accepted)
        if self.has_head and (steps := request.options.tokens_per_launch) > 1:
            what = f"--tokens-per-launch {steps} with the head in a launch of its own"
            accepted = "--target decoder, of a model whose layers are all of one kind; else one token per launch"
            raise CompileError(what, where=source.name, accepted=accepted)
        self.firsts = {kind: self.model.layer_kinds.index(kind) for kind in self.model.layer_kinds}
        self.names = [stage_name(stage, kind) for kind in self.firsts for stage in self.rows_of]
        self.names += [HEAD] if self.has_head else []
        require_stages(request.options.schedule, self.names)

    def launched(self, kind: str) -> int:
        """Launches of layers of a kind."""
        return sum(self.model.layer_kinds[layers[0]] == kind for layers in self.launches)

    def start(self, stage: str, kind: str, *, sized: bool, rest: float | None = None) -> Start:
        """A compile of a stage of a kind of layers, or of the head; `sized`: with sizes that are known at run time.

        Of the budget it has its part, of what the head leaves (`rest`) where that is known; or where a schedule says lanes and
        copies, all: what the schedules of all take is for `compile_language_model` to add up.
        """
        from stc.frontend.layers import require_one_kind
        from stc.frontend.sources import TOKEN, Part, export_part, layer_stages

        layer, name = (None if stage == HEAD else self.firsts[kind]), stage_name(stage, kind)
        options, rows = self._options(layer, name, rest), self.rows_of.get(stage, 1)
        asked = replace(self._request, options=options)
        # The example is the last position: of a layer another one is compared, too, behind which there are rows that must stay.
        draws = asked.check_inputs or (FOR_LARGE if stage in (PREFILL, DECODE) else (EXAMPLE,))
        stage = TOKEN if stage == DECODE and not self.has_head else stage
        request = replace(
            asked, stage=stage, seq=rows, max_seq=self.model.max_seq, layer=layer, check_inputs=draws, run_time_sizes=sized or None
        )
        part = Part(stage, rows, request.max_seq, layer, sized)
        several = layer_stages(stage, self.count) if layer is not None and self.count > 1 else []
        parts = [replace(part, stage=each, layer=(layer or 0) + index) for index, each in enumerate(several)]
        is_first = bool(several) and several[0] == stage

        def exported(one: Part) -> ExportedModel:
            quantize = options.quantize if one.stage == stage else self.model.quantisation_of(layer, self._quantize)
            return export_part(self.model, one, Draws(draws, request.seed, quantize), self._source.name)

        layers = [exported(each) for each in parts]
        model = layers[0] if is_first else exported(part)
        require_one_kind([model, *layers])
        named = with_tables(replace(options, kernel_name=cpp_identifier(f"{self._source.name}_{name}")), model)
        return Start(request, model, named, request.plan.steps(named), 0, {"reference": model.reference}, tuple(layers))

    def _parts(self, rest: float | None) -> Mapping[str, float]:
        """Of the budget, by the stage's name; a prompt is taken to be as long as what follows it."""
        kinds, model = Counter(self.model.layer_kinds), self.model
        of_layers = {kind: kinds[kind] * model.products(first) for kind, first in self.firsts.items()}
        work = {stage_name(stage, kind): products for kind, products in of_layers.items() for stage in self.rows_of}
        if not rest:
            return parts_by_work(work | ({HEAD: model.products(None)} if self.has_head else {}))
        return {name: parts / rest for name, parts in parts_by_work(work).items()}

    def _options(self, layer: int | None, name: str, rest: float | None) -> PipelineOptions:
        whole, schedule = self._request.options, stage_schedule(self._request.options.schedule, name)
        quantize = self.model.quantisation_of(layer, self._quantize, has_head=layer is None or not self.has_head)
        budget = whole.budget if schedule else part_of(whole.budget, self._parts(rest)[name])  # one binary has all of them
        given = self._request.given
        own = {"layers": 1, "units": PipelineOptions.units} if layer is None and self.count > 1 else {}
        if layer is None or PREFILL not in self.rows_of:  # --rows tiles a prompt, and a decode stage beside it, with its caches
            own, given = own | {"rows": PipelineOptions.rows}, given - {"rows"}
        options = replace(whole, quantize=quantize, budget=budget, schedule=schedule, **own)
        found = with_schedule(options, given | OF_ALL_STAGES)
        _require_no_stage_alone(found, name)
        return found


class _Compiler:
    def __init__(self, request: CompileRequest, source: LanguageModelSource, files: FinishedFiles, progress: Progress):
        self._request, self._source, self._files, self._progress = request, source, files, progress
        self._folder = files.folder
        self._platform = load_platform(request.options.platform)
        self._stages = ModelStages(request, source)
        self._model, self._count = source.model, self._stages.count

    def compiled(self) -> ModelManifest:
        model, request, firsts = self._model, self._request, self._stages.firsts
        head = self._stage(HEAD, "", None) if self._stages.has_head else None
        rest = None
        if head is not None and request.options.budget != SMALL:
            rest = rest_of(head.taken, limits_of(request.options))
        stages = {kind: {stage: self._stage(stage, kind, rest) for stage in self._stages.rows_of} for kind in firsts}
        packed = {kind: _packed(stages[kind]) for kind in firsts}
        kinds = {kind: self._kind(kind, first, stages[kind], packed[kind]) for kind, first in firsts.items()}
        layers = [self._launch(layers, packed[model.layer_kinds[layers[0]]]) for layers in self._stages.launches]
        made = [*(stage for by_name in stages.values() for stage in by_name.values()), *([head] if head else [])]
        timing = made[0].manifest.memory
        assert timing is not None
        self._require_budget(made)
        manifests = {stage.project.folder: stage.manifest for stage in made}
        self._link(manifests)
        self._progress("embedding")
        embedding = model.embedding
        whole = ModelManifest(
            version=MODEL_VERSION,
            name=self._source.name,
            source={name: getattr(request, name) for name in ("model", "weights", "seed")} | {"quantize": request.options.quantize},
            max_seq=model.max_seq,
            hidden=embedding.tokens.shape[1],
            vocabulary=embedding.tokens.shape[0],
            kinds=kinds,
            layers=tuple(layers),
            layers_per_launch=self._count,
            head=head.project if head else None,
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

    def _require_budget(self, stages: Sequence[_Stage]) -> None:
        """CompileError where stages take more than the budget together; where no schedule says so, each has its part."""
        options = self._request.options
        if not (options.schedule and options.is_searched):
            return
        fit = Fit(in_one_binary(stage.taken for stage in stages), None, limits_of(options))
        if fit.lacking:
            what = f"the stages together take {fit.lacking} within --budget {options.budget}"
            raise CompileError(what, where=options.schedule, accepted="a larger --budget, or schedules of smaller designs")

    def _stage(self, stage: str, kind: str, rest: float | None) -> _Stage:
        """A compiled stage; where no rule gives its streams run-time sizes, one that reads the whole cache under a mask."""
        if stage == HEAD:
            return self._compiled_stage(stage, kind, rest, False, ESTIMATED)
        try:
            return self._compiled_stage(stage, kind, rest, True, ESTIMATED)
        except NoRunTimeSize as refusal:
            origin = f"{ESTIMATED}, and {stage} reads the whole cache, since {refusal}"
            return self._compiled_stage(stage, kind, rest, False, origin)

    def _compiled_stage(self, stage: str, kind: str, rest: float | None, sized: bool, origin: str) -> _Stage:
        begin, name = time.perf_counter(), stage_name(stage, kind)
        self._progress(f"{name}: export to linalg")
        start = self._stages.start(stage, kind, sized=sized, rest=rest)
        seconds = {"torch_import": 0.0, "export": time.perf_counter() - begin}
        report = compile_from(start, self._folder / name, lambda step: self._progress(f"{name}: {step}"), seconds)
        manifest = read_manifest(self._folder / name)
        stored = checked_file(self._folder / name / MANIFEST, f"{name}/{MANIFEST}")
        rows = start.request.seq
        cycles = _cycles(report, self._model.max_seq - rows)
        reads_all = not sized and stage in (PREFILL, DECODE)
        steps = max(kernel.steps for kernel in manifest.kernels)
        project = StageProject(name, rows, stored, cycles, origin, reads_all, steps)
        design = design_of(start.model.module.clone(), self._platform)  # the one that was checked and emitted
        fit = fit_of(replace(start.options, budget=PLAN), report["resources"]["total"], report["memory_ports"], None)
        return _Stage(project, manifest, design, fit.emitted)

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
        from stc.frontend.arrays import as_numpy
        from stc.frontend.eager_run import module_state
        from stc.frontend.exported import AskedFor
        from stc.frontend.layers import joined
        from stc.frontend.sources import filled_multiple, token_tables_of
        from stc.frontend.steps import step_parameters

        def arrays_of(module: torch.nn.Module) -> Arrays:
            return {name: as_numpy(value, name) for name, value in module_state(module).items()}

        def words() -> Iterator[bytes]:
            each = [arrays_of(self._model.layer(index)) for index in layers]
            places: list[Arrays] = [joined(each[0] if len(each) > 1 else (), each)]
            if not self._stages.has_head:
                places.append(arrays_of(self._model.head(filled_multiple(self._model.vocabulary))[0]))
            if self._request.options.tokens_per_launch > 1:
                places.append(step_parameters(token_tables_of(self._model, layers[0])))
            return packed_words(packed, AskedFor.of(*places))

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


def _require_no_stage_alone(options: PipelineOptions, stage: str) -> None:
    """CompileError for what would count a stage as if it had the device, whose one binary has all of them."""
    for name, usual in (("dies", PipelineOptions.dies), ("groups", PipelineOptions.groups)):
        if (value := getattr(options, name)) != usual:
            what = f"--{name} {value}: each stage would be looked at alone, and one binary has all of a whole model"
            raise CompileError(what, where=stage, accepted=f"--{name} {usual}, or one --stage")


def stage_name(stage: str, kind: str) -> str:
    return f"{stage}_{kind}" if kind else stage


def _launches(kinds: Sequence[str], count: int, where: str) -> list[range]:
    """The layers of each launch, `count` of one kind in a row; CompileError where the model does not consist of such rows."""
    if not are_rows(kinds, count):
        possible = [str(number) for number in range(1, len(kinds) + 1) if are_rows(kinds, number)]
        several = f" of the kinds {', '.join(kinds)}" if len({*kinds}) > 1 else ""
        what = f"--layers {count}, and the model has {len(kinds)}{several}"
        raise CompileError(what, where=where, accepted=f"--layers {' or '.join(possible)}: rows of layers of one kind")
    return [range(first, first + count) for first in range(0, len(kinds), count)]


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
