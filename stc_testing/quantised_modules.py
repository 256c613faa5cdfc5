"""Modules whose layers were quantised by others, each written in another way: integers, scales and zero points in plain PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  # pyright: ignore  # defines torch.ops.quantized_decomposed

Made = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]
Quantise = Callable[[torch.Tensor], torch.Tensor]
"""Quantises and dequantises activations."""


class Weights(torch.nn.Module):
    """Integers [outputs, inputs] in groups along the inputs, with a scale and a zero point each, unless they are `symmetric`."""

    integers: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor | None

    def __init__(self, outputs: int, inputs: int, group: int, least: int, most: int, *, symmetric: bool):
        super().__init__()
        kind = torch.int8 if least < 0 else torch.uint8
        shape = (outputs, inputs // group, 1)
        integers = torch.randint(least, most + 1, (outputs, inputs), dtype=kind)
        integers[0, 0], integers[0, -1] = least, most
        self.register_buffer("integers", integers)
        self.register_buffer("scales", torch.rand(shape) * 0.02 + 0.001)
        zeros = torch.randint(least, most + 1, shape, dtype=torch.int32)
        self.register_buffer("zeros", None if symmetric else zeros)

    def forward(self) -> torch.Tensor:
        grouped = self.integers.unflatten(1, (*self.scales.shape[1:2], -1))
        if self.zeros is not None:
            grouped = grouped.to(torch.int32) - self.zeros
        return (grouped.to(torch.float32) * self.scales).flatten(1)


class Layer(torch.nn.Module):
    """A linear layer of quantised weights and activations."""

    def __init__(self, weights: torch.nn.Module, quantise: Quantise, outputs: int):
        super().__init__()
        self.weights = weights
        self._quantise = quantise
        self.bias = torch.nn.Parameter(torch.randn(outputs) * 0.5, requires_grad=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(self._quantise(x), self.weights(), self.bias)


# Activations ----------------------------------------------------------------------------------------------------------


def by_token(x: torch.Tensor) -> torch.Tensor:
    """Symmetric, written by hand, without a cast."""
    scale = (x.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-8)
    return (x / scale).round().clamp(-128, 127) * scale


def by_token_asymmetric(x: torch.Tensor) -> torch.Tensor:
    """To bytes without a sign, with a zero point."""
    low, high = x.amin(-1, keepdim=True).clamp(max=0), x.amax(-1, keepdim=True).clamp(min=0)
    scale = ((high - low) / 255).clamp(min=1e-8)
    zero = (-low / scale).round().clamp(0, 255).to(torch.uint8)
    integers = ((x / scale).round() + zero).clamp(0, 255).to(torch.uint8)
    return (integers.to(torch.float32) - zero.to(torch.float32)) * scale


def by_group(x: torch.Tensor) -> torch.Tensor:
    """Symmetric, in groups of 8, in 4 bits."""
    grouped = x.unflatten(-1, (-1, 8))
    scale = (grouped.abs().amax(-1, keepdim=True) / 7).clamp(min=1e-8)
    return ((grouped / scale).round().clamp(-8, 7).to(torch.int8) * scale).flatten(-2)


def static(x: torch.Tensor) -> torch.Tensor:
    """One scale and one zero point, known before."""
    return torch.fake_quantize_per_tensor_affine(x, 2**-5, 5, -128, 127)


def decomposed(x: torch.Tensor) -> torch.Tensor:
    """As PyTorch's own quantisation of exported programs writes it."""
    ops = torch.ops.quantized_decomposed
    scale, zero = ops.choose_qparams_per_token_asymmetric(x, torch.int8)
    integers = ops.quantize_per_token(x, scale, zero, -128, 127, torch.int8)
    return ops.dequantize_per_token(integers, scale, zero, -128, 127, torch.int8, torch.float32)


def decomposed_static(x: torch.Tensor) -> torch.Tensor:
    ops = torch.ops.quantized_decomposed
    integers = ops.quantize_per_tensor(x, 2**-6, -7, -128, 127, torch.int8)
    return ops.dequantize_per_tensor(integers, 2**-6, -7, -128, 127, torch.int8)


# Weights --------------------------------------------------------------------------------------------------------------


