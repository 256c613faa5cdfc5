"""Order propagation through a whole graph: how every tensor will stream, and the tiles and loop order of every computation.

The graph is a list of nodes in topological order: computations, and movements of data (slices, concatenations, reshapes) whose
orders follow from those of what they move. Tensors are known by name.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import TypeAlias

from stc.design_space.makespan import Dependence, Span, span
from stc.design_space.orders import Computation, LoopPlan, Operand, TileSizes, input_order, output_order, plan_loops
from stc.design_space.overlap import Arrival, dependences, result_of
from stc.design_space.tiling import LEAST_INTEGER_SUMS, LEAST_SUMS, row_loop
from stc.iteration.layout_orders import concat_orders, reshape_orders, slice_orders
from stc.iteration.order import StreamOrder
from stc.iteration.vectorize import largest_divisor

LONGEST_TILE = 128
"""Iterations of a reduction, or of the unrolled loop, in a tile where lanes were decided."""

LEAST_CYCLES = 256
"""Cycles of a tile of integer sums: in fewer, filling the pipeline anew for each tile counts."""

LONGEST_LINE = 8 * LONGEST_TILE
"""Iterations of the unrolled loop in a tile that has no other sums to keep the adder busy with."""


@dataclass(frozen=True)
class TiledOp:
    """A computation to be tiled.

    `lanes`: points of its last parallel loop that were decided to run at once, 0 where nothing was; `rows`: of its row loop;
    `lanes_are_terms`: whether lanes would run along its last reduction, and `terms`: how many, 0 where nothing was decided.
    `given`: the plan that it has already, None where one is to be found. `is_shared`: whether it shares its multipliers.
    """

    name: str
    computation: Computation
    lanes: int = 0
    rows: int = 1
    given: LoopPlan | None = None
    lanes_are_terms: bool = False
    terms: int = 0
    is_shared: bool = False


Shape: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class SliceOf:
    """`result`, of `shape`, is number `own` of the slices (`offsets`, `sizes`) of a tensor of `source_shape`.

    `source`: None where the host holds it, so that readers choose its order. `shape` leaves unit dimensions out.
    """

    result: str
    shape: Shape
    source: str | None
    source_shape: Shape
    offsets: tuple[Shape, ...]
    sizes: tuple[Shape, ...]
    own: int


@dataclass(frozen=True)
class ConcatOf:
    """`result`, of `shape`, is made of `sources` (None where the host holds one) of `source_shapes`; its dimensions `single` cross
    entry by entry. `successive`: that of which each source has one index, where they come one behind the other."""

    result: str
    shape: Shape
    sources: tuple[str | None, ...]
    source_shapes: tuple[Shape, ...]
    single: tuple[int, ...] = ()
    successive: int | None = None


@dataclass(frozen=True)
class ReshapeOf:
    """`result`, of `shape`, is a tensor of `source_shape`, entries in row-major order. `source`: as of `SliceOf`. `is_single`:
    whether entries along the last dimension cross one by one."""

    result: str
    shape: Shape
    source: str | None
    source_shape: Shape
    is_single: bool = False


TilingNode: TypeAlias = TiledOp | SliceOf | ConcatOf | ReshapeOf


@dataclass
class Propagation:
    """One walk over `nodes`: `plans` by computation, and in `orders` how each tensor streams; a parameter, and an input that
    nobody has read yet, has none. `after`: on whom each computation waits (`stc.design_space.makespan`)."""

    nodes: Sequence[TilingNode]
    sizes: TileSizes
    plans: dict[str, LoopPlan] = field(default_factory=dict[str, LoopPlan])
    orders: dict[Hashable, StreamOrder] = field(default_factory=dict[Hashable, StreamOrder])
    after: dict[str, tuple[Dependence, ...]] = field(default_factory=dict[str, tuple[Dependence, ...]])
    _spans: dict[str, Span] = field(default_factory=dict[str, Span])
    _arrivals: dict[Hashable, Sequence[Arrival]] = field(default_factory=dict[Hashable, Sequence[Arrival]])

    def __post_init__(self) -> None:
        for node in self.nodes:
            match node:
                case TiledOp():
                    self._plan(node)
                case SliceOf():
                    _, pieces = slice_orders(
                        self._order(node.source), node.source_shape, node.offsets, node.sizes, self.sizes.columns
                    )
                    self.orders[node.result] = _without_unit_dimensions(pieces[node.own], node.sizes[node.own], node.shape)
                    if (order := self._order(node.source)) is not None:
                        cut = order, node.source_shape, node.offsets[node.own], node.sizes[node.own]
                        self._arrivals[node.result] = [each.of_slice(*cut) for each in self._arrivals.get(node.source, ())]
                case ConcatOf():
                    sources = [self._order(source) for source in node.sources]
                    given = sources, node.shape, node.source_shapes, self.sizes.columns, node.single, node.successive
                    self.orders[node.result], _ = concat_orders(*given)
                    self._arrivals[node.result] = [each for source in node.sources for each in self._arrivals.get(source, ())]
                case ReshapeOf():
                    largest = 1 if node.is_single else self.sizes.columns
                    given = self._order(node.source), node.source_shape, node.shape, largest
                    _, self.orders[node.result] = reshape_orders(*given)
                    self._arrivals[node.result] = self._arrivals.get(node.source, ())

    def _plan(self, op: TiledOp) -> None:
        inputs = tuple(replace(operand, order=self._order(operand.tensor)) for operand in op.computation.inputs)
        summed = self._summed[op.name] if op.computation.reductions else ()
        computation = replace(op.computation, inputs=inputs, summed=summed)
        cycles = prod(computation.extents) / (max(1, op.lanes) * max(1, op.terms) * op.rows)

        def waits(plan: LoopPlan) -> tuple[Dependence, ...]:
            return tuple(dependences(computation, plan, self._arrivals))

        def timing(plan: LoopPlan, results: Computation = computation) -> tuple[float, float]:
            begin, end, *_ = span(cycles, waits(plan), self._spans)
            return begin + result_of(op.name, results, plan).first * (end - begin), end

        def when_sums_are_over(plan: LoopPlan) -> float:  # the first and the last, which readers add up
            return sum(timing(plan, replace(computation, reductions=(*computation.reductions, *summed))))

        decided = tiles_of_lanes(computation, op.lanes, op.rows) | tiles_of_terms(computation, op.terms)
        given = op.given or (min(plans_of_shared(computation, op.lanes), key=when_sums_are_over) if op.is_shared else None)
        plan = given or plan_loops(computation, self.sizes, decided, timing)
        self.plans[op.name], self.after[op.name] = plan, waits(plan)
        self._spans[op.name] = span(cycles, self.after[op.name], self._spans)
        for operand in inputs:
            if operand.order is None and not operand.is_parameter and operand.dims:
                required = input_order(computation, plan.tile, plan.order, operand)
                self.orders.setdefault(operand.tensor, required.without_reuse())  # read for the first time
        for operand in computation.outputs:
            self.orders[operand.tensor] = output_order(computation, plan.tile, plan.order, operand)
            self._arrivals[operand.tensor] = [result_of(op.name, computation, plan)]

    @cached_property
    def _summed(self) -> Mapping[str, tuple[int, ...]]:
        """By computation: the loops along which every reader of its results sums them up, or each entry that it computes of one."""
        loops: dict[str, tuple[int, ...]] = {}
        dims: dict[Hashable, set[int]] = {}
        for node in reversed(self.nodes):  # readers first
            if not isinstance(node, TiledOp):
                dims |= {tensor: set[int]() for tensor in _moved_by(node)}
                continue
            results = [{result.dims[place] for place in dims.get(result.tensor, ())} for result in node.computation.outputs]
            loops[node.name] = tuple(sorted(set[int].intersection(*results))) if results else ()
            reduced = set(node.computation.reductions) or set(loops[node.name])  # a sum is over before others add it up
            for operand in node.computation.inputs:
                places = {place for place, loop in enumerate(operand.dims) if loop in reduced}
                dims[operand.tensor] = dims.get(operand.tensor, places) & places
        return loops

    def _order(self, tensor: Hashable) -> StreamOrder | None:
        return None if tensor is None else self.orders.get(tensor)


def _moved_by(node: SliceOf | ConcatOf | ReshapeOf) -> Sequence[Hashable]:
    """The tensors that a movement reads."""
    return node.sources if isinstance(node, ConcatOf) else (node.source,)


def _without_unit_dimensions(piece: StreamOrder, sizes: Shape, shape: Shape) -> StreamOrder:
    """The order of a slice, where that drops unit dimensions the order of the reshape behind it (`layout-to-dataflow`)."""
    return piece if sizes == shape else reshape_orders(None, sizes, shape, sizes[-1])[1]


def plans_of_shared(computation: Computation, lanes: int) -> tuple[LoopPlan, LoopPlan]:
    """The two plans of a contraction that shares its multipliers. A tile is one sum of each lane, whatever the sizes: tiles of all
    are alike.

    The loops that the streamed factors have are outermost: what comes once is used for all sums that need it, and work begins with
    the first of it. Or those along which readers sum up further are inside the others: such sums are over one after the other, and
    few wait at a time; what is streamed comes again for each tile of them.
    """
    last = computation.outputs[0].dims[-1]
    at_once = {last: lanes, **{loop: computation.extents[loop] for loop in computation.reductions}}
    tile = tuple(at_once.get(loop, 1) for loop in range(len(computation.extents)))
    streamed = {loop for operand in computation.inputs if not operand.is_parameter for loop in operand.dims}

    def inwards(inside: Sequence[int]) -> LoopPlan:
        keys = {loop: (loop in computation.reductions, loop in inside, loop not in streamed) for loop in range(len(tile))}
        return LoopPlan(tile, tuple(sorted(keys, key=keys.__getitem__)))

    return inwards(()), inwards(computation.summed)


# Tiles where lanes were decided ---------------------------------------------------------------------------------------


def tiles_of_lanes(computation: Computation, lanes: int, rows: int = 1) -> dict[int, int]:
    """The tiles that a decision on lanes means: long ones, so that the pipeline is seldom filled anew, in whole groups of lanes.

    Reductions take the tiles in which operands come from other computations; so does the unrolled loop where sums of one lane each
    are enough for the adder. `rows`: rows that are computed at once, whose sums do not follow one another. None along loops whose
    sizes are known at run time: what comes entry by entry cannot be put together, or into another order.
    """
    results = computation.outputs[0].dims if computation.outputs else ()
    if not lanes or not computation.reductions or not results or computation.single:
        return {}
    streamed = _streamed_tiles(computation.inputs)
    tiles = {
        loop: largest_divisor(computation.extents[loop], LONGEST_TILE) for loop in computation.reductions if loop not in streamed
    }
    *others, last = results
    terms = prod({**streamed, **tiles}[loop] for loop in computation.reductions)
    least = _least_sums(computation, terms)
    longer = next((loop for loop in reversed(others) if loop not in streamed), None)
    used_once = next((operand for operand in computation.inputs if len(operand.dims) == len(computation.extents)), None)
    groups = _groups_of_lanes(computation, lanes, rows * least)
    if longer is not None and used_once is not None:  # bound by memory: longer tiles save no traffic
        sums = {loop: streamed.get(loop, 1) for loop in others} | ({last: groups} if computation.of_integers else {})
        if enough := _enough_rows(computation.extents[longer], _least_rows(computation, used_once, terms, sums)):
            tiles[longer] = enough
        elif computation.of_integers and prod(sums.values()) < LEAST_INTEGER_SUMS:
            groups = 1  # each sum in a register until it is over, and the next begins: few would come up again too soon
    dims_of_inputs = [operand.dims for operand in computation.inputs]
    row = row_loop(computation.extents, computation.reductions, dims_of_inputs, [operand.dims for operand in computation.outputs])
    if row is not None and rows > 1 and row not in streamed:
        tiles.setdefault(row, rows * largest_divisor(computation.extents[row] // rows, max(1, LONGEST_TILE // rows)))
    if lanes == 1 and streamed.get(last, 0) >= least:
        return {**tiles, last: streamed[last]}
    return {**tiles, last: lanes * groups}


def tiles_of_terms(computation: Computation, terms: int) -> dict[int, int]:
    """The tile of the last reduction, of which so many terms are computed at once: long, in whole groups of them."""
    if not terms:
        return {}
    last = computation.reductions[-1]
    groups = largest_divisor(computation.extents[last] // terms, max(1, LONGEST_TILE // terms))
    tile, streamed = terms * groups, _streamed_tiles(computation.inputs).get(last, 0)
    return {} if streamed and streamed % terms == 0 else {last: tile}


def _least_sums(computation: Computation, terms: int) -> int:
    """Sums of one lane, of `terms` each, that a tile has at least: as many as keep the adder busy; of integers, a pipeline seldom
    filled anew."""
    return max(LEAST_INTEGER_SUMS, -(-LEAST_CYCLES // terms)) if computation.of_integers else LEAST_SUMS


def _least_rows(computation: Computation, used_once: Operand, terms: int, sums: Mapping[int, int]) -> int:
    """Rows of a tile that are enough, each of `sums` of a lane by loop, of `terms`, where `used_once` is used as it arrives.

    Loops outside of its terms run one after the other, those inside in turn. A sum of integers stays in a register where there is
    only one inside; through memory, it comes up again too soon where there are fewer than `LEAST_INTEGER_SUMS`.
    """
    if not computation.of_integers:
        return -(-LEAST_SUMS // prod(sums.values()))
    innermost = max(used_once.dims.index(loop) for loop in computation.reductions)
    inside = prod(sums.get(loop, 1) for loop in used_once.dims[innermost:])
    enough = -(-LEAST_CYCLES // (terms * prod(sums.values())))
    return 1 if inside == enough == 1 else max(enough, -(-LEAST_INTEGER_SUMS // inside))


def _streamed_tiles(inputs: Sequence[Operand]) -> Mapping[int, int]:
    """Tiles in which operands come from other computations, by loop."""
    tiles: dict[int, int] = {}
    for operand in inputs:
        if operand.order is not None:
            tiles |= dict(zip(operand.dims, operand.order.element, strict=True))
    return tiles


def _groups_of_lanes(computation: Computation, lanes: int, least: int) -> int:
    """How often a tile has the lanes: for as many sums of a lane as it has `least`, where no other loop brings those."""
    *others, last = computation.outputs[0].dims
    groups = computation.extents[last] // lanes
    short = largest_divisor(groups, max(1, LONGEST_TILE // lanes))
    if short * prod(computation.extents[loop] for loop in others) >= least:
        return short
    long = next(count for count in range(short, groups + 1) if groups % count == 0 and count >= min(groups, least))
    return long if lanes * long <= LONGEST_LINE else short


def _enough_rows(extent: int, least: int) -> int | None:
    """The fewest rows of a tile that are at least as many, so that what reads the sums begins early; None for no such divisor."""
    return next((rows for rows in range(least, min(extent, LONGEST_TILE) + 1) if extent % rows == 0), None)
