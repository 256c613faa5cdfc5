"""Where a module comes from, as its attribute `dataflow.provenance` says it: written into dumps, read where one is compiled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, ModuleOp, StringAttr, f64
from xdsl.ir import Attribute

from stc.diagnostics import CompileError
from stc.dialects.dataflow import PROVENANCE, ProvenanceAttr
from stc.extensions import load_options
from stc.pipeline import PipelineOptions, read_options
from stc.tools.loading import load_all
from stc.tools.plan import Plan, read_edit

if TYPE_CHECKING:
    from stc.tools.request import CompileRequest

MODEL_FIELDS = {
    "stage": StringAttr,
    "seq": IntegerAttr,
    "dtype": StringAttr,
    "seed": IntegerAttr,
    "weights": StringAttr,
    "layer": IntegerAttr,
    "max_seq": IntegerAttr,
    "run_time_sizes": IntegerAttr,
    "minimise_depths": FloatAttr,
    "check_inputs": ArrayAttr,
    "host": ArrayAttr,
}
"""What a request says of the model and its design, besides its name and the passes, and as what."""
_KINDS = {StringAttr: "a text", IntegerAttr: "an integer", FloatAttr: "a number with a point", ArrayAttr: "a list of texts"}
_PASSES = "passes "
"""In front of passes that replace the pipeline."""


def provenance_of(request: CompileRequest, options: PipelineOptions, after: str) -> ProvenanceAttr:
    """What a dump behind the pass `after` says. `options`: those that run, with the name of the kernel."""
    said = {name: _attribute(value) for name in MODEL_FIELDS if (value := getattr(request, name)) is not None}
    edits = [f"{_PASSES}{request.plan.passes}"] if request.plan.passes else [str(edit) for edit in request.plan.edits]
    return ProvenanceAttr.of(request.model, said, str(options.spec()), edits, load_options()[1::2], after)


def taken_provenance(module: ModuleOp) -> ProvenanceAttr | None:
    """The attribute of a module, which has none afterwards; CompileError for an attribute of another kind."""
    found = module.attributes.pop(PROVENANCE, None)
    if found is not None and not isinstance(found, ProvenanceAttr):
        raise CompileError(f"the module's attribute {PROVENANCE} is {found}", accepted=f"#{ProvenanceAttr.name}<...>, or none")
    return found


def request_of(said: ProvenanceAttr, asked: CompileRequest) -> CompileRequest:
    """The request that a dump was made by, with what `asked` says on its command line instead.

    The files it names are loaded. CompileError for what it says and nobody understands, and for an option that says which model.
    """
    if wrong := sorted(asked.given & set(MODEL_FIELDS) - {"check_inputs", "minimise_depths"}):
        spelled = ", ".join(f"--{name.replace('_', '-')}" for name in wrong)
        raise CompileError(f"the IR says itself which model it was compiled from; {spelled} cannot", accepted="the IR without them")
    load_all(path.data for path in said.files)
    known = {name: _value(attribute) for name, attribute in said.request.data.items()}
    if unknown := sorted(set(known) - set(MODEL_FIELDS)):
        raise CompileError(f"{PROVENANCE} says '{unknown[0]}'", accepted=", ".join(MODEL_FIELDS))
    for name, attribute in said.request.data.items():
        if not isinstance(attribute, MODEL_FIELDS[name]):
            raise CompileError(f"{PROVENANCE} says {name} = {attribute}", accepted=_KINDS[MODEL_FIELDS[name]])
    if (sized := known.get("run_time_sizes")) is not None:
        known["run_time_sizes"] = bool(sized)  # as a manifest spells it
    retained = {name: known.get(name) for name in MODEL_FIELDS if name not in asked.given}
    own = {field.name: getattr(asked.options, field.name) for field in fields(PipelineOptions) if field.name in asked.given}
    options = replace(read_options(said.pipeline.data), **own)
    plan = asked.plan if "plan" in asked.given else plan_of(said)
    return replace(asked, model=said.model.data, options=options, plan=plan, **retained)


def advance(module: ModuleOp, passes: Sequence[str]) -> None:
    """Say that `passes` have run on a module that says where it comes from, if they are the next ones of its pipeline.

    Other passes edit the module; then it still follows the pass that it followed.
    """
    said = module.attributes.get(PROVENANCE)
    if not isinstance(said, ProvenanceAttr):
        return
    whole = plan_of(said).steps(read_options(said.pipeline.data))
    behind = next((index + 1 for index, step in enumerate(whole) if step.label == said.after.data), None)
    following = whole[behind : behind + len(passes)] if behind is not None else []
    if passes and [step.named.name for step in following] == list(passes):
        after = StringAttr(following[-1].label)
        module.attributes[PROVENANCE] = ProvenanceAttr(said.model, said.request, said.pipeline, said.edits, said.files, after)


def plan_of(said: ProvenanceAttr) -> Plan:
    """The passes that were to run."""
    edits = [edit.data for edit in said.edits]
    if edits and edits[0].startswith(_PASSES):
        return Plan(edits[0].removeprefix(_PASSES))
    return Plan("", tuple(read_edit(edit) for edit in edits))


def _attribute(value: Any) -> Attribute:
    if isinstance(value, tuple):
        return ArrayAttr([StringAttr(entry) for entry in value])
    if isinstance(value, float):
        return FloatAttr(value, f64)
    return StringAttr(value) if isinstance(value, str) else IntegerAttr(value, 64)


def _value(attribute: Attribute) -> Any:
    match attribute:
        case StringAttr():
            return attribute.data
        case IntegerAttr() | FloatAttr():
            return attribute.value.data
        case ArrayAttr():
            return tuple(_value(entry) for entry in attribute)
        case _:
            raise CompileError(f"{PROVENANCE} says {attribute}", accepted="texts, numbers and lists of texts")
