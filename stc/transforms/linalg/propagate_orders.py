"""`propagate-orders`: schedules under which streams arrive as their readers want them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import prod

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import IntegerAttr, ModuleOp
from xdsl.dialects.linalg import GenericOp
from xdsl.ir import Block, SSAValue
from xdsl.passes import ModulePass

from stc.analysis.generic_loops import GenericLoops, shape_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes, input_order, output_order, plan_loops
from stc.design_space.parallelism import LEAST_SUMS
from stc.design_space.tiling import default_unroll
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.iteration.layout_orders import concat_orders, reshape_orders, slice_orders
from stc.iteration.order import StreamOrder
from stc.iteration.vectorize import largest_divisor
from stc.transforms.dataflow.layout_to_dataflow import is_host_reshape
from stc.transforms.linalg.distribute_parallel import STRIPE
from stc.transforms.linalg.tile_linalg import check_schedule, element_type

LANES = "stc.lanes"
"""Of a generic: how many points of its last parallel loop are to be computed at once."""

LONGEST_TILE = 64
"""Iterations of a reduction, or of the unrolled loop, in a tile where lanes were decided."""

LONGEST_LINE = 8 * LONGEST_TILE
"""Iterations of the unrolled loop in a tile that has no other sums to keep the adder busy with."""


@dataclass(frozen=True)
class PropagateOrders(ModulePass):
    """Give every generic that will become hardware a schedule that agrees with its neighbours.

    In topological order each op inherits the tiles of the streams it reads and takes the loop order of least memory
    (converters and accumulators, exactly counted). Ops that have a schedule keep it, and others follow them; `stc.lanes` of an op
    (`choose-parallelism`) decides the tile of its last parallel loop and how wide its operands come. A function
    input takes the order in which its first reader wants it.

    Options: `columns` (default 16), the tile of a last dimension that no stream fixes; `rows` (default 128), of the one
    before it; `lanes` (default 16), the most points of a tile computed at once.

        %h = linalg.generic {"parallel", "parallel", "reduction"} ins(%x, %w) ...        // x[i, k], w[k, j]
      becomes, where %x is longer than %h is wide: the reduction goes outside, x is used as it comes,
        %h = linalg.generic ... attrs = {stc.schedule = #dataflow.schedule<tile = [32, 16, 16], order = [0, 2, 1], ...>}
    """

    name = "propagate-orders"

    columns: int = 16
    rows: int = 128
    lanes: int = 16

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for option in ("columns", "rows", "lanes"):
            if getattr(self, option) < 1:
                raise CompileError(f"{option} is {getattr(self, option)}", where=self.name, accepted="at least 1")
        for function in functions_of(op):
            Propagation(function, TileSizes(self.columns, self.rows), self.lanes).run()


@dataclass
class Propagation:
    """One walk over a function. `run` schedules its generics and leaves in `orders` how each tensor will stream."""

    function: func.FuncOp
    sizes: TileSizes
    lanes: int
    orders: dict[SSAValue, StreamOrder] = field(default_factory=dict)
    """How each tensor streams; absent for parameters, and for inputs nobody has read yet."""

    def run(self) -> None:
        self.host = host_values(self.function)
        for op in self.function.body.block.ops:
            if set(op.results) <= self.host:
                continue
            match op:
                case GenericOp():
                    self._schedule(op)
                case tensor.ExtractSliceOp():
                    self._slice(op)
                case tensor.ConcatOp():
                    self._concat(op)
                case tensor.ExpandShapeOp() | tensor.CollapseShapeOp():
                    self._reshape(op)
                case _:
                    continue

    # Computations -----------------------------------------------------------------------------------------------------

    def _schedule(self, generic: GenericOp) -> None:
        loops = GenericLoops(generic)
        computation = Computation(
            loops.extents,
            loops.reductions,
            tuple(self._operand(v, dims) for v, dims in zip(generic.inputs, loops.input_dims, strict=True)),
            tuple(self._operand(v, dims) for v, dims in zip(generic.results, loops.output_dims, strict=True)),
        )
        plan = self._plan(generic, computation)
        if "stc.schedule" not in generic.attributes:
            lanes = lanes_of(generic)
            unroll = default_unroll(plan.tile, loops.reductions, loops.operand_dims, lanes or self.lanes)
            vectors = self._vectors(generic, plan, lanes) if lanes and loops.reductions and loops.parallels else ()
            generic.attributes["stc.schedule"] = ScheduleAttr.of(plan.tile, plan.order, unroll, vectors)
        for value, operand in zip(generic.inputs, computation.inputs, strict=True):
            if operand.order is None and not operand.is_parameter and operand.dims:
                wanted = input_order(computation, plan.tile, plan.order, operand)
                self._settle(value, wanted.without_revisits())
        for result, operand in zip(generic.results, computation.outputs, strict=True):
            self.orders[result] = output_order(computation, plan.tile, plan.order, operand)

    def _plan(self, generic: GenericOp, computation: Computation) -> LoopPlan:
        given = generic.attributes.get("stc.schedule")
        if isinstance(given, ScheduleAttr):
            check_schedule(generic, given)
            return LoopPlan(given.tiles, given.loop_order)
        streamed: dict[int, int] = {}
        for operand in computation.inputs:
            if operand.order is not None:
                streamed |= dict(zip(operand.dims, operand.order.element, strict=True))
        return plan_loops(computation, self.sizes, tiles_of_lanes(GenericLoops(generic), lanes_of(generic), streamed))

    def _vectors(self, generic: GenericOp, plan: LoopPlan, lanes: int) -> list[list[int]]:
        """Vector shapes where lanes were decided: an input along the lanes comes all at once, other operands `self.lanes` wide."""
        loops = GenericLoops(generic)
        unrolled = loops.output_dims[0][-1]
        shapes: list[list[int]] = []
        for index, dims in enumerate(loops.operand_dims):
            if not dims:
                shapes.append([])
                continue
            is_wide = index < len(loops.input_dims) and dims[-1] == unrolled
            shapes.append([*([1] * (len(dims) - 1)), largest_divisor(plan.tile[dims[-1]], lanes if is_wide else self.lanes)])
        return shapes

    def _operand(self, value: SSAValue, dims: tuple[int, ...]) -> Operand:
        return Operand(
            value, dims, bytes_of(element_type(value.type)), self.orders.get(value), is_parameter=value in self.host
        )

    def _settle(self, value: SSAValue, order: StreamOrder) -> None:
        """An input is read for the first time: from now on it has an order."""
        self.orders.setdefault(value, order)

    # Movements --------------------------------------------------------------------------------------------------------

    def _slice(self, op: tensor.ExtractSliceOp) -> None:
        if op.offsets or (STRIPE in op.attributes and self._order_from_kernel(op.source) is None):
            return  # an argument's slice for one copy of a computation: the reader chooses
        users = [use.operation for use in op.source.uses]
        siblings = [user for user in users if isinstance(user, tensor.ExtractSliceOp) and not user.offsets]
        offsets = [tuple(sibling.static_offsets.get_values()) for sibling in siblings]
        sizes = [tuple(sibling.static_sizes.get_values()) for sibling in siblings]
        source = self._order_from_kernel(op.source)
        _, pieces = slice_orders(source, shape_of(op.source.type), offsets, sizes, self.sizes.columns)
        own = siblings.index(op)
        self.orders[op.result] = _without_unit_dimensions(pieces[own], sizes[own], shape_of(op.result.type))

    def _order_from_kernel(self, value: SSAValue) -> StreamOrder | None:
        """How a kernel streams `value`; None where the host holds it: an argument, or a view of one."""
        owner = value.owner
        is_view = isinstance(owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp) and is_host_reshape(owner)
        return None if is_view or isinstance(owner, Block) else self.orders.get(value)

    def _concat(self, op: tensor.ConcatOp) -> None:
        sizes = [shape_of(value.type) for value in op.inputs]
        sources = [self._order_from_kernel(value) for value in op.inputs]
        self.orders[op.result], _ = concat_orders(sources, shape_of(op.result.type), sizes, self.sizes.columns)

    def _reshape(self, op: tensor.ExpandShapeOp | tensor.CollapseShapeOp) -> None:
        if is_host_reshape(op):
            return  # the host's view of an input: the reader chooses
        _, self.orders[op.result] = reshape_orders(shape_of(op.src.type), shape_of(op.result.type), self.sizes.columns)


def lanes_of(generic: GenericOp) -> int:
    """How many points of the last parallel loop were decided to run at once (`choose-parallelism`); 0 where nothing was."""
    lanes = generic.attributes.get(LANES)
    return lanes.value.data if isinstance(lanes, IntegerAttr) else 0


def tiles_of_lanes(loops: GenericLoops, lanes: int, streamed: Mapping[int, int]) -> dict[int, int]:
    """The tiles that a decision on lanes means: long ones, so that the pipeline is seldom filled anew, in whole groups of lanes.

    `streamed`: tiles in which operands come from other computations, by loop. Reductions take those; so does the unrolled loop
    where sums of one lane each are enough for the adder.
    """
    if not lanes or not loops.parallels or not loops.reductions or not loops.output_dims[0]:
        return {}
    tiles = {loop: largest_divisor(loops.extents[loop], LONGEST_TILE) for loop in loops.reductions if loop not in streamed}
    *others, last = loops.output_dims[0]
    rows = next((loop for loop in reversed(others) if loop not in streamed), None)
    if rows is not None and _is_bound_by_memory(loops) and (enough := _enough_rows(loops.extents[rows])):
        tiles[rows] = enough
    if lanes == 1 and streamed.get(last, 0) >= LEAST_SUMS:
        return {**tiles, last: streamed[last]}
    return {**tiles, last: lanes * _groups_of_lanes(loops, lanes)}


def _groups_of_lanes(loops: GenericLoops, lanes: int) -> int:
    """How often a tile has the lanes: as often as sums are kept in flight at least, where no other loop brings those."""
    *others, last = loops.output_dims[0]
    groups = loops.extents[last] // lanes
    short = largest_divisor(groups, max(1, LONGEST_TILE // lanes))
    if short * prod(loops.extents[loop] for loop in others) >= LEAST_SUMS:
        return short
    long = next(count for count in range(short, groups + 1) if groups % count == 0 and count >= min(groups, LEAST_SUMS))
    return long if lanes * long <= LONGEST_LINE else short


def _enough_rows(extent: int) -> int | None:
    """The fewest rows of a tile that keep the adder busy, so that what reads the sums begins early; None for no such divisor."""
    return next((rows for rows in range(LEAST_SUMS, min(extent, LONGEST_TILE) + 1) if extent % rows == 0), None)


def _is_bound_by_memory(loops: GenericLoops) -> bool:
    """Whether every entry of some input is used once: then longer tiles save no traffic."""
    return any(len(dims) == len(loops.extents) for dims in loops.input_dims)


def _without_unit_dimensions(piece: StreamOrder, sizes: Sequence[int], shape: Sequence[int]) -> StreamOrder:
    """The order of a slice, where that drops unit dimensions the order of the reshape behind it (`layout-to-dataflow`)."""
    return piece if tuple(sizes) == tuple(shape) else reshape_orders(sizes, shape, sizes[-1])[1]
