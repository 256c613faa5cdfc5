"""Reference semantics of tensor-level functions: linalg, tensor, arith and math on numpy.

    outputs = execute(func_op, [x, weight])

Importing this file registers the operations; further levels register theirs in files of their own (`machine.implements`).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.dialects.builtin import TensorType
from xdsl.dialects.linalg import ops as linalg
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.attrs import IteratorType
from xdsl.ir.affine import AffineDimExpr, AffineMap

from stc.execution import asserts, constants, functions, scalars, tensors
from stc.execution.generic import iterate, run_structured
from stc.execution.machine import Machine, Value, execute, implements

__all__ = ["asserts", "constants", "execute", "functions", "scalars", "tensors"]

implements(LinalgStructuredOperation)(run_structured)


@implements(linalg.FillOp)
def run_fill(machine: Machine, op: linalg.FillOp) -> Sequence[Value]:
    kind = op.outputs[0].type
    assert isinstance(kind, TensorType)
    return [np.full(kind.get_shape(), machine.values[op.inputs[0]])]


@implements(linalg.BroadcastOp)
def run_broadcast(machine: Machine, op: linalg.BroadcastOp) -> Sequence[Value]:
    source, initial = machine.operands(op)
    return [np.array(np.broadcast_to(np.expand_dims(source, tuple(op.dimensions.get_values())), initial.shape))]


@implements(linalg.ReduceOp)
def run_reduce(machine: Machine, op: linalg.ReduceOp) -> Sequence[Value]:
    source, _ = operands = machine.operands(op)
    reduced = op.dimensions.get_values()
    kinds = [IteratorType.REDUCTION if d in reduced else IteratorType.PARALLEL for d in range(source.ndim)]
    retained = tuple(AffineDimExpr(d) for d in range(source.ndim) if d not in reduced)
    maps = [AffineMap.identity(source.ndim), AffineMap(source.ndim, 0, retained)]
    return iterate(machine, op, op.region.block, maps, kinds, operands, 1)
