"""Cycles of a task at the itensor level, estimated from its loops (`stc.design_space.folding` says how)."""

from __future__ import annotations

from math import prod

from xdsl.dialects.linalg import ops as linalg

from stc.analysis.executions import executions
from stc.analysis.generic_loops import GenericLoops, points_at_once
from stc.dialects.dataflow import TaskOp


def computing_cycles(task: TaskOp) -> int:
    """Cycles of all computations in `task`, which happen one after the other. CompileError where a loop is not constant."""
    return sum(executions(op, task) * cycles_once(op) for op in task.walk() if isinstance(op, linalg.GenericOp))


def cycles_once(generic: linalg.GenericOp) -> int:
    """Cycles of a computation on one tile."""
    return -(-prod(GenericLoops(generic).extents) // points_at_once(generic))
