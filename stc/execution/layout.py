"""Tensors as sequences of tokens, and back: what the boundary of a kernel does, and `dataflow.pack` and `dataflow.unpack`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stc.diagnostics import CompileError
from stc.execution.undefined import undefined
from stc.iteration.bus_words import slot
from stc.iteration.order import StreamOrder
from stc.iteration.size import static, value_at

BYTE = 8
NO_SYMBOLS: Mapping[str, int] = MappingProxyType({})


def token_view(tensor: np.ndarray, order: StreamOrder, first_loop: int = 0) -> np.ndarray:
    """A strided view of a contiguous tensor: one axis per loop from `first_loop` on, then one per element dimension.

    Reuse loops are axes of stride 0. Constants of the map are left out: the order must be exact.
    """
    loops = range(first_loop, len(order.loops))
    driven = [order.dimension_of_loop[loop] for loop in loops]
    strides = [
        0 if dimension is None else order.loops[loop].step * tensor.strides[dimension]
        for loop, dimension in zip(loops, driven, strict=True)
    ]
    trips = [static(order.loops[loop].trip) for loop in loops]
    return as_strided(tensor, (*trips, *order.element), (*strides, *tensor.strides))


AtValues: TypeAlias = Mapping[str, int]
"""The value of each symbol of an order; none of a static one."""


def tokens_of(tensor: np.ndarray, order: StreamOrder, where: str, values: AtValues = NO_SYMBOLS) -> list[np.ndarray]:
    """The tokens of a tensor in the order of its type, temporal reuse included; CompileError where it is not the order's tensor.

    The tensor is as large as the order is at its maxima. Tokens that it does not have at `values` are left alone.
    """
    largest = order.largest
    _require_exact(largest, where)
    if tensor.shape != largest.static_shape:
        raise CompileError(f"tensor of shape {list(tensor.shape)} enters as {order}", where=where, accepted="the shape enumerated")
    distinct = token_view(np.asarray(tensor, order="C"), largest.without_reuse())
    return _with_reuse(_taken(distinct, order, values), order.at(values))


def tokens_of_words(words: np.ndarray, order: StreamOrder, where: str, values: AtValues = NO_SYMBOLS) -> list[np.ndarray]:
    """As `tokens_of`, for a tensor packed in words, [words, lanes], or one stripe of it."""
    _require_disjoint(order.largest, where)
    loops = order.largest.without_reuse().loops
    distinct = _token_data(words, order.largest).reshape((*(static(loop.trip) for loop in loops), *order.element))
    return _with_reuse(_taken(distinct, order, values), order.at(values))


def _taken(distinct: np.ndarray, part: StreamOrder, values: AtValues) -> np.ndarray:
    """Of the distinct tokens at the maxima, an axis per loop and then the element's, those of `part`: one axis, then theirs."""
    order, begins = part.at(values), part.begins
    moved = [dimension for dimension in order.dimension_of_loop if dimension is not None]
    firsts = [value_at(begins[dimension], values) for dimension in moved]
    trips = [static(loop.trip) for loop in order.without_reuse().loops]
    taken = tuple(slice(first, first + trip) for first, trip in zip(firsts, trips, strict=True))
    return np.array(distinct[(*taken, ...)]).reshape((order.distinct_token_count, *order.element))


def _token_data(words: np.ndarray, order: StreamOrder) -> np.ndarray:
    """The entries of the distinct tokens, without padding."""
    entries, count = order.element_count, order.distinct_token_count
    taken = slot(entries, words.shape[1])
    assert taken is not None
    return words.reshape(-1)[: count * taken].reshape(count, taken)[:, :entries]


def _with_reuse(tokens: np.ndarray, order: StreamOrder) -> list[np.ndarray]:
    distinct = list(tokens)
    if not order.reuse_loops or not order.token_count:
        return distinct if order.token_count else []
    index = np.zeros((), dtype=np.int64)
    weight = len(distinct)
    for loop, dimension in zip(order.loops, order.dimension_of_loop, strict=True):
        trip = static(loop.trip)
        weight //= trip if dimension is not None else 1
        index = np.add.outer(index, np.arange(trip) * (weight if dimension is not None else 0))
    return [distinct[position] for position in index.reshape(-1).tolist()]


def words_of_tokens(
    tokens: Sequence[np.ndarray], order: StreamOrder, lanes: int, dtype: np.dtype, where: str, values: AtValues = NO_SYMBOLS
) -> np.ndarray:
    """The words, [words, lanes], that `tokens` make; where tokens are visited again the last one counts. Errors as `tensor_of`."""
    _require_disjoint(order.largest, where)
    return words_of(_last_visits(tokens, order, dtype, where, values), order.largest, lanes)


def tensor_of(
    tokens: Sequence[np.ndarray], order: StreamOrder, dtype: np.dtype, where: str, values: AtValues = NO_SYMBOLS
) -> np.ndarray:
    """The tensor whose tokens are `tokens`; where tokens are visited again the last one counts.

    It is as large as the order is at its maxima; what the order does not have at `values` is undefined. CompileError where there
    are too few or too many tokens, or the type does not cover its tensor.
    """
    largest = order.largest
    _require_exact(largest, where)
    tensor = np.empty(largest.static_shape, dtype)
    token_view(tensor, largest.without_reuse())[...] = _last_visits(tokens, order, dtype, where, values)
    return tensor


