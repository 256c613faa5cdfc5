"""A compute unit for what reads memory, one for what writes it, one for all that computes between them.

    stc compile examples/linear_relu.mlir --load examples/strategies/units.py --units three --out FOLDER
"""

from stc.strategies.units import UNITS, UnitPlan, UnitProblem


@UNITS.strategy("three")
def three(problem: UnitProblem) -> UnitPlan:
    read = {channel.producer for channel in problem.graph.channels if channel.producer in problem.ports}
    return {
        task: "compute" if task not in problem.ports else "load" if task in read else "store" for task in problem.graph.tasks
    }
