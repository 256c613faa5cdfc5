"""Tensors outside of kernels that are slices of one, for copies of a computation."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from stc.dialects.use_def import through_reshapes


def divided_tensor(value: SSAValue) -> SSAValue:
    """The tensor of which `value` is a slice, perhaps reshaped; itself where it is none."""
    made = through_reshapes(value).owner
    return divided_tensor(made.source) if isinstance(made, tensor.ExtractSliceOp) else value
