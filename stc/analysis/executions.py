"""How often an operation runs: trip counts of the loops around it, under guards on their induction variables."""

from __future__ import annotations

from xdsl.dialects import scf
from xdsl.ir import Block, Operation

from stc.analysis.index_expressions import index_expression
from stc.analysis.loops import constant_bounds, enclosing_loops
from stc.diagnostics import CompileError
from stc.dialects.facts import LABEL
from stc.iteration.trace import For, Guard, points


def executions(operation: Operation, root: Operation) -> int:
    """How often `operation` runs per run of `root`.

    CompileError where a loop has no constant bounds or a guard depends on more than induction variables and constants.
    """
    loops = tuple(_loop(loop) for loop in enclosing_loops(operation, root))
    return points(loops, _guards(operation, root, {loop.variable for loop in loops}))


def _loop(loop: scf.ForOp) -> For:
    bounds = constant_bounds(loop)
    if bounds is None:
        raise CompileError("loop bounds are not constant", where=LABEL.of(loop) or "scf.for")
    return For(loop.body.block.args[0], bounds.trip, (), bounds.lower, bounds.step)


def _guards(operation: Operation, root: Operation, variables: set[object]) -> tuple[Guard, ...]:
    """Conditions of the branches around `operation`, with the value they must have."""
    guards: list[Guard] = []
    block: Block | None = operation.parent_block()
    while block is not None:
        parent = block.parent_op()
        if parent is None or parent is root:
            break
        if isinstance(parent, scf.IfOp):
            condition = index_expression(parent.cond, {})
            if condition.variables() - variables:
                raise CompileError("a guard depends on data", accepted="guards on induction variables and constants")
            guards.append((condition, block is parent.true_region.block))
        block = parent.parent_block()
    return tuple(guards)
