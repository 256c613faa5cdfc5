"""Modules whose parameters wrap others: exported with the plain ones as parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
import torch

from stc.execution.run import execute
from stc.frontend.export import export
from stc.frontend.wrapped_tensors import unwrapped, wrapping_of

pytestmark = pytest.mark.heavy


class Scaled(torch.Tensor):
    """Bytes times a scale, as libraries write their quantised weights: a tensor of floats without values of its own."""

    _bytes: torch.Tensor
    _scale: torch.Tensor

    @staticmethod
    def __new__(cls: Any, _bytes: torch.Tensor, _scale: torch.Tensor, offset: float) -> Scaled:
        return torch.Tensor._make_wrapper_subclass(cls, _bytes.shape, dtype=torch.float32)  # type: ignore[attr-defined]  # pyright: ignore

    def __init__(self, _bytes: torch.Tensor, _scale: torch.Tensor, offset: float):
        self._bytes, self._scale, self._offset = _bytes, _scale, offset

    def __tensor_flatten__(self) -> tuple[list[str], float]:
        return ["_bytes", "_scale"], self._offset

    @classmethod
    def __tensor_unflatten__(cls, inner: Mapping[str, torch.Tensor], context: float, size: object, stride: object) -> Scaled:
        return cls(inner["_bytes"], inner["_scale"], context)

    def plain(self) -> torch.Tensor:
        return self._bytes.to(torch.float32) * self._scale + self._offset

    @classmethod
    def __torch_function__(cls, func: Any, types: object, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        if func is torch.nn.functional.linear:
            return func(args[0], args[1].plain(), *args[2:], **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[arg-type]  # pyright: ignore

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: object, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.detach.default:
            return cls(args[0]._bytes, args[0]._scale, args[0]._offset)
        return NotImplemented


def layer() -> torch.nn.Linear:
    torch.manual_seed(0)
    made = torch.nn.Linear(7, 3)
    value = Scaled(torch.randint(-128, 128, (3, 7), dtype=torch.int8), torch.rand(3, 1), 0.5)
    made.weight = torch.nn.Parameter(value, requires_grad=False)
    return made


def test_what_is_wrapped_is_what_is_exported() -> None:
    x = torch.randn(5, 7)
    model = export(torch.nn.Sequential(layer()), (x,))
    assert model.parameter_names == ("0.weight._bytes", "0.weight._scale", "0.bias")
    (found,) = execute(model.module, list(model.arguments.values()))
    np.testing.assert_allclose(found, layer()(x).detach().numpy(), rtol=1e-5, atol=1e-5)


def test_tensors_are_wrapped_again_as_they_were() -> None:
    weight = layer().weight
    plain = unwrapped({"weight": weight, "bias": torch.ones(3)})
    assert list(plain) == ["weight._bytes", "weight._scale", "bias"]
    again = wrapping_of(weight).around("weight", plain)
    assert isinstance(again, Scaled) and torch.equal(again.plain(), weight.plain())  # type: ignore[operator]  # pyright: ignore
