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


def pass_on(builder: Builder, source: SSAValue, target: SSAValue, place: tuple[SSAValue, SSAValue] | None) -> None:
    """Write the next token of `source` as that of `target`, and put it at a `place`, where an index of an array is one."""
    token = builder.insert(ReadOp(source)).result
    if place is not None:
        builder.insert(vector.StoreOp(token, place[0], [place[1]]))
    builder.insert(WriteOp(token, target))
