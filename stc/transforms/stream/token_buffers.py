"""Buffers of the tokens that one iteration moves, or of the one token that several share, in place of a whole tile."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import MemRefType
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from stc.analysis.stream_transfers import Transfer, Use
from stc.transforms.index_constant import index_constant
from stc.transforms.stream.loops import total


def token_buffer(transfer: Transfer, use: Use) -> SSAValue:
    """A buffer for the tokens of an iteration, or the token of several."""
    kind = transfer.buffer.memref.type
    assert isinstance(kind, MemRefType)
    builder = Builder(InsertPoint.before(transfer.buffer))
    buffer = builder.insert(memref.AllocOp([], [], MemRefType(kind.element_type, (max(use.entries, transfer.width),)))).memref
    buffer.name_hint = transfer.buffer.memref.name_hint
    return buffer


def within_token(transfer: Transfer, use: Use, builder: Builder) -> SSAValue:
    """The lane at which an iteration begins that accesses less than a token: of a whole row, or of a power of two."""
    assert use.moving is not None
    position = use.moving.body.block.args[0]
    if transfer.width == transfer.shape[-1]:
        return position
    return builder.insert(arith.AndIOp(position, index_constant(builder, transfer.width - 1))).result


def access_lane(transfer: Transfer, use: Use, buffer: SSAValue, access: memref.LoadOp | memref.StoreOp) -> None:
    """Let `access` go to the token in `buffer`."""
    builder = Builder(InsertPoint.before(access))
    index = access.indices[-1]
    if use.moving is not None:
        starts = [within_token(transfer, use, builder)] if use.entries < transfer.width else []
        terms = [*starts, *_beside(index, use.moving.body.block.args[0], builder)]
        index = total(builder, terms or [index_constant(builder, 0)])
    stored = [access.value] if isinstance(access, memref.StoreOp) else []
    access.operands = [*stored, buffer, index]


def _beside(index: SSAValue, position: SSAValue, builder: Builder) -> list[SSAValue]:
    """How far `index` is behind `position`: nothing where they are the same."""
    if index is position:
        return []
    if isinstance(sum_ := index.owner, arith.AddiOp) and position in (sum_.lhs, sum_.rhs):
        return [sum_.rhs if sum_.lhs is position else sum_.lhs]
    return [builder.insert(arith.SubiOp(index, position)).result]
