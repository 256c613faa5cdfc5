"""A module of which a launch computes several steps, and the same of one."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, ModuleOp
from xdsl.rewriter import InsertPoint

from stc.dialects.dataflow import KernelOp
from stc.dialects.facts import STEPS


def one_step(module: ModuleOp) -> ModuleOp:
    """What `module` does in the first step of a launch, on the memories of all (`repeat-steps`): it is a design of its own, whose
    figures are those of a step; `module` itself where a launch computes one."""
    if all(kernel.steps == 1 for kernel in module.walk() if isinstance(kernel, KernelOp)):
        return module
    copy = module.clone()
    for op in list(copy.walk()):
        if isinstance(op, KernelOp):
            op.steps = 1
        elif isinstance(op, scf.ForOp) and STEPS.on(op):
            one = arith.ConstantOp(IntegerAttr(1, IndexType()))
            op.operands[1] = Builder(InsertPoint.before(op)).insert(one).result
    return copy
