"""What a compile begins with: a model, exported now, or IR of any level, from which it goes on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp

from stc.analysis.stage_legality import STAGES, illegal_ops
from stc.diagnostics import CompileError
from stc.dialects.context import OURS
from stc.dialects.dataflow import ProvenanceAttr
from stc.dialects.parsing import parse_module
from stc.dialects.preconditions import require_fit
from stc.execution.run import execute
from stc.execution.undefined import undefined_as
from stc.pipeline import REPEAT_LAYERS, PipelineOptions, Stage, Step, hyphenated, places, read_options
from stc.platforms.platform import load_platform
from stc.tools.plan import as_stages
from stc.tools.provenance import plan_of, request_of, taken_provenance
from stc.tools.reproducer import spelled_pass
from stc.tools.request import CompileRequest, load, load_layers, named
from stc.user_files import reason_of

if TYPE_CHECKING:
    from stc.frontend.exported import ExportedModel, Reference, TokenTables


MASK, CACHE = "mask", "k_cache"
"""Inputs of a cached layer."""


@dataclass(frozen=True)
class Start:
    """What a compile begins with: the model, whose module has been through the first `begin` of `steps`.

    `request` is what the user asked for, completed by what the IR says of itself; `source` what the report says of it.
    """

    request: CompileRequest
    model: ExportedModel
    options: PipelineOptions
    steps: Sequence[Step]
    begin: int
    source: dict[str, Any]
    layers: tuple[ExportedModel, ...] = ()
    """Those that a launch computes one after the other, where it is several; the module is that of one until `repeat-layers`."""

    @cached_property
    def finished_model(self) -> ExportedModel:
        """The model as the module is behind all passes, to be asked for then: several layers have references of their own."""
        from stc.frontend.layers import layers_as_one
        from stc.frontend.steps import steps_as_one

        has_weights = self.request.weights is not None
        module, steps = self.model.module, self.options.tokens_per_launch
        model = layers_as_one(self.layers, module, of_one_model=has_weights) if self.layers else self.model
        return model if steps == 1 else steps_as_one(model, module, steps, token_tables(self.model, steps))

    @property
    def rest(self) -> list[Stage]:
        """The passes that are still to run."""
        return as_stages(self.steps[self.begin :])


def with_tables(options: PipelineOptions, model: ExportedModel) -> PipelineOptions:
    """`options`, with what `model` says of the tables that a launch of several tokens looks up."""
    if options.tokens_per_launch == 1:
        return options
    steps = options.tokens_per_launch
    said = f"--tokens-per-launch {steps}"
    if options.layers == 1:
        accepted = "all layers and the head in one: --target decoder for two layers of a kind or more, or --stage token --layers N"
        raise CompileError(f"{said} with one layer in a launch", accepted=accepted)
    tables = token_tables(model, steps)
    if MASK in model.inputs:
        raise CompileError(f"{said} of a layer that reads all of its cache under a mask", accepted="--run-time-sizes, where it can")
    positions = next(array.shape[-2] for name, array in model.inputs.items() if name.startswith(CACHE))
    if steps > positions:
        raise CompileError(f"{said} of {positions} positions", accepted=f"at most {positions}, or a larger --max-seq")
    most = load_platform(options.platform).memory.channel_bytes
    if tables.tokens.nbytes > most:
        what = f"{said}: the embedding has {tables.tokens.nbytes:,} bytes in f32, and a channel of {options.platform} {most:,}"
        raise CompileError(what, accepted="one token per launch, whose row the host looks up")
    return replace(options, position_rows=0 if tables.positions is None else len(tables.positions))


def token_tables(model: ExportedModel, steps: int) -> TokenTables:
    """What a token of `model` begins with; CompileError where that is not known."""
    if model.embedding is None:
        what = f"--tokens-per-launch {steps}: {model.name} does not find the next token"
        raise CompileError(what, accepted="a layer that the head follows (--stage token, or --target decoder)")
    return model.embedding()


def start_of(request: CompileRequest) -> Start:
    """The model that `request` names, or the IR; CompileError where it is unusable, or where it is not clear how to go on."""
    ir = read_ir(request)
    if ir is None:
        model = load(request)
        options = with_tables(named(request.options, model.name), model)
        return Start(request, model, options, request.plan.steps(options), 0, {"reference": model.reference})
    layers: tuple[ExportedModel, ...] = ()
    if ir.says_its_source:
        made = load(ir.request)
        layers = tuple(load_layers(replace(ir.request, options=ir.options), made)) if ir.options.layers > 1 else ()
        model = _recreated(ir, made)
    else:
        model = _executed(ir)
    source = {"reference": model.reference, "ir": ir.file, "follows": ir.follows}
    return Start(ir.request, model, ir.options, ir.steps, ir.begin, source, layers)


@dataclass(frozen=True)
class Ir:
    """IR of some level from `file`: the first `begin` of `steps` are over; it `follows` a pass or stage (empty: not known).

    `request` is completed by what the IR says of itself, if it `says_its_source`.
    """

    file: str
    module: ModuleOp
    request: CompileRequest
    options: PipelineOptions
    steps: Sequence[Step]
    begin: int
    follows: str
    says_its_source: bool

    @property
    def is_repeated(self) -> bool:
        """Whether the module computes all layers of a launch already."""
        return any(step.one_pass.name == REPEAT_LAYERS for step in self.steps[: self.begin])


def read_ir(request: CompileRequest, any_level: bool = False) -> Ir | None:
    """The IR that `request` names; None where it names a model to be exported, or linalg that no pass has seen.

    `any_level`: whether such linalg is IR as well. CompileError where it cannot be read, or where it is not clear how to go on.
    """
    if not request.model.endswith(".mlir"):
        if request.first:
            raise CompileError(f"--from {request.first} concerns IR", where=request.model, accepted="FILE.mlir with --from")
        return None
    module = parse_module(_read(request.model), request.model)
    if (said := taken_provenance(module)) is not None:
        return _behind_its_last_pass(module, said, request)
    return _by_its_level(module, request) if request.first or any_level or not _is_source(module) else None


def _behind_its_last_pass(module: ModuleOp, said: ProvenanceAttr, asked: CompileRequest) -> Ir:
    file, request = asked.model, request_of(said, asked)
    request = replace(request, options=named(request.options, Path(request.model).stem))
    whole, follows = request.plan.steps(request.options), said.after.data
    is_chosen = asked.first or asked.plan.passes
    begin = _begin(whole, asked.first) if is_chosen else _behind_label(whole, follows, file)
    if not asked.plan.passes:
        _require_still_to_run(plan_of(said).steps(read_options(said.pipeline.data)), whole[:begin], file)
    return Ir(file, module, request, request.options, whole, begin, follows, True)


def _by_its_level(module: ModuleOp, request: CompileRequest) -> Ir:
    options = named(request.options, Path(request.model).stem)
    whole = request.plan.steps(options)
    follows = "" if request.first or request.plan.passes else _stage_of(module, request.model)
    begin = places(whole, follows)[-1] + 1 if follows else _begin(whole, request.first)
    return Ir(request.model, module, request, options, whole, begin, follows, False)


def _recreated(ir: Ir, model: ExportedModel) -> ExportedModel:
    """The model that IR was compiled from, made again, with the IR in place of its module."""
    if not ir.is_repeated:
        _require_signature(ir.module, model.module, ir.file)
    return replace(model, module=ir.module)


def _executed(ir: Ir) -> ExportedModel:
    """Random arrays for IR that says nothing of itself, and what it computes from them."""
    from stc.frontend.draws import Draws
    from stc.frontend.linalg_file import model_of_module

    require_fit(ir.module)
    drawn = Draws(ir.request.check_inputs, ir.request.seed)
    model = model_of_module(Path(ir.file), ir.module, drawn, "this IR, executed", lambda it: lambda arrays: execute(it, arrays))
    return replace(model, draws=tuple(_with_unspecified(model, draw) for draw in model.references))


def _with_unspecified(model: ExportedModel, draw: Reference) -> Reference:
    """Which entries of the outputs the IR leaves undefined: those that depend on what undefined entries are."""
    arrays = {**model.parameters, **draw.inputs}
    given = [np.ascontiguousarray(arrays[name]).reshape(arrays[name].shape) for name in model.arguments]
    runs: list[list[np.ndarray]] = []
    for contents in (0, 1):
        with undefined_as(contents):
            runs.append(execute(model.module, given))
    differ = [~((one == other) | ((one != one) & (other != other))) for one, other in zip(*runs, strict=True)]
    return replace(draw, unspecified=dict(zip(model.output_names, differ, strict=True)))


def _behind_label(whole: Sequence[Step], label: str, file: str) -> int:
    found = [index for index, step in enumerate(whole) if step.label == label]
    if not found:
        raise CompileError(f"the IR follows pass '{label}', which this pipeline does not have", where=file, accepted="--from PASS")
    return found[0] + 1


def _require_still_to_run(before: Sequence[Step], now: Sequence[Step], file: str) -> None:
    """CompileError where what is asked for changes a pass that ran before the IR was written."""
    for old, new in zip(before, now, strict=False):
        if spelled_pass(old.one_pass) != spelled_pass(new.one_pass):
            what = f"what is asked for would change pass '{old.label}', which ran before this IR was written"
            raise CompileError(what, where=file, accepted="options of the passes behind it")


def _require_signature(module: ModuleOp, model: ModuleOp, file: str) -> None:
    """CompileError where IR has other arguments or results than the model it was compiled from."""
    from stc.frontend.signature import attribute_name, main_function

    def entries(of: ModuleOp) -> list[tuple[str, str, str]]:
        function = main_function(of)
        groups = (("argument", function.arg_attrs, function.function_type.inputs.data),
                  ("result", function.res_attrs, function.function_type.outputs.data))
        return [(kind, attribute_name(entry), str(given)) for kind, named, types in groups
                for entry, given in zip(named or (), types, strict=False)]

    own, expected = entries(module), entries(model)
    for kind, name, given in own:
        if (kind, name, given) not in expected:
            like = [f"{other}: {its}" for of, other, its in expected if of == kind]
            raise CompileError(f"the model has no {kind} {name}: {given}", where=file, accepted=", ".join(like))
    if missing := [f"{kind} {name}" for kind, name, _ in expected if (kind, name) not in [entry[:2] for entry in own]]:
        raise CompileError(f"the function has no {missing[0]}, as the model has", where=file, accepted="the model's signature")


def _is_source(module: ModuleOp) -> bool:
    """Whether a module is linalg on tensors, as the first pass takes it: no kernels, no loops."""
    return not any(isinstance(op, scf.ForOp) or op.dialect_name() in OURS for op in module.walk())


def _stage_of(module: ModuleOp, file: str) -> str:
    """The one stage that may have left a module; CompileError where none may, or several."""
    refusals = {stage: list(illegal_ops(module, stage)) for stage in STAGES}
    found = [stage for stage, illegal in refusals.items() if not illegal]
    if len(found) == 1:
        return found[0]
    accepted = "--from PASS or STAGE, with which to go on"
    if found:
        names = " and ".join(f"'{hyphenated(stage)}'" for stage in found)
        raise CompileError(f"the IR may follow each of the stages {names}", where=file, accepted=accepted)
    nearest = min(refusals.values(), key=len)
    raise CompileError(f"the IR follows no stage; of the nearest, {nearest[0]}", where=file, accepted=accepted)


def _begin(whole: Sequence[Step], first: str) -> int:
    return places(whole, first)[0] if first else 0


def _read(path: str) -> str:
    try:
        return Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the file: {reason_of(error)}", where=path, accepted="a file of MLIR text") from None
