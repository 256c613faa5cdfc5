"""Operations that only move tokens, as processes: converter, chunk, concat, join, and changes of a token's shape."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from xdsl.ir import Attribute

from stc.dialects.itensor import ChunkOp, ConcatOp, ConverterOp, ItensorType
from stc.dialects.itensor.sequences import converter_plan
from stc.execution.channels import ReadPort, WritePort
from stc.execution.dtypes import numpy_type
from stc.execution.layout import token_view
from stc.execution.scheduler import Steps
from stc.execution.tensors import undefined
from stc.iteration.order import StreamOrder
from stc.iteration.size import static


def put(port: WritePort, token: np.ndarray) -> None:
    for queue in port.queues:
        queue.append(token)


def relay(source: ReadPort, target: WritePort, count: int, shape: tuple[int, ...]) -> Steps:
    """Pass `count` tokens on, each reshaped."""
    for index in range(count):
        while not source.queue:
            yield source, index
        token = np.reshape(source.queue.popleft(), shape)
        while not target.is_ready():
            yield target, 0
        put(target, token)


def collect(source: ReadPort, count: int, into: list[np.ndarray]) -> Steps:
    """Append `count` tokens to a list."""
    for index in range(count):
        while not source.queue:
            yield source, index
        into.append(source.queue.popleft())


def join(sources: Sequence[ReadPort], target: WritePort, count: int) -> Steps:
    """Tokens from each source in turn, `count` from each."""
    for index in range(count):
        for source in sources:
            while not source.queue:
                yield source, index
            put(target, source.queue.popleft())


def _inside(tokens: np.ndarray, part: Attribute, offset: tuple[int, ...]) -> np.ndarray:
    """Which tokens, given by their coordinates, lie in the slice at `offset` that `part` enumerates."""
    inside = np.ones(len(tokens), dtype=bool)
    for dimension, (start, extent) in enumerate(zip(offset, _order(part).static_shape, strict=True)):
        inside &= (tokens[:, dimension] >= start) & (tokens[:, dimension] < start + extent)
    return inside


def _order(kind: Attribute) -> StreamOrder:
    assert isinstance(kind, ItensorType)
    return kind.order


def chunk(op: ChunkOp, source: ReadPort, targets: Sequence[WritePort]) -> Steps:
    """Each token to the slice it lies in; tokens in none are dropped. Overlapping slices get copies."""
    order = _order(op.source.type)
    tokens = order.enumerate()
    wanted = [_inside(tokens, part.type, offset) for part, offset in zip(op.slices, op.offsets, strict=True)]
    for index in range(order.token_count):
        while not source.queue:
            yield source, index
        token = source.queue.popleft()
        for target, inside in zip(targets, wanted, strict=True):
            if inside[index]:
                put(target, token)


def concat(op: ConcatOp, sources: Sequence[ReadPort], target: WritePort) -> Steps:
    """Each token from the input it comes from, in the order of the result."""
    tokens = _order(op.result.type).enumerate()
    inside = [_inside(tokens, value.type, offset) for value, offset in zip(op.inputs, op.offsets, strict=True)]
    taken = [0] * len(sources)
    for owner in np.argmax(inside, axis=0).tolist():
        source = sources[owner]
        while not source.queue:
            yield source, taken[owner]
        taken[owner] += 1
        put(target, source.queue.popleft())


def convert(op: ConverterOp, source: ReadPort, target: WritePort) -> Steps:
    """Fill a buffer of the operation's own `buffer_shape` and read it out in the other order, once per shared iteration.

    The buffer's first entry stands for the block's first coordinate. Where the source visits a token again the last one counts.
    """
    plan = converter_plan(_order(op.source.type), _order(op.result.type))
    kind = op.source.type
    assert isinstance(kind, ItensorType)
    shared = op.shared_loops
    blocks = int(np.prod([static(loop.trip) for loop in plan.source.loops[:shared]], dtype=np.int64))
    per_block = plan.source.token_count // blocks
    trips = tuple(static(loop.trip) for loop in plan.source.loops[shared:])
    fill_with = tuple(-1 if dimension is None else slice(None) for dimension in plan.source.dimension_of_loop[shared:])
    dtype = numpy_type(kind.element_type)
    count = 0
    for _ in range(blocks):
        block: list[np.ndarray] = []
        while len(block) < per_block:
            while not source.queue:
                yield source, count
            block.append(source.queue.popleft())
            count += 1
        buffer = undefined(op.buffer_shape, dtype)
        data = np.array(block, dtype).reshape((*trips, *plan.source.element))
        _distinct_view(buffer, plan.source, shared)[...] = data[fill_with]
        for token in np.array(token_view(buffer, plan.target, shared)).reshape(-1, *plan.target.element):
            put(target, token)


def _distinct_view(buffer: np.ndarray, order: StreamOrder, shared: int) -> np.ndarray:
    """The tokens of one block in the buffer, revisits left out."""
    view = token_view(buffer, order, shared)
    return view[tuple(0 if dimension is None else slice(None) for dimension in order.dimension_of_loop[shared:])]
