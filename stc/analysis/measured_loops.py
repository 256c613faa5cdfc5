"""Pipelined loops whose interval and depth were measured: a synthesis has said them, and estimates give way."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects import scf
from xdsl.ir import Operation

from stc.analysis.loops import declared_depth, loop_labels, pipeline_ii
from stc.dialects.dataflow import OwnKernelOp, TaskOp, own_kernel_of


def is_declared(loop: scf.ForOp) -> bool:
    """Whether the loop stands for one in an own kernel, which says itself what it takes."""
    parent = loop.parent_op()
    while parent is not None and not isinstance(parent, OwnKernelOp):
        parent = parent.parent_op()
    return parent is not None


def pipelined_loops(root: Operation) -> Iterator[tuple[TaskOp, str, scf.ForOp]]:
    """The pipelined loops of all tasks in `root` with their labels; those of own kernels left out."""
    for task in (op for op in root.walk() if isinstance(op, TaskOp) and own_kernel_of(op) is None):
        yield from ((task, label, loop) for loop, label in loop_labels(task).items() if pipeline_ii(loop) is not None)


def measured_loops(root: Operation) -> Mapping[tuple[str, str], tuple[int, int]]:
    """Interval and depth of the loops that were measured, by task and label."""
    return {
        (task.sym_name.data, label): (ii, depth)
        for task, label, loop in pipelined_loops(root)
        if (depth := declared_depth(loop)) is not None and (ii := pipeline_ii(loop)) is not None
    }
