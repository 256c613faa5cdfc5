"""Contractions that the same hardware computes: which may share their multipliers (`share-contractions`)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from xdsl.dialects import arith
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import SSAValue

from stc.analysis.generic_loops import GenericLoops
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.design_space.parallelism import lane_counts
from stc.iteration.size import is_static
from stc.transforms.linalg.term_lanes import lanes_are_terms, of_integers


@dataclass(frozen=True)
class Alike:
    """Contractions of one `number`, from 1 on, are alike; so many `lanes` all of them may have."""

    number: int
    lanes: int


def alike_contractions(
    generics: Sequence[GenericOp],
    parameters: Collection[SSAValue],
    sizes: RunTimeSizes,
    take_turns: Callable[[GenericOp, GenericOp], bool],
) -> Mapping[GenericOp, Alike]:
    """Those of `generics` that sum up as many terms of the same products of an operand and a parameter as another one with which
    they `take_turns` at a port, and have several lanes in common."""
    kinds: list[list[GenericOp]] = []
    for generic in generics:
        if is_shareable(generic, parameters, sizes):
            fitting = (kind for kind in kinds if _are_alike(kind[0], generic) and _lanes_of_all([*kind, generic]) > 1)
            like = next(fitting, None)
            if like is None:
                kinds.append(like := [])
            like.append(generic)
    in_turn = [[each for each in kind if any(take_turns(each, other) for other in kind if other is not each)] for kind in kinds]
    found: dict[GenericOp, Alike] = {}
    for number, kind in enumerate(filter(None, in_turn), start=1):
        found |= dict.fromkeys(kind, Alike(number, _lanes_of_all(kind)))
    return found


def _lanes_of_all(generics: Sequence[GenericOp]) -> int:
    """The most that each of them may have."""
    return max(set[int].intersection(*(set(lane_counts(_last_parallel_extent(each))) for each in generics)))


def is_shareable(generic: GenericOp, parameters: Collection[SSAValue], sizes: RunTimeSizes) -> bool:
    """Whether sums of integers, of all that one parameter has once each, do not depend on sizes known at run time. Sums of floats
    are left out: the adder needs several at once, and how many terms they have differs."""
    loops = GenericLoops(generic)
    if not loops.reductions or len(generic.inputs) != 2 or len(generic.results) != 1 or not of_integers(generic):
        return False
    weights = [dims for value, dims in zip(generic.inputs, loops.input_dims, strict=True) if value in parameters]
    is_product = any(isinstance(op, arith.MuliOp) for op in generic.body.block.ops)
    once = len(weights) == 1 and sorted(weights[0]) == list(range(len(loops.extents)))
    is_plain = not lanes_are_terms(generic) and all(map(is_static, sizes.loops_of(generic)))
    return is_product and once and is_plain and generic.inputs[1] in parameters


def _are_alike(one: GenericOp, other: GenericOp) -> bool:
    return GenericLoops(one).terms == GenericLoops(other).terms and one.body.is_structurally_equivalent(other.body)


def _last_parallel_extent(generic: GenericOp) -> int:
    loops = GenericLoops(generic)
    return loops.extents[loops.output_dims[0][-1]]
