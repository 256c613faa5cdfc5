"""Replacing the results of a kernel: its signature follows from what it yields, so that the op has to be made anew."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from stc.dialects.dataflow import KernelOp


def with_results(kernel: KernelOp, inside: Sequence[SSAValue], types: Sequence[Attribute]) -> KernelOp:
    """A kernel that yields `inside` as results of `types`, in place of `kernel`, whose body it takes.

    The old kernel stays, without a body, until the caller has replaced the uses of its results and erases it.
    """
    kernel.terminator.operands = list(inside)
    body = kernel.detach_region(kernel.body)
    new = KernelOp(kernel.sym_name, kernel.inputs, [], types, body, attributes=kernel.attributes)
    Builder(InsertPoint.before(kernel)).insert(new)
    return new
