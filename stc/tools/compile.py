"""A whole compile: from a model's name to an emitted project and its report."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Region

from stc.analysis.bus_words import bus_words
from stc.analysis.converter_figures import converter_figures
from stc.analysis.duplicate_loads import duplicate_load_report
from stc.analysis.external_traffic import external_traffic
from stc.analysis.host_trips import host_trips
from stc.analysis.loop_report import loop_report
from stc.analysis.measured_loops import measured_loops
from stc.analysis.memory_figures import MemoryFigures, converter_count, external_bytes, intermediate_bytes, on_chip_bytes
from stc.analysis.memory_ports import memory_ports
from stc.analysis.resources import resource_report
from stc.analysis.steps import one_step
from stc.analysis.storage import storables
from stc.analysis.support import obstacles
from stc.analysis.task_graph import units_of
from stc.analysis.throughput import throughput_report
from stc.codegen.project import emit_project, require_free
from stc.diagnostics import BeyondBudget, CompileError, UnsupportedError, warn
from stc.dialects.context import make_context
from stc.dialects.dataflow import PROVENANCE, KernelOp, ProvenanceAttr, TaskOp
from stc.dialects.printing import print_module
from stc.dialects.stream import CreateOp
from stc.extensions import load_options
from stc.frontend.draws import EXAMPLE, retained_inputs
from stc.manifest.bitstreams import SEPARATE
from stc.manifest.schema import Manifest
from stc.pipeline import PipelineOptions, PipelineRun, Stage, stages
from stc.platforms.platform import load_platform
from stc.quantisation.formats import LinearFormat
from stc.simulation.memory_traffic import estimated_channels
from stc.simulation.utilisation import estimated_utilisation
from stc.tools.budget_fit import (
    Fit,
    does_not_fit,
    fit_of_report,
    is_aim,
    narrower,
    narrower_tokens,
    not_searched,
    require_platform,
    require_together,
    searched_again,
    searched_between,
    taken_at_once,
    whole_of,
    without_search,
)
from stc.tools.check_semantics import SemanticsCheck
from stc.tools.confirmation import Confirmation, ConfirmedDesign
from stc.tools.depth_minimisation import minimisation_report, minimised_sizing
from stc.tools.plan import as_stages
from stc.tools.provenance import provenance_of
from stc.tools.reproducer import run_or_reproduce
from stc.tools.request import CompileRequest, load_layers
from stc.tools.schedule_file import NOT_IN_FILE, require_known_formats, schedule_text
from stc.tools.start import Start, start_of
from stc.transforms.dataflow.verify_streams import VerifyStreams
from stc.transforms.linalg.apply_schedule import Decided, decided_schedules
from stc.transforms.linalg.choose_parallelism import ChooseParallelism, Searched
from stc.transforms.linalg.default_tile_size import DefaultTileSize
from stc.transforms.linalg.propagate_orders import PropagateOrders
from stc.transforms.linalg.quantize_linear import QuantizeLinear
from stc.transforms.linalg.recognize_quantization import Recognised, RecognizeQuantization
from stc.transforms.stream.assign_dies import AssignDies
from stc.transforms.stream.assign_units import AssignUnits
from stc.transforms.stream.choose_storage import ChooseStorage
from stc.transforms.stream.size_fifos import KernelSizing, SizeFifos
from stc.transforms.stream.verify_bounds import VerifyBounds

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel

BEFORE_FUSION = "fold-transposes"
"""The last linalg pass before element-wise fusion: where "unfused linalg" is measured."""


Progress = Callable[[str], None]
"""Told the name of each step as it begins."""


def compile_model(request: CompileRequest, out: Path, progress: Progress = lambda _: None) -> dict[str, Any]:
    """Compile `request` into the new folder `out`; the contents of its report.json.

    CompileError for whatever is unusable, SemanticsChanged for a pass that changes a value; then nothing is left of `out`.
    """
    require_free(out)
    progress("export to linalg")
    begin = time.perf_counter()
    # It takes seconds: only once it is certain to be needed, and timed apart from the export.
    import torch  # noqa: F401  # pyright: ignore[reportUnusedImport]

    imported = time.perf_counter()
    start = start_of(request)
    seconds = {"torch_import": imported - begin, "export": time.perf_counter() - imported}
    return compile_from(start, out, progress, seconds)


def compile_from(
    start: Start, out: Path, progress: Progress, seconds: Mapping[str, float], *, is_named: bool = True
) -> dict[str, Any]:
    """Compile what was loaded into the new folder `out`; the contents of its report.json. `seconds` that loading took, by step.

    `is_named`: whether the request's model is a name that stands for the same model again, which dumps of the IR then say.
    """
    require_free(out)
    request, model, options = start.request, start.model, start.options
    if start.begin == 0 and (found := obstacles(model.module)):
        raise UnsupportedError(found)
    confirmation = Confirmation()
    start = replace(start, layers=tuple(_layers(start, progress, is_named=is_named)))
    if request.confirm > 1 and options.is_searched:
        made = _fastest(start, confirmation, progress, is_named=is_named)
    else:
        made = _on_platform(start, progress, is_named=is_named)
    for told in made.warnings:
        warn(told)
    design, options, recorder = made.report, made.options, made.recorder
    design["throughput"]["budget"] = start.options.budget  # what was asked for, where that gave the cheapest design, too
    references = model.timings.get("references", 0.0)
    front_end = {"origin": "executed", **seconds, "export": seconds["export"] - references, "references": references}
    if start.layers or options.tokens_per_launch > 1:
        progress("references: layers and steps one after the other")
    model = start.finished_model
    report: dict[str, Any] = {
        "model": model.name,
        "source": start.source,
        "check_inputs": _draws_report(model),
        **_quantisation_report(model, options),
        **_host_report(model),
        **design,
        "compile_seconds": front_end | design["compile_seconds"],
    }
    report |= {"confirmation": confirmation.report()} if confirmation.designs else {}
    manifest_options = _manifest_options(request, options)
    if request.minimise_depths is not None:
        report |= _minimised(model, manifest_options, request.minimise_depths, recorder, options)
    progress("code generation")
    sizings = report["fifo_sizing"]["kernels"]
    units = units_of(model.module) if recorder.units is None else recorder.units
    searched = {} if recorder.searched is None else recorder.searched.plan
    dies = {each["unit"]: each["die"] for each in (report["dies"] or {}).get("units", ())}
    schedule = schedule_text(options, recorder.schedules, sizings, storables(model.module), units, dies, recorder.formats, searched,
                             measured_loops(model.module))
    emit_project(
        model.module, model, out, manifest_options, report, recorder.texts,
        schedule=schedule,
        of_manifest=lambda manifest: {**_in_estimated_cycles(manifest, sizings), **_bitstreams_report(manifest)},
        progress=lambda step: progress(f"code generation: {step}"),
    )
    return report


def _layers(start: Start, progress: Progress, *, is_named: bool) -> list[ExportedModel]:
    """The layers of a launch; none where it computes what was loaded."""
    if start.options.layers == 1 or start.layers:
        return list(start.layers)
    if not is_named or start.model.again is None:
        what = f"{start.options.layers} layers, of which one is given"
        raise CompileError(what, accepted="a model by name, which PyTorch computes")
    return load_layers(replace(start.request, options=start.options), start.model, progress)


def _in_estimated_cycles(manifest: Manifest, sizings: Sequence[Mapping[str, Any]] | None) -> dict[str, Any]:
    """How much of its multipliers and ports the design uses in the cycles that FIFO sizing found, None where it found none; and
    what its channels of memory do."""
    makespans = [sizing["makespan"] for sizing in sizings or ()] or [None] * len(manifest.kernels)
    cycles = {kernel.name: makespan for kernel, makespan in zip(manifest.kernels, makespans, strict=True)}
    known = {name: makespan for name, makespan in cycles.items() if makespan is not None}
    use = estimated_utilisation(manifest, known, "estimated: cycles by FIFO sizing") if len(known) == len(cycles) else None
    channels = estimated_channels(manifest, cycles)
    return {
        "utilisation": None if use is None else use.as_json(), "memory_channels": None if channels is None else channels.as_json()
    }


def _bitstreams_report(manifest: Manifest) -> dict[str, Any]:
    """Which kernel is in which, and what no figure has of what they cost; nothing where nobody asked for several."""
    if manifest.options.get("groups") not in SEPARATE:
        return {}
    each = [{"kernel": it.kernel, "card": it.card} for it in manifest.bitstreams]
    note = manifest.links_note or "one group: one bitstream, on one card"
    return {"bitstreams": {"origin": "counted in the manifest", "cards": manifest.cards, "note": note, "list": each}}


@dataclass(frozen=True)
class _Made:
    """A finished design: what is said of it, with which options and who watched, and its IR where another is in the module."""

    report: dict[str, Any]
    options: PipelineOptions
    recorder: Recorder
    region: Region | None = None
    warnings: tuple[str, ...] = ()
    """What the user is told where this design is kept."""

    @property
    def cycles(self) -> int | None:
        """As FIFO sizing estimates them."""
        return self.report["throughput"]["cycles"]

    @property
    def found(self) -> Searched:
        """What the search says of it, of a design that was searched."""
        assert self.recorder.searched is not None
        return self.recorder.searched


def _fastest(start: Start, confirmation: Confirmation, progress: Progress, *, is_named: bool) -> _Made:
    """Of the search's best designs, each as `_on_platform`, the fastest when it is run; up to one that was run before.

    BeyondBudget where none fits.
    """
    module, original, count = start.model.module, start.model.module.clone(), start.request.confirm
    found: dict[int, _Made] = {}
    for rank in range(1, count + 1):
        asked = replace(start, options=replace(start.options, search_rank=rank))
        step = partial(_told, progress, f"design {rank} of {count}")
        try:
            made = _on_platform(asked, step, is_named=is_named)
        except BeyondBudget:
            if not found:
                raise
            _exchange(module, original.clone().detach_region(0))
            continue
        step("building and running the emitted C++")
        searched = made.recorder.searched
        design = ConfirmedDesign(rank, None if searched is None else searched.cycles, made.cycles, None)
        is_new = confirmation.run(design, partial(_emit_to_run, start, made))
        region = _exchange(module, original.clone().detach_region(0))
        if not is_new:
            break
        found[rank] = replace(made, region=region)
    kept = found[confirmation.kept.rank]
    assert kept.region is not None
    _exchange(module, kept.region)
    return kept


def _told(progress: Progress, what: str, step: str) -> None:
    progress(f"{what}: {step}")


def _emit_to_run(start: Start, made: _Made, folder: Path) -> None:
    emit_project(start.model.module, start.finished_model, folder, _manifest_options(start.request, made.options), {})


def _on_platform(start: Start, progress: Progress, *, is_named: bool) -> _Made:
    """The design within the budget; where the cheapest takes more than the plan, one with narrower tokens. BeyondBudget where it
    takes more than the whole platform, and was not asked for as the cheapest."""
    original = start.model.module.clone()
    made = _within_budget(start, original, progress, is_named=is_named)
    made = _narrowed(start, made, original, progress, is_named=is_named)
    if start.options.is_searched:
        require_platform(made.options, taken_at_once(made.options, made.report["resources"]))
    require_together(made.options, made.report["resources"]["total"], made.report["groups"])
    return made


def _narrowed(start: Start, made: _Made, original: ModuleOp, progress: Progress, *, is_named: bool) -> _Made:
    """`made`; one of `original` with narrower tokens where it is a cheapest design that takes more than the plan."""
    while start.options.lanes == 0:
        if (options := narrower(made.options, taken_at_once(made.options, made.report["resources"]))) is None:
            break
        wide, narrow = made.options.token_lanes, options.lanes
        told = f"the cheapest design with tokens of {wide} entries is beyond the plan of {options.platform}; instead, of {narrow}"
        _exchange(start.model.module, original.clone().detach_region(0))
        made = replace(_made(start, options, progress, is_named=is_named), warnings=(*made.warnings, told))
    return made


def _within_budget(start: Start, original: ModuleOp, progress: Progress, *, is_named: bool) -> _Made:
    """The design of `original`: searched again as long as it is beyond the budget; within the plan, where no search fits, not
    searched.

    Within the plan, too: the cheapest design, where that is estimated to be faster, and the platform has what it takes. It may be
    where phases are short.
    """
    module, options, before = start.model.module, start.options, None
    tries = 1
    while True:
        try:
            made = _made(start, options, progress, is_named=is_named)
            if not options.is_searched:
                return made
            searched = made.recorder.searched
            expected = None if searched is None else searched.expected
            fit = fit_of_report(options, made.report, expected)
            if not fit.lacking or (expected is None and is_aim(options)):  # IR behind the search is as it is
                made.report["budget"] = fit.report(tries, None if searched is None else searched.cycles)
                made = _or_between(made, fit, before, start, original, progress, is_named=is_named)
                break
            if searched is not None and searched.is_given:
                raise does_not_fit(options, fit)
            options = searched_again(options, fit, before, tries)
            warn(f"beyond the budget: {fit.lacking}; searched again within {options.search_within}")
            before = fit
        except BeyondBudget as failure:
            if options.is_searched:
                options = without_search(options, failure, before)
                warn(f"{failure}; instead, the cheapest design (--small)")
            elif start.options.lanes == 0 and (less := narrower_tokens(options)) is not None:
                options = less
                warn(f"{failure}; instead, the cheapest design with tokens of {options.lanes} entries")
            else:
                raise
        _exchange(module, original.clone().detach_region(0))
        tries += 1
    if searched is None or not is_aim(options) or options.schedule or searched.least_cycles_without >= (made.cycles or 0):
        return made
    made = replace(made, region=_exchange(module, original.clone().detach_region(0)))
    cheapest = _made(start, not_searched(options), progress, is_named=is_named)
    cheapest = _narrowed(start, cheapest, original, progress, is_named=is_named)
    taken = fit_of_report(start.options, cheapest.report)
    is_faster = cheapest.cycles is not None and made.cycles is not None and cheapest.cycles < made.cycles
    if is_faster and not taken.emitted.beyond(whole_of(start.options.platform)):
        return cheapest
    assert made.region is not None
    _exchange(module, made.region)
    return made


def _or_between(
    made: _Made, fit: Fit, before: Fit | None, start: Start, original: ModuleOp, progress: Progress, *, is_named: bool
) -> _Made:
    """`made`, which has this `fit`; or, as long as that leaves room of what the one `before` lacked, the design of a search between
    the two, if that fits and is faster by the model of the search."""
    module, tries = start.model.module, made.report["budget"]["tries"]
    while (more := searched_between(made.options, fit, before, tries)) is not None:
        warn(f"there is room for more: searched once more within {more.search_within}")
        made, tries, found = replace(made, region=_exchange(module, original.clone().detach_region(0))), tries + 1, None
        try:
            other = _made(start, more, progress, is_named=is_named, faster_than=made.found.cycles)
        except CompileError as failure:  # whatever it is, there is a design
            reason = str(failure)
        else:
            found = fit_of_report(more, other.report, other.found.expected)
            if not found.lacking:
                made, fit = other, found
                made.report["budget"] = fit.report(tries, made.found.cycles)
                continue
            reason = f"that one is beyond the budget: {found.lacking}"
        warn(f"the design before is kept: {reason}")
        assert made.region is not None
        _exchange(module, made.region)
        made.report["budget"]["tries"] = tries
        if found is None:
            break
        before = found
    return made


def _exchange(module: ModuleOp, region: Region) -> Region:
    """Give `module` another body; its own."""
    own = module.detach_region(0)
    module.add_region(region)
    return own


def _made(
    start: Start, options: PipelineOptions, progress: Progress, *, is_named: bool, faster_than: int | None = None
) -> _Made:
    recorder = _recorder(start, options, progress, is_named=is_named)
    recorder.faster_than = faster_than
    rest = as_stages(start.request.plan.steps(options)[start.begin :])
    return _Made(design_report(start.model.module, options, recorder, rest), options, recorder)


def _recorder(start: Start, options: PipelineOptions, progress: Progress, *, is_named: bool) -> Recorder:
    request, model = start.request, start.model
    recorder = Recorder(request.emit_ir, progress, request.crash_reproducer, count=start.begin)
    recorder.quantised, recorder.packed, recorder.parameters = model.quantised, model.packed, model.parameters
    keeps_source = request.emit_ir and is_named
    recorder.provenance = [provenance_of(request, options, step.label) for step in start.steps] if keeps_source else []
    if request.check_semantics:
        recorder.semantics = SemanticsCheck()
        progress("executing the module")
        recorder.semantics.begin(model.module, list(model.arguments.values()))
    return recorder


def _draws_report(model: ExportedModel) -> dict[str, Any]:
    """Which draws the design is checked with, which inputs they keep as the example has them, and why others are left out."""
    retained = {draw.name: list(retained_inputs(draw, model.inputs)) for draw in model.references if draw.name != EXAMPLE}
    names = [draw.name for draw in model.references]
    return {"draws": names, "kept": {name: keys for name, keys in retained.items() if keys}, "left_out": dict(model.draws_left_out)}


def _quantisation_report(model: ExportedModel, options: PipelineOptions) -> dict[str, Any]:
    """How far the reference of quantised layers is from the f32 model, by draw and output; nothing where there is none."""
    if not options.quantize:
        return {}
    errors = [
        {"draw": draw.name, "output": name, **_distance(draw.golden[name], exact)}
        for draw in model.references
        for name, exact in draw.unquantised.items()
        if np.issubdtype(exact.dtype, np.floating)
    ]
    origin = "executed: the quantised reference and the f32 model, both by PyTorch"
    layers = sorted(model.quantised | model.packed)
    return {"quantisation": {"origin": origin, "format": options.quantize, "layers": layers, "errors": errors}}


def _host_report(model: ExportedModel) -> dict[str, Any]:
    """What PyTorch runs on the host, between kernels, and from what; nothing where that is nothing."""
    if not model.host_parts:
        return {}
    shapes = {name: list(array.shape) for name, array in {**model.inputs, **model.golden}.items()}
    parts = [
        {
            "call": part.name,
            "module": part.module,
            "takes": {name: shapes[name] for name in part.takes},
            "gives": {name: shapes[name] for name in part.gives},
            "runs": "a program of torch.export" if part.source is None else f"{part.source.factory} ({part.reason})",
        }
        for part in model.host_parts
    ]
    origin = "asked for (--host); cycles, resources and traffic are those of the kernels, without it"
    return {"host_parts": {"origin": origin, "list": parts}}


def _distance(found: np.ndarray, exact: np.ndarray) -> dict[str, float]:
    """Of the finite entries: the largest difference, and the root mean square of all in parts of that of `exact`."""
    finite = np.isfinite(found) & np.isfinite(exact)
    difference = np.where(finite, found.astype(np.float64) - exact, 0.0)
    size = float(np.sqrt(np.mean(np.where(finite, exact, 0.0).astype(np.float64) ** 2)))
    spread = float(np.sqrt(np.mean(difference**2)))
    return {"max_abs_error": float(np.abs(difference).max()), "relative_rms": spread / size if size else 0.0}


def _minimised(
    model: ExportedModel, written: dict[str, Any], slack: float, recorder: Recorder, options: PipelineOptions
) -> dict[str, Any]:
    """Give the FIFOs of the finished module the depths that runs of it find; what that changes in the report."""
    sizing = minimised_sizing(lambda folder: emit_project(model.module, model, folder, written, {}), slack, recorder.progress)
    sizer = SizeFifos(margin=options.fifo_margin, run_ahead=options.run_ahead, platform=options.platform)
    sizings = sizer.size(model.module, sizing.depths)
    ChooseStorage(options.budget, options.platform, options.schedule).apply(make_context(), model.module)
    return {
        "dies": AssignDies(platform=options.platform).find(make_context(), model.module),
        "memory_bytes": _memory_report(model.module, recorder),
        "fifo_sizing": _fifo_report(sizings) | {"minimisation": minimisation_report(sizing)},
        "resources": resource_report(model.module, load_platform(options.platform)),
    }


def design_report(
    module: ModuleOp, options: PipelineOptions, recorder: Recorder, rest: Sequence[Stage] | None = None
) -> dict[str, Any]:
    """Run all passes on `module`, in place, or those of `rest`; what report.json says of them and of the design.

    Figures that only other passes would have measured are None. CompileError where refused.
    """
    sequence = stages(options) if rest is None else rest
    run = run_or_reproduce(module, make_context(), sequence, [recorder], recorder.begin, recorder.crash_reproducer, recorder.run)
    recorder.formats = run.found.get(QuantizeLinear.name, {})
    if QuantizeLinear.name in run.found:
        require_known_formats(options.schedule, recorder.formats)
    _require_reference(run.found.get(QuantizeLinear.name), recorder.quantised)
    recognised: Recognised | None = run.found.get(RecognizeQuantization.name)
    _require_scales(recognised, recorder.parameters)
    _require_integers(recognised, recorder.packed)
    found = {label.partition("#")[0]: result for label, result in run.found.items()}  # the last run of each
    streams, bounds, sizings = (found.get(name) for name in (VerifyStreams.name, VerifyBounds.name, SizeFifos.name))
    steps = max((op.steps for op in module.walk() if isinstance(op, KernelOp)), default=1)
    module = one_step(module)  # of which all figures are
    resources = resource_report(module, load_platform(options.platform))
    makespans = None if sizings is None else [sizing.makespan for sizing in sizings]
    return {
        "compile_seconds": {"origin": "executed", **run.by_stage},
        "quantised_by_model": None if recognised is None else recognised.report(),
        "pass_seconds": [{"stage": stage, "pass": name, "seconds": seconds} for stage, name, seconds in run.by_pass],
        **_design_figures(module),
        **({"steps": steps} if steps > 1 else {}),
        "converter_buffers": {"origin": "inferred from the types; the bound counted token by token", "list": recorder.converters},
        "memory_bytes": _memory_report(module, recorder),
        "external_traffic_bytes": {"origin": "counted in the IR, per run", **external_traffic(module)},
        "duplicate_loads": duplicate_load_report(module),
        "bus_words": {"origin": "counted in the IR", "list": [asdict(words) for words in bus_words(module)]},
        "host_trips": {"origin": "counted in the IR", "list": [asdict(trip) for trip in host_trips(module)]},
        "proofs": {**({} if streams is None else streams.report()), "bounds": None if bounds is None else bounds.report()},
        **_semantics_report(recorder),
        "fifo_sizing": _fifo_report(sizings),
        "loops": loop_report(module, load_platform(options.platform)),
        "resources": resources,
        "dies": found.get(AssignDies.name),
        "throughput": throughput_report(makespans, resources, options.budget),
    }


def _require_reference(formats: Mapping[str, LinearFormat | None] | None, reference: frozenset[str] | None) -> None:
    """CompileError where a pass and the reference do not compute the same layers on integers."""
    rewritten = frozenset(layer for layer, own in (formats or {}).items() if own is not None)
    if formats is None or reference is None or rewritten == reference:
        return
    layer = min(rewritten ^ reference)
    what = "is a product with a parameter, but no linear layer" if layer in rewritten else "is no single product with a parameter"
    accepted = f"--quantize with except={layer}"
    raise CompileError(f"'{layer}' {what}: its reference computes otherwise", where="quantize-linear", accepted=accepted)


def _require_scales(recognised: Recognised | None, parameters: Mapping[str, np.ndarray]) -> None:
    """CompileError where a scale of integers that the model brings with it is none."""
    for layer, name in () if recognised is None else recognised.scales:
        scales = parameters.get(name, np.ones(1, np.float32))
        wrong = scales[~np.isfinite(scales) | (scales == 0)]
        if wrong.size:
            where = f"{name}, of layer '{layer}'" if layer else name
            raise CompileError(f"a scale is {wrong.flat[0]}", where=where, accepted="finite scales other than 0")


def _require_integers(found: Recognised | None, packed: frozenset[str]) -> None:
    """CompileError where a layer that has integers of its own is not computed on them, as its reference is."""
    if found is None or not (left := packed - {*found.integers}):
        return
    layer = min(left)
    why = next((why for other, why in found.left if other == layer), "it is no single product with a parameter")
    what = f"'{layer}' is not computed on its integers: {why}"
    raise CompileError(what, where=RecognizeQuantization.name, accepted=f"--quantize with except={layer}")


_OF_THE_DESIGN = ("model", "stage", "seq", "dtype", "seed", "weights", "layer", "minimise_depths", "check_inputs")
"""What a request says about what to compile, besides the options, not about how."""


def _manifest_options(request: CompileRequest, options: PipelineOptions) -> dict[str, Any]:
    plan = request.plan
    own: dict[str, Any] = {"passes": plan.passes} if plan.passes else {}
    own |= {"edits": [str(edit) for edit in plan.edits]} if plan.edits else {}
    if_said = {"max_seq": request.max_seq, "run_time_sizes": request.run_time_sizes, "host": request.host}
    own |= {name: value for name, value in if_said.items() if value is not None}
    own |= {"load": load_options()[1::2]} if load_options() else {}
    chosen = {name: value for name, value in asdict(options).items() if name not in NOT_IN_FILE or name == "kernel_name"}
    return {**{key: getattr(request, key) for key in _OF_THE_DESIGN}, **chosen, **own}


@dataclass
class Recorder:
    """Watches the pipeline: IR texts if asked for, and the sizes of intermediates on the way."""

    keep_ir: bool = False
    progress: Progress = lambda _: None
    crash_reproducer: Path | None = None
    """Where to write a reproducer if a pass crashes; None for a new file in the temporary folder."""
    texts: dict[str, str] = field(default_factory=dict[str, str])
    provenance: list[ProvenanceAttr] = field(default_factory=list[ProvenanceAttr])
    """What the dump after each pass of the pipeline says, where dumps are kept."""
    converters: list[dict[str, Any]] | None = None
    """None, as what follows, where the pass that this is measured at has not run."""
    before: int | None = None
    before_unfused: int | None = None
    schedules: list[Decided] | None = None
    units: Mapping[str, str] | None = None
    semantics: SemanticsCheck | None = None
    """Executes the module after each pass, if asked for."""
    count: int = 0
    run: PipelineRun = field(default_factory=PipelineRun)
    """What the passes have found so far."""
    faster_than: int | None = None
    """Of a design that is to be faster, by the model of the search, than this many cycles: CompileError as soon as it is not."""
    formats: Mapping[str, LinearFormat | None] = field(default_factory=dict[str, "LinearFormat | None"])
    """How linear layers are quantised, by path of the module; empty where none was asked to be."""
    quantised: frozenset[str] | None = None
    """The modules whose linear layers the reference computes on integers; None where nobody knows."""
    packed: frozenset[str] = frozenset()
    """Those that come with integers of their own."""
    parameters: Mapping[str, np.ndarray] = field(default_factory=dict[str, np.ndarray])

    @property
    def searched(self) -> Searched | None:
        """What the search said of the design; None before it has run."""
        return self.run.found.get(ChooseParallelism.name)

    def begin(self, stage: Stage, name: str) -> None:
        self.progress(f"{stage.name}: {name}")

    def __call__(self, stage: Stage, name: str, module: ModuleOp) -> None:
        if name == ChooseParallelism.name and self.faster_than is not None and self.run.found[name].cycles >= self.faster_than:
            raise CompileError("the search finds none that is faster")
        if name == BEFORE_FUSION:
            self.before_unfused = intermediate_bytes(module)
        if name == VerifyStreams.name:  # no pass changes converters any more
            self.converters = [asdict(figures) for figures in converter_figures(module)]
        if name in (PropagateOrders.name, DefaultTileSize.name):
            self.schedules = decided_schedules(module)
        if name == AssignUnits.name:  # later passes make tasks of their own
            self.units = units_of(module)
        if stage.name == "linalg optimisation":
            self.before = intermediate_bytes(module)
        if self.keep_ir:
            self.texts[f"{self.count:02d}_{name}.mlir"] = self._dump(module)
        if self.semantics is not None:
            self.progress(f"{stage.name}: {name}, executed")
            self.semantics.after(name, module)
        self.count += 1

    def _dump(self, module: ModuleOp) -> str:
        """The module's text with its provenance, which passes never see."""
        if self.provenance:
            module.attributes[PROVENANCE] = self.provenance[self.count]
        text = print_module(module)
        module.attributes.pop(PROVENANCE, None)
        return text


