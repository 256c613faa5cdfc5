"""Tensors to packed words and back, on numpy: the meaning of `dataflow.pack` and `dataflow.unpack`.

A port's words are the distinct tokens of a stream order, in order, each with its entries row-major. Where token and word sizes
divide each other the entries follow without gaps (the last word is padded with zeros); otherwise every token is padded to one
word, the next power of two. layout.h holds the same as C++ loops.
"""

from __future__ import annotations

from math import prod

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stc.iteration.order import StreamOrder
from stc.iteration.size import static


def is_padded(order: StreamOrder, lanes: int) -> bool:
    """Whether every token is padded to a word of its own."""
    entries = order.element_count
    return entries % lanes != 0 and lanes % entries != 0


def _token_view(tensor: np.ndarray, order: StreamOrder) -> np.ndarray:
    """A strided view of a contiguous tensor: one axis per loop, then one per element dimension."""
    loops = list(range(len(order.loops)))
    strides = [order.loops[loop].step * tensor.strides[_driven(order, loop)] for loop in loops]
    trips = [static(order.loops[loop].trip) for loop in loops]
    return as_strided(tensor, (*trips, *order.element), (*strides, *tensor.strides))


def _driven(order: StreamOrder, loop: int) -> int:
    dimension = order.dimension_of_loop[loop]
    assert dimension is not None
    return dimension


def pack(tensor: np.ndarray, order: StreamOrder, lanes: int) -> np.ndarray:
    """Words of `lanes` entries, [words, lanes]. ValueError where the tensor is not of the order's shape."""
    if tensor.shape != order.static_shape:
        raise ValueError(f"tensor has shape {tensor.shape}, its order enumerates {order.static_shape}")
    distinct = order.without_revisits()
    tokens = _token_view(np.asarray(tensor, order="C"), distinct).reshape(-1, order.element_count)
    if is_padded(order, lanes):
        return np.pad(tokens, ((0, 0), (0, lanes - order.element_count)))
    flat = tokens.reshape(-1)
    missing = -flat.size % lanes
    return (np.pad(flat, (0, missing)) if missing else flat).reshape(-1, lanes)


def unpack(words: np.ndarray, order: StreamOrder) -> np.ndarray:
    """The tensor whose packed words are `words`, [words, lanes]."""
    distinct = order.without_revisits()
    tokens, entries, lanes = distinct.token_count, order.element_count, words.shape[1]
    data = words[:tokens, :entries] if is_padded(order, lanes) else words.reshape(-1)[: tokens * entries]
    tensor = np.empty(order.static_shape, dtype=words.dtype)
    view = _token_view(tensor, distinct)
    view[...] = data.reshape(view.shape)
    return tensor


def word_count(order: StreamOrder, lanes: int) -> int:
    """Words of `lanes` entries that the distinct tokens of `order` take."""
    tokens = order.tokens_before_revisits
    return tokens if is_padded(order, lanes) else -(-tokens * prod(order.element) // lanes)
