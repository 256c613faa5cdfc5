"""Tile sizes and loop orders.

A strategy gets the computations and what moves data between them, in topological order, and returns for every computation its tile
sizes and the order of its tile loops. The order in which a tensor streams follows from these.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from stc.design_space.order_propagation import Propagation, TiledOp, TilingNode
from stc.design_space.orders import Computation, LoopPlan, TileSizes
from stc.design_space.tiling import default_order, default_tiles
from stc.strategies.registry import Decision, WrongPlan


@dataclass(frozen=True)
class TilingProblem:
    """`nodes` in topological order (`stc.design_space.order_propagation`); `sizes`: default tiles."""

    nodes: Sequence[TilingNode]
    sizes: TileSizes

    @property
    def computations(self) -> list[TiledOp]:
        """Those that a plan is wanted for."""
        return [node for node in self.nodes if isinstance(node, TiledOp) and node.given is None]


LoopPlans: TypeAlias = Mapping[str, LoopPlan]
"""Tile and order of each computation, by name."""


def check_loops(problem: TilingProblem, plans: LoopPlans) -> None:
    """WrongPlan unless every computation has tiles that divide its loops, and an order of them."""
    for op in problem.computations:
        if op.name not in plans:
            raise WrongPlan(f"{op.name} has no tiles")
        plan, extents = plans[op.name], op.computation.extents
        if len(plan.tile) != len(extents):
            raise WrongPlan(f"{op.name} has {len(plan.tile)} tiles for its {len(extents)} loops")
        if wrong := [loop for loop in op.computation.single if plan.tile[loop] != 1]:
            raise WrongPlan(f"loop {wrong[0]} of {op.name}, whose size is known at run time, has tiles of {plan.tile[wrong[0]]}")
        for loop, (tile, extent) in enumerate(zip(plan.tile, extents, strict=True)):
            if operator.index(tile) < 1 or extent % tile:
                raise WrongPlan(f"tile {tile} of loop {loop} of {op.name} does not divide its extent {extent}")
        if sorted(plan.order) != list(range(len(extents))):
            raise WrongPlan(f"the order {list(plan.order)} of {op.name} is not each of its {len(extents)} loops once")


TILING: Decision[TilingProblem, LoopPlans] = Decision(
    "tiling", "propagated", "for every computation tiles that divide its loops, and an order of these", check_loops
)


@TILING.strategy("propagated")
def propagated(problem: TilingProblem) -> LoopPlans:
    """Ours: tiles inherited from neighbours, the order of least memory of converters and accumulators."""
    return Propagation(problem.nodes, problem.sizes).plans


@TILING.strategy("published")
def published(problem: TilingProblem) -> LoopPlans:
    """As published: one `default_tile_size` for every loop, parallel loops outside, reductions inside."""
    return {
        op.name: LoopPlan(
            _single(op.computation, default_tiles(op.computation.extents, problem.sizes.columns)),
            default_order(len(op.computation.extents), op.computation.reductions),
        )
        for op in problem.computations
    }


def _single(computation: Computation, tiles: Sequence[int]) -> tuple[int, ...]:
    """`tiles`, but 1 where the size is known at run time, which was not published."""
    return tuple(1 if loop in computation.single else tile for loop, tile in enumerate(tiles))
