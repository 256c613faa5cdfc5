"""The `stream` dialect: FIFOs and ping-pong buffers after bufferization; only data type and depth remain."""

from xdsl.ir import Dialect

from stc.dialects.stream.ops import (
    AcquireOp,
    BufferOp,
    CastOp,
    CreateOp,
    FromItensorOp,
    ReadOp,
    ToItensorOp,
    WriteOp,
)
from stc.dialects.stream.types import BlockType, StreamType

__all__ = [
    "AcquireOp",
    "BlockType",
    "BufferOp",
    "CastOp",
    "CreateOp",
    "FromItensorOp",
    "ReadOp",
    "Stream",
    "StreamType",
    "ToItensorOp",
    "WriteOp",
]

Stream = Dialect(
    "stream",
    [CreateOp, ReadOp, WriteOp, CastOp, FromItensorOp, ToItensorOp, BufferOp, AcquireOp],
    [StreamType, BlockType],
)
