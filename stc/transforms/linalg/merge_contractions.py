"""`merge-contractions`: products of one activation whose results are combined entry by entry are one product."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass
from itertools import combinations, takewhile

from xdsl.context import Context
from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import Dims, GenericLoops, all_dims, asked_loops, generics_in, name_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.dialects.facts import MERGED, MODULE, NAME
from stc.iteration.reshape import fine_shape
from stc.transforms.linalg.alike_contractions import is_shareable
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.generics import PARALLEL, build, shape_of, started_alike, stc_attributes, tensor_like
from stc.transforms.linalg.reshapes import collapse_shape, expand_shape


@dataclass(frozen=True)
class MergeContractions(ModulePass):
    """Make one contraction of two that multiply integers of the same activation with parameters of their own, where one computation
    combines their results entry by entry, as that does which gates a feed-forward block.

    Both are needed at the same time, so neither waits for the other, and no port brings the parameters of one behind those of the
    other (`load-in-turn`): each has the time of half of the ports. The parameters of one contraction, those of a few rows of the
    one and then of the other, come through all of them, and go to all multipliers that take turns (`share-contractions`). What
    follows each contraction alone is merged, too, with its parameters. A loop in front of the last one of results tells the two
    apart. Nothing else changes: each result is computed as before. Only what is the same but for parameters is merged.

        %a = linalg.generic ... ins(%x, %u : tensor<32xi8>, tensor<32x4x16xi4>) ... -> tensor<4x16xi32>
        %b = linalg.generic ... ins(%x, %v : tensor<32xi8>, tensor<32x4x16xi4>) ... -> tensor<4x16xi32>
        %y = linalg.generic ... ins(%a, %b : tensor<4x16xi32>, tensor<4x16xi32>) ...
      becomes
        %u1 = tensor.expand_shape %u ... into tensor<32x4x1x16xi4>
        %v1 = tensor.expand_shape %v ... into tensor<32x4x1x16xi4>
        %w = tensor.concat dim(2) %u1, %v1 : ... -> tensor<32x4x2x16xi4>
        %both = linalg.generic ... ins(%x, %w : tensor<32xi8>, tensor<32x4x2x16xi4>) ... -> tensor<4x2x16xi32>
        %s = tensor.extract_slice %both[0, 0, 0] [4, 1, 16] [1, 1, 1] : tensor<4x2x16xi32> to tensor<4x1x16xi32>
        %t = tensor.extract_slice %both[0, 1, 0] [4, 1, 16] [1, 1, 1] : tensor<4x2x16xi32> to tensor<4x1x16xi32>
        %a = tensor.collapse_shape %s [[0], [1, 2]] : tensor<4x1x16xi32> into tensor<4x16xi32>
        %b = tensor.collapse_shape %t [[0], [1, 2]] : tensor<4x1x16xi32> into tensor<4x16xi32>
        %y = linalg.generic ... ins(%a, %b : tensor<4x16xi32>, tensor<4x16xi32>) ...
    """

    name = "merge-contractions"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for function in functions_of(op):
            merging = _Merging(function)
            for generic in generics_in(function):
                merging.merge_inputs(generic)
        erase_dead_ops(op)


class _Merging:
    """`host`: values that the host knows."""

    def __init__(self, function: func.FuncOp) -> None:
        self.host, self._sizes = host_values(function), RunTimeSizes(function)

    def merge_inputs(self, reader: GenericOp) -> None:
        """Merge what makes two of the inputs of `reader`, which it takes entry by entry."""
        dims = all_dims(reader)
        if dims is None or GenericLoops(reader).reductions:
            return
        for first, second in combinations(range(len(reader.inputs)), 2):
            one, other = reader.inputs[first], reader.inputs[second]
            if dims[first] == dims[second] and self._are_alike(one, other):
                both = _merged(one, other, self.host)
                for place, index in enumerate((first, second)):
                    reader.operands[index] = _taken(both, reader.inputs[index], place, reader)

    def _are_alike(self, one: SSAValue, other: SSAValue) -> bool:
        """Whether two values come of one contraction each, of the same activation, by the same computations on parameters alike."""
        first, second = one.owner, other.owner
        if not (isinstance(first, GenericOp) and isinstance(second, GenericOp)) or first is second or one in self.host:
            return False
        alone = len(first.results) == len(second.results) == len(list(one.uses)) == len(list(other.uses)) == 1
        return alone and _compute_the_same(first, second) and self._have_pairs(first, second)

    def _have_pairs(self, first: GenericOp, second: GenericOp) -> bool:
        """Whether, where inputs differ, they are parameters that have the last loop of results, or come of a contraction each, and
        have it last, too; which both are themselves, where they read nothing of the kind."""
        lane = GenericLoops(first).output_dims[0][-1]
        operands = zip(first.inputs, second.inputs, GenericLoops(first).input_dims, strict=True)
        pairs = [(one, other, dims) for one, other, dims in operands if one is not other]
        made = [(one, other, dims) for one, other, dims in pairs if one not in self.host or other not in self.host]
        if not pairs or any(lane not in dims for _, _, dims in pairs) or any(dims[-1] != lane for _, _, dims in made):
            return False
        alike = all(self._are_alike(one, other) for one, other, _ in made)
        return alike if made else is_shareable(first, self.host, self._sizes)


def _compute_the_same(first: GenericOp, second: GenericOp) -> bool:
    """Whether both compute the same, but for what their inputs are."""
    dims = all_dims(first)
    if dims is None or not dims[-1] or asked_loops(first) or not isinstance(first.outputs[0].owner, tensor.EmptyOp | linalg.FillOp):
        return False
    return _said_of(first) == _said_of(second) and first.body.is_structurally_equivalent(second.body)


def _said_of(generic: GenericOp) -> Sequence[object]:
    """Its loops, operands, and what its result starts as."""
    types = [value.type for value in generic.operands]
    return [generic.indexing_maps, generic.iterator_types, types, _start(generic.outputs[0])]


def _start(value: SSAValue) -> object:
    """What results start as: the number that fills them, or what computes it; None for nothing."""
    if not isinstance(fill := value.owner, linalg.FillOp):
        return None
    number = fill.inputs[0]
    return number.owner.value if isinstance(number.owner, arith.ConstantOp) else number


def _taken(both: SSAValue, value: SSAValue, place: int, reader: GenericOp) -> SSAValue:
    """What stands for `value` in the tensor of both."""
    shape = shape_of(both)
    at = len(shape) - 2
    offsets = [place if dim == at else 0 for dim in range(len(shape))]
    sizes = [1 if dim == at else extent for dim, extent in enumerate(shape)]
    part = tensor.ExtractSliceOp(both, offsets, sizes, [1] * len(shape), tensor_like(both, sizes))
    made = collapse_shape(part.result, (*((extent,) for extent in sizes[:at]), (1, sizes[-1])))
    for op, kind in ((part, "part"), (made, "rows")):
        op.attributes |= NAME.entry(f"{name_of(value.owner)}_{kind}")
        op.result.name_hint = f"{value.name_hint or name_of(value.owner)}_{kind}"
    Rewriter.insert_op([part, made], InsertPoint.before(reader))
    return made.result


def _merged(one: SSAValue, other: SSAValue, host: Container[SSAValue]) -> SSAValue:
    """Both results in one tensor, beside one another in front of the last dimension."""
    first, second = one.owner, other.owner
    assert isinstance(first, GenericOp) and isinstance(second, GenericOp)
    loops = GenericLoops(first)
    lane = loops.output_dims[0][-1]

    def moved(dims: Sequence[int], is_pair: bool) -> Dims:
        """Loops behind the new one, which is where that of lanes was, are one further; a pair has it in front of lanes."""
        after = [loop + (loop >= lane) for loop in dims]
        if is_pair:
            after.insert(dims.index(lane), lane)
        return tuple(after)

    later = second if first.is_before_in_block(second) else first
    inputs, dims = list[SSAValue](), list[Dims]()
    for a, b, own in zip(first.inputs, second.inputs, loops.input_dims, strict=True):
        inputs.append(a if a is b else _pair(a, b, own.index(lane), later, host))
        dims.append(moved(own, a is not b))
    shape = list(shape_of(one))
    shape.insert(len(shape) - 1, 2)
    starts = started_alike(first.outputs[0], shape)
    kinds = list(first.iterator_types)
    kinds.insert(lane, PARALLEL)
    dims.append(moved(loops.output_dims[0], is_pair=True))
    made = build(inputs, [starts[-1].results[0]], first.body.clone(), dims, kinds, stc_attributes(first))
    if module := ".".join(_common(*((MODULE.of(each) or "").split(".") for each in (first, second)))):
        MODULE.put(made, module)
    else:
        MODULE.drop(made)
    NAME.put(made, _name(name_of(first), name_of(second)))
    MERGED.put(made, None)
    made.results[0].name_hint = _name(one.name_hint, other.name_hint)
    Rewriter.insert_op([*starts, made], InsertPoint.before(later))
    return made.results[0]


def _pair(one: SSAValue, other: SSAValue, dimension: int, before: Operation, host: Container[SSAValue]) -> SSAValue:
    """Two tensors beside one another in a new dimension in front of this one."""
    if one not in host:
        return _merged(one, other, host)
    groups = tuple((1, extent) if dim == dimension else (extent,) for dim, extent in enumerate(shape_of(one)))
    parts = [expand_shape(value, groups) for value in (one, other)]
    shape = [2 if dim == dimension else extent for dim, extent in enumerate(fine_shape(groups))]
    name = _name(one.name_hint, other.name_hint)
    made = tensor.ConcatOp([part.result for part in parts], dimension, tensor_like(one, shape), NAME.entry(name))
    made.results[0].name_hint = name
    for part, value in zip(parts, (one, other), strict=True):
        part.attributes |= NAME.entry(f"{value.name_hint or name}_expand")
    Rewriter.insert_op([*parts, made], InsertPoint.before(before))
    return made.results[0]


def _name(one: str | None, other: str | None) -> str:
    """Of both: what their names have in common in the beginning and in the end, once."""
    if one == other or one is None or other is None:
        return one or other or "both"
    first, second = one.split("_"), other.split("_")
    before = _common(first, second)
    first, second = first[len(before) :], second[len(before) :]
    behind = _common(first[::-1], second[::-1])[::-1]
    ends = [words[: len(words) - len(behind)] for words in (first, second)]
    return "_".join([*before, *ends[0], "and", *ends[1], *behind])


def _common(one: Sequence[str], other: Sequence[str]) -> list[str]:
    """What both begin with."""
    return [first for first, _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))]
