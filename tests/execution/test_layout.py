"""What crosses the boundary of a kernel: the tokens of a tensor by the definition of a stream order, and back."""

from __future__ import annotations

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.execution.layout import pack, tensor_of, tokens_of, tokens_of_words, unpack
from stc.iteration.order import Coordinate, Loop, StreamOrder


def order(element: tuple[int, ...], loops: list[tuple[int, int]], coordinates: list[tuple[int, ...]]) -> StreamOrder:
    return StreamOrder(element, tuple(Loop(*loop) for loop in loops), tuple(Coordinate(loops) for loops in coordinates))


ORDERS = {
    "method (a)": order((2, 2), [(4, 2), (4, 2)], [(0,), (1,)]),
    "method (b)": order((4, 2), [(4, 2), (2, 4)], [(1,), (0,)]),
    "method (c), reused": order((4, 2), [(4, 2), (2, 1), (2, 4)], [(2,), (0,)]),
    "reused outermost and innermost": order((2, 2), [(3, 1), (4, 2), (4, 2), (2, 1)], [(2,), (1,)]),
    "vectors, sums of loops": order((1, 8), [(2, 4), (1, 8), (4, 1)], [(0, 2), (1,)]),
    "a word of padding": order((1, 3), [(4, 1), (2, 3)], [(0,), (1,)]),
    "rank zero": order((), [], []),
}


@pytest.mark.parametrize("name", ORDERS)
def test_tokens_by_definition_and_back(name: str) -> None:
    kind = ORDERS[name]
    tensor = np.random.default_rng(0).standard_normal(kind.static_shape)
    tokens = tokens_of(tensor, kind, "here")
    coordinates = kind.enumerate()
    assert len(tokens) == len(coordinates)
    for token, start in zip(tokens, coordinates, strict=True):
        window = tuple(slice(first, first + extent) for first, extent in zip(start, kind.element, strict=True))
        np.testing.assert_array_equal(token, tensor[window])
    np.testing.assert_array_equal(tensor_of(tokens, kind, tensor.dtype, "here"), tensor)


@pytest.mark.parametrize("lanes", [1, 2, 4, 16])
@pytest.mark.parametrize("name", [name for name in ORDERS if name != "a word of padding"])
def test_words_and_back(name: str, lanes: int) -> None:
    kind = ORDERS[name]
    tensor = np.random.default_rng(0).standard_normal(kind.static_shape)
    words = pack(tensor, kind, lanes)
    np.testing.assert_array_equal(unpack(words, kind, "here"), tensor)
    for word, token in zip(tokens_of_words(words, kind, "here"), tokens_of(tensor, kind, "here"), strict=True):
        np.testing.assert_array_equal(word, token)


def test_tokens_that_fit_no_word_are_padded() -> None:
    kind = ORDERS["a word of padding"]
    tensor = np.arange(24, dtype=np.float32).reshape(4, 6)
    words = pack(tensor, kind, 4)
    assert words.shape == (8, 4) and not words[:, 3].any()
    np.testing.assert_array_equal(unpack(words, kind, "here"), tensor)


def test_what_does_not_cover_its_tensor_is_refused() -> None:
    gaps = order((1,), [(4, 2)], [(0,)])
    with pytest.raises(CompileError, match="does not visit every coordinate"):
        tokens_of(np.zeros(7), gaps, "here")
    kind = ORDERS["method (b)"]
    with pytest.raises(CompileError, match="3 tokens leave"):
        tensor_of([np.zeros((4, 2))] * 3, kind, np.dtype(np.float64), "here")
    with pytest.raises(CompileError, match=r"tensor of shape \[8, 9\]"):
        tokens_of(np.zeros((8, 9)), kind, "here")
