"""PyTorch modules that compute exactly what quantised linear layers compute (docs/quantisation.md)."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from stc.diagnostics import CompileError
from stc.quantisation.formats import GROUP, SCALES, LinearFormat, Quantisation, require_some
from stc.quantisation.group_sums import group_sums
from stc.quantisation.packed_linear import PackedLinear
from stc.quantisation.rows import integers_of, saturated, scales_of

_SCALE_TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class QuantisedWeight:
    """`integers` [outputs, groups, size] int8, a short last group filled up with zeros; `scales` [outputs, groups] f16 or bf16;
    `zeros` [outputs, groups] int8, which stand for a weight of 0, None where 0 does."""

    integers: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor | None = None


def quantise_weight(weight: torch.Tensor, chosen: LinearFormat, where: str) -> QuantisedWeight:
    """`weight` [outputs, inputs], f32. CompileError for what is not finite, or too large for the type of the scales."""
    if not torch.isfinite(weight).all():
        raise CompileError("a weight is infinite or NaN", where=where, accepted="finite weights")
    count, size = chosen.groups(weight.shape[1])
    grouped = _in_groups(weight, count, size)
    largest = grouped.abs().amax(dim=-1)
    scales = (largest / float(chosen.largest)).to(_SCALE_TYPES[chosen.scale])
    if torch.isinf(scales).any():
        raise CompileError(f"a scale is too large for {chosen.scale}", where=where, accepted="scale=bf16, or smaller weights")
    scales = torch.maximum(scales, torch.tensor(SCALES[chosen.scale], dtype=scales.dtype))
    quotients = grouped / scales.to(torch.float32).unsqueeze(-1)
    return QuantisedWeight(saturated(torch.round(quotients), chosen.largest), scales)


def _in_groups(rows: torch.Tensor, count: int, size: int) -> torch.Tensor:
    """[..., inputs] as [..., count, size], filled up with zeros."""
    missing = count * size - rows.shape[-1]
    return torch.nn.functional.pad(rows, (0, missing)).unflatten(-1, (count, size))


class QuantisedLinear(torch.nn.Module):
    """A linear layer on integers: [..., inputs] f32 to [..., outputs] f32."""

    integers: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor | None
    bias: torch.Tensor | None

    def __init__(self, weight: QuantisedWeight, bias: torch.Tensor | None, activations: str):
        super().__init__()
        self.register_buffer("integers", weight.integers)
        self.register_buffer("scales", weight.scales)
        self.register_buffer("zeros", weight.zeros)
        self.register_buffer("bias", bias)
        self.activations = activations
        self.is_used = False

    def quantised(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Integers [..., groups, size] int8 and scales [..., 1] (of tokens) or [..., groups] of activations [..., inputs]."""
        grouped = _in_groups(x, *self.integers.shape[1:])
        largest = grouped.abs().amax(dim=-1)
        if self.activations != GROUP:
            largest = largest.amax(dim=-1, keepdim=True)
        scales = scales_of(largest)
        return integers_of(grouped, scales.unsqueeze(-1)), scales

    def sums(self, integers: torch.Tensor) -> torch.Tensor:
        """The sum of products with integers less their zero points within each group, [..., outputs, groups] int32, of activations
        [..., groups, size] int8."""
        zeros = None if self.zeros is None else self.zeros.numpy()
        sums = group_sums(integers.flatten(0, -3).numpy(), self.integers.numpy(), zeros)
        return torch.from_numpy(sums).unflatten(0, integers.shape[:-2])

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.is_used = True
        integers, scales = self.quantised(x)
        sums = self.sums(integers).to(torch.float32)
        widened = self.scales.to(torch.float32)
        total = torch.zeros(sums.shape[:-1])
        for group in range(sums.shape[-1]):
            term = sums[..., group] * widened[:, group]
            if self.activations == GROUP:
                term = term * scales[..., group : group + 1]
            total = total + term
        if self.activations != GROUP:
            total = total * scales
        return total if self.bias is None else total + self.bias


