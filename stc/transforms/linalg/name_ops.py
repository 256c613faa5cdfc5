"""Readable names for everything that becomes hardware."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.arith import ConstantOp, DivfOp, MulfOp
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.traits import IsTerminator

from stc.analysis.generic_loops import extents_of, reduction_loops
from stc.analysis.host_work import host_values
from stc.dialects.facts import MODULE, NAME
from stc.names import identifier
from stc.transforms.linalg.attention_roles import attention_roles
from stc.transforms.linalg.dead_ops import functions_of
from stc.transforms.linalg.generics import combining, is_contraction, yielded
from stc.transforms.linalg.inline_constants import scalar_constant
from stc.xdsl_gaps.value_names import value_hint

_TENSOR_KINDS: dict[type[Operation], str] = {
    tensor.ExtractSliceOp: "slice",
    tensor.InsertSliceOp: "insert",
    tensor.ConcatOp: "concat",
    tensor.ExpandShapeOp: "expand",
    tensor.CollapseShapeOp: "collapse",
    tensor.PadOp: "pad",
}
_REDUCTIONS = {"add": "sum", "mul": "product"}
_SCALE, _RECIPROCAL, _QUANTISE = _STEPS = ("scale", "reciprocal", "quantise")
_CHARACTERISTIC = ("tanh", "erf", "exp", "log", "sin", "cos", "powf", "rsqrt", "sqrt", "select", "div", "square")
"""What names a body of several operations, first match first; else its last operation does."""


@dataclass(frozen=True)
class NameOpsPass(ModulePass):
    """Give every generic, and every other tensor operation that moves data, a unique attribute `stc.name`.

    A name is the op's `stc.module` with `_` for other characters, and what the op does: the only contraction of a module has
    the plain name (`attn_c_proj`), as has the only op of a module (`mlp_act`); others carry a suffix (`ln_1_sum`,
    `attn_exp`, `attn_c_proj_add`). In an attention the two products are called `scores` and `context`, and what prepares their
    operands after these: the slices of a fused projection are `attn_q`, `attn_k` and `attn_v`. What quantises activations are
    the steps `scale`, `reciprocal` and `quantise`, and of weights `weight_scale` and `weight_quantise`. Numbers are appended only
    to what is still ambiguous, in program order.

    Before:

        %1 = linalg.generic ... attrs = {stc.module = "attn.c_proj"} { %p = arith.mulf ... %s = arith.addf ... }
        %2 = linalg.generic ... attrs = {stc.module = "attn.c_proj"} { %s = arith.addf ... }

    After:

        %1 = linalg.generic ... attrs = {stc.module = "attn.c_proj", stc.name = "attn_c_proj"} { ... }
        %2 = linalg.generic ... attrs = {stc.module = "attn.c_proj", stc.name = "attn_c_proj_add"} { ... }
    """

    name = "name-ops"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            named = [nested for nested in function.body.block.ops if _is_named(nested)]
            roles, host = attention_roles(named, module_name), host_values(function)
            candidates = [_candidate(nested, named, roles, host) for nested in named]
            for nested, name in zip(named, _unique(candidates), strict=True):
                NAME.put(nested, name)
                _hint(nested, _boundary_name(nested) or name)
            constants = [value for value in _constants(function) if value.name_hint is None]
            for value, name in zip(constants, _unique([_constant_name(value) for value in constants]), strict=True):
                value.name_hint = value_hint(name)


def _constants(function: func.FuncOp) -> list[SSAValue]:
    """Tensors that are computed from nothing and are data: no sum begins with them."""
    makers = [op for op in function.body.block.ops if isinstance(op, ConstantOp | FillOp)]
    tensors = [result for op in makers for result in op.results if isinstance(result.type, TensorType)]
    return [value for value in tensors if isinstance(value.owner, ConstantOp) or isinstance(_user(value), tensor.ConcatOp)]


def _user(value: SSAValue) -> Operation | None:
    return next((use.operation for use in value.uses), None)


def _constant_name(value: SSAValue) -> str:
    """What a constant is to the module that uses it: padding, if it is laid beside other data."""
    user = _user(value)
    what = "padding" if isinstance(user, tensor.ConcatOp) else "constant"
    return "_".join(word for word in (module_name(user) if user is not None else "", what) if word)


def _hint(op: Operation, name: str) -> None:
    """Let the printed values carry the name too, and nothing that passes left over."""
    for result in op.results:
        result.name_hint = value_hint(name)
    for region in op.regions:
        for block in region.blocks:
            for value in (*block.args, *(result for nested in block.ops for result in nested.results)):
                value.name_hint = None


def _is_named(op: Operation) -> bool:
    return isinstance(op, (GenericOp, *_TENSOR_KINDS))


def _candidate(op: Operation, named: Sequence[Operation], roles: Mapping[Operation, str], host: set[SSAValue]) -> str:
    kind = kind_of(op)
    if owner := _boundary_name(op):
        return f"{owner}_{kind}"
    module = module_name(op)
    if op in roles:
        return "_".join(word for word in (module, _attention_word(op, named, roles)) if word)
    siblings = [other for other in named if isinstance(other, GenericOp) and module_name(other) == module]
    if not module:
        source = "" if isinstance(op, GenericOp) else _module_of_data(op)
        return f"{source}_{kind}" if source else kind
    if host.issuperset(op.results):   # not what the module computes, but what it is computed with
        return f"{module}_weight_{kind}" if kind in (*_STEPS, "max_abs") else f"{module}_{kind}"
    if is_contraction(op) and sum(map(is_contraction, siblings)) == 1:
        return module
    return module if siblings == [op] else f"{module}_{kind}"


def _module_of_data(op: Operation) -> str:
    """The module that computed what `op` moves; empty where none did."""
    while op.operands and isinstance(source := op.operands[0].owner, Operation):
        if module := module_name(source):
            return module
        op = source
    return ""


def _attention_word(op: Operation, named: Sequence[Operation], roles: Mapping[Operation, str]) -> str:
    """The role of an operation in an attention, with its kind unless it is a product or cuts that operand out of a projection."""
    role = roles[op]
    slices = [other for other in named if roles.get(other) == role and isinstance(other, tensor.ExtractSliceOp)
              and module_name(other) == module_name(op)]
    return role if is_contraction(op) or slices == [op] else f"{role}_{kind_of(op)}"


def _boundary_name(op: Operation) -> str:
    """The name of the function argument or result whose reshape this is: the same data; empty for other operations."""
    function = op.parent_op()
    if not isinstance(op, tensor.ExpandShapeOp | tensor.CollapseShapeOp) or not isinstance(function, func.FuncOp):
        return ""
    table, index = None, 0
    if isinstance(op.src, BlockArgument):
        table, index = function.arg_attrs, op.src.index
    elif uses := [use for use in op.result.uses if isinstance(use.operation, func.ReturnOp)]:
        table, index = function.res_attrs, uses[0].index
    name = NAME.of(table.data[index]) if table is not None else None
    return "" if name is None else identifier(name)


def module_name(op: Operation) -> str:
    """The op's module path as an identifier; empty where it has none."""
    path = MODULE.of(op)
    return identifier(path) if path else ""


