"""Tensors as sequences of tokens, and back: what the boundary of a kernel does, and `dataflow.pack` and `dataflow.unpack`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stc.diagnostics import CompileError
from stc.iteration.order import StreamOrder
from stc.iteration.size import static


def token_view(tensor: np.ndarray, order: StreamOrder, first_loop: int = 0) -> np.ndarray:
    """A strided view of a contiguous tensor: one axis per loop from `first_loop` on, then one per element dimension.

    Revisits are axes of stride 0. Constants of the map are left out: the order must be exact.
    """
    loops = range(first_loop, len(order.loops))
    driven = [order.dimension_of_loop[loop] for loop in loops]
    strides = [
        0 if dimension is None else order.loops[loop].step * tensor.strides[dimension]
        for loop, dimension in zip(loops, driven, strict=True)
    ]
    trips = [static(order.loops[loop].trip) for loop in loops]
    return as_strided(tensor, (*trips, *order.element), (*strides, *tensor.strides))


def tokens_of(tensor: np.ndarray, order: StreamOrder, where: str) -> list[np.ndarray]:
    """The tokens of a tensor in the order of its type, revisits included; CompileError where it is not the order's tensor."""
    _require_exact(order, where)
    if tensor.shape != order.static_shape:
        raise CompileError(f"tensor of shape {list(tensor.shape)} enters as {order}", where=where, accepted="the shape enumerated")
    distinct = order.without_revisits()
    tokens = np.array(token_view(np.asarray(tensor, order="C"), distinct)).reshape(-1, *order.element)
    return _with_revisits(tokens, order)


def tokens_of_words(words: np.ndarray, order: StreamOrder, where: str) -> list[np.ndarray]:
    """As `tokens_of`, for a tensor packed in words, [words, lanes]."""
    _require_exact(order, where)
    return _with_revisits(np.asarray(_token_data(words, order), order="C").reshape(-1, *order.element), order)


def _token_data(words: np.ndarray, order: StreamOrder) -> np.ndarray:
    """The entries of the distinct tokens, without padding."""
    entries, count = order.element_count, order.tokens_before_revisits
    return words[:count, :entries] if is_padded(order, words.shape[1]) else words.reshape(-1)[: count * entries]


def _with_revisits(tokens: np.ndarray, order: StreamOrder) -> list[np.ndarray]:
    distinct = list(tokens)
    if not order.revisits:
        return distinct
    index = np.zeros((), dtype=np.int64)
    weight = len(distinct)
    for loop, dimension in zip(order.loops, order.dimension_of_loop, strict=True):
        trip = static(loop.trip)
        weight //= trip if dimension is not None else 1
        index = np.add.outer(index, np.arange(trip) * (weight if dimension is not None else 0))
    return [distinct[position] for position in index.reshape(-1).tolist()]


def tensor_of(tokens: Sequence[np.ndarray], order: StreamOrder, dtype: np.dtype, where: str) -> np.ndarray:
    """The tensor whose tokens are `tokens`; where tokens are visited again the last one counts.

    CompileError where there are too few or too many, or the type does not cover its tensor.
    """
    _require_exact(order, where)
    if len(tokens) != order.token_count:
        raise CompileError(f"{len(tokens)} tokens leave as {order}", where=where, accepted=f"{order.token_count} tokens")
    tensor = np.empty(order.static_shape, dtype)
    trips = tuple(static(loop.trip) for loop in order.loops)
    data = np.array(tokens, dtype).reshape((*trips, *order.element))
    last = tuple(-1 if dimension is None else slice(None) for dimension in order.dimension_of_loop)
    token_view(tensor, order.without_revisits())[...] = data[last]
    return tensor


def _require_exact(order: StreamOrder, where: str) -> None:
    if not order.is_exact:
        raise CompileError(f"{order} does not visit every coordinate once up to revisits", where=where, accepted="an exact order")


# Words ----------------------------------------------------------------------------------------------------------------


def is_padded(order: StreamOrder, lanes: int) -> bool:
    """Whether every token is padded to a word of its own: where token and word sizes do not divide each other."""
    entries = order.element_count
    return entries % lanes != 0 and lanes % entries != 0


def pack(tensor: np.ndarray, order: StreamOrder, lanes: int) -> np.ndarray:
    """The distinct tokens of a tensor in words of `lanes` entries, [words, lanes]; what is missing of the last word is 0."""
    tokens = token_view(np.asarray(tensor, order="C"), order.without_revisits()).reshape(-1, order.element_count)
    if is_padded(order, lanes):
        return np.pad(tokens, ((0, 0), (0, lanes - order.element_count)))
    flat = tokens.reshape(-1)
    missing = -flat.size % lanes
    return (np.pad(flat, (0, missing)) if missing else flat).reshape(-1, lanes)


def unpack(words: np.ndarray, order: StreamOrder, where: str) -> np.ndarray:
    """The tensor whose packed words are `words`."""
    _require_exact(order, where)
    distinct = order.without_revisits()
    tensor = np.empty(order.static_shape, words.dtype)
    view = token_view(tensor, distinct)
    view[...] = _token_data(words, order).reshape(view.shape)
    return tensor
