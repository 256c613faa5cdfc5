"""Packing on numpy against the enumeration of the stream order."""

from __future__ import annotations

import time

import numpy as np
import pytest

from stc.execution.layout import pack, unpack, unpack_into
from stc.iteration.bus_words import filled, innermost_run, packed_words, word_lanes
from stc.iteration.order import Coordinate, Loop, StreamOrder
from stc.iteration.round_robin import round_robin_parts

TILED = StreamOrder((1, 4), (Loop(2, 4), Loop(3, 8), Loop(5, 1), Loop(4, 1), Loop(2, 4)),
                    (Coordinate((0, 3)), Coordinate((1, 4))))
COLUMNS = StreamOrder((4, 1), (Loop(3, 4), Loop(8, 1)), (Coordinate((0,)), Coordinate((1,))))
ODD = StreamOrder((1, 7), (Loop(3, 1), Loop(2, 7)), (Coordinate((0,)), Coordinate((1,))))
SCALAR = StreamOrder((), (), ())


def by_definition(tensor: np.ndarray, order: StreamOrder) -> np.ndarray:
    """Entries of the distinct tokens in order, one row per token."""
    rows = []
    for start in order.without_reuse().enumerate():
        rows.append(tensor[tuple(slice(s, s + e) for s, e in zip(start, order.element, strict=True))].reshape(-1))
    return np.array(rows)


@pytest.mark.parametrize(("order", "lanes"), [(TILED, 4), (TILED, 2), (TILED, 8), (COLUMNS, 4), (COLUMNS, 16), (ODD, 7), (ODD, 1)])
def test_pack_without_gaps(order: StreamOrder, lanes: int) -> None:
    tensor = np.random.default_rng(0).standard_normal(order.static_shape).astype(np.float32)
    words = pack(tensor, order, lanes)
    expected = by_definition(tensor, order).reshape(-1)
    assert words.shape == (packed_words(order, lanes), lanes)
    assert np.array_equal(words.reshape(-1)[: expected.size], expected) and not words.reshape(-1)[expected.size :].any()
    assert np.array_equal(unpack(words, order, "here"), tensor)


def test_odd_tokens_are_padded_to_a_word() -> None:
    tensor = np.arange(1, 43, dtype=np.int32).reshape(3, 14)
    words = pack(tensor, ODD, 8)
    assert np.array_equal(words[:, :7], by_definition(tensor, ODD)) and not words[:, 7].any()
    assert np.array_equal(unpack(words, ODD, "here"), tensor)


def test_scalar() -> None:
    assert pack(np.array(3.0, dtype=np.float32), SCALAR, 1).tolist() == [[3.0]]
    assert unpack(np.array([[3.0]], dtype=np.float32), SCALAR, "here") == 3.0


def test_wrong_shape_is_refused() -> None:
    with pytest.raises(ValueError, match="shape"):
        pack(np.zeros((3, 8), np.float32), COLUMNS, 4)
    with pytest.raises(ValueError, match="shape"):
        pack(np.zeros((16, 8), np.float32), COLUMNS, 4)


def test_16_megabytes_pack_in_less_than_0_3_seconds() -> None:
    order = StreamOrder((1, 8), (Loop(64, 64), Loop(16, 64), Loop(64, 1), Loop(8, 8)), (Coordinate((0, 2)), Coordinate((1, 3))))
    tensor = np.zeros((4096, 1024), np.float32)
    begin = time.perf_counter()
    pack(tensor, order, 16)
    assert time.perf_counter() - begin < 0.3


def test_several_padded_tokens_share_a_word() -> None:
    """7 entries take 8 lanes: a word of 32 lanes holds four of the six tokens, the second word two and padding."""
    tensor = np.arange(1, 43, dtype=np.int32).reshape(3, 14)
    words = pack(tensor, ODD, 32)
    assert words.shape == (packed_words(ODD, 32), 32) == (2, 32)
    tokens = words.reshape(8, 8)
    assert np.array_equal(tokens[:6, :7], by_definition(tensor, ODD)) and not tokens[:, 7].any() and not tokens[6:].any()
    assert np.array_equal(unpack(words, ODD, "here"), tensor)
    assert filled(ODD, 32) == 42 / 64 and filled(ODD, 8) == 42 / 48


@pytest.mark.parametrize(
    ("order", "most", "lanes"),
    [
        (TILED, 16, 16),
        (TILED, 64, 32),  # 4 x 2 tokens of 4 between reuse loops
        (COLUMNS, 64, 32),  # 24 = 3 * 8 tokens of 4
        (ODD, 64, 16),  # 6 tokens of 7, each in 8 lanes: two per word
        (SCALAR, 16, 1),
        (StreamOrder((4,), (Loop(5, 1), Loop(3, 4)), (Coordinate((1,)),)), 16, 4),  # three tokens between reuse loops
        (StreamOrder((4,), (Loop(4, 4), Loop(2, 1)), (Coordinate((0,)),)), 16, 4),  # each token is sent twice
        (StreamOrder((4,), (Loop(4, 4), Loop(1, 1)), (Coordinate((0,)),)), 16, 16),  # a reuse loop of one iteration is none
        (StreamOrder((32,), (Loop(4, 32),), (Coordinate((0,)),)), 16, 32),
    ],
)
def test_words_are_as_wide_as_consecutive_tokens_allow(order: StreamOrder, most: int, lanes: int) -> None:
    assert word_lanes(order, most) == lanes
    assert innermost_run(order) * order.element_count % lanes == 0 or order.element_count & (order.element_count - 1)


@pytest.mark.parametrize("parts", [2, 4])
@pytest.mark.parametrize("lanes", [4, 16])
def test_stripes_hold_every_nth_token(parts: int, lanes: int) -> None:
    order = StreamOrder((1, 3), (Loop(2, 12), Loop(5, 1), Loop(4, 3)), (Coordinate((1,)), Coordinate((0, 2))))
    tensor = np.random.default_rng(0).standard_normal(order.static_shape).astype(np.float32)
    tokens = by_definition(tensor, order)
    back = np.full_like(tensor, np.nan)
    for number, part in enumerate(round_robin_parts(order, parts)):
        words = pack(tensor, part, lanes, tensor.shape)
        held = words.reshape(-1)[: words.size // 4 * 4].reshape(-1, 4)[: len(tokens) // parts, :3]
        assert np.array_equal(held, tokens[number::parts])
        unpack_into(back, words, part)
    assert np.array_equal(back, tensor)