def _last_visits(
    tokens: Sequence[np.ndarray], order: StreamOrder, dtype: np.dtype, where: str, values: AtValues
) -> np.ndarray:
    """The distinct tokens at the maxima, an axis per loop that moves and then the element's: of several visits the last."""
    found = order.at(values)
    if len(tokens) != found.token_count:
        raise CompileError(f"{len(tokens)} tokens leave as {order}", where=where, accepted=f"{found.token_count} tokens")
    data = np.array(tokens, dtype).reshape((*(static(loop.trip) for loop in found.loops), *order.element))
    last = tuple(-1 if dimension is None else slice(None) for dimension in order.dimension_of_loop)
    if order.is_static:
        return data[last]
    distinct = undefined((*(static(loop.trip) for loop in order.largest.without_reuse().loops), *order.element), dtype)
    if tokens:
        distinct[tuple(slice(static(loop.trip)) for loop in found.without_reuse().loops)] = data[last]
    return distinct


def _require_exact(order: StreamOrder, where: str) -> None:
    if not order.is_exact:
        reason = f"{order} does not visit every coordinate once up to temporal reuse"
        raise CompileError(reason, where=where, accepted="an exact order")


def _require_disjoint(order: StreamOrder, where: str) -> None:
    if not (order.is_exact or order.is_disjoint):
        raise CompileError(f"{order} visits a coordinate twice", where=where, accepted="disjoint tokens, up to temporal reuse")


# Words ----------------------------------------------------------------------------------------------------------------
# A port's words are the distinct tokens of a stream order, in order, each with its entries row-major and padded to its slot
# (`stc.iteration.bus_words`). layout.h holds the same as C++ loops.


def pack(tensor: np.ndarray, order: StreamOrder, lanes: int, shape: tuple[int, ...] | None = None) -> np.ndarray:
    """The distinct tokens of a tensor in words of `lanes` entries, [words, lanes]; what is missing of the last word is 0.

    `order` covers the tensor, unless `shape` says that the tensor is larger and this is one stripe of it. ValueError where the
    tensor is of another shape.
    """
    required = order.static_shape if shape is None else shape
    if tensor.shape != required:
        raise ValueError(f"tensor has shape {tensor.shape}, its order enumerates {required}")
    return words_of(_part_view(np.asarray(tensor, order="C"), order), order, lanes)


def words_of(tokens: np.ndarray, order: StreamOrder, lanes: int) -> np.ndarray:
    """The distinct tokens of `order`, in order, as words of `lanes` entries."""
    entries = slot(order.element_count, lanes)
    if entries is None:
        raise ValueError(f"tokens of {order.element_count} entries do not fit words of {lanes} lanes")
    rows = tokens.reshape(-1, order.element_count)
    if entries != order.element_count:
        rows = np.pad(rows, ((0, 0), (0, entries - order.element_count)))
    flat = rows.reshape(-1)
    missing = -flat.size % lanes
    return (np.pad(flat, (0, missing)) if missing else flat).reshape(-1, lanes)


def word_bytes(words: np.ndarray, bits: int) -> bytes:
    """Words as external memory holds them: entries of `bits`, of less than a byte side by side, the first in the lowest bits."""
    if bits >= BYTE:
        return words.tobytes()
    parts = (words.reshape(-1, BYTE // bits).astype(np.uint8) & ((1 << bits) - 1)) << np.arange(0, BYTE, bits, dtype=np.uint8)
    return np.bitwise_or.reduce(parts, axis=1).astype(np.uint8).tobytes()


def entries_of_bytes(data: bytes, bits: int, dtype: np.dtype) -> np.ndarray:
    """The entries in words of external memory, flat: the inverse of `word_bytes`."""
    if bits >= BYTE:
        return np.frombuffer(data, dtype)
    raw = np.frombuffer(data, np.uint8)[:, None] << np.arange(BYTE - bits, -1, -bits, dtype=np.uint8)
    return (raw.view(np.int8) >> (BYTE - bits)).reshape(-1).astype(dtype)


def unpack(words: np.ndarray, order: StreamOrder, where: str) -> np.ndarray:
    """The tensor whose packed words are `words`."""
    _require_exact(order, where)
    tensor = np.empty(order.static_shape, words.dtype)
    unpack_into(tensor, words, order)
    return tensor


def unpack_into(tensor: np.ndarray, words: np.ndarray, order: StreamOrder) -> None:
    """Put the tokens in `words` at their coordinates in a contiguous tensor, of which `order` may be a part."""
    view = _part_view(tensor, order)
    view[...] = _token_data(words, order).reshape(view.shape)


def _part_view(tensor: np.ndarray, order: StreamOrder) -> np.ndarray:
    """`token_view` of the distinct tokens, from where the constants of the map say."""
    first = tuple(slice(static(coordinate.constant), None) for coordinate in order.coordinates)
    return token_view(tensor[(*first, ...)], order.without_reuse())  # with the ellipsis: a view of rank 0, too
