"""PyTorch modules that replace rows of a cache at a position known at run time, in each of the ways in which one writes that.

`FORMS`: those that give the cache with its new rows. A factory of each name gives it with example inputs: `append_modules.py:cat`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

HEADS, POSITIONS, WIDTH = 2, 7, 5
Form = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


def _number(pos: torch.Tensor, count: int = 1) -> Any:
    number: Any = pos.item()  # symbolic while it is exported
    torch._check(number >= 0)  # pyright: ignore[reportPrivateUsage]
    torch._check(number + count <= POSITIONS)  # pyright: ignore[reportPrivateUsage]
    return number


def slice_scatter(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    at = _number(pos, rows.shape[1])
    return torch.slice_scatter(cache, rows, 1, at, at + rows.shape[1])


def assignment(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    at, updated = _number(pos, rows.shape[1]), cache.clone()
    updated[:, at : at + rows.shape[1]] = rows
    return updated


def select_scatter(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return torch.select_scatter(cache, rows[:, 0], 1, _number(pos))


def index_copy(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.index_copy(1, pos.reshape(1), rows)


def index_put(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    updated = cache.clone()
    updated[:, pos.reshape(1)] = rows
    return updated


def scatter(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.scatter(1, pos.reshape(1, 1, 1).expand(rows.shape), rows)


def cat(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    at = _number(pos, rows.shape[1])
    return torch.cat([cache[:, :at], rows, cache[:, at + rows.shape[1] :]], 1)


def where(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return torch.where((torch.arange(POSITIONS) == pos)[:, None], rows, cache)


def index_copy_of_a_run(cache: torch.Tensor, rows: torch.Tensor, pos: torch.Tensor) -> torch.Tensor:
    return cache.index_copy(1, pos + torch.arange(rows.shape[1]), rows)


FORMS: tuple[Form, ...] = (slice_scatter, assignment, select_scatter, index_copy, index_put, scatter, cat, where)
RUNS: tuple[Form, ...] = (slice_scatter, assignment, cat, index_copy_of_a_run)
"""Those that take several rows."""


class Appending(torch.nn.Module):
    """The sum of the rows of a cache as it was, and the cache with new rows."""

    def __init__(self, form: Form):
        super().__init__()
        self._form = form

    def forward(self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return cache.sum(1), self._form(cache, 2 * x, pos)


class TwoReaders(torch.nn.Module):
    """Two computations read the cache as it was, each in its own way, and a third makes the row."""

    def forward(self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return cache.sum(1), (cache * x).amax(2), index_copy(cache, 2 * x, pos)


class Beginnings(torch.nn.Module):
    """Two computations read beginnings of the cache as it was, of different lengths."""

    def forward(self, x: torch.Tensor, cache: torch.Tensor, pos: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return cache[:, :4].sum(1), (cache[:, :3] * x).amax(2), index_copy(cache, 2 * x, pos)


class Attention(torch.nn.Module):
    """Attention over two caches with the new row in place, masked behind the position."""

    def __init__(self) -> None:
        super().__init__()
        self.project = torch.nn.Linear(6, 18, bias=False)

    def forward(self, x: torch.Tensor, keys: torch.Tensor, values: torch.Tensor, pos: torch.Tensor) -> tuple[torch.Tensor, ...]:
        q, k, v = self.project(x).view(1, 3, 2, 3).permute(1, 2, 0, 3).unbind(0)
        keys, values = keys.index_copy(1, pos, k), values.index_copy(1, pos, v)
        scores = (q @ keys.transpose(1, 2) / 3**0.5).masked_fill(torch.arange(POSITIONS) > pos, float("-inf"))
        return (scores.softmax(-1) @ values).reshape(1, 6), keys, values


def appended(form: Form, rows: int = 1) -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    cache = torch.randn(HEADS, POSITIONS, WIDTH)
    return Appending(form), {"x": torch.randn(HEADS, rows, WIDTH), "cache": cache, "pos": torch.tensor(3)}


def attention() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    return Attention(), (torch.randn(1, 6), torch.randn(2, POSITIONS, 3), torch.randn(2, POSITIONS, 3), torch.tensor([3]))


def two_readers() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    return TwoReaders(), appended(index_copy)[1]


def beginnings() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    return Beginnings(), appended(index_copy)[1]


def three_rows() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    return appended(index_copy_of_a_run, 3)
