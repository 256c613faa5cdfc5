"""A PyTorch module of one's own, compiled and checked from Python.

    python examples/custom_module.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch import nn

import stc


class GatedUnit(nn.Module):
    """A gated linear unit with a residual connection."""

    def __init__(self, width: int, inner: int):
        super().__init__()
        self.gate = nn.Linear(width, inner)
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(torch.sigmoid(self.gate(x)) * self.up(x))


def main(folder: Path) -> int:
    torch.manual_seed(0)
    module, x = GatedUnit(12, 20), torch.randn(6, 12)

    # Every pass of the compiler, then C++, host programs and packed parameters. Options are those of `stc compile`.
    design = stc.compile(module, (x,), out=folder, tile=4)
    print("parameters:", ", ".join(name for name, _ in module.named_parameters()))
    print("after tiling:", design.ir("linalg-tiling").count("scf.for"), "loops")

    # The emitted C++, built with g++ and run with its real FIFO depths on the golden inputs.
    result = design.check()
    for output in result.outputs:
        print(f"{output.name}: largest error {output.max_abs_error:.2g} of {output.max_abs_reference:.2g}")
    deepest = max(result.channels, key=lambda channel: channel.highest_occupancy)
    print(f"fullest stream: {deepest.name} held {deepest.highest_occupancy} of {deepest.depth} tokens")
    print("cycles:", design.simulate().cycles, "DSPs:", design.report()["resources"]["total"]["dsp"])

    # The design is called like the module, on other inputs.
    other = torch.randn(6, 12)
    agrees = torch.allclose(design(other), module(other), atol=1e-4)
    print("other inputs agree:", agrees)
    return 0 if result.passed and agrees else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        print("usage: python examples/custom_module.py FOLDER", file=sys.stderr)
        sys.exit(2)
    sys.exit(main(Path(sys.argv[1])))
