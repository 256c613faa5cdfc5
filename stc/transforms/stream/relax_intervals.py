"""`relax-intervals`: iterations whose inputs come slower than they are computed do not overlap."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from stc.analysis.loop_estimates import innermost_loops, loop_estimate
from stc.analysis.loops import declared_depth, most_trips, pipeline_ii
from stc.analysis.recurrences import flattened_nest
from stc.analysis.task_graph import tasks_of
from stc.analysis.task_traces import Hardware
from stc.analysis.token_spacing import TokenSpacing, stops_with_results
from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import PIPELINE
from stc.iteration.task_timeline import first_stage
from stc.platforms.platform import load_platform


@dataclass(frozen=True)
class RelaxIntervals(ModulePass):
    """Give a loop the interval of its depth, where the tokens that each iteration reads come no faster.

    A pipeline that stops as a whole (`stp`) keeps what it computed while an iteration waits to read: with an interval of 1, as many
    results as it has stages. Where tokens are far apart, the first result comes when that many more tokens have: of 16 reciprocals
    in 14 stages, when nearly all are there. If an iteration begins no sooner than the one before it has ended, nothing is kept.

    How far apart tokens are at least is known from the loops of the task that writes them (`stc.analysis.token_spacing`), so that
    the loop still keeps up with it. Loops that write no stream, or read one under a guard alone, stay as they are, and so do those
    with an interval of more than that. An interval of several cycles lets iterations share operators, which estimates count.

    FIFOs are sized for that interval: a tool that began iterations sooner than it is asked would keep more, which may be more than
    FIFOs beside the loop have room for. That it does not is assumed.

    Options: `platform` (default u55c), whose cycle operators are scheduled for.

        scf.for ... { scf.for ... {stc.pipeline = 1 : i32} (64 iterations)  ... stream.write %scale, %s }
        scf.for %i = %c0 to %c16 step %c1 { %v = stream.read %s ... arith.divf ... stream.write %q, %out } {stc.pipeline = 1 : i32}
      becomes, where an iteration takes 14 cycles
        scf.for %i = %c0 to %c16 step %c1 { %v = stream.read %s ... arith.divf ... stream.write %q, %out } {stc.pipeline = 14 : i32}
    """

    name = "relax-intervals"

    platform: str = "u55c"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        hardware = Hardware(load_platform(self.platform).cycle_ns)
        for kernel in [found for found in op.walk() if isinstance(found, KernelOp)]:
            spacing = TokenSpacing(hardware)
            for task in tasks_of(kernel):
                for loop in filter(_waits_to_read, innermost_loops(task)):
                    depth = loop_estimate(loop, task, hardware.clock_ns).depth
                    if _keeps_results(loop, depth) and depth <= spacing.of_iterations(loop, task):
                        PIPELINE.put(loop, depth)


def _waits_to_read(loop: scf.ForOp) -> bool:
    """Whether a loop of ours runs several times, and keeps what it wrote while it waits."""
    is_ours = pipeline_ii(loop) is not None and declared_depth(loop) is None
    return is_ours and stops_with_results(loop) and prod(map(most_trips, flattened_nest(loop))) > 1


def _keeps_results(loop: scf.ForOp, depth: int) -> bool:
    """Whether an iteration reads before the one before it writes; the first stage reads, the last one writes."""
    return (pipeline_ii(loop) or depth) < depth - first_stage(depth)
