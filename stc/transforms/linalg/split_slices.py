"""`split-slices`: what is computed as one tensor and used in slices is computed slice by slice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.ops import FillOp, GenericOp
from xdsl.ir import BlockArgument
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.analysis.generic_loops import GenericLoops, asked_loops, generics_in, shape_of
from stc.analysis.host_work import functions_of, host_values
from stc.dialects.facts import COPIES, MERGED
from stc.dialects.use_def import through_reshapes
from stc.platforms.budget import SMALL, Counts, searched_limits
from stc.platforms.platform import Platform, load_platform
from stc.transforms.linalg.dead_ops import erase_dead_ops
from stc.transforms.linalg.distribute_parallel import distribute
from stc.transforms.linalg.split_reductions import dsp_of, dsp_of_others, spare_ports
from stc.transforms.shared_parameters import shared_parameters


@dataclass(frozen=True)
class SplitSlices(ModulePass):
    """Divide a computation whose result is only used in equal slices along a parallel loop, as queries, keys and values of one
    projection are: one computation for each slice, on slices of its operands.

    So the slices come at the same time instead of one after the other, whoever needs one of each (attention, head by head) begins
    with the first entries of all, and each may have as many lanes as it needs. What computes the operand that is sliced then is
    divided in the same way. Nothing changes where a slice is left out, slices differ in size, overlap or take every other entry, or
    the tensor is used as a whole, too; where `merge-contractions` made it of several; nor where the budget has too few DSPs for one
    point of each slice and of all else, or too few memory ports for each slice of an operand to have one.

    Options: `budget` (default small: nothing is split, since each slice takes multipliers of its own; `stc.platforms.budget`),
    `platform` (default u55c), whose cycle the operators are scheduled for.

        %y = linalg.generic ... ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) ... -> tensor<4x6xf32>
        %q = tensor.extract_slice %y[0, 0] [4, 3] [1, 1]
        %k = tensor.extract_slice %y[0, 3] [4, 3] [1, 1]
      becomes
        %a = tensor.extract_slice %w[0, 0] [8, 3] [1, 1] {stc.stripe}
        %b = tensor.extract_slice %w[0, 3] [8, 3] [1, 1] {stc.stripe}
        %q = linalg.generic ... ins(%x, %a : tensor<4x8xf32>, tensor<8x3xf32>) ... -> tensor<4x3xf32>
        %k = linalg.generic ... ins(%x, %b : tensor<4x8xf32>, tensor<8x3xf32>) ... -> tensor<4x3xf32>
    """

    name = "split-slices"

    budget: str = SMALL
    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        limits = searched_limits(self.budget, self.platform)
        if limits is None:
            return
        platform = load_platform(self.platform)
        for function in functions_of(op):
            host = host_values(function)
            computed = [generic for generic in generics_in(function) if not set(generic.results) <= host]
            for generic in reversed(computed):  # readers first: they hand their slices on
                if (found := _slices(generic)) is not None and _affordable(generic, *found, function, limits, platform):
                    _split(generic, *found)
        erase_dead_ops(op)


def _affordable(
    generic: GenericOp, loop: int, slices: Sequence[object], function: func.FuncOp, limits: Counts, platform: Platform
) -> bool:
    """Whether the DSPs are enough for one point at once of so many slices, and of whatever else is computed, and the memory
    ports for each slice of an operand that lies there to have one."""
    if dsp_of_others(function, [generic], platform) + len(slices) * dsp_of(generic, platform) > limits.dsp:
        return False
    parameters = host_values(function)
    shared = shared_parameters([value for op in generics_in(function) for value in op.inputs], parameters, platform.memory)
    divided = [value for value, dims in zip(generic.inputs, GenericLoops(generic).input_dims, strict=True) if loop in dims]
    in_memory = [value for value in divided if value in parameters or isinstance(through_reshapes(value), BlockArgument)]
    return all(
        len(slices) <= spare_ports(function, value, limits.ports, platform) for value in in_memory if value not in shared
    )


def _slices(generic: GenericOp) -> tuple[int, list[tensor.ExtractSliceOp]] | None:
    """The loop that equal slices divide, and they in order, if together they are all of the result."""
    is_one = len(generic.results) == 1 and not MERGED.on(generic)
    uses = [use.operation for use in generic.results[0].uses] if is_one else []
    slices = [user for user in uses if isinstance(user, tensor.ExtractSliceOp) and _is_dense(user)]
    if len(slices) < len(uses) or len(slices) < 2:
        return None
    whole = shape_of(generic.results[0].type)
    sizes = {tuple(each.static_sizes.get_values()) for each in slices}
    cut = [dim for dim, extent in enumerate(whole) if any(size[dim] != extent for size in sizes)]
    if len(sizes) > 1 or len(cut) != 1:
        return None
    (dimension,) = cut
    slices.sort(key=lambda each: each.static_offsets.get_values()[dimension])
    size = next(iter(sizes))[dimension]
    expected = [[number * size if dim == dimension else 0 for dim in range(len(whole))] for number in range(len(slices))]
    if [list(each.static_offsets.get_values()) for each in slices] != expected or size * len(slices) != whole[dimension]:
        return None
    loops = GenericLoops(generic)
    loop = loops.output_dims[0][dimension]
    return (loop, slices) if loop in loops.parallels and loop not in asked_loops(generic) and _starts_anew(generic) else None


def _is_dense(slice_: tensor.ExtractSliceOp) -> bool:
    """Whether all is known of it, and its entries are neighbours."""
    return not (slice_.offsets or slice_.sizes or slice_.strides) and set(slice_.static_strides.get_values()) == {1}


def _starts_anew(generic: GenericOp) -> bool:
    """Whether what it computes on is a constant, or nothing."""
    return all(isinstance(value.owner, FillOp | tensor.EmptyOp) for value in generic.outputs)


def _split(generic: GenericOp, loop: int, slices: Sequence[tensor.ExtractSliceOp]) -> None:
    hints = [each.result.name_hint for each in slices]
    COPIES.put(generic, tuple(len(slices) if at == loop else 1 for at in range(len(generic.iterator_types))))
    distribute(generic)
    whole = slices[0].source.owner
    assert isinstance(whole, tensor.ConcatOp)
    for each, part, hint in zip(slices, list(whole.inputs), hints, strict=True):
        if part.type == each.result.type:
            part.name_hint = hint or part.name_hint
            Rewriter.replace_op(each, [], [part])
