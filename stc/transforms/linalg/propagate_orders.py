"""`propagate-orders`: schedules under which streams arrive as their readers want them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func, tensor
from xdsl.dialects.builtin import IntegerType, ModuleOp
from xdsl.dialects.linalg.ops import GenericOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from stc.analysis.generic_loops import GenericLoops, name_of, shape_of
from stc.analysis.host_work import functions_of, host_values
from stc.analysis.kernel_memory import bytes_of
from stc.analysis.run_time_sizes import RunTimeSizes
from stc.design_space.order_propagation import ConcatOf, ReshapeOf, SliceOf, TiledOp, TilingNode
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes
from stc.design_space.parallelism import MOST_LANES_PER_TASK
from stc.design_space.tiling import default_unroll, reduction_unroll, row_loop
from stc.diagnostics import CompileError
from stc.dialects.dataflow import ScheduleAttr
from stc.dialects.facts import LANES, ROWS, SCHEDULE, SHARED, STRIPE, SUCCESSIVE
from stc.dialects.updates import is_prefix_read
from stc.iteration.size import is_static
from stc.iteration.vectorize import largest_divisor
from stc.strategies.tiling import TILING, TilingProblem
from stc.transforms.dataflow.layout_to_dataflow import is_host_reshape
from stc.transforms.linalg.term_lanes import is_in_turn, lanes_are_terms, of_integers
from stc.transforms.linalg.tile_linalg import check_schedule, element_type
from stc.transforms.stream.names import UniqueNames

_ENTRY_BITS = 32
"""Of what `lanes` counts."""


@dataclass(frozen=True)
class PropagateOrders(ModulePass):
    """Give every generic that will become hardware a schedule that agrees with its neighbours.

    In topological order each op inherits the tiles of the streams it reads and takes the loop order of least memory
    (converters and accumulators, exactly counted). Ops that have a schedule keep it, and others follow them; `stc.lanes` of an op
    (`choose-parallelism`) decides the tile of its last parallel loop and how wide its operands come. Sums of products whose
    largest input comes in rows take several rows in a tile, and where that loop cannot be unrolled, terms of a sum are the lanes
    (`stc.design_space.tiling.reduction_unroll`). A function input takes the order in which its first reader wants it.

    Options: `columns` (default 16), the tile of a last dimension that no stream fixes; `rows` (default 128), of the one
    before it; `lanes` (default 16), the most points of a tile computed at once, and as many times more as integers of a
    parameter are shorter than 32 bits (64 at most): a word of memory in each cycle; `strategy` (default propagated), which chooses
    tiles and orders (`stc.strategies.tiling`).

        %h = linalg.generic {"parallel", "parallel", "reduction"} ins(%x, %w) ...        // x[i, k], w[k, j]
      becomes, where %x is longer than %h is wide: the reduction goes outside, x is used as it comes,
        %h = linalg.generic ... attrs = {stc.schedule = #dataflow.schedule<tile = [32, 16, 16], order = [0, 2, 1], ...>}
    """

    name = "propagate-orders"

    columns: int = 16
    rows: int = 128
    lanes: int = 16
    strategy: str = TILING.default

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for option in ("columns", "rows", "lanes"):
            if getattr(self, option) < 1:
                raise CompileError(f"{option} is {getattr(self, option)}", where=self.name, accepted="at least 1")
        for function in functions_of(op):
            graph = TilingGraph(function, self.lanes)
            problem = TilingProblem(graph.nodes, TileSizes(self.columns, self.rows))
            plans = TILING.decide(self.strategy, problem)
            for node in problem.computations:
                self.schedule(graph.generics[node.name], plans[node.name], node)

    def schedule(self, generic: GenericOp, plan: LoopPlan, node: TiledOp) -> None:
        """Attach what was planned for `node`, with the lanes that it has."""
        loops, lanes = GenericLoops(generic), node.lanes
        unroll = default_unroll(plan.tile, loops.reductions, loops.operand_dims, lanes or self.lanes)
        if node.terms or (not lanes and len(loops.input_dims) > 1 and max(unroll, default=1) == 1):
            given = plan.tile, loops.reductions, loops.operand_dims, node.terms or self.lanes
            unroll = reduction_unroll(*given, of_integers=of_integers(generic) or node.terms > 0)
        if (row := row_loop(loops.extents, loops.reductions, loops.input_dims, loops.output_dims)) is not None:
            at_once = largest_divisor(plan.tile[row], ROWS.of(generic) or 1)
            unroll = (*unroll[:row], at_once, *unroll[row + 1 :])
        vectors: Sequence[Sequence[int]] = ()
        if lanes and loops.reductions and loops.parallels:
            vectors = self._vectors(loops, plan, lanes, loops.output_dims[0][-1], is_shared=SHARED.on(generic))
        elif node.terms:
            vectors = self._vectors(loops, plan, node.terms, loops.reductions[-1])
        SCHEDULE.put(generic, ScheduleAttr.of(plan.tile, plan.order, unroll, vectors))

    def _vectors(
        self, loops: GenericLoops, plan: LoopPlan, lanes: int, unrolled: int, *, is_shared: bool = False
    ) -> list[list[int]]:
        """Vector shapes where so many `lanes` of the loop `unrolled` were decided: an input along them comes all at once, and sums
        on shared multipliers may leave so, since all are there (readers say how wide: `vectorize-streams`); other operands
        `self.lanes` wide."""
        shapes: list[list[int]] = []
        for index, dims in enumerate(loops.operand_dims):
            if not dims:
                shapes.append([])
                continue
            is_wide = dims[-1] == unrolled and (is_shared or index < len(loops.input_dims))
            shapes.append([*([1] * (len(dims) - 1)), largest_divisor(plan.tile[dims[-1]], lanes if is_wide else self.lanes)])
        return shapes


class TilingGraph:
    """The `nodes` of a function (`stc.design_space.order_propagation`), the generics among them by name, and tensors' `names`.

    `lanes`: entries of 32 bits that a word holds.
    """

    def __init__(self, function: func.FuncOp, lanes: int) -> None:
        self._lanes = lanes
        self.nodes: list[TilingNode] = []
        self.generics: dict[str, GenericOp] = {}
        self.names: dict[SSAValue, str] = {}
        self._ops, self._tensors = UniqueNames(), UniqueNames()
        self._host = host_values(function)
        self._sizes = RunTimeSizes(function)
        for op in function.body.block.ops:
            if not set(op.results) <= self._host and (node := self._node(op)) is not None:
                self.nodes.append(node)

    def _node(self, op: Operation) -> TilingNode | None:
        match op:
            case GenericOp():
                return self._computation(op)
            case tensor.ExtractSliceOp():
                return self._slice(op)
            case tensor.ConcatOp():
                shapes = tuple(shape_of(value.type) for value in op.inputs)
                sources = tuple(self._from_kernel(value) for value in op.inputs)
                single = self._sizes.single(op.result)
                successive = op.dim.value.data if SUCCESSIVE.on(op) else None
                return ConcatOf(self._name(op.result), shape_of(op.result.type), sources, shapes, single, successive)
            case tensor.ExpandShapeOp() | tensor.CollapseShapeOp() if not is_host_reshape(op):  # else the reader chooses
                shape = shape_of(op.result.type)
                is_single = len(shape) - 1 in self._sizes.single(op.result)
                return ReshapeOf(self._name(op.result), shape, self._from_kernel(op.src), shape_of(op.src.type), is_single)
            case _:
                return None

    def _computation(self, generic: GenericOp) -> TiledOp:
        name = self._ops.fresh(name_of(generic) or generic.name)
        self.generics[name] = generic
        loops = GenericLoops(generic)
        inputs = tuple(self._operand(v, dims) for v, dims in zip(generic.inputs, loops.input_dims, strict=True))
        outputs = tuple(self._operand(v, dims) for v, dims in zip(generic.results, loops.output_dims, strict=True))
        given = SCHEDULE.of(generic)
        if given is not None:
            check_schedule(generic, given)
        plan = LoopPlan(given.tiles, given.loop_order) if given is not None else None
        single = tuple(loop for loop, size in enumerate(self._sizes.loops_of(generic)) if not is_static(size))
        terms = lanes_are_terms(generic) and loops.reductions[-1] not in single
        is_quick = of_integers(generic) or (terms and is_in_turn(generic) and LANES.on(generic))
        computation = Computation(loops.extents, loops.reductions, inputs, outputs, single, of_integers=is_quick)
        if terms:
            return TiledOp(name, computation, given=plan, lanes_are_terms=True, terms=lanes_of(generic))
        lanes = lanes_of(generic) or self._lanes_of_words(generic, loops)
        return TiledOp(name, computation, lanes, ROWS.of(generic) or 1, plan, is_shared=SHARED.on(generic))

    def _lanes_of_words(self, generic: GenericOp, loops: GenericLoops) -> int:
        """As many points as a word holds integers of a parameter, where they are shorter than 32 bits; 0: nothing asks for more."""
        last = loops.output_dims[0][-1] if loops.output_dims[0] else None
        bits = [
            kind.width.data
            for value, dims in zip(generic.inputs, loops.input_dims, strict=True)
            if value in self._host and last in dims and isinstance(kind := element_type(value.type), IntegerType)
        ]
        if not bits or not loops.reductions or max(bits) >= _ENTRY_BITS or last is None:
            return 0
        most = min(self._lanes * _ENTRY_BITS // max(bits), max(MOST_LANES_PER_TASK, self._lanes))
        return largest_divisor(loops.extents[last], most)

    def _operand(self, value: SSAValue, dims: tuple[int, ...]) -> Operand:
        return Operand(self._name(value), dims, bytes_of(element_type(value.type)), is_parameter=value in self._host)

    def _slice(self, op: tensor.ExtractSliceOp) -> SliceOf | None:
        if op.offsets or is_prefix_read(op) or (STRIPE.on(op) and self._from_kernel(op.source) is None):
            return None  # an argument's beginning, or its slice for one copy of a computation: the reader chooses
        users = [use.operation for use in op.source.uses]
        siblings = [user for user in users if isinstance(user, tensor.ExtractSliceOp) and not user.offsets]
        offsets = tuple(tuple(sibling.static_offsets.get_values()) for sibling in siblings)
        sizes = tuple(tuple(sibling.static_sizes.get_values()) for sibling in siblings)
        source, shape = self._from_kernel(op.source), shape_of(op.result.type)
        return SliceOf(self._name(op.result), shape, source, shape_of(op.source.type), offsets, sizes, siblings.index(op))

    def _from_kernel(self, value: SSAValue) -> str | None:
        """A tensor that a kernel streams; None where the host holds it: an argument, or a view of one."""
        owner = value.owner
        is_view = isinstance(owner, tensor.ExpandShapeOp | tensor.CollapseShapeOp) and is_host_reshape(owner)
        is_view = is_view or (isinstance(owner, tensor.ExtractSliceOp) and is_prefix_read(owner))
        return None if is_view or isinstance(owner, Block) else self._name(value)

    def _name(self, value: SSAValue) -> str:
        if value not in self.names:
            self.names[value] = self._tensors.fresh(value.name_hint or "tensor")
        return self.names[value]


def lanes_of(generic: GenericOp) -> int:
    """How many points of the last parallel loop, or terms (`lanes_are_terms`), were decided to run at once (`choose-parallelism`);
    0 where nothing was."""
    return LANES.of(generic) or 0
