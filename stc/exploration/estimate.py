"""What a tiled graph is estimated to take, from loop orders alone: cycles, bytes on chip, bytes from and to external memory.

Nothing is compiled for it. Cycles are those of the model that the search for parallelism has (`stc.design_space.makespan`), here
with the loops as they are. Bytes on chip are those of converters, and of the tiles and accumulators of sums; FIFOs, whose depths
follow from a design that is finished, are not in it. A tensor in external memory is read once for each order in which it is wanted.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from stc.design_space.makespan import Makespan
from stc.design_space.order_propagation import ConcatOf, Propagation, TiledOp, TilingNode
from stc.design_space.orders import (
    Computation,
    LoopPlan,
    Operand,
    TileSizes,
    accumulator_bytes,
    converter_cost,
    input_order,
    output_order,
)
from stc.iteration.order import StreamOrder


@dataclass(frozen=True)
class GraphEstimate:
    """`cycles` from the first operand to the last result; bytes otherwise."""

    cycles: int
    on_chip_bytes: int
    bytes_moved: int


def graph_estimate(
    nodes: Sequence[TilingNode], plans: Mapping[str, LoopPlan], cycles: Mapping[str, int], sizes: TileSizes
) -> GraphEstimate:
    """Of `nodes` in topological order, whose computations are tiled as in `plans` and take `cycles` by themselves."""
    tiled = with_plans(nodes, plans)
    walk = Propagation(tiled, sizes)
    ops = [node for node in tiled if isinstance(node, TiledOp)]
    makespan = Makespan({op.name: cycles[op.name] for op in ops}, walk.after)
    streamed = set(_streamed(tiled))
    read: set[Hashable] = {operand.tensor for op in ops for operand in op.computation.inputs}
    read |= {source for node in tiled if not isinstance(node, TiledOp) for source in _sources(node)}
    on_chip, loads, stores = 0, dict[tuple[Hashable, StreamOrder], int](), 0
    for op in ops:
        plan, known = plans[op.name], op.computation
        inputs = tuple(replace(operand, order=walk.orders.get(operand.tensor)) for operand in known.inputs)
        on_chip += _kept_bytes(replace(known, inputs=inputs), plan)
        for operand in (each for each in inputs if each.dims):
            wanted = input_order(known, plan.tile, plan.order, operand)
            if not operand.is_parameter:
                on_chip += converter_cost(operand, wanted)
            if operand.tensor not in streamed:
                order = wanted if operand.is_parameter or operand.order is None else operand.order
                loads[operand.tensor, order] = order.token_count * order.element_count * operand.entry_bytes
        for operand in known.outputs:
            if operand.tensor not in read:
                order = output_order(known, plan.tile, plan.order, operand)
                stores += order.token_count * order.element_count * operand.entry_bytes
    return GraphEstimate(round(makespan.total), on_chip, sum(loads.values()) + stores)


def with_plans(nodes: Sequence[TilingNode], plans: Mapping[str, LoopPlan]) -> list[TilingNode]:
    """The nodes, with what is said of computations."""
    return [replace(node, given=plans.get(node.name)) if isinstance(node, TiledOp) else node for node in nodes]


def _sources(node: TilingNode) -> Sequence[Hashable]:
    """What a movement reads that a kernel streams."""
    if isinstance(node, TiledOp):
        return ()
    given = node.sources if isinstance(node, ConcatOf) else (node.source,)
    return [source for source in given if source is not None]


def _streamed(nodes: Sequence[TilingNode]) -> Iterator[Hashable]:
    """The tensors that do not come from external memory."""
    for node in nodes:
        if isinstance(node, TiledOp):
            yield from (operand.tensor for operand in node.computation.outputs)
        elif _sources(node):
            yield node.result


def _kept_bytes(computation: Computation, plan: LoopPlan) -> int:
    """What a task keeps: of sums their tile and accumulators, and the tiles of operands that are used more than once."""
    if not computation.reductions:
        return 0
    results = sum(_tile_bytes(result, plan) for result in computation.outputs)
    again = [each for each in computation.inputs if prod(plan.tile[loop] for loop in _others(computation, each)) > 1]
    return results + accumulator_bytes(computation, plan.tile, plan.order) + sum(_tile_bytes(each, plan) for each in again)


def _others(computation: Computation, operand: Operand) -> list[int]:
    return [loop for loop in range(len(computation.extents)) if loop not in operand.dims]


def _tile_bytes(operand: Operand, plan: LoopPlan) -> int:
    return prod(plan.tile[loop] for loop in operand.dims) * operand.entry_bytes
