"""Noise of the size of rounding errors on every value that PyTorch computes: Monte Carlo arithmetic (Parker, 1997)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only


class RoundingNoise(TorchDispatchMode):
    """While it is active, every entry of a float result of an operation loses 0, half a, or one unit in the last place.

    Only magnitude is lost, so that what is finite stays finite. Views, and operations in place, compute nothing or are followed by
    what reads them, and are left alone. The same state of `random` gives the same noise.
    """

    def __init__(self, random: np.random.Generator):
        super().__init__()
        self._generator = torch.Generator().manual_seed(int(random.integers(1 << 62)))

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        call: Callable[..., Any] = func
        result = call(*args, **(kwargs or {}))
        if any(returned.alias_info is not None for returned in func._schema.returns):
            return result
        return tree_map_only(torch.Tensor, self._moved, result)

    def _moved(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        lost = torch.randint(0, 3, value.shape, generator=self._generator, dtype=value.dtype)
        return value * (1 - torch.finfo(value.dtype).eps / 2 * lost)
