"""Results of kernels: replacing them, which makes the op anew since its signature follows from what it yields, and the refused."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp


def with_results(kernel: KernelOp, inside: Sequence[SSAValue], types: Sequence[Attribute]) -> KernelOp:
    """A kernel that yields `inside` as results of `types`, in place of `kernel`, whose body it takes.

    The old kernel stays, without a body, until the caller has replaced the uses of its results and erases it.
    """
    kernel.terminator.operands = list(inside)
    body = kernel.detach_region(kernel.body)
    new = KernelOp(kernel.sym_name, kernel.inputs, [], types, body, attributes=kernel.attributes, group=kernel.group)
    Builder(InsertPoint.before(kernel)).insert(new)
    return new


def refuse_in_place(kernels: Sequence[KernelOp], where: str) -> None:
    """CompileError where a kernel updates an operand in place: no pass carries that on yet."""
    for kernel in kernels:
        if any(place is not None for place in kernel.places):
            name = kernel.sym_name.data
            raise CompileError(f"kernel @{name} updates an operand in place", where=where, accepted="results of their own")