class FakeQuantised(torch.nn.Module):
    """Weights of f32 that are quantised and dequantised each time, a scale for each output."""

    scales: torch.Tensor
    zeros: torch.Tensor

    def __init__(self, outputs: int, inputs: int):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(outputs, inputs), requires_grad=False)
        self.register_buffer("scales", self.weight.abs().amax(1) / 127)
        self.register_buffer("zeros", torch.zeros(outputs, dtype=torch.int32))

    def forward(self) -> torch.Tensor:
        return torch.fake_quantize_per_channel_affine(self.weight, self.scales, self.zeros, 0, -128, 127)


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


class Attention(torch.nn.Module):
    """Both factors of both products are activations, quantised."""

    def forward(self, q: torch.Tensor, k: torch.Tensor, v: torch.Tensor) -> torch.Tensor:
        scores = by_token(q) @ by_token(k).transpose(-1, -2)
        weights = torch.fake_quantize_per_tensor_affine(scores.softmax(-1), 1 / 255, 0, 0, 255)
        return weights @ by_token(v.transpose(-1, -2)).transpose(-1, -2)


def layer(
    quantise: Quantise, m: int = 5, n: int = 6, k: int = 24, *, group: int = 24, bits: int = 8, signed: bool = True,
    symmetric: bool = True,
) -> Made:  # fmt: skip
    torch.manual_seed(k)
    least, most = (-(1 << bits - 1), (1 << bits - 1) - 1) if signed else (0, (1 << bits) - 1)
    return Layer(Weights(n, k, group, least, most, symmetric=symmetric), quantise, n).eval(), (torch.randn(m, k),)


tokens = partial(layer, by_token)
tokens_by_groups_of_4_bits = partial(layer, by_token, bits=4, group=8)
tokens_by_groups_with_zeros = partial(layer, by_token, n=7, bits=4, group=8, signed=False, symmetric=False)
asymmetric_tokens = partial(layer, by_token_asymmetric, m=3, k=13, group=13)
asymmetric_tokens_by_bytes_with_zeros = partial(layer, by_token_asymmetric, group=8, signed=False, symmetric=False)
groups_of_both = partial(layer, by_group, bits=4, group=8)
groups_of_activations = partial(layer, by_group, bits=4)
one_scale = partial(layer, static, m=1, k=17, group=17)
one_scale_by_groups_with_zeros = partial(layer, static, bits=4, group=12, signed=False, symmetric=False)
decomposed_tokens = partial(layer, decomposed)
decomposed_one_scale = partial(layer, decomposed_static, group=6)


def fake_quantised_weights() -> Made:
    torch.manual_seed(0)
    return Layer(FakeQuantised(5, 11), by_token, 5).eval(), (torch.randn(3, 11),)


def wrapped_weights() -> Made:
    """A linear layer of PyTorch's whose weight is such a tensor."""
    torch.manual_seed(0)
    made = torch.nn.Linear(7, 3)
    value = Scaled(torch.randint(-128, 128, (3, 7), dtype=torch.int8), torch.rand(3, 1), 0.5)
    made.weight = torch.nn.Parameter(value, requires_grad=False)
    return torch.nn.Sequential(made).eval(), (torch.randn(5, 7),)


def attention() -> Made:
    torch.manual_seed(0)
    return Attention().eval(), tuple(torch.randn(2, 7, 8) for _ in range(3))


def two_layers() -> Made:
    """Integers of the second depend on f32 sums of the first."""
    torch.manual_seed(0)
    first, x = layer(by_token_asymmetric, bits=4, group=8, n=16)
    second, _ = layer(by_token, k=16, group=16, n=3)
    return torch.nn.Sequential(first, torch.nn.GELU(), second), x


MODULES: dict[str, Callable[[], Made]] = {
    name: globals()[name]
    for name in (
        "tokens", "tokens_by_groups_of_4_bits", "tokens_by_groups_with_zeros", "asymmetric_tokens",
        "asymmetric_tokens_by_bytes_with_zeros", "groups_of_both", "groups_of_activations", "one_scale",
        "one_scale_by_groups_with_zeros", "decomposed_tokens", "decomposed_one_scale", "fake_quantised_weights", "attention",
        "two_layers",
    )
}  # fmt: skip
"""What has to be recognised."""
