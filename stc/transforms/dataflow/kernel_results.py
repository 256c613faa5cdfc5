"""Results of kernels: replacing them, which makes the op anew since its signature follows from what it yields, and the refused."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from stc.diagnostics import CompileError
from stc.dialects.dataflow import InPlaceAttr, KernelOp, Place


def with_results(
    kernel: KernelOp, inside: Sequence[SSAValue], types: Sequence[Attribute], places: Sequence[Place | None] = ()
) -> KernelOp:
    """A kernel that yields `inside` as results of `types`, in place of `kernel`, whose body it takes; `places` of those in place.

    The old kernel stays, without a body, until the caller has replaced the uses of its results and erases it.
    """
    kernel.terminator.operands = list(inside)
    body = kernel.detach_region(kernel.body)
    in_place = [None if place is None else InPlaceAttr(place) for place in places]
    new = KernelOp(kernel.sym_name, kernel.inputs, [], types, body, in_place, kernel.attributes, kernel.group)
    Builder(InsertPoint.before(kernel)).insert(new)
    return new


def refuse_in_place(kernels: Sequence[KernelOp], where: str) -> None:
    """CompileError where a kernel updates an operand in place, for passes that come before results do."""
    for kernel in kernels:
        if any(place is not None for place in kernel.places):
            name = kernel.sym_name.data
            raise CompileError(f"kernel @{name} updates an operand in place", where=where, accepted="results of their own")
