"""xDSL's clean-up keeps linalg operations, and others that declare no effects: on values they have none."""

from __future__ import annotations

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.linalg.abstract_ops import LinalgStructuredOperation
from xdsl.dialects.linalg.ops import BroadcastOp, ReduceOp
from xdsl.ir import Operation
from xdsl.traits import IsTerminator

_STRUCTURED = (LinalgStructuredOperation, BroadcastOp, ReduceOp)
_VALUE_DIALECTS = (arith.Arith.name, math.Math.name, tensor.Tensor.name)


def has_no_effect(op: Operation) -> bool:
    """Whether nothing is lost with an operation whose results are not used."""
    if op.has_trait(IsTerminator) or not op.results:
        return False
    return isinstance(op, _STRUCTURED) or op.name.split(".")[0] in _VALUE_DIALECTS
