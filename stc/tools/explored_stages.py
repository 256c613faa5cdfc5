"""A whole language model as one problem for `stc.exploration`: the stages of one binary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from stc.exploration.stages import StageProblem, StagesProblem
from stc.manifest.model_schema import DECODE, HEAD, PREFILL
from stc.quantisation.formats import read_quantisation
from stc.quantisation.rows import ROW_FORMATS
from stc.tools.budget_fit import limits_of
from stc.tools.explored_model import ExploredModel, explored_model, require_searched
from stc.tools.language_model import ModelStages, stage_name
from stc.tools.request import WHOLE_MODEL, CompileRequest


def explored_problem(request: CompileRequest, progress: Callable[[str], None] = lambda _: None) -> ExploredModel | StagesProblem:
    """The problem of what `request` names, a stage or a whole model; CompileError where it is unusable."""
    return (explored_stages if request.stage == WHOLE_MODEL else explored_model)(request, progress)


def explored_stages(request: CompileRequest, progress: Callable[[str], None] = lambda _: None) -> StagesProblem:
    """The problem of all stages that `stc compile --stage model` compiles for `request`; CompileError where it is unusable.

    The first token is that of a prompt as long as a launch of prefill takes. The default of each stage is within its part of the
    budget, as a compile of the model has it.
    """
    require_searched(request.options)
    from stc.frontend.families.cached_layer import cache_names
    from stc.frontend.sources import find_language_model

    progress("reading the model")
    source = find_language_model(request.model, max_seq=request.max_seq, seed=request.seed, weights=request.weights)
    model = ModelStages(request, source)

    caches = cache_names(ROW_FORMATS[read_quantisation(request.options.quantize).kv])

    def explored(stage: str, kind: str) -> ExploredModel:
        progress(f"{stage_name(stage, kind)}: export to linalg")
        start = model.start(stage, kind, sized=stage != HEAD)
        whole = replace(start.options, budget=request.options.budget, search_within=start.options.budget)
        start = replace(start, options=whole, steps=start.request.plan.steps(whole))
        shared = () if stage == HEAD else tuple(caches)
        return ExploredModel(start, lambda step: progress(f"{stage_name(stage, kind)}: {step}"), shared)

    found: dict[str, StageProblem] = {}
    for kind in model.firsts:
        count = model.launched(kind)
        launches = {PREFILL: (0, count), DECODE: (count, 0 if PREFILL in model.rows_of else count)}
        found |= {stage_name(stage, kind): StageProblem(explored(stage, kind), *launches[stage], kind) for stage in model.rows_of}
    if model.has_head:
        found[HEAD] = StageProblem(explored(HEAD, ""), 1, 1)
    return StagesProblem(f"{source.name}, whole", found, limits_of(request.options))
