"""How much of a tensor a converter must hold at least, whatever it does: the exact lower bound on its buffer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from stc.iteration.normal_form import normal_form
from stc.iteration.order import Coordinate, StreamOrder

MOST_TOKENS = 1 << 22
"""Sequences longer than this are not enumerated."""


def least_live_entries(source: StreamOrder, target: StreamOrder) -> int | None:
    """The largest number of entries that any converter from `source` to `target` holds at some time.

    Before target token k can leave, every source token up to the last one it needs has arrived; of the entries that arrived,
    those that no later target token needs may be gone. A token that is passed on as it arrives counts while it is there. Both
    orders are exact, over one tensor. None where the sequences are too long to count, and where the source sends tokens again
    (outside a repetition of the whole that both sides share): then what to drop and take again is a choice.
    """
    source, target = _without_shared_repetition(normal_form(source), normal_form(target))
    if source.revisits:
        return None
    if max(source.token_count, target.token_count) > MOST_TOKENS:
        return None
    arrival = _arrival(source)
    last_use = np.full(arrival.shape, -1, dtype=np.int64)
    needed = np.empty(target.token_count, dtype=np.int64)
    for token, region in enumerate(_regions(target)):
        last_use[region] = token
        needed[token] = arrival[region].max()
    needed = np.maximum.accumulate(needed)
    entered = np.searchsorted(needed, arrival.ravel(), side="left")  # the target token for which each entry first must be there
    left = last_use.ravel()
    steps = np.bincount(entered, minlength=target.token_count + 1) - np.bincount(left + 1, minlength=target.token_count + 1)
    return int(np.cumsum(steps).max())


def _without_shared_repetition(source: StreamOrder, target: StreamOrder) -> tuple[StreamOrder, StreamOrder]:
    """One round of orders that both repeat as a whole, equally often."""
    first, second = source.dimension_of_loop[:1], target.dimension_of_loop[:1]
    if first == second == (None,) and source.loops[0].trip == target.loops[0].trip:
        return _one_round(source), _one_round(target)
    return source, target


def _one_round(order: StreamOrder) -> StreamOrder:
    """`order` without its outermost loop, a revisit."""
    coordinates = tuple(Coordinate(tuple(loop - 1 for loop in c.loops), c.constant) for c in order.coordinates)
    return StreamOrder(order.element, order.loops[1:], coordinates)


def _arrival(order: StreamOrder) -> np.ndarray:
    """For every entry of the tensor the token that brings it."""
    arrival = np.empty(order.static_shape, dtype=np.int64)
    for token, region in enumerate(_regions(order)):
        arrival[region] = token
    return arrival


def _regions(order: StreamOrder) -> Iterator[tuple[slice, ...]]:
    """The part of the tensor that each token covers."""
    for start in order.enumerate():
        yield tuple(slice(first, first + extent) for first, extent in zip(start, order.element, strict=True))
