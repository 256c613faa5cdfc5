"""Erasing tensor-level operations whose results nobody uses.

xDSL's own clean-up keeps linalg operations because they declare no effects; on tensors they have none.
"""

from __future__ import annotations

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, ReduceOp
from xdsl.ir import Block, Operation
from xdsl.traits import IsTerminator

from stc.analysis.host_work import functions_of

_STRUCTURED = (LinalgStructuredOperation, BroadcastOp, ReduceOp)
_VALUE_DIALECTS = (arith.Arith.name, math.Math.name, tensor.Tensor.name)


def erase_dead_ops(module: ModuleOp) -> None:
    """Erase unused operations of every function, users before producers."""
    for function in functions_of(module):
        _erase_in(function.body.block)


def _erase_in(block: Block) -> None:
    for op in reversed(list(block.ops)):
        if _has_no_effect(op) and not any(result.uses for result in op.results):
            op.detach()
            op.erase()


def _has_no_effect(op: Operation) -> bool:
    if op.has_trait(IsTerminator) or not op.results:
        return False
    return isinstance(op, _STRUCTURED) or op.name.split(".")[0] in _VALUE_DIALECTS
