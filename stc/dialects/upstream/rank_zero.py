"""`tensor.expand_shape` of a tensor of rank 0, which MLIR accepts and xDSL 0.74 refuses.

`tensor.expand_shape %x [] output_shape [1, 1] : tensor<f32> into tensor<1x1xf32>` has an empty reassociation: all dimensions of
the result are units.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import ShapedType
from xdsl.dialects.tensor import ExpandShapeOp

_verify: Callable[[ExpandShapeOp], None] = ExpandShapeOp.verify_


def _verify_with_rank_zero(self: ExpandShapeOp) -> None:
    source, result = self.src.type, self.result.type
    if isinstance(source, ShapedType) and not source.get_shape() and isinstance(result, ShapedType) and not len(self.reassociation):
        shape = result.get_shape()
        if set(shape) <= {1} and tuple(self.static_output_shape.get_values()) == shape:
            return
    _verify(self)


def accept_rank_zero() -> None:
    """Let xDSL's own class accept it from now on."""
    ExpandShapeOp.verify_ = _verify_with_rank_zero
