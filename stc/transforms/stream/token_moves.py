"""A token between a stream and an array of a task."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue

from stc.dialects.stream import ReadOp, StreamType, WriteOp


def receive(builder: Builder, source: SSAValue, array: SSAValue, at: SSAValue) -> None:
    """Put the next token of `source` where index `at` of `array` begins."""
    builder.insert(vector.StoreOp(builder.insert(ReadOp(source)).result, array, [at]))


def send(builder: Builder, array: SSAValue, at: SSAValue, target: SSAValue) -> None:
    """Write what begins at index `at` of `array` as the next token of `target`."""
    assert isinstance(target.type, StreamType)
    token = VectorType(target.type.scalar_type, [target.type.lanes])
    builder.insert(WriteOp(builder.insert(vector.LoadOp(array, [at], token)).result, target))
