"""A PyTorch module of one's own, compiled and checked from Python.

    python examples/custom_module.py FOLDER
"""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path

import torch
from torch import nn

from stc.codegen.project import emit_project
from stc.dialects.context import make_context
from stc.frontend.export import export
from stc.pipeline import PipelineOptions, run_stages, stages
from stc.runtime.accelerator import Accelerator
from stc.simulation.csim import csim


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

    # PyTorch to linalg on tensors; parameters become named arguments, PyTorch's result is the reference.
    model = export(module, (x,), name="gated-unit")
    print("parameters:", ", ".join(model.parameter_names))

    # Every pass of the compiler, in place on model.module; then C++, host programs and packed parameters.
    options = PipelineOptions(tile=4, kernel_name="gated_unit")
    run_stages(model.module, make_context(), stages(options))
    emit_project(model.module, model, folder, asdict(options), report={"model": model.name})

    # The emitted C++, built with g++ and run with its real FIFO depths on the golden inputs.
    result = csim(folder, optimisation=0)
    for output in result.outputs:
        print(f"{output.name}: largest error {output.max_abs_error:.2g} of {output.max_abs_reference:.2g}")
    deepest = max(result.channels, key=lambda channel: channel.highest_occupancy)
    print(f"fullest stream: {deepest.name} held {deepest.highest_occupancy} of {deepest.depth} tokens")

    # The same design as a callable, on other inputs.
    other = torch.randn(6, 12)
    computed = torch.from_numpy(Accelerator(folder)({"x": other.numpy()})["out"].copy())
    agrees = torch.allclose(computed, module(other), atol=1e-4)
    print("other inputs agree:", agrees)
    return 0 if result.passed and agrees else 1


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/custom_module.py FOLDER")
    sys.exit(main(Path(sys.argv[1])))
