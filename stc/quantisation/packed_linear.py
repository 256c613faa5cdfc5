"""A linear layer on weights that were quantised elsewhere, as a PyTorch module: integers and scales as they are."""

from __future__ import annotations

import torch

from stc.quantisation.formats import GROUP
from stc.quantisation.packed_weights import GroupedIntegers
from stc.quantisation.rows import integers_of, scales_of


class PackedLinear(torch.nn.Module):
    """[..., inputs] f32 to [..., outputs] f32, by weights that are exact in f32: `(integers - zeros) * scales`.

    `integers` [outputs, groups, size] int8 of `bits`, a short last group filled up with zeros; `scales` [outputs, groups] f16;
    `zeros` [outputs, groups] int8 of `bits`, or None. `activations`: None for f32; else they are quantised and dequantised, with a
    scale for each token or for each group, which is what the compiler makes integers of.
    """

    integers: torch.Tensor
    scales: torch.Tensor
    zeros: torch.Tensor | None
    bias: torch.Tensor | None

    def __init__(self, weight: GroupedIntegers, bias: torch.Tensor | None):
        super().__init__()
        outputs, self.in_features = weight.integers.shape
        groups = weight.scales.shape[1]
        filled = torch.zeros(outputs, groups * weight.group, dtype=torch.int8)
        filled[:, : self.in_features] = torch.from_numpy(weight.integers)
        self.register_buffer("integers", filled.unflatten(1, (groups, weight.group)))
        self.register_buffer("scales", torch.from_numpy(weight.scales))
        self.register_buffer("zeros", None if weight.zeros is None else torch.from_numpy(weight.zeros))
        self.register_buffer("bias", bias)
        self.bits = weight.bits
        self.activations: str | None = None

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        groups = self.integers.shape[1:]
        missing = groups.numel() - self.in_features
        filled = torch.nn.functional.pad(x, (0, missing)) if missing else x
        if self.activations is not None:
            cut = filled.unflatten(-1, groups) if self.activations == GROUP else filled
            scales = scales_of(cut.abs().amax(-1, keepdim=True))
            filled = (integers_of(cut, scales).to(torch.float32) * scales).reshape(filled.shape)
        return torch.nn.functional.linear(filled, self._weight(), self.bias)

    def _weight(self) -> torch.Tensor:
        """[outputs, groups * size] f32, exactly: a difference of `bits` + 1 bits times the 11 bits of a scale."""
        centred = self.integers.to(torch.float32)
        if self.zeros is not None:
            centred = centred - self.zeros.to(torch.float32).unsqueeze(-1)
        return (centred * self.scales.to(torch.float32).unsqueeze(-1)).flatten(1)
