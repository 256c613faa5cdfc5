"""How often an operation runs: trip counts of the loops around it, under guards on their induction variables."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.analysis.index_ranges import guards_around
from stc.analysis.loops import constant_bounds, enclosing_loops
from stc.diagnostics import CompileError
from stc.dialects.facts import LABEL
from stc.iteration.trace import For, points


def executions(operation: Operation, root: Operation) -> int:
    """How often `operation` runs per run of `root`.

    CompileError where a loop has no constant bounds or a guard depends on more than induction variables and constants.
    """
    loops = tuple(_loop(loop) for loop in enclosing_loops(operation, root))
    return points(loops, tuple((guard, True) for guard in guards_around(operation, root)))


def _loop(loop: scf.ForOp) -> For:
    bounds = constant_bounds(loop)
    if bounds is None:
        raise CompileError("loop bounds are not constant", where=LABEL.of(loop) or "scf.for")
    return For(loop.body.block.args[0], bounds.trip, (), bounds.lower, bounds.step)
