"""Bridges between itensors and streams while a kernel is lowered piece by piece (docs/design/method.md section 2)."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.dialects.builtin import TensorType, VectorType
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.utils.hints import isa

from stc.diagnostics import CompileError
from stc.dialects import stream
from stc.dialects.itensor import ItensorType
from stc.fifo.depths import SHALLOW


def token_type(type_: Attribute, where: str | None = None) -> VectorType:
    """The vector that carries one element of shape 1 x ... x 1 x L; a scalar is a vector of one lane. `where` names the value."""
    if isinstance(type_, ItensorType):
        shape, scalar = type_.element_shape, type_.element_type
    else:
        assert isa(type_, TensorType)
        shape, scalar = type_.get_shape(), type_.element_type
    if any(extent != 1 for extent in shape[:-1]):
        complaint = f"element of shape {'x'.join(map(str, shape))} is not a vector"
        raise CompileError(complaint, where=where, accepted="run vectorize-streams first")
    return VectorType(scalar, [shape[-1] if shape else 1])


def consumed_stream(builder: Builder, value: SSAValue) -> SSAValue:
    """The stream behind an itensor that a task reads: the one it was made from, else a bridge.

    CompileError where another operation reads it too: the tokens of a stream are gone once they are read.
    """
    assert isinstance(value.type, ItensorType)
    if not value.has_one_use():
        complaint = f"itensor of {len(list(value.uses))} readers"
        raise CompileError(complaint, where=f"%{value.name_hint or '?'}", accepted="one reader (run insert-forks first)")
    if isinstance(bridge := value.owner, stream.ToItensorOp):
        return bridge.source
    return builder.insert(stream.FromItensorOp(value, stream_type(value.type, f"%{value.name_hint or '?'}"))).result


def produced_stream(builder: Builder, result: SSAValue, name: str) -> SSAValue:
    """A new stream that a task will write in place of the itensor `result`, whose uses see it through a bridge."""
    assert isinstance(result.type, ItensorType)
    order = result.type.order
    tokens = (order.token_count, order.distinct_token_count) if order.is_static else (None, None)
    create = builder.insert(stream.CreateOp(name, stream_type(result.type, name), *tokens, result.type))
    create.result.name_hint = name
    bridge = builder.insert(stream.ToItensorOp(create.result, result.type))
    bridge.result.name_hint = result.name_hint
    reconnect(builder, result, create.result, bridge.result)
    return create.result


def reconnect(builder: Builder, old: SSAValue, source: SSAValue, bridged: SSAValue) -> None:
    """Let the users of the itensor `old` see the stream `source`, through the bridge `bridged` where they need an itensor."""
    rewriter = builder if isinstance(builder, PatternRewriter) else PatternRewriter(builder.insertion_point)
    for user in [use.operation for use in old.uses]:
        if isinstance(user, stream.FromItensorOp):
            rewriter.replace(user, [], [source])
    rewriter.replace_all_uses_with(old, bridged)


def stream_type(type_: ItensorType, where: str | None = None) -> stream.StreamType:
    """The stream that carries an itensor of vectors (of the value `where`); its depth is set by a later pass."""
    return stream.StreamType(token_type(type_, where), SHALLOW)
