"""Rows of keys and values as a cache stores them: PyTorch that a layer computes with, and that is exported with it."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar

import torch

from stc.quantisation.formats import ACTIVATION_LARGEST, ACTIVATION_STEP, BF16, F32, INT8, LEAST_ACTIVATION_SCALE

Parts = tuple[torch.Tensor, ...]

_IN_F32 = ContextVar("in_f32", default=False)
_UNROUNDED = ContextVar("unrounded", default=False)


def scales_of(largest: torch.Tensor) -> torch.Tensor:
    """The scales of numbers whose largest magnitudes these are; NaN of NaN."""
    return torch.maximum(largest * ACTIVATION_STEP, torch.tensor(LEAST_ACTIVATION_SCALE))


@dataclass
class Roundings:
    """The roundings of a model that runs while they are watched, call by call of `integers_of`: the `numbers`, and the `integers`
    that they become. `turned`: entries, by call and in row-major order, whose integer is another by so much. `given`: the integers
    of all calls, whatever the numbers are."""

    turned: Mapping[int, Mapping[int, int]] = field(default_factory=dict[int, Mapping[int, int]])
    given: Sequence[torch.Tensor] | None = None
    numbers: list[torch.Tensor] = field(default_factory=list[torch.Tensor], init=False)
    integers: list[torch.Tensor] = field(default_factory=list[torch.Tensor], init=False)

    def seen(self, numbers: torch.Tensor, integers: torch.Tensor) -> torch.Tensor:
        """The integers of the next call to go on with."""
        call = len(self.numbers)
        found = integers if self.given is None else self.given[call]
        for entry, step in self.turned.get(call, {}).items():
            found = found.clone()
            found.view(-1)[entry] += step
        self.numbers.append(numbers)
        self.integers.append(found)
        return found


_WATCHED: ContextVar[Roundings | None] = ContextVar("watched", default=None)


def integers_of(rows: torch.Tensor, scales: torch.Tensor) -> torch.Tensor:
    """int8: rows times the reciprocals of `scales`, which may have to be broadcast."""
    numbers = rows * (1.0 / scales)
    integers, watched = saturated(torch.round(numbers), ACTIVATION_LARGEST), _WATCHED.get()
    return integers if watched is None else watched.seen(numbers, integers)


def saturated(rounded: torch.Tensor, largest: int) -> torch.Tensor:
    """Integers in f32 as int8, cut to -largest to largest; NaN as largest."""
    below = torch.where(rounded < float(largest), rounded, float(largest))
    return torch.where(below > -float(largest), below, -float(largest)).to(torch.int8)


@dataclass(frozen=True)
class RowFormat:
    """How a cache stores rows [..., entries]: as tensors of the same shape but for the last dimension, one for each of `parts`, by
    what is behind the cache's name. `stored` makes them of f32, `widened` f32 of them. `is_rounded`: whether the one part is
    the rows, each entry rounded by itself."""

    parts: tuple[str, ...]
    stored: Callable[[torch.Tensor], Parts]
    widened: Callable[[Parts], torch.Tensor]
    is_rounded: bool = False

    def returned(self, rows: torch.Tensor, parts: Parts) -> Parts:
        """What a layer returns of new rows: as they are stored, `parts`, or while `rows_unrounded` is active not rounded yet."""
        return (rows,) if self.is_rounded and _UNROUNDED.get() else parts


def _quantised(rows: torch.Tensor) -> Parts:
    scales = scales_of(rows.abs().amax(dim=-1, keepdim=True))
    return integers_of(rows, scales), scales


def _widened(parts: Parts) -> torch.Tensor:
    integers, scales = parts
    return integers.to(torch.float32) * scales


F32_ROWS = RowFormat(("",), lambda rows: (rows,), lambda parts: parts[0])
BF16_ROWS = RowFormat(
    ("",), lambda rows: (rows.to(torch.bfloat16),), lambda parts: parts[0].to(torch.float32), is_rounded=True
)
INT8_ROWS = RowFormat(("", "_scales"), _quantised, _widened)
ROW_FORMATS: Mapping[str, RowFormat] = MappingProxyType({F32: F32_ROWS, BF16: BF16_ROWS, INT8: INT8_ROWS})
"""By what `kv=` says."""


T = TypeVar("T")


@contextmanager
def _active(which: ContextVar[T], value: T) -> Generator[None]:
    token = which.set(value)
    try:
        yield
    finally:
        which.reset(token)


def roundings_watched(roundings: Roundings) -> AbstractContextManager[None]:
    """Meanwhile `roundings` has what is rounded, and says which integers that makes."""
    return _active(_WATCHED, roundings)


def attention_in_f32() -> AbstractContextManager[None]:
    """Meanwhile attention gets new rows as they are, not as the cache stores them: what the f32 model computes behind it."""
    return _active(_IN_F32, True)


def is_in_f32() -> bool:
    """Whether `attention_in_f32` is active."""
    return _IN_F32.get()


def rows_unrounded() -> AbstractContextManager[None]:
    """Meanwhile layers return new rows before they are rounded (`RowFormat.returned`); attention gets them as they are stored."""
    return _active(_UNROUNDED, True)