def _design_figures(module: ModuleOp) -> dict[str, Any]:
    counted = {"groups": KernelOp, "tasks": TaskOp, "fifos": CreateOp}
    ops = list(module.walk())
    return {
        **{name: sum(isinstance(op, kind) for op in ops) for name, kind in counted.items()},
        "converters": converter_count(module),
        "memory_ports": sum(len(memory_ports(op)) for op in ops if isinstance(op, KernelOp)),
    }


def _semantics_report(recorder: Recorder) -> dict[str, Any]:
    """Which passes were executed, where that was asked for."""
    if recorder.semantics is None:
        return {}
    checked, notes = recorder.semantics.checked, recorder.semantics.notes
    return {"semantics": {"origin": "executed on the model's inputs", "passes_checked": checked, "not_checked": notes}}


def _fifo_report(sizings: Sequence[KernelSizing] | None) -> dict[str, Any]:
    return {"kernels": None if sizings is None else [sizing.report() for sizing in sizings]}


def _memory_report(module: ModuleOp, recorder: Recorder) -> dict[str, Any]:
    return {"origin": "counted in the IR", **_memory(module, recorder).report()}


def _memory(module: ModuleOp, recorder: Recorder) -> MemoryFigures:
    return MemoryFigures(recorder.before, recorder.before_unfused, *on_chip_bytes(module), external_bytes(module))
