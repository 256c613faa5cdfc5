"""The same share of the DSPs for every computation, whatever it has to do: lanes only, no copies.

    stc compile examples/linear_relu.mlir --load examples/strategies/parallelism.py --parallelism even --budget dsp=40 --out FOLDER
"""

from stc.design_space.parallelism import Parallelism, lane_counts
from stc.strategies.parallelism import PARALLELISM, ParallelismPlan, ParallelismProblem


@PARALLELISM.strategy("even")
def even(problem: ParallelismProblem) -> ParallelismPlan:
    share = problem.most.dsp // max(1, len(problem.works))
    return {
        work.name: Parallelism(max([1, *(lanes for lanes in lane_counts(work.lane_extent) if lanes * work.point.dsp <= share)]), 1)
        for work in problem.works
    }
