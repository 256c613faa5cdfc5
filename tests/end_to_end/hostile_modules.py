"""A module whose submodules, parameters, inputs and outputs have names that nobody should give."""

from __future__ import annotations

import torch
from torch import nn

KEYS = ("//evil", "*/#error pwned", "$(touch pwned)", "??/", "select", "\u6a21", "a b", "a_b", "x" * 300, "0", "it's", "A b")


class Hostile(nn.Module):
    """`y[key] = layers[key](sum of inputs)` for every key, and one output more."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleDict({key: nn.Linear(4, 4, bias=False) for key in KEYS})

    def forward(self, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        total = sum(inputs.values(), torch.zeros(2, 4))
        outputs = {key: layer(total) for key, layer in self.layers.items()}
        return {**outputs, "a.b\n": outputs["a b"] * outputs["a_b"]}


def hostile() -> tuple[nn.Module, dict[str, torch.Tensor]]:
    return Hostile().eval(), {"x\n#error pwned": torch.randn(2, 4), "../x": torch.randn(2, 4), "def": torch.randn(2, 4)}
