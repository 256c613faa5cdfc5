"""Every unit on the die of the memory, or a sentence that says what it lacks there.

    stc compile examples/linear_relu.mlir --load examples/strategies/dies.py --dies at-memory --units memory --out FOLDER
"""

from stc.design_space.dies import DieGraph
from stc.strategies.dies import DIES, DieAssignment


@DIES.strategy("at-memory")
def at_memory(graph: DieGraph) -> DieAssignment:
    die = next(part.die for part in graph.parts if part.die is not None)
    return {part.name: die for part in graph.parts}
