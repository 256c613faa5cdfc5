"""How often an operation runs at most: trip counts of the loops around it, under guards on their induction variables."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.analysis.index_expressions import IndexExpression
from stc.analysis.index_ranges import guards_around
from stc.analysis.loops import enclosing_loops, largest_bounds
from stc.diagnostics import CompileError
from stc.dialects.facts import LABEL
from stc.dialects.itensor import SymbolType
from stc.iteration.size import static
from stc.iteration.trace import For, points


def executions(operation: Operation, root: Operation) -> int:
    """How often `operation` runs per run of `root`, where symbols are at their maxima.

    CompileError where a loop's trip count is no size or a guard depends on more than induction variables and constants.
    """
    loops = tuple(_loop(loop) for loop in enclosing_loops(operation, root))
    return static(points(loops, tuple((_largest(guard), True) for guard in guards_around(operation, root))))


def _largest(guard: IndexExpression) -> IndexExpression:
    """A guard where symbols are at their maxima."""
    return guard.at({value: value.type.data.maximum for value in guard.variables() if isinstance(value.type, SymbolType)})


def _loop(loop: scf.ForOp) -> For:
    bounds = largest_bounds(loop)
    if bounds is None:
        raise CompileError("loop bounds are not constant", where=LABEL.of(loop) or "scf.for")
    return For(loop.body.block.args[0], bounds.trip, (), bounds.lower, bounds.step)
