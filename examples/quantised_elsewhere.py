"""Models that were quantised before `stc` sees them: it computes on their integers (docs/quantisation.md, "In PyTorch").

    stc compile examples/quantised_elsewhere.py:fake_quantised --out build/own --check
    stc compile examples/quantised_elsewhere.py:by_torchao --out build/torchao --check    # with pip install 'stc[torchao]'
"""

from __future__ import annotations

import torch

_INT4: torch.dtype = torch.int4  # pyright: ignore[reportAttributeAccessIssue]


class FakeQuantised(torch.nn.Module):
    """A linear layer as one trains it for integers: floats on a grid of int8, an own scale for each output and for each token."""

    scales: torch.Tensor
    zeros: torch.Tensor

    def __init__(self, inputs: int, outputs: int):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.randn(outputs, inputs) / inputs**0.5)
        self.register_buffer("scales", self.weight.detach().abs().amax(1) / 127)
        self.register_buffer("zeros", torch.zeros(outputs, dtype=torch.int32))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = (x.abs().amax(-1, keepdim=True) / 127).clamp(min=1e-8)
        on_grid = (x / scale).round().clamp(-128, 127) * scale
        weight = torch.fake_quantize_per_channel_affine(self.weight, self.scales, self.zeros, 0, -128, 127)
        return torch.nn.functional.linear(on_grid, weight)


def fake_quantised() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    return torch.nn.Sequential(FakeQuantised(48, 64), torch.nn.SiLU(), FakeQuantised(64, 48)), (torch.randn(8, 48),)


def by_torchao() -> tuple[torch.nn.Module, tuple[torch.Tensor, ...]]:
    """Weights of 4 bits in groups of 32, activations of 8 bits with a zero point for each token."""
    from torchao.quantization import Int8DynamicActivationIntxWeightConfig, quantize_
    from torchao.quantization.granularity import PerGroup

    module = torch.nn.Sequential(torch.nn.Linear(64, 96), torch.nn.SiLU(), torch.nn.Linear(96, 48)).eval()
    quantize_(module, Int8DynamicActivationIntxWeightConfig(weight_dtype=_INT4, weight_granularity=PerGroup(32)))
    return module, (torch.randn(8, 64),)
