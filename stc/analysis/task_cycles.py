"""Cycles of a task at the itensor level, estimated from its loops (`stc.design_space.folding` says how)."""

from __future__ import annotations

from math import prod

from xdsl.dialects.linalg import ops as linalg
from xdsl.ir import Operation

from stc.analysis.executions import executions
from stc.analysis.generic_loops import GenericLoops, points_at_once, shape_of
from stc.dialects.dataflow import TaskOp
from stc.dialects.itensor import ReadOp, WriteOp
from stc.iteration.vectorize import largest_divisor


def task_cycles(task: TaskOp, lanes: int) -> int:
    """Cycles of everything in `task`, where tokens have at most `lanes` entries. CompileError where a loop is not constant."""
    return sum(executions(op, task) * _cycles_once(op, lanes) for op in task.walk())


def access_cycles(access: ReadOp | WriteOp, task: TaskOp, lanes: int) -> int:
    """Cycles that `task` spends on one of its ports."""
    return executions(access, task) * _cycles_once(access, lanes)


def _cycles_once(op: Operation, lanes: int) -> int:
    """Cycles of one execution of `op`, what is nested in it left out."""
    match op:
        case linalg.GenericOp():
            return -(-prod(GenericLoops(op).extents) // points_at_once(op))
        case linalg.FillOp():
            return _tokens(shape_of(op.results[0].type), lanes)
        case ReadOp():
            return _tokens(op.itensor_type.element_shape, lanes)
        case WriteOp():
            return _tokens(op.itensor_type.element_shape, lanes)
        case _:
            return 0


def _tokens(shape: tuple[int, ...], lanes: int) -> int:
    """Vectors of at most `lanes` entries that make up a tile."""
    return prod(shape) // largest_divisor(shape[-1], lanes) if shape else 1
