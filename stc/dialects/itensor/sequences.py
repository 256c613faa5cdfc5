"""Facts about token sequences that verifiers ask again and again, cached by order."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from stc.iteration.converter import ConverterPlan
from stc.iteration.normal_form import normal_form
from stc.iteration.order import StreamOrder
from stc.iteration.round_robin import round_robin_parts, without_constants
from stc.iteration.size import static

if TYPE_CHECKING:
    import numpy as np

MOST_TOKENS_COUNTED = 1 << 22
"""Sequences longer than this are not counted out."""


@lru_cache(maxsize=4096)
def converter_plan(
    source: StreamOrder, target: StreamOrder, shared_loops: int, buffer_shape: tuple[int, ...], blocks: int, window: int | None
) -> ConverterPlan:
    """The plan that a converter's properties state, checked once; ValueError where they do not fit the two orders."""
    return ConverterPlan(source, target, shared_loops, buffer_shape, blocks, window)


@lru_cache(maxsize=4096)
def slice_mismatch(
    full: StreamOrder, part: StreamOrder, offsets: tuple[int, ...]
) -> tuple[int, tuple[int, ...] | None, tuple[int, ...] | None] | None:
    """Whether `part` is the tokens of `full` that lie in its slice at `offsets`, in order; both static.

    None if so, else the first token of `part` that differs, with the coordinate expected and the one found (in the slice;
    None past the end of a side). Sequences above four million tokens are compared by token count alone.
    """
    if full.token_count > MOST_TOKENS_COUNTED:
        return None
    import numpy as np

    tokens = full.enumerate() - np.array(offsets, dtype=np.int64).reshape(1, -1)
    inside = np.ones(len(tokens), dtype=bool)
    for dimension, extent in enumerate(part.static_shape):
        inside &= (tokens[:, dimension] >= 0) & (tokens[:, dimension] < extent)
    return _first_difference(tokens[inside], part.enumerate())


@lru_cache(maxsize=4096)
def split_mismatch(
    full: StreamOrder, part: StreamOrder, number: int, parts: int
) -> tuple[int, tuple[int, ...] | None, tuple[int, ...] | None] | None:
    """Whether `part` is the tokens number, number + parts, number + 2 * parts, ... of `full`; both static.

    A part may be in coordinates of its own, from 0, where its tokens are a slice that became a tensor of its own.

    None if so, else the first token of `part` that differs, with the coordinate expected and the one found (None past the
    end of a side). Sequences above four million tokens are compared by normal form alone: then the token is 0.
    """
    splits = bool(full.loops) and static(full.loops[-1].trip) % parts == 0
    if splits:
        expected = round_robin_parts(full, parts)[number]
        if normal_form(part) in (normal_form(expected), normal_form(without_constants(expected))):
            return None
    if full.token_count > MOST_TOKENS_COUNTED:
        return 0, None, None
    return _first_difference(full.enumerate()[number::parts], part.enumerate())


def _first_difference(
    expected: np.ndarray, found: np.ndarray
) -> tuple[int, tuple[int, ...] | None, tuple[int, ...] | None] | None:
    import numpy as np

    shorter = min(len(expected), len(found))
    different = np.flatnonzero((expected[:shorter] != found[:shorter]).any(axis=1))
    if len(different) == 0 and len(expected) == len(found):
        return None
    token = int(different[0]) if len(different) else shorter
    return token, _coordinate(expected, token), _coordinate(found, token)


def _coordinate(tokens: np.ndarray, token: int) -> tuple[int, ...] | None:
    return tuple(int(entry) for entry in tokens[token]) if token < len(tokens) else None
