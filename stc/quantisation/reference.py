"""PyTorch modules that compute exactly what quantised linear layers compute (docs/quantisation.md)."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch.utils._python_dispatch import is_traceable_wrapper_subclass

from stc.diagnostics import CompileError
from stc.quantisation.formats import GROUP, SCALES, LinearFormat, Quantisation, require_some
from stc.quantisation.rows import integers_of, saturated, scales_of

_SCALE_TYPES = {"f16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class QuantisedWeight:
    """`integers` [outputs, groups, size] int8, a short last group filled up with zeros; `scales` [outputs, groups] f16 or bf16."""

    integers: torch.Tensor
    scales: torch.Tensor


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
    bias: torch.Tensor | None

    def __init__(self, weight: QuantisedWeight, bias: torch.Tensor | None, activations: str):
        super().__init__()
        self.register_buffer("integers", weight.integers)
        self.register_buffer("scales", weight.scales)
        self.register_buffer("bias", bias)
        self._activations = activations
        self.is_used = False

    def quantised(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Integers [..., groups, size] int8 and scales [..., 1] (of tokens) or [..., groups] of activations [..., inputs]."""
        grouped = _in_groups(x, *self.integers.shape[1:])
        largest = grouped.abs().amax(dim=-1)
        if self._activations != GROUP:
            largest = largest.amax(dim=-1, keepdim=True)
        scales = scales_of(largest)
        return integers_of(grouped, scales.unsqueeze(-1)), scales

    def sums(self, integers: torch.Tensor) -> torch.Tensor:
        """The sum of products within each group, [..., outputs, groups] int32, of activations [..., groups, size] int8."""
        left = integers.to(torch.int32).movedim(-2, 0)
        right = self.integers.to(torch.int32).permute(1, 2, 0)
        flat = left.reshape(left.shape[0], -1, left.shape[-1])
        return torch.bmm(flat, right).unflatten(1, left.shape[1:-1]).movedim(0, -1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.is_used = True
        integers, scales = self.quantised(x)
        sums = self.sums(integers).to(torch.float32)
        widened = self.scales.to(torch.float32)
        total = torch.zeros(sums.shape[:-1])
        for group in range(sums.shape[-1]):
            term = sums[..., group] * widened[:, group]
            if self._activations == GROUP:
                term = term * scales[..., group : group + 1]
            total = total + term
        if self._activations != GROUP:
            total = total * scales
        return total if self.bias is None else total + self.bias


def linear_layers(module: torch.nn.Module) -> dict[str, torch.nn.Module]:
    """The linear layers of `module` by their path: `torch.nn.Linear`, and what transformers calls Conv1D."""
    return {path: layer for path, layer in module.named_modules() if weight_of(layer) is not None}


def weight_of(layer: torch.nn.Module) -> torch.Tensor | None:
    """[outputs, inputs]; None of what is no linear layer."""
    if isinstance(layer, torch.nn.Linear) and type(layer).forward is torch.nn.Linear.forward:
        return layer.weight.detach()
    kind = type(layer)
    is_conv1d = (kind.__module__, kind.__name__) == ("transformers.pytorch_utils", "Conv1D")
    return layer.get_parameter("weight").detach().T if is_conv1d else None


@dataclass(frozen=True)
class QuantisedModel:
    """The layers of `module` that are quantised, by their path."""

    module: torch.nn.Module
    layers: Mapping[str, QuantisedLinear]

    @property
    def used(self) -> frozenset[str]:
        """The layers that have run."""
        return frozenset(path for path, layer in self.layers.items() if layer.is_used)

    def replace(self) -> None:
        """From now on the layers of the module compute on integers."""
        originals = linear_layers(self.module)
        for path, layer in self.layers.items():
            originals[path].forward = layer.forward

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
        weight, own = weight_of(layer), chosen.format_of(path)
        if own is None or weight is None:
            continue
        if is_traceable_wrapper_subclass(weight):
            what = f"the layer is quantised already: its weight is a {type(weight).__name__}"
            accepted = "neither --quantize nor --dtype" + (f", or --quantize with except={path}" if path else "")
            raise CompileError(what, where=path or where, accepted=accepted)
        bias = getattr(layer, "bias", None)
        quantised = quantise_weight(weight, own, path or where)
        layers[path] = QuantisedLinear(quantised, None if bias is None else bias.detach(), own.activations)
    return QuantisedModel(module, layers)
