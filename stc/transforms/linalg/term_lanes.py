"""Lanes that are terms of sums: of integers, whose adders wait for nothing."""

from __future__ import annotations

from math import prod

from xdsl.dialects.builtin import IntegerType, TensorType
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.utils.hints import isa

from stc.analysis.generic_loops import GenericLoops
from stc.design_space.tiling import default_unroll, reduction_unroll


def lanes_are_terms(generic: GenericOp) -> bool:
    """Whether what may run at once are terms of sums of integers: where no parallel loop has lanes, and both factors lie along the
    last reduction."""
    loops = GenericLoops(generic)
    given = loops.extents, loops.reductions, loops.operand_dims, max(loops.extents, default=1)
    if not of_integers(generic) or len(loops.input_dims) < 2 or prod(default_unroll(*given)) > 1:
        return False
    return prod(reduction_unroll(*given, of_integers=True)) > 1


def of_integers(generic: GenericOp) -> bool:
    """Whether all results are."""
    return all(isa(result.type, TensorType) and isinstance(result.type.element_type, IntegerType) for result in generic.results)
