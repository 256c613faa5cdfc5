"""Tiles of whole rows: loops over the last dimension of a result and over sums are not tiled.

    stc compile examples/linear_relu.mlir --load examples/strategies/tiling.py --tiling whole-rows --out FOLDER
"""

from stc.design_space.orders import LoopPlan
from stc.design_space.tiling import default_order, default_tiles
from stc.strategies.tiling import TILING, LoopPlans, TilingProblem


@TILING.strategy("whole-rows")
def whole_rows(problem: TilingProblem) -> LoopPlans:
    plans: dict[str, LoopPlan] = {}
    for op in problem.computations:
        extents, reductions = op.computation.extents, op.computation.reductions
        whole = {*reductions, op.computation.outputs[0].dims[-1]}
        rows = default_tiles(extents, problem.sizes.columns)
        tile = tuple(extent if loop in whole else rows[loop] for loop, extent in enumerate(extents))
        plans[op.name] = LoopPlan(tile, default_order(len(extents), reductions))
    return plans
