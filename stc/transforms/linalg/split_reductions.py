"""`split-reductions`: a sum becomes partial sums, made side by side by lanes or copies, and a sum of those."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import arith, func
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from stc.analysis.generic_loops import Dims, GenericLoops, all_dims, generics_in, name_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.operator_library import hardware_cost
from stc.design_space.parallelism import PORT_LANES, lane_counts
from stc.design_space.reduction_splits import copy_sums, lane_sums
from stc.design_space.tiling import default_unroll
from stc.dialects.facts import NAME
from stc.dialects.use_def import through_reshapes, uses_through
from stc.platforms.budget import SMALL, Counts, searched_limits
from stc.platforms.platform import Platform, load_platform
from stc.transforms.linalg.generics import (
    PARALLEL,
    REDUCTION,
    build,
    combining,
    is_contraction,
    output_arguments,
    shape_of,
    started_alike,
    starts_at_zero,
    stc_attributes,
)
from stc.transforms.linalg.propagate_reshapes import PropagateReshapesPass
from stc.transforms.linalg.split_loops import split_by_operand
from stc.transforms.linalg.term_lanes import lanes_are_terms
from stc.transforms.shared_parameters import shared_parameters


@dataclass(frozen=True)
class SplitReductions(ModulePass):
    """Split reductions of products that use every entry of their largest operand once: only its bandwidth makes them fast.

    *Lanes*: where no parallel loop can be unrolled and the operands lie along a reduction, as in a matrix-vector product, that
    loop becomes two. The inner one, as long as a port is wide, becomes parallel: a partial sum for each lane.
    *Copies*: where the reduction runs along the outermost dimension of that operand, and another computation divides that
    dimension among its copies, the outer part becomes parallel: each copy makes a partial sum of the slice that its neighbour
    reads too. In both cases a second generic adds up the partial sums, and reshapes propagate to the boundary. Lengths are
    divisors; where none but 1 is short enough for the second generic to be the faster one, nothing changes.

    Partial sums round differently from one sum (no worse: fewer terms each).

    Options: `budget` (default small: nothing is split; `stc.platforms.budget`) and `platform` (default u55c) bound the copies;
    `reassociate` (default true), without which sums of floats keep their order.

        %y = linalg.generic {"parallel", "reduction"} ins(%a, %x : tensor<6x40xf32>, tensor<40xf32>) ... -> tensor<6xf32>
      becomes
        %b = tensor.expand_shape %a [[0], [1, 2]] : tensor<6x40xf32> into tensor<6x8x5xf32>
        %v = tensor.expand_shape %x [[0, 1]] : tensor<40xf32> into tensor<8x5xf32>
        %p = linalg.generic {"parallel", "parallel", "reduction"} ins(%b, %v) ... -> tensor<6x5xf32>
        %y = linalg.generic {"parallel", "reduction"} ins(%p : tensor<6x5xf32>) { addf } ... -> tensor<6xf32>
    """

    name = "split-reductions"

    budget: str = SMALL
    platform: str = "u55c"
    reassociate: bool = True

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limits = searched_limits(self.budget, self.platform)
        if limits is None:
            return
        platform = load_platform(self.platform)
        for function in functions_of(op):
            _for_lanes(function, self.reassociate, limits.dsp, platform)
            _for_copies(function, self.reassociate, limits, platform)
        PropagateReshapesPass().apply(ctx, op)


def _candidates(function: func.FuncOp, reassociate: bool) -> Iterator[tuple[GenericOp, SSAValue, Dims]]:
    """Products that may be split, each with its largest input, of which every entry is used once, and the loops along that."""
    parameters = host_values(function)
    for generic in generics_in(function):
        if set(generic.results) <= parameters or not starts_at_zero(generic) or not is_contraction(generic):
            continue
        if any(isinstance(op, linalg.IndexOp) for op in generic.body.walk()):
            continue
        dims = all_dims(generic)
        found = combining(generic)
        if dims is None or any(None in entry for entry in dims) or found is None:
            continue
        if not reassociate and isinstance(found[0], arith.AddfOp):
            continue
        value, along = max(zip(generic.inputs, dims, strict=False), key=lambda operand: prod(shape_of(operand[0])))
        if along and prod(GenericLoops(generic).extents) == prod(shape_of(value)):
            yield generic, value, along


# Lanes ----------------------------------------------------------------------------------------------------------------


def _for_lanes(function: func.FuncOp, reassociate: bool, dsp: int, platform: Platform) -> None:
    for generic, _, along in list(_candidates(function, reassociate)):
        loops, loop = GenericLoops(generic), along[-1]
        if loop is None or loop not in loops.reductions or _lane_extent(generic) > 1:
            continue
        if lanes_are_terms(generic):  # before a tree of adders
            continue
        if any(loop in dims and dims[-1] != loop for dims in loops.input_dims):
            continue
        count, extent = lane_sums(loops.extents[loop]), loops.extents[loop]
        one = dsp_of(generic, platform)
        if 1 < count < extent and dsp_of_others(function, [], platform) + 2 * one <= dsp:  # a second lane and the sum
            _split(generic, loop, (extent // count, count), is_lanes=True)


def _lane_extent(generic: GenericOp) -> int:
    """Iterations of the loop that may be unrolled over lanes; 1 for none."""
    loops = GenericLoops(generic)
    return prod(default_unroll(loops.extents, loops.reductions, loops.operand_dims, max(loops.extents, default=1)))


# Copies ---------------------------------------------------------------------------------------------------------------


def _for_copies(function: func.FuncOp, reassociate: bool, limits: Counts, platform: Platform) -> None:
    for generic, value, along in list(_candidates(function, reassociate)):
        loops, loop = GenericLoops(generic), along[0]
        if loop is None or loop not in loops.reductions:
            continue
        readers = [reader for reader, is_divided in _readers(value) if reader is not generic and is_divided]
        if not readers:
            continue
        extent = loops.extents[loop]
        sharing = [generic, *readers]
        spare = limits.dsp - dsp_of_others(function, sharing, platform)
        most = min(_affordable(sharing, spare, platform), spare_ports(function, value, limits.ports, platform) // len(sharing))
        count = copy_sums(extent, most)
        if 1 < count < extent:
            _split(generic, loop, (count, extent // count), is_lanes=False)


def _readers(value: SSAValue) -> Iterator[tuple[GenericOp, bool]]:
    """Generics that read the tensor of `value`, under any shape, and whether the outermost loop along it is parallel."""
    for use in uses_through(through_reshapes(value)):
        match use.operation:
            case GenericOp() as reader if use.index < len(reader.inputs):
                loops = GenericLoops(reader)
                yield reader, loops.input_dims[use.index][0] in loops.parallels
            case _:
                pass


def _affordable(generics: Sequence[GenericOp], dsp: int, platform: Platform) -> int:
    """Copies of all `generics`, each as many lanes wide as a port and with a sum behind it, for which there are DSPs."""
    one = sum(dsp_of(generic, platform) * (_port_lanes(_lane_extent(generic)) + 1) for generic in generics)
    return dsp // max(1, one)


def dsp_of_others(function: func.FuncOp, generics: Sequence[GenericOp], platform: Platform) -> int:
    """DSPs of what is computed beside `generics`, one lane each."""
    parameters = host_values(function)
    others = (op for op in generics_in(function) if op not in generics and not set(op.results) <= parameters)
    return sum(dsp_of(generic, platform) for generic in others)


def dsp_of(generic: GenericOp, platform: Platform) -> int:
    """DSPs of one lane."""
    return sum(hardware_cost(op, platform.cycle_ns).dsp for op in generic.body.block.ops)


def _port_lanes(extent: int) -> int:
    return max(lanes for lanes in lane_counts(extent) if lanes <= PORT_LANES)


def spare_ports(function: func.FuncOp, value: SSAValue, most: int, platform: Platform) -> int:
    """Memory ports that other arguments and the results leave of `most`, with one for each of those."""
    others = [argument for argument in function.body.block.args if argument is not through_reshapes(value)]
    shared = shared_parameters(function.body.block.args, host_values(function), platform.memory)
    ports = {shared.get(argument, argument) for argument in others}
    return most - len(ports) - len(function.function_type.outputs)


# Rewriting ------------------------------------------------------------------------------------------------------------


def _split(generic: GenericOp, loop: int, groups: tuple[int, int], *, is_lanes: bool) -> None:
    """Reduction `loop` becomes one of each length in `groups`, the inner (for lanes) or outer (for copies) one parallel."""
    partial = _with_parallel(_with_two_loops(generic, loop, groups), loop, is_lanes)
    Rewriter.replace_op(generic, _combination(generic, partial, is_lanes))


def _with_two_loops(generic: GenericOp, loop: int, groups: tuple[int, int]) -> GenericOp:
    """`generic` with `loop` split, before it."""
    loops = GenericLoops(generic)
    operand = next(index for index, dims in enumerate(loops.input_dims) if loop in dims)
    shapes = tuple(groups if entry == loop else (loops.extents[entry],) for entry in loops.input_dims[operand])
    split = split_by_operand(generic, operand, shapes)
    assert split is not None
    made = next(op for op in split.ops if isinstance(op, GenericOp))
    end = split.ops.index(made) + 1
    for reshape in reversed(split.ops[end:]):  # the result keeps its shape
        reshape.erase()
    Rewriter.insert_op(split.ops[:end], InsertPoint.before(generic))
    return made


def _with_parallel(generic: GenericOp, loop: int, is_lanes: bool) -> GenericOp:
    """`generic`, whose reduction `loop` was split, with one of both halves parallel: the last (lanes) or first such loop."""
    loops, dims = GenericLoops(generic), all_dims(generic)
    assert dims is not None
    own = loop + 1 if is_lanes else loop
    parallels, rest = list(loops.parallels), [other for other in loops.reductions if other != own]
    order = [*parallels, own, *rest] if is_lanes else [own, *parallels, *rest]
    number = {old: new for new, old in enumerate(order)}
    made = (*dims[-1], own) if is_lanes else (own, *dims[-1])
    extents = loops.extents
    ops = started_alike(generic.outputs[0], [extents[entry] for entry in made if entry is not None])
    maps: list[Dims] = [tuple(number[entry] for entry in along if entry is not None) for along in [*dims[:-1], made]]
    kinds = [PARALLEL] * (len(parallels) + 1) + [REDUCTION] * len(rest)
    partial = build(generic.inputs, [ops[-1].results[0]], generic.body.clone(), maps, kinds, stc_attributes(generic))
    partial.results[0].name_hint = f"{name_of(generic)}_partial"
    Rewriter.replace_op(generic, [*ops, partial], [None])
    return partial


def _combination(generic: GenericOp, partial: GenericOp, is_lanes: bool) -> GenericOp:
    """What adds up `partial` to the result of `generic`."""
    found = combining(generic)
    assert found is not None
    operator, scalar = found[0].clone(), output_arguments(generic)[0].type
    block = Block(arg_types=[scalar, scalar])
    operator.operands = [block.args[1], block.args[0]]
    block.add_ops([operator, linalg.YieldOp(operator.results[0])])
    rank = len(shape_of(generic.results[0]))
    result = tuple(range(rank))
    read = (*result, rank) if is_lanes else (rank, *result)
    attributes = stc_attributes(generic) | NAME.entry(f"{name_of(generic)}_sum")
    kinds = [*[PARALLEL] * rank, REDUCTION]
    total = build([partial.results[0]], [generic.outputs[0]], Region(block), [read, result], kinds, attributes)
    total.results[0].name_hint = generic.results[0].name_hint
    return total
