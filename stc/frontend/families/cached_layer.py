"""A decoder layer behind a cache of keys and values: the cache's rows in, its new rows out."""

from __future__ import annotations

from typing import Any

import torch

from stc.frontend.families.layer_call import CACHE, HIDDEN, MASK, LayerCall

KEYS, VALUES = "k_cache", "v_cache"
OUTPUTS = ("y", "k_rows", "v_rows")
UPDATES = {"k_rows": (KEYS, "k_updated"), "v_rows": (VALUES, "v_updated")}
"""Where a compiled layer puts the new rows: the cache that they become a part of, and what this is called as an output."""

POSITION = "pos"
"""The scalar of a compiled layer: how many rows the cache has, behind which the new ones come."""


class CacheRows:
    """What transformers' attention sees as its cache: it appends the new rows, and keeps them.

    `keys`, `values` [1, heads, positions, head size]: those of earlier positions.
    """

    def __init__(self, keys: torch.Tensor | None = None, values: torch.Tensor | None = None):
        self._before = (keys, values)
        self.rows: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(self, keys: torch.Tensor, values: torch.Tensor, *_: Any, **__: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """All rows, the new ones behind those of earlier positions."""
        if self.rows is not None:
            raise RuntimeError("the layer updates its cache twice")
        self.rows = (keys, values)
        before = self._before
        return tuple(new if old is None else torch.cat([old, new], 2) for old, new in zip(before, self.rows, strict=True))  # pyright: ignore[reportReturnType]

    def get_seq_length(self, *_: Any) -> int:
        """How many positions came before."""
        return 0 if self._before[0] is None else self._before[0].shape[2]


def row_shapes(module: torch.nn.Module, call: LayerCall, hidden: torch.Tensor) -> tuple[torch.Size, ...]:
    """The shapes of the rows of keys and values [1, heads, 1, head size] that the layer makes for one token."""
    cache = CacheRows()
    one = {name: value[..., :1, :1] if name == MASK else value[..., :1, :] for name, value in call.inputs.items()}
    args, kwargs = call.arguments({**one, HIDDEN: hidden[:, :1], CACHE: cache})
    module(*args, **kwargs)
    if cache.rows is None:
        raise RuntimeError("the layer does not use its cache")
    return tuple(rows.shape for rows in cache.rows)


def take_cache_by_name(module: torch.nn.Module, call: LayerCall, earlier: int) -> None:
    """Change the class of `module`: its `forward` takes inputs by name, `k_cache` and `v_cache` among them, and returns `OUTPUTS`.

    Of the caches it reads the first `earlier` rows: behind these there is room for the new ones. Its parameters keep their names.
    """
    original: Any = type(module)

    def forward(self: torch.nn.Module, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        cache = CacheRows(inputs[KEYS][:, :, :earlier], inputs[VALUES][:, :, :earlier])
        args, kwargs = call.arguments({**inputs, CACHE: cache})
        result = original.forward(self, *args, **kwargs)
        assert cache.rows is not None
        y = result if isinstance(result, torch.Tensor) else result[0]
        return dict(zip(OUTPUTS, (y, *cache.rows), strict=True))

    module.__class__ = type(original.__name__, (original,), {"forward": forward})
