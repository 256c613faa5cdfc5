"""Noise of the size of rounding errors on every value that PyTorch computes: Monte Carlo arithmetic (Parker, 1997)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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

_EXACT_ON_INTEGERS = frozenset({"add", "sub", "mul"})
_MOST_EXACT = 2.0**24
"""Up to here f32 holds every integer."""


class RoundingNoise(TorchDispatchMode):
    """While it is active, every entry of a float result of an operation loses 0, half a, or one unit in the last place, also where
    the result is written into a tensor that was there before (in place, `out=`); but for operations that round nothing, as sums of
    what is rounded to integers and zero points.

    Numbers of bf16 are left as they are: nothing is computed in it, and who makes them of f32 rounds as the design does.

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
        kind = _kind_of(func)
        for position, name in kind.written:
            written = (kwargs or {}).get(name, args[position] if position < len(args) else None)
            tree_map_only(torch.Tensor, lambda value: value.copy_(self._moved(value)), written)
        if kind.is_exact or (kind.is_exact_on_integers and not kwargs and all(map(_is_whole, (*args, result)))):
            return result
        return self._moved(result) if isinstance(result, torch.Tensor) else tree_map_only(torch.Tensor, self._moved, result)

    def _moved(self, value: torch.Tensor) -> torch.Tensor:
        if not value.is_floating_point() or value.dtype == torch.bfloat16:
            return value
        lost = torch.randint(0, 3, value.shape, generator=self._generator, dtype=value.dtype)
        return value * (1 - torch.finfo(value.dtype).eps / 2 * lost)


@dataclass(frozen=True)
class _Kind:
    """What is to be known of an operation. `written`: position and name of the arguments that it writes; `is_exact`: whether there
    is no error in its results, or these are among its arguments."""

    written: tuple[tuple[int, str], ...]
    is_exact: bool
    is_exact_on_integers: bool


@cache
def _kind_of(func: Any) -> _Kind:
    """From its schema, which takes longer to ask than the operation takes."""
    schema, is_view = func._schema, torch.Tag.inplace_view in func.tags
    name = schema.name.removeprefix("aten::")
    written = [(place, each.name) for place, each in enumerate(schema.arguments) if each.alias_info and each.alias_info.is_write]
    returns_arguments = any(returned.alias_info is not None for returned in schema.returns)
    return _Kind(() if is_view else tuple(written), name in _EXACT or returns_arguments, name in _EXACT_ON_INTEGERS)


def _is_whole(value: Any) -> bool:
    """Whether a number, or each entry of a tensor, is an integer that f32 holds exactly."""
    if isinstance(value, torch.Tensor):
        return not value.is_floating_point() or bool(((value == value.round()) & (value.abs() <= _MOST_EXACT)).all())
    return isinstance(value, int | float) and float(value).is_integer()
