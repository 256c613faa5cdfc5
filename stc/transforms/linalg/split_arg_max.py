"""`split-arg-max`: the place of the largest of many terms: of each of some lanes and copies, and then of the largest of those."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import GenericLoops, all_dims, generics_in, name_of
from stc.analysis.loops import integer_constant
from stc.design_space.reduction_splits import arg_max_groups
from stc.dialects.facts import NAME
from stc.iteration.reshape import Groups
from stc.transforms.linalg.generics import (
    PARALLEL,
    REDUCTION,
    build,
    filled,
    output_arguments,
    shape_of,
    started_alike,
    stc_attributes,
    yielded,
)
from stc.transforms.linalg.reshapes import expand_shape
from stc.transforms.linalg.split_loops import index_of_parts
from stc.transforms.linalg.tile_linalg import element_type


@dataclass(frozen=True)
class SplitArgMax(ModulePass):
    """Split what finds the largest (or smallest) of many floats in one input and its place, along the last dimension or dimensions.

    A single such loop takes one term after the other, each of which waits for the comparison before. It becomes two: the first
    finds the largest for each of some copies and lanes (`stc.design_space.reduction_splits.arg_max_groups`), whose places count
    from where the copy begins, in 8, 16 or 32 bits if these are enough; the second the largest of those. Copies are the outermost
    part of the dimension, lanes the innermost. Of equal ones the first is found as before, and NaN before all numbers.

        %m, %i = linalg.generic {"reduction"} ins(%x : tensor<640xf32>) outs(%low, %zero : tensor<f32>, tensor<i64>) ...
      becomes
        %v = tensor.expand_shape %x [[0, 1, 2]] : tensor<640xf32> into tensor<2x20x16xf32>
        %ms, %is = linalg.generic {"parallel", "parallel", "reduction"} ins(%v) outs(... : tensor<2x16xf32>, tensor<2x16xi16>) ...
        %m, %i = linalg.generic {"reduction", "reduction"} ins(%ms, %is) outs(%low, %zero) ...
    """

    name = "split-arg-max"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for generic in generics_in(op):
            if (extreme := _extreme_of(generic)) is not None:
                loops = GenericLoops(generic)
                groups = arg_max_groups([loops.extents[loop] for loop in loops.reductions])
                if groups[0][0] * groups[-1][-1] > 1:
                    _split(generic, extreme, groups)


Extreme: TypeAlias = type[arith.MaximumfOp] | type[arith.MinimumfOp]

BETTER: Mapping[Extreme, str] = MappingProxyType({arith.MaximumfOp: "ugt", arith.MinimumfOp: "ult"})
"""How a term compares with the best so far, which is a number, where it is better."""


def _extreme_of(generic: GenericOp) -> Extreme | None:
    """Which one a generic finds, whose results are the best of the last dimensions of its one input, and where that is; None of
    others."""
    dims, loops = all_dims(generic), GenericLoops(generic)
    every, outer = tuple(range(len(loops.extents))), len(loops.parallels)
    if len(generic.inputs) != 1 or dims != [every, every[:outer], every[:outer]] or tuple(loops.reductions) != every[outer:]:
        return None
    _, first = (output.owner for output in generic.outputs)
    if not isinstance(first, linalg.FillOp) or not isinstance(generic.outputs[0].owner, linalg.FillOp):
        return None
    term, (best, place) = generic.body.block.args[0], output_arguments(generic)
    extreme, selected = (value.owner for value in yielded(generic))
    if not isinstance(extreme, arith.MaximumfOp | arith.MinimumfOp) or set(extreme.operands) != {term, best}:
        return None
    if not isinstance(selected, arith.SelectOp) or selected.rhs is not place or len(list(place.uses)) > 1:
        return None
    if not _is_place(selected.lhs, loops):
        return None
    if not _has_room(place.type, integer_constant(first.inputs[0]), loops.terms):
        return None
    return type(extreme) if _comparison(selected.cond, term, best) == BETTER[type(extreme)] else None


def _is_place(value: SSAValue, loops: GenericLoops) -> bool:
    """Whether it is the number of the iteration of all reductions, the last one fastest, as an integer."""
    cast, stride = value.owner, 1
    wanted = dict[int, int]()
    for loop in reversed(loops.reductions):
        wanted[loop] = stride
        stride *= loops.extents[loop]
    return isinstance(cast, arith.IndexCastOp) and _factors(cast.input) == wanted


def _has_room(type_: Attribute, first: int | None, count: int) -> bool:
    """Whether places can be compared, and added to where a copy begins: none of `count` wraps around, nor does what is there at
    first."""
    return isinstance(type_, IntegerType) and first is not None and max(first, 0) + count <= 2 ** (type_.width.data - 1)


def _first(generic: GenericOp) -> int:
    """The place that is there at first."""
    fill = generic.outputs[1].owner
    first = integer_constant(fill.inputs[0]) if isinstance(fill, linalg.FillOp) else None
    assert first is not None
    return first


def _narrow(whole: Attribute, first: int, count: int) -> IntegerType:
    """For places of `count` terms, and the first one: `whole`, that of the places of all, or a type of fewer bits."""
    assert isinstance(whole, IntegerType)
    enough = [bits for bits in (8, 16, 32) if bits < whole.width.data and max(first + 1, count, -first) <= 2 ** (bits - 1)]
    return IntegerType(enough[0]) if enough else whole


def _factors(value: SSAValue) -> Mapping[int, int] | None:
    """By loop what its index is multiplied by in a sum of such products; None of what is none."""
    match value.owner:
        case linalg.IndexOp() as index:
            return {index.dim.value.data: 1}
        case arith.MuliOp() as product:
            size, factors = integer_constant(product.rhs), _factors(product.lhs)
            return None if size is None or factors is None else {loop: size * factor for loop, factor in factors.items()}
        case arith.AddiOp() as total:
            one, other = _factors(total.lhs), _factors(total.rhs)
            return None if one is None or other is None or one.keys() & other.keys() else {**one, **other}
        case _:
            return None


def _comparison(condition: SSAValue, term: SSAValue, best: SSAValue) -> str:
    """How `term` is compared with `best`, in that order, in a condition that also asks whether `best` is a number; else empty."""
    both = condition.owner
    if not isinstance(both, arith.AndIOp):
        return ""
    comparisons = [value.owner for value in both.operands if isinstance(value.owner, arith.CmpfOp)]
    ordered = [one for one in comparisons if _predicate(one) == "ord" and one.lhs is best and one.rhs is best]
    others = [one for one in comparisons if one.lhs is term and one.rhs is best]
    return _predicate(others[0]) if len(ordered) == len(others) == 1 else ""


def _predicate(op: arith.CmpfOp) -> str:
    return arith.CMPF_COMPARISON_OPERATIONS[op.predicate.value.data]


# Rewriting ------------------------------------------------------------------------------------------------------------


def _split(generic: GenericOp, extreme: Extreme, groups: Groups) -> None:
    outer = shape_of(generic.results[0])
    expand = expand_shape(generic.inputs[0], (*((size,) for size in outer), *groups))
    expand.attributes |= NAME.entry(f"{name_of(generic)}_parts")
    copies, lanes = groups[0][0], groups[-1][-1]
    each = GenericLoops(generic).terms // copies
    first, shape = _first(generic), (*outer, copies, lanes)
    narrow = _narrow(element_type(generic.results[1].type), first, each)
    starts = [started_alike(generic.outputs[0], shape), filled(IntegerAttr(first, narrow), shape)]
    made = [op for ops in starts for op in ops]
    partial = _partial(generic, expand.result, [ops[-1].results[0] for ops in starts])
    Rewriter.insert_op([expand, *made, partial], InsertPoint.before(generic))
    Rewriter.replace_op(generic, _combination(generic, extreme, partial, each))


def _partial(generic: GenericOp, value: SSAValue, starts: Sequence[SSAValue]) -> GenericOp:
    """The best of each copy and lane: loops over all outer dimensions, copies, lanes, and what each of these has."""
    outer, shape = len(shape_of(generic.results[0])), shape_of(value)
    copy, lane = outer, outer + 1
    others = range(outer + 2, len(shape))
    read, written = (*range(outer), copy, *others, lane), (*range(outer), copy, lane)
    body = generic.body.clone()
    selected, (_, place) = _selected(body.block), starts
    cast = selected.lhs.owner
    index = index_of_parts(shape[outer + 1 :], (*others, lane))
    kind = element_type(place.type)
    at = arith.IndexCastOp(index[-1].results[0], kind)
    before = Rewriter.replace_value_with_new_type(body.block.args[-1], kind)
    chosen = arith.SelectOp(selected.cond, at, before)
    Rewriter.insert_op([*index, at, chosen], InsertPoint.before(selected))
    Rewriter.replace_op(selected, [], [chosen.result])
    _erase_unused(cast)
    kinds = [*[PARALLEL] * (outer + 2), *[REDUCTION] * len(others)]
    partial = build([value], starts, body, [read, written, written], kinds, stc_attributes(generic))
    NAME.put(partial, f"{name_of(generic)}_partial")
    for old, new in zip(generic.results, partial.results, strict=True):
        new.name_hint = f"{old.name_hint or name_of(generic)}_partial"
    return partial


def _selected(block: Block) -> arith.SelectOp:
    """What chooses the place that is yielded."""
    assert block.last_op is not None
    selected = block.last_op.operands[1].owner
    assert isinstance(selected, arith.SelectOp)
    return selected


def _erase_unused(value: Operation | Block) -> None:
    """An index that nobody asks for any more, with what it was computed from."""
    if isinstance(value, Operation) and not any(result.uses for result in value.results):
        owners = [operand.owner for operand in value.operands]
        Rewriter.erase_op(value)
        for owner in owners:
            _erase_unused(owner)


def _combination(generic: GenericOp, extreme: Extreme, partial: GenericOp, each: int) -> GenericOp:
    """The best of all copies and lanes, each with `each` terms a copy; of equal ones the one whose place is first."""
    outer = len(shape_of(generic.results[0]))
    best, place = (argument.type for argument in output_arguments(generic))
    block = Block(arg_types=[best, element_type(partial.results[1].type), best, place])
    value, local, best, before = block.args
    copy, size = linalg.IndexOp(outer), arith.ConstantOp(IntegerAttr(each, IndexType()))
    begin = arith.MuliOp(copy, size)
    cast = arith.IndexCastOp(begin, before.type)
    assert isinstance(before.type, IntegerType)
    extended = [arith.ExtSIOp(local, before.type)] if local.type != before.type else []
    at = arith.AddiOp(extended[0].result if extended else local, cast)
    better, ordered = arith.CmpfOp(value, best, BETTER[extreme]), arith.CmpfOp(best, best, "ord")
    greater = arith.AndIOp(better, ordered)
    equal, unordered = arith.CmpfOp(value, best, "oeq"), arith.CmpfOp(value, value, "uno")
    neither = arith.CmpfOp(best, best, "uno")
    both = arith.AndIOp(unordered, neither)
    same, earlier = arith.OrIOp(equal, both), arith.CmpiOp(at, before, "slt")
    tie = arith.AndIOp(same, earlier)
    taken = arith.OrIOp(greater, tie)
    largest, selected = extreme(value, best), arith.SelectOp(taken, at, before)
    block.add_ops([
        copy, size, begin, cast, *extended, at, better, ordered, greater, equal, unordered, neither, both, same, earlier, tie,
        taken, largest, selected, linalg.YieldOp(largest.results[0], selected.result),
    ])  # fmt: skip
    read, written = tuple(range(outer + 2)), tuple(range(outer))
    kinds = [*[PARALLEL] * outer, REDUCTION, REDUCTION]
    total = build(partial.results, generic.outputs, Region(block), [read, read, written, written], kinds, stc_attributes(generic))
    for old, new in zip(generic.results, total.results, strict=True):
        new.name_hint = old.name_hint
    return total
