r"""A kernel of one's own: the softmax over the last dimension is `softmax.cpp` beside this file, not what the compiler makes.

    stc compile examples/own_kernel/model.py:factory --load examples/own_kernel/softmax.py \
        --before propagate-orders=own-softmax --out FOLDER

The pass finds maximum, exponential, sum and quotient in linalg, before tiles are chosen, and puts a kernel in their place whose
task is the C++ function. What that does to its ports is declared here; everything around it (converters where neighbours have
other orders, FIFO depths, reports) follows from the declaration.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, log2, prod
from pathlib import Path
from typing import cast

import numpy as np
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from stc.diagnostics import CompileError
from stc.dialects.dataflow import KernelOp, OwnKernelOp, OwnLoop, TaskOp, YieldOp
from stc.dialects.itensor import EmptyOp, ItensorType
from stc.execution.own_kernels import python_kernel

SOURCE = Path(__file__).with_name("softmax.cpp")
COMPARE, ADD, MULTIPLY, EXP, DIVIDE, MEMORY = 2, 7, 4, 13, 12, 2
"""Stages of the operators at 250 MHz; what `stc estimate` says of those that the compiler places."""


@python_kernel("own-softmax")
def softmax(x: np.ndarray) -> np.ndarray:
    """What the kernel computes, for executing IR without g++."""
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


@dataclass(frozen=True)
class OwnSoftmax(ModulePass):
    """Put a kernel written by hand in place of each softmax over the last dimension.

    Options: `lanes` (default 8), entries that a token has at most: the largest divisor of a row up to it is taken.
    """

    name = "own-softmax"

    lanes: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.lanes < 1:
            raise CompileError(f"lanes is {self.lanes}", where=self.name, accepted="at least 1")
        for number, (source, quotient) in enumerate(list(softmaxes(op))):
            kernel = own_softmax(source, f"softmax_{number}", self.lanes)
            kernel.results[0].name_hint = quotient.results[0].name_hint
            Rewriter.replace_op(quotient, [kernel], list(kernel.results))
            erase_unused(kernel)


def own_softmax(source: SSAValue, name: str, lanes: int) -> KernelOp:
    """A kernel whose task is the C++ function, on the tensor `source`."""
    assert isinstance(source.type, TensorType)
    *outer, row = source.type.get_shape()
    rows, width = prod(outer), max(width for width in range(1, lanes + 1) if row % width == 0)
    tokens = row // width
    trips, steps = [*outer, tokens], [*(1 for _ in outer), width]
    kind = ItensorType.of([*(1 for _ in outer), width], trips, steps, range(len(trips)), f32)
    kernel = KernelOp(name, [source], [kind], [source.type])
    kernel.arguments[0].name_hint = source.name_hint
    task = TaskOp(name, [kernel.arguments[0]], [empty := EmptyOp(kind)])
    task.output_ports[0].name_hint = "out"
    pipeline = OwnLoop(
        "softmax_tokens",
        trips=(rows + 2, tokens),
        ii=1,
        depth=stages(width),
        accesses=(((0, rows), (0, tokens)), ((2, rows + 2), (0, tokens))),
    )
    own = OwnKernelOp(
        "softmax",
        task.input_ports,
        task.output_ports,
        file=SOURCE.name,
        source=SOURCE.read_text(),
        template=[rows, tokens, width],
        loops=[pipeline],
        resources={"dsp": 17 * width, "lut": 2200 * width, "ff": 2600 * width, "bram18": 4 * width if tokens > 32 else 0},
        python="own-softmax",
    )
    task.body.block.add_ops([own, YieldOp(*own.results)])
    kernel.body.block.add_ops([empty, task, YieldOp(*task.results)])
    return kernel


def stages(width: int) -> int:
    """Cycles from a token to the token that leaves in the same iteration: the longest way through one, by hand."""
    parts = 3  # eight partial results, pairwise
    sums = MEMORY + ADD + EXP + ceil(log2(width)) * ADD + ADD
    peak = COMPARE * (ceil(log2(width)) + 1 + parts)
    return sums + peak + parts * ADD + DIVIDE + MULTIPLY + MEMORY


# Finding it -------------------------------------------------------------------------------------------------------------


def softmaxes(module: ModuleOp) -> Iterator[tuple[SSAValue, Operation]]:
    """What goes into each softmax, and the quotient that comes out of it."""
    for quotient in module.walk():
        if (operands := computed(quotient, arith.DivfOp)) is None or len(operands) != 2:
            continue
        power, total = operands[0].owner, operands[1].owner
        inputs = computed(power, math.ExpOp)
        if inputs is None or len(inputs) != 2 or computed(total, arith.AddfOp) != (operands[0],):
            continue
        peak = inputs[1].owner
        if computed(peak, arith.MaximumfOp, arith.MaxnumfOp) == (inputs[0],) and _is_last(peak):
            yield inputs[0], quotient


def computed(op: Operation | Block, *kinds: type[Operation]) -> tuple[SSAValue, ...] | None:
    """The inputs of a generic whose body has an operation of one of `kinds`, None for anything else."""
    if not isinstance(op, linalg.GenericOp) or not any(isinstance(inner, kinds) for inner in op.body.block.ops):
        return None
    return tuple(op.inputs)


def _is_last(peak: Operation | Block) -> bool:
    """Whether a reduction goes over the last dimension of its input alone."""
    kinds = [kind.data for kind in cast(linalg.GenericOp, peak).get_iterator_types()]
    return all(kind is IteratorType.PARALLEL for kind in kinds[:-1]) and kinds[-1] is IteratorType.REDUCTION


def erase_unused(kernel: KernelOp) -> None:
    """The operations of the softmax that nothing uses any more."""
    block = kernel.parent_block()
    assert block is not None
    for op in reversed(list(block.ops)):
        if isinstance(op, linalg.GenericOp) and not any(result.uses for result in op.results):
            Rewriter.erase_op(op)
