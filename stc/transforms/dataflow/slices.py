"""Slices of tensors outside of kernels, which copies of a computation read."""

from __future__ import annotations

from xdsl.dialects import tensor
from xdsl.ir import SSAValue

from stc.dialects.facts import PORTS
from stc.dialects.use_def import through_reshapes


def ports_of_slice(value: SSAValue) -> tuple[int, SSAValue] | None:
    """By how many memory ports `value`, a slice, comes with its like, and of which tensor these are; None where it has its own."""
    made = through_reshapes(value).owner
    if not isinstance(made, tensor.ExtractSliceOp) or (said := PORTS.of(made)) is None:
        return None
    return said[-1], _divided(made.source)


def _divided(value: SSAValue) -> SSAValue:
    made = through_reshapes(value).owner
    return _divided(made.source) if isinstance(made, tensor.ExtractSliceOp) else value
