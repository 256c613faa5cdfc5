"""Operations that only move tokens, as processes: reorder, converter, chunk, concat, split, merge, changes of a token's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import Attribute

from stc.dialects.itensor import ChunkOp, ConcatOp, ConverterOp, ItensorType, ReorderOp
from stc.execution.channels import ReadPort, WritePort
from stc.execution.dtypes import numpy_type
from stc.execution.layout import token_view, tokens_of
from stc.execution.scheduler import Steps
from stc.execution.undefined import undefined
from stc.iteration.converter import ConverterPlan
from stc.iteration.order import StreamOrder
from stc.iteration.size import static, value_at


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


def merge(sources: Sequence[ReadPort], target: WritePort, count: int) -> Steps:
    """Tokens from each source in turn, `count` from each."""
    for index in range(count):
        for source in sources:
            while not source.queue:
                yield source, index
            put(target, source.queue.popleft())


def split(source: ReadPort, targets: Sequence[WritePort], count: int) -> Steps:
    """Tokens to each target in turn, `count` in all."""
    for index in range(count):
        while not source.queue:
            yield source, index
        put(targets[index % len(targets)], source.queue.popleft())


def _inside(tokens: np.ndarray, part: StreamOrder, offset: Sequence[int]) -> np.ndarray:
    """Which tokens, given by their coordinates, lie in the slice at `offset` that `part` enumerates."""
    inside = np.ones(len(tokens), dtype=bool)
    for dimension, (start, extent) in enumerate(zip(offset, part.static_shape, strict=True)):
        inside &= (tokens[:, dimension] >= start) & (tokens[:, dimension] < start + extent)
    return inside


def _order(kind: Attribute) -> StreamOrder:
    assert isinstance(kind, ItensorType)
    return kind.order


def chunk(op: ChunkOp, source: ReadPort, targets: Sequence[WritePort], values: Mapping[str, int]) -> Steps:
    """Each token to the slice it lies in, at these values of symbols; tokens in none are dropped. Overlapping slices get copies."""
    order = _order(op.source.type).from_its_begin.at(values)
    tokens = order.enumerate()
    parts = [_order(part.type).at(values) for part in op.slices]
    required = [_inside(tokens, part, offset) for part, offset in zip(parts, op.offsets, strict=True)]
    for index in range(order.token_count):
        while not source.queue:
            yield source, index
        token = source.queue.popleft()
        for target, inside in zip(targets, required, strict=True):
            if inside[index]:
                put(target, token)


def concat(op: ConcatOp, sources: Sequence[ReadPort], target: WritePort, values: Mapping[str, int]) -> Steps:
    """Each token from the input it comes from, in the order of the result, at these values of symbols."""
    tokens = _order(op.result.type).at(values).enumerate()
    starts = [[value_at(entry, values) for entry in start] for start in op.starts]
    parts = [_order(part.type).from_its_begin.at(values) for part in op.inputs]
    inside = [_inside(tokens, part, start) for part, start in zip(parts, starts, strict=True)]
    taken = [0] * len(sources)
    for owner in np.argmax(inside, axis=0).tolist():
        source = sources[owner]
        while not source.queue:
            yield source, taken[owner]
        taken[owner] += 1
        put(target, source.queue.popleft())


def reorder(op: ReorderOp, source: ReadPort, target: WritePort) -> Steps:
    """Receive a whole tensor and send it in the other order. Where the source visits a token again the last one counts."""
    order, kind = _order(op.source.type), op.result.type
    assert isinstance(kind, ItensorType)
    arrived: list[np.ndarray] = []
    yield from collect(source, order.token_count, arrived)
    tensor = _assembled(arrived, order, numpy_type(kind.element_type))
    for token in tokens_of(tensor, kind.order, op.name):
        put(target, token)


def convert(op: ConverterOp, source: ReadPort, target: WritePort, values: Mapping[str, int]) -> Steps:
    """Fill a buffer of the operation's own `buffer_shape` and read it out in the other order, once per shared iteration, at these
    values of symbols.

    A line buffer receives and sends tiles as its schedule says. Where the source visits a token again the last one counts.
    """
    plan = op.plan.at(values)
    kind = op.source.type
    assert isinstance(kind, ItensorType)
    dtype = numpy_type(kind.element_type)
    count = 0
    for _ in range(plan.iterations):
        buffer = undefined(plan.buffer_shape, dtype)
        for receives, order, lines in _stages(plan):
            if receives:
                arrived: list[np.ndarray] = []
                while len(arrived) < order.token_count:
                    while not source.queue:
                        yield source, count
                    arrived.append(source.queue.popleft())
                    count += 1
                buffer[lines] = _assembled(arrived, order, dtype)
            else:
                tile = np.ascontiguousarray(buffer[lines])
                for token in np.array(token_view(tile, order)).reshape(-1, *order.element):
                    put(target, token)


Lines: TypeAlias = tuple[np.ndarray | slice, ...]
"""An index into the buffer: where a tile lies."""


def _stages(plan: ConverterPlan) -> Iterator[tuple[bool, StreamOrder, Lines]]:
    """What happens in one shared iteration: tokens are received or sent, which ones, and where they lie."""
    if plan.window is None or plan.line_schedule is None or plan.tiles is None:
        block = tuple(slice(extent) for extent in plan.source_block.static_shape)
        yield True, plan.source_block, block
        yield False, plan.target_block, block
        return
    extent = plan.buffer_shape[plan.window]
    for step in plan.line_schedule:
        order = plan.tiles[0 if step.receives else 1].inside
        taken = [np.arange(size) for size in order.static_shape]
        taken[plan.window] = (taken[plan.window] + step.line) % extent
        yield step.receives, order, np.ix_(*taken)


def _assembled(tokens: Sequence[np.ndarray], order: StreamOrder, dtype: np.dtype) -> np.ndarray:
    """The part of the tensor that `tokens` make up; where one comes again the last one counts."""
    tile = undefined(order.static_shape, dtype)
    trips = tuple(static(loop.trip) for loop in order.loops)
    last = tuple(-1 if dimension is None else slice(None) for dimension in order.dimension_of_loop)
    _distinct_view(tile, order)[...] = np.array(tokens, dtype).reshape((*trips, *order.element))[last]
    return tile


def _distinct_view(buffer: np.ndarray, order: StreamOrder) -> np.ndarray:
    """The tokens of a tile, temporal reuse left out."""
    view = token_view(buffer, order)
    first = [0 if dimension is None else slice(None) for dimension in order.dimension_of_loop]
    return view[(*first, ...)]  # a view of rank 0 too, not its entry
