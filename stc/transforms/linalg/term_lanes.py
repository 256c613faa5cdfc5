"""Lanes that are terms of a reduction: sums of integers, whose adders wait for nothing, and extremes, which any order gives."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops
from stc.design_space.tiling import default_unroll, reduction_unroll
from stc.scalars.table import EXTREMES
from stc.transforms.linalg.generics import combining


def lanes_are_terms(generic: GenericOp) -> bool:
    """Whether what may run at once are terms, of sums of products of integers or of an extreme: where no parallel loop has lanes,
    and all operands lie along the last reduction."""
    loops = GenericLoops(generic)
    given = loops.extents, loops.reductions, loops.operand_dims, max(loops.extents, default=1)
    if not (is_extreme(generic) or (of_integers(generic) and len(loops.input_dims) > 1)) or prod(default_unroll(*given)) > 1:
        return False
    return prod(reduction_unroll(*given, of_integers=True)) > 1


def is_extreme(generic: GenericOp) -> bool:
    """Whether its one result is the largest or smallest of terms."""
    found = combining(generic) if len(generic.results) == 1 and GenericLoops(generic).reductions else None
    return found is not None and isinstance(found[0], EXTREMES)


def of_integers(generic: GenericOp) -> bool:
    """Whether all results are."""
    return all(isa(result.type, TensorType) and isinstance(result.type.element_type, IntegerType) for result in generic.results)
