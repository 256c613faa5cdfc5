"""Tensors that wrap others, such as torchao's quantised weights: taken apart into plain ones, and put together again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

Tensors = Mapping[str, torch.Tensor]


def inner_tensors(tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    """The tensors that one wraps, by the name of its attribute; none of a plain tensor."""
    if not is_traceable_wrapper_subclass(tensor):
        return {}
    names, _ = tensor.__tensor_flatten__()
    return {name: getattr(tensor, name) for name in names}


def unwrapped(tensors: Tensors) -> dict[str, torch.Tensor]:
    """`tensors` with those that are wrapped in place of the wrapping ones: `weight` becomes `weight.qdata`, `weight.scale`, ..."""
    plain: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        inner = inner_tensors(tensor)
        plain |= unwrapped({f"{name}.{key}": value for key, value in inner.items()}) if inner else {name: tensor}
    return plain


@dataclass(frozen=True)
class Wrapping:
    """How one tensor wraps others, kept apart from it: while PyTorch traces a module, the tensors of its own say nothing.

    `context`, `shape` and `stride`: what its class makes it again from. Without `inner` it is a plain tensor.
    """

    kind: Any
    context: object
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    inner: Mapping[str, Wrapping]

    def around(self, name: str, plain: Tensors) -> torch.Tensor:
        """The tensor called `name` from those of `unwrapped`."""
        if not self.inner:
            return plain[name]
        values = {key: wrapping.around(f"{name}.{key}", plain) for key, wrapping in self.inner.items()}
        return self.kind.__tensor_unflatten__(values, self.context, self.shape, self.stride)


def wrapping_of(tensor: torch.Tensor) -> Wrapping:
    """How `tensor` wraps others."""
    context = tensor.__tensor_flatten__()[1] if is_traceable_wrapper_subclass(tensor) else None
    inner = {name: wrapping_of(value) for name, value in inner_tensors(tensor).items()}
    return Wrapping(type(tensor), context, tuple(tensor.shape), tuple(tensor.stride()) if inner else (), inner)
