"""Noise of the size of rounding errors on every value that PyTorch computes: Monte Carlo arithmetic (Parker, 1997)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_map_only

_EXACT = frozenset(
    {"round", "floor", "ceil", "trunc", "fmin", "fmax", "maximum", "minimum", "clamp", "abs", "neg", "amax", "amin", "where"}
    | {"scalar_tensor"}
)
"""Operations whose results are integers, constants, or entries of their operands: there is no rounding error in them."""


class RoundingNoise(TorchDispatchMode):
    """While it is active, every entry of a float result of an operation loses 0, half a, or one unit in the last place, also where
    the result is written into a tensor that was there before (in place, `out=`); but for operations that round nothing.

    Only magnitude is lost, so that what is finite stays finite. Views compute nothing, and are left alone. The same state of
    `random` gives the same noise.
    """

    def __init__(self, random: np.random.Generator):
        super().__init__()
        self._generator = torch.Generator().manual_seed(int(random.integers(1 << 62)))

    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        call: Callable[..., Any] = func
        result = call(*args, **(kwargs or {}))
        if torch.Tag.inplace_view not in func.tags:
            for written in _written(func._schema.arguments, args, kwargs or {}):
                tree_map_only(torch.Tensor, lambda value: value.copy_(self._moved(value)), written)
        is_exact = func._schema.name.removeprefix("aten::") in _EXACT
        if is_exact or any(returned.alias_info is not None for returned in func._schema.returns):
            return result
        return tree_map_only(torch.Tensor, self._moved, result)

    def _moved(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point():
            return value
        lost = torch.randint(0, 3, value.shape, generator=self._generator, dtype=value.dtype)
        return value * (1 - torch.finfo(value.dtype).eps / 2 * lost)


def _written(declared: Sequence[Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> list[Any]:
    """Arguments that an operation writes; `declared`: those of its schema, in the order in which `args` are given."""
    values = {**dict(zip((argument.name for argument in declared), args, strict=False)), **kwargs}
    return [values.get(argument.name) for argument in declared if argument.alias_info and argument.alias_info.is_write]
