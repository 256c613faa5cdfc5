"""Which streams are the same sequence of entries in tokens of other sizes, against the entries one by one."""

from __future__ import annotations

import numpy as np
import pytest

from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.regrouping import is_regrouped
from stc.iteration.vectorize import vectorized


def drawn(seed: int) -> StreamOrder:
    """Two dimensions, each a token's part and a loop or two, in some order; some with a reuse loop."""
    draw = np.random.default_rng(seed)
    element = (int(draw.integers(1, 3)), int(2 ** draw.integers(0, 4)))
    loops: list[tuple[Loop, int | None]] = []
    for dimension, extent in enumerate(element):
        for _ in range(draw.integers(1, 3)):
            trip = int(draw.integers(1, 4))
            loops.append((Loop(trip, extent), dimension))
            extent *= trip
    if draw.integers(4) == 0:
        loops.append((Loop(2, 1), None))
    order = [loops[at] for at in draw.permutation(len(loops))]
    moving = [tuple(at for at, (_, along) in enumerate(order) if along == dimension) for dimension in range(2)]
    return StreamOrder(element, tuple(loop for loop, _ in order), tuple(map(Coordinate, moving)))


def entries(order: StreamOrder) -> list[tuple[int, ...]]:
    """The coordinates of all entries, as they come."""
    inside = [np.array(at) for at in np.ndindex(*order.element)]
    return [tuple(token + at) for token in order.enumerate() for at in inside]


@pytest.mark.parametrize("seed", range(60))
def test_what_is_cut_is_regrouped(seed: int) -> None:
    """Tokens of rows, cut into parts of rows, in either direction; not where some come twice."""
    whole = drawn(seed)
    lanes = max(1, whole.element[-1] // 2)
    cut = vectorized(whole, lanes)
    wanted = not whole.reuse_loops and cut.element_count != whole.element_count
    assert is_regrouped(whole, cut) == is_regrouped(cut, whole) == wanted


def test_whatever_is_regrouped_is_the_same_sequence() -> None:
    """Of pairs that are drawn apart, and of one tensor."""
    orders = [drawn(seed) for seed in range(400)]
    pairs = [(one, other) for at, one in enumerate(orders) for other in orders[:at] if one.static_shape == other.static_shape]
    found = [(one, other) for one, other in pairs if is_regrouped(one, other)]
    assert len(found) >= 10
    assert all(entries(one) == entries(other) for one, other in found)
    assert not any(is_regrouped(one, one) for one in orders)
