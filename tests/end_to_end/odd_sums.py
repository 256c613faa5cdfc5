"""Sums that stand alone or come in odd numbers: `factory` returns (module, example inputs)."""

from __future__ import annotations

import torch
from torch import nn


class OddSums(nn.Module):
    """Norm, product and softmax of three rows over prime extents, then a sum of everything."""

    def __init__(self) -> None:
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        self.weight = nn.Parameter(torch.randn(37, 29, generator=generator) / 37**0.5)
        self.norm = nn.LayerNorm(37)
        with torch.no_grad():
            self.norm.bias.copy_(torch.randn(37, generator=generator))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        attended = torch.softmax(self.norm(x) @ self.weight, -1)
        return attended, (attended * attended).sum()


def factory() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return OddSums(), (torch.randn(3, 37, generator=torch.Generator().manual_seed(1)),)
