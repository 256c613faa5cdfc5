"""A linear layer on weights that were quantised elsewhere, as a PyTorch module: integers and scales as they are."""

from __future__ import annotations

import torch

from stc.quantisation.packed_weights import GroupedIntegers

_WIDTH = 8


class PackedLinear(torch.nn.Module):
    """[..., inputs] f32 to [..., outputs] f32, by weights that are exact in f32: `(integers - zeros) * scales`.

    `integers` [outputs, groups, size] int8 of `bits`, a short last group filled up with zeros; `scales` [outputs, groups] f16;
    `zeros` [outputs, groups] int8 of `bits`, or None.
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

    def weight(self) -> torch.Tensor:
        """[outputs, inputs] f32, exactly: a difference of `bits` + 1 bits times the 11 bits of a scale."""
        centred = _of_bits(self.integers, self.bits).to(torch.float32)
        if self.zeros is not None:
            centred = centred - _of_bits(self.zeros, self.bits).to(torch.float32).unsqueeze(-1)
        weight = (centred * self.scales.to(torch.float32).unsqueeze(-1)).flatten(1)
        return weight if weight.shape[1] == self.in_features else weight[:, : self.in_features]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.linear(x, self.weight(), self.bias)


def _of_bits(integers: torch.Tensor, bits: int) -> torch.Tensor:
    """The same integers, of which the lowest `bits` say all: the compiler sees that they fit."""
    spare = _WIDTH - bits
    return (integers << spare) >> spare if spare else integers
