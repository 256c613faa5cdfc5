"""FIFOs as deep as they get when nothing waits: the most tokens that lie in each in the earliest run with unlimited ones.

    stc compile examples/linear_relu.mlir --load examples/strategies/fifos.py --fifo-strategy high-water --out FOLDER
"""

from stc.fifo.curves import FifoCurves
from stc.fifo.network_run import earliest_run
from stc.strategies.fifos import FIFOS, FifoPlan, FifoProblem


@FIFOS.strategy("high-water")
def high_water(problem: FifoProblem) -> FifoPlan:
    run = earliest_run(problem.network)
    slots = {
        fifo.name: FifoCurves(run.written[fifo.name], run.needed[fifo.name], run.taken[fifo.name]).slots(delay=0)
        for fifo in problem.fifos
    }
    return FifoPlan(slots, makespan=run.makespan)
