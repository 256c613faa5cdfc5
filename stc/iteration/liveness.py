"""How much of a tensor a converter must hold at least, whatever it does: the exact lower bound on its buffer."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import as_strided

from stc.iteration.converter import block_order, common_prefix, keeps_windows_whole
from stc.iteration.normal_form import normal_form
from stc.iteration.order import StreamOrder
from stc.iteration.size import static

MOST_TOKENS = 1 << 22
"""Sequences longer than this are not enumerated."""


def least_live_entries(source: StreamOrder, target: StreamOrder) -> int | None:
    """The largest number of entries that any converter from `source` to `target` holds at some time.

    Before target token k can leave, every source token up to the last one it needs has arrived; of the entries that arrived,
    those that no later target token needs may be gone. A token that is passed on as it arrives counts while it is there. The
    source is exact, the target covers the same tensor, perhaps by elements that overlap.

    None where the sequences are too long to count, and where the source sends tokens again, outside repetitions that both sides
    share (of these one round counts, they run in step): then a token may be dropped and taken when it comes again, and how
    long to wait for that is a choice between memory and time, not a bound.
    """
    source, target = _one_round(normal_form(source), normal_form(target))
    if source.reuse_loops:
        return None
    if max(source.token_count, target.token_count) > MOST_TOKENS:
        return None
    arrival = np.empty(source.static_shape, dtype=np.int64)
    _entries(arrival, source)[...] = _beside_elements(np.arange(source.token_count).reshape(_trips(source)), source)
    needed = np.maximum.accumulate(_needed(arrival, target))
    entered = np.searchsorted(needed, arrival.ravel(), side="left")  # the target token for which each entry first must be there
    left = _last_use(target).ravel()
    steps = np.bincount(entered, minlength=target.token_count + 1) - np.bincount(left + 1, minlength=target.token_count + 1)
    return int(np.cumsum(steps).max())


def _needed(arrival: np.ndarray, target: StreamOrder) -> np.ndarray:
    """For each target token the source token that brings the last of its entries."""
    distinct = target.without_reuse()
    latest = _entries(arrival, distinct).max(axis=tuple(range(len(distinct.loops), len(distinct.loops) + target.rank)))
    again = tuple(np.newaxis if dimension is None else slice(None) for dimension in target.dimension_of_loop)
    return np.broadcast_to(latest[again], _trips(target)).ravel()


def _last_use(target: StreamOrder) -> np.ndarray:
    """For each entry of the tensor the last target token that contains it."""
    distinct = target.without_reuse()
    tokens = np.arange(target.token_count).reshape(_trips(target))
    last = tokens[tuple(-1 if dimension is None else slice(None) for dimension in target.dimension_of_loop)]
    use = np.full(target.static_shape, -1, dtype=np.int64)
    if target.is_exact:
        _entries(use, distinct)[...] = _beside_elements(last, target)
    else:
        places = _entries(np.arange(use.size).reshape(use.shape), distinct)
        np.maximum.at(use.reshape(-1), places.ravel(), np.broadcast_to(_beside_elements(last, target), places.shape).ravel())
    return use


def _trips(order: StreamOrder) -> tuple[int, ...]:
    return tuple(static(loop.trip) for loop in order.loops)


def _beside_elements(of_tokens: np.ndarray, order: StreamOrder) -> np.ndarray:
    """Values of tokens, to be broadcast over the entries of an element."""
    return of_tokens.reshape(*of_tokens.shape, *[1] * order.rank)


def _entries(tensor: np.ndarray, order: StreamOrder) -> np.ndarray:
    """A view of a contiguous tensor: one axis per loop of an order without temporal reuse, then one per element dimension."""
    driven = zip(order.dimension_of_loop, order.loops, strict=True)
    strides = [tensor.strides[dimension] * loop.step for dimension, loop in driven if dimension is not None]
    return as_strided(tensor, (*_trips(order), *order.element), (*strides, *tensor.strides))


def _one_round(source: StreamOrder, target: StreamOrder) -> tuple[StreamOrder, StreamOrder]:
    """Both orders inside the repetitions they share: inside the common outer loops down to the last reuse loop among them."""
    shared = common_prefix(source, target)
    repeated = max((loop + 1 for loop in source.reuse_loops if loop < shared), default=0)
    if not all(keeps_windows_whole(target, loop, repeated) for loop in range(repeated)):
        return source, target
    return block_order(source, repeated), block_order(target, repeated)