def linear_layers(module: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """The linear layers of `module` by their path: `torch.nn.Linear`, what transformers calls Conv1D, and `PackedLinear`."""
    named = module.named_modules()
    return {path: layer for path, layer in named if isinstance(layer, PackedLinear) or weight_of(layer) is not None}


def weight_of(layer: torch.nn.Module) -> torch.Tensor | None:
    """[outputs, inputs]; None of what has no weight in floats."""
    if isinstance(layer, torch.nn.Linear) and type(layer).forward is torch.nn.Linear.forward:
        return layer.weight.detach()
    kind = type(layer)
    is_conv1d = (kind.__module__, kind.__name__) == ("transformers.pytorch_utils", "Conv1D")
    return layer.get_parameter("weight").detach().T if is_conv1d else None


def _quantised_weight(layer: torch.nn.Module, chosen: LinearFormat, path: str, model: str) -> QuantisedWeight:
    """Of the linear layer at `path`; a packed one has its own. CompileError for one whose weight wraps other tensors."""
    where, excepted = path or model, f", or --quantize with except={path}" if path else ""
    if isinstance(layer, PackedLinear):
        if layer.bits != chosen.bits:
            what = f"bits={chosen.bits} is asked of weights that have {layer.bits} bits in the model"
            raise CompileError(what, where=where, accepted=f"bits={layer.bits}{excepted}")
        return QuantisedWeight(layer.integers, layer.scales, layer.zeros)
    weight = weight_of(layer)
    assert weight is not None
    if is_traceable_wrapper_subclass(weight):
        what = f"the layer is quantised already: its weight is a {type(weight).__name__}"
        raise CompileError(what, where=where, accepted=f"neither --quantize nor --dtype{excepted}")
    return quantise_weight(weight, chosen, where)


@dataclass(frozen=True)
class QuantisedModel:
    """The layers of `module` that are quantised, by their path."""

    module: torch.nn.Module
    layers: Mapping[str, QuantisedLinear]

    @property
    def used(self) -> frozenset[str]:
        """The layers that have run."""
        return frozenset(path for path, layer in self.layers.items() if layer.is_used)

    @property
    def packed(self) -> frozenset[str]:
        """The layers that have had integers before."""
        return frozenset(path for path, layer in linear_layers(self.module).items() if isinstance(layer, PackedLinear))

    def replace(self) -> None:
        """From now on the layers of the module compute on integers."""
        originals = linear_layers(self.module)
        for path, layer in self.layers.items():
            originals[path].forward = layer.forward

    @contextmanager
    def exported(self) -> Generator[None]:
        """Meanwhile layers that had integers before say how their activations become integers, for the compiler to see."""
        packed = {path: self.module.get_submodule(path) for path in self.packed & self.layers.keys()}
        try:
            for path, layer in packed.items():
                layer.activations = self.layers[path].activations  # pyright: ignore[reportArgumentType]
            yield
        finally:
            for layer in packed.values():
                layer.activations = None  # pyright: ignore[reportArgumentType]

    @contextmanager
    def replaced(self) -> Generator[None]:
        """Meanwhile they do."""
        originals = linear_layers(self.module)
        try:
            self.replace()
            yield
        finally:
            for path in self.layers:
                originals[path].__dict__.pop("forward", None)


def quantised_model(module: torch.nn.Module, chosen: Quantisation, where: str) -> QuantisedModel:
    """The linear layers of `module` as `chosen` says. CompileError for a path that names none, and where nothing is left."""
    found = linear_layers(module)
    require_some(chosen, found, where)
    layers: dict[str, QuantisedLinear] = {}
    for path, layer in found.items():
        if (own := chosen.format_of(path)) is None:
            continue
        bias = getattr(layer, "bias", None)
        quantised = _quantised_weight(layer, own, path, where)
        layers[path] = QuantisedLinear(quantised, None if bias is None else bias.detach(), own.activations)
    return QuantisedModel(module, layers)