def kind_of(op: Operation) -> str:
    """What an op does, in one word or two: matmul, sum, sum_square, max, exp, slice, ..."""
    if not isinstance(op, GenericOp):
        return next(word for kind, word in _TENSOR_KINDS.items() if isinstance(op, kind))
    if is_contraction(op):
        return "matmul"
    if not reduction_loops(op):
        ops = _operations_below(yielded(op))
        return "mean" if _is_mean(op) else _step(ops) or _body_kind(ops)
    found = combining(op)
    if found is None:
        return "reduce"
    combiner = _word(found[0])
    prologue = _operations_below([found[1]])
    words = [_REDUCTIONS.get(combiner, combiner), *([_body_kind(prologue)] if prologue else [])]
    return "_".join(words)


def _is_mean(op: GenericOp) -> bool:
    """A sum divided by the number of its terms, or multiplied by the reciprocal, and nothing else."""
    ops = _operations_below(yielded(op))
    source = op.inputs[0].owner if len(op.inputs) == 1 else None
    if len(ops) != 1 or not isinstance(ops[0], DivfOp | MulfOp) or not isinstance(source, GenericOp):
        return False
    constant = scalar_constant(ops[0].rhs)
    extents = extents_of(source)
    terms = prod(extents[loop] for loop in reduction_loops(source))
    if constant is None or not kind_of(source).startswith("sum"):
        return False
    return constant.value.data * (1 if isinstance(ops[0], DivfOp) else terms**2) == terms


def _operations_below(values: Sequence[SSAValue]) -> list[Operation]:
    """Operations that values are computed from, in the body's order, without constants."""
    found: set[Operation] = set()
    pending = list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in found and owner.operands:
            found.add(owner)
            pending.extend(owner.operands)
    if not found:
        return []
    block = next(iter(found)).parent
    assert block is not None
    return [op for op in block.ops if op in found and not op.has_trait(IsTerminator)]


def _step(ops: Sequence[Operation]) -> str | None:
    """Which step of quantising a body is, if any: the scale of a largest number (a part of it, at least a constant); its
    reciprocal; rounding."""
    words = [_word(op) for op in ops]
    if "roundeven" in words and "fptosi" in words:
        return _QUANTISE
    divisions = [op for op in ops if isinstance(op, DivfOp)]
    parts = [op for op in ops if isinstance(op, DivfOp | MulfOp) and scalar_constant(op.rhs) is not None]
    if len(parts) == 1 and words[-1] == "max":
        least = [constant for operand in ops[-1].operands if (constant := scalar_constant(operand)) is not None]
        return _SCALE if any(constant.value.data > 0 for constant in least) else None  # the others: activation functions
    return _RECIPROCAL if len(divisions) == len(ops) == 1 and scalar_constant(divisions[0].lhs) is not None else None


def _body_kind(ops: Sequence[Operation]) -> str:
    words = [_word(op) for op in ops]
    characteristic = [word for word in _CHARACTERISTIC if word in words]
    return characteristic[0] if characteristic else (words[-1] if words else "copy")


def _word(op: Operation) -> str:
    """The operation's name without dialect and type letter; the square of one value is a word of its own."""
    word = op.name.split(".")[-1]
    if word in ("mulf", "muli") and op.operands[0] is op.operands[1]:
        return "square"
    stem = re.sub(r"^(add|sub|mul|div|rem|neg|cmp|maximum|minimum|maxnum|minnum|max|min|abs)(f|i|si|ui)$", r"\1", word)
    return {"maximum": "max", "maxnum": "max", "minimum": "min", "minnum": "min"}.get(stem, stem)


def _unique(candidates: Sequence[str]) -> list[str]:
    """Candidates with numbers appended to those that occur more than once."""
    counts = Counter(candidates)
    taken = {name for name, count in counts.items() if count == 1}
    names = []
    for candidate in candidates:
        name = candidate
        number = 0
        while counts[candidate] > 1 and (name == candidate or name in taken):
            name = f"{candidate}_{number}" if candidate[-1].isdigit() else f"{candidate}{number}"   # as values are called
            number += 1
        taken.add(name)
        names.append(name)
    return names
