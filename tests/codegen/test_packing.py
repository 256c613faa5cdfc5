"""Packing on numpy against the enumeration of the stream order."""

from __future__ import annotations

import time

import numpy as np
import pytest

from stc.codegen.packing import pack, unpack, word_count
from stc.iteration.order import Coordinate, Loop, StreamOrder

TILED = StreamOrder((1, 4), (Loop(2, 4), Loop(3, 8), Loop(5, 1), Loop(4, 1), Loop(2, 4)),
                    (Coordinate((0, 3)), Coordinate((1, 4))))
COLUMNS = StreamOrder((4, 1), (Loop(3, 4), Loop(8, 1)), (Coordinate((0,)), Coordinate((1,))))
ODD = StreamOrder((1, 7), (Loop(3, 1), Loop(2, 7)), (Coordinate((0,)), Coordinate((1,))))
SCALAR = StreamOrder((), (), ())


def by_definition(tensor: np.ndarray, order: StreamOrder) -> np.ndarray:
    """Entries of the distinct tokens in order, one row per token."""
    rows = []
    for start in order.without_revisits().enumerate():
        rows.append(tensor[tuple(slice(s, s + e) for s, e in zip(start, order.element, strict=True))].reshape(-1))
    return np.array(rows)


@pytest.mark.parametrize(("order", "lanes"), [(TILED, 4), (TILED, 2), (TILED, 8), (COLUMNS, 4), (COLUMNS, 16), (ODD, 7), (ODD, 1)])
def test_pack_without_gaps(order: StreamOrder, lanes: int) -> None:
    tensor = np.random.default_rng(0).standard_normal(order.static_shape).astype(np.float32)
    words = pack(tensor, order, lanes)
    expected = by_definition(tensor, order).reshape(-1)
    assert words.shape == (word_count(order, lanes), lanes)
    assert np.array_equal(words.reshape(-1)[: expected.size], expected) and not words.reshape(-1)[expected.size :].any()
    assert np.array_equal(unpack(words, order), tensor)


def test_odd_tokens_are_padded_to_a_word() -> None:
    tensor = np.arange(1, 43, dtype=np.int32).reshape(3, 14)
    words = pack(tensor, ODD, 8)
    assert np.array_equal(words[:, :7], by_definition(tensor, ODD)) and not words[:, 7].any()
    assert np.array_equal(unpack(words, ODD), tensor)


def test_scalar() -> None:
    assert pack(np.array(3.0, dtype=np.float32), SCALAR, 1).tolist() == [[3.0]]
    assert unpack(np.array([[3.0]], dtype=np.float32), SCALAR) == 3.0


def test_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        pack(np.zeros((3, 8), np.float32), COLUMNS, 4)


def test_16_megabytes_pack_in_less_than_0_3_seconds() -> None:
    order = StreamOrder((1, 8), (Loop(64, 64), Loop(16, 64), Loop(64, 1), Loop(8, 8)), (Coordinate((0, 2)), Coordinate((1, 3))))
    tensor = np.zeros((4096, 1024), np.float32)
    begin = time.perf_counter()
    pack(tensor, order, 16)
    assert time.perf_counter() - begin < 0.3
