"""Lanes that are terms of a reduction: sums of integers, whose adders wait for nothing, extremes, which any order gives, and single
sums of floats, of which nothing else could run at once."""

from __future__ import annotations

from math import prod

from xdsl.dialects import arith
from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Operation
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops
from stc.design_space.tiling import default_unroll, reduction_unroll
from stc.scalars.table import EXTREMES
from stc.transforms.linalg.generics import combining


def lanes_are_terms(generic: GenericOp) -> bool:
    """Whether what may run at once are terms, of sums of products of integers, of an extreme or of a single sum of floats: where no
    parallel loop has lanes, and all operands lie along the last reduction."""
    loops = GenericLoops(generic)
    given = loops.extents, loops.reductions, loops.operand_dims, max(loops.extents, default=1)
    of_products = of_integers(generic) and len(loops.input_dims) > 1
    if not (is_extreme(generic) or is_one_sum(generic) or of_products) or prod(default_unroll(*given)) > 1:
        return False
    return prod(reduction_unroll(*given, of_integers=True)) > 1


def is_extreme(generic: GenericOp) -> bool:
    """Whether its one result is the largest or smallest of terms."""
    return isinstance(_combiner(generic), EXTREMES)


def is_folded(generic: GenericOp) -> bool:
    """Whether its one result is a sum of floats, or an extreme, of entries of one tensor."""
    return len(generic.inputs) == 1 and isinstance(_combiner(generic), (arith.AddfOp, *EXTREMES))


def is_one_sum(generic: GenericOp) -> bool:
    """Whether its one result is a single sum of floats."""
    loops = GenericLoops(generic)
    return isinstance(_combiner(generic), arith.AddfOp) and all(loops.extents[loop] == 1 for loop in loops.parallels)


def is_in_turn(generic: GenericOp) -> bool:
    """Whether `expand-partial-sums` makes several of each of its sums or extremes, which take turns in the pipeline."""
    return is_extreme(generic) or is_one_sum(generic)


def _combiner(generic: GenericOp) -> Operation | None:
    """What its one result is combined with each term by."""
    found = combining(generic) if len(generic.results) == 1 and GenericLoops(generic).reductions else None
    return found[0] if found is not None else None


def of_integers(generic: GenericOp) -> bool:
    """Whether all results are."""
    return all(isa(result.type, TensorType) and isinstance(result.type.element_type, IntegerType) for result in generic.results)
