"""A decoder layer behind a cache of keys and values: the cache's rows in, its new rows out."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import torch
from torch.utils import _pytree as pytree
from transformers import Cache

from stc.frontend.families.layer_call import CACHE, HIDDEN, MASK, LayerCall
from stc.quantisation.rows import Parts, RowFormat, is_in_f32

KEYS, VALUES = CACHES = ("k_cache", "v_cache")
ROWS, UPDATED = ("k_rows", "v_rows"), ("k_updated", "v_updated")

POSITION = "pos"
"""The scalar of a compiled layer: how many rows the cache has, behind which the new ones come."""


def cache_names(stored: RowFormat) -> tuple[str, ...]:
    """The inputs that hold earlier rows, [1, heads, positions, entries] each: parts of keys, then of values."""
    return tuple(f"{cache}{part}" for cache in CACHES for part in stored.parts)


def outputs(stored: RowFormat) -> tuple[str, ...]:
    """What a layer returns: `y`, and its rows of each of `cache_names`."""
    return ("y", *(f"{rows}{part}" for rows in ROWS for part in stored.parts))


def updates(stored: RowFormat) -> dict[str, tuple[str, str]]:
    """Where a compiled layer puts the new rows, by their name: the cache that they become a part of, and what this is called as an
    output."""
    updated = (f"{name}{part}" for name in UPDATED for part in stored.parts)
    return dict(zip(outputs(stored)[1:], zip(cache_names(stored), updated, strict=True), strict=True))


class CacheRows:
    """What transformers' attention sees as its cache: it appends the new rows, and keeps them as they are stored.

    `before`: those of earlier positions, [1, heads, positions, entries] each (`cache_names`); none where it is empty. Attention
    sees earlier and new rows alike, widened from what is stored.
    """

    def __init__(self, stored: RowFormat, before: Parts = ()):
        self._stored, self._before = stored, before
        self.rows: Parts | None = None
        self.all_rows: tuple[Parts, ...] = ()
        """All rows of keys, and of values, as they are stored."""

    @contextmanager
    def used(self) -> Generator[None]:
        """Meanwhile this is the cache `in_use`."""
        token = _IN_USE.set(self)
        try:
            yield
        finally:
            _IN_USE.reset(token)

    @staticmethod
    def in_use() -> CacheRows:
        """The one that the layer that runs was called with."""
        return _IN_USE.get()

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """All rows, the new ones behind those of earlier positions."""
        if self.rows is not None:
            raise RuntimeError("the layer updates its cache twice")
        count = len(self._stored.parts)
        new = [self._stored.stored(rows) for rows in (keys, values)]
        returned = [self._stored.returned(rows, parts) for rows, parts in zip((keys, values), new, strict=True)]
        self.rows = (*returned[0], *returned[1])
        before = [self._before[:count], self._before[count:]]
        if is_in_f32():
            exact = zip(before, (keys, values), strict=True)
            return tuple(torch.cat([self._stored.widened(old), rows], 2) if old else rows for old, rows in exact)  # pyright: ignore[reportReturnType]
        self.all_rows = tuple(_behind(*pair) for pair in zip(before, new, strict=True))
        return tuple(self._stored.widened(parts) for parts in self.all_rows)  # pyright: ignore[reportReturnType]

    def get_seq_length(self, *_: Any) -> int:
        """How many positions came before."""
        return self._before[0].shape[2] if self._before else 0


def _behind(before: Parts, new: Parts) -> Parts:
    return tuple(torch.cat(pair, 2) for pair in zip(before, new, strict=True)) if before else new


_IN_USE: ContextVar[CacheRows] = ContextVar("cache_in_use")


def rows_of_one_token(module: torch.nn.Module, call: LayerCall, hidden: torch.Tensor, stored: RowFormat) -> Parts:
    """The rows [1, heads, 1, entries] that the layer makes for the first token of `hidden`, as they are stored."""
    cache = CacheRows(stored)
    one = {name: value[..., :1, :1] if name == MASK else value[..., :1, :] for name, value in call.inputs.items()}
    args, kwargs = call.arguments({**one, HIDDEN: hidden[:, :1], CACHE: cache})
    module(*args, **kwargs)
    if cache.rows is None:
        raise RuntimeError("the layer does not use its cache")
    return cache.rows


class _SequenceRows(CacheRows):
    """In a cache of transformers, `inner`: earlier rows are kept with it, those of a layer under its number."""

    def __init__(self, stored: RowFormat, inner: Cache, layer: int):
        super().__init__(stored)
        self._inner, self._layer = inner, layer

    def update(self, keys: torch.Tensor, values: torch.Tensor, *rest: Any, **named: Any) -> tuple[torch.Tensor, torch.Tensor]:
        count = self._inner.update(keys, values, *rest, **named)[0].shape[2] - keys.shape[2]  # it forgets what a window has passed
        held: dict[int, Parts] = self._inner.__dict__.setdefault("stc_rows", {})
        self._before = tuple(part[:, :, part.shape[2] - count :] for part in held.get(self._layer, ()))
        found = super().update(keys, values)
        held[self._layer] = tuple(part for parts in self.all_rows for part in parts)
        return found


def append_rows(module: torch.nn.Module, layer: int, stored: RowFormat) -> None:
    """Let layer number `layer` of a model keep its rows as they are `stored`, whatever cache the model brings; RuntimeError where
    it brings none."""
    original = module.forward

    def forward(*args: Any, **kwargs: Any) -> Any:
        leaves, tree = pytree.tree_flatten((args, kwargs))
        (inner,) = {id(leaf): leaf for leaf in leaves if isinstance(leaf, Cache)}.values() or [None]
        if inner is None:
            raise RuntimeError("the model brings no cache: use_cache=True")
        cache = _SequenceRows(stored, inner, layer)
        args, kwargs = pytree.tree_unflatten([cache if leaf is inner else leaf for leaf in leaves], tree)
        with cache.used():
            return original(*args, **kwargs)

    module.forward = forward


def take_cache_by_name(module: torch.nn.Module, call: LayerCall, earlier: int, stored: RowFormat) -> None:
    """Change the class of `module`: its `forward` takes inputs by name, `cache_names` among them, and returns `outputs`.

    Of the caches it reads the first `earlier` rows: behind these there is room for the new ones. Its parameters keep their names.
    """
    original: Any = type(module)

    def forward(self: torch.nn.Module, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = CacheRows(stored, tuple(inputs[name][:, :, :earlier] for name in cache_names(stored)))
        args, kwargs = call.arguments({**inputs, CACHE: cache})
        with cache.used():
            result = original.forward(self, *args, **kwargs)
        assert cache.rows is not None
        y = result if isinstance(result, torch.Tensor) else result[0]
        return dict(zip(outputs(stored), (y, *cache.rows), strict=True))

    module.__class__ = type(original.__name__, (original,), {"forward": forward})
