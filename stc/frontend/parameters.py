"""Random weights that can fail.

Hugging Face's initialisation sets every bias to 0 and every gain to 1, so that dropping them changes nothing. Ours follows
docs/design/architecture.md, Correctness: matrices N(0, 1/fan_in), biases N(0, 0.5^2), gains N(0, 0.2^2) around their neutral value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import torch

BIAS_DEVIATION = 0.5
GAIN_DEVIATION = 0.2


def randomise(module: torch.nn.Module, seed: int, *, transposed: tuple[type[torch.nn.Module], ...] = ()) -> None:
    """Replace all parameters of `module` in place; the same seed gives the same values.

    Gains stay around the values their class gave them: 1, or 0 where a norm multiplies by 1 + w. Modules of a class in `transposed`
    store matrices as [in, out] instead of [out, in] (GPT-2's Conv1D).
    """
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for owner in module.modules():
            for name, parameter in owner.named_parameters(recurse=False):
                stored_transposed = isinstance(owner, transposed)
                parameter.copy_(random_parameter(name, parameter.shape, generator, transposed=stored_transposed, neutral=parameter))


def random_parameter(
    name: str,
    shape: Sequence[int],
    generator: torch.Generator,
    *,
    transposed: bool = False,
    neutral: torch.Tensor | float = 1.0,
) -> torch.Tensor:
    """Values for one parameter, f32: a matrix by its rank, a bias by its name, else a gain around `neutral`."""
    noise = torch.randn(tuple(shape), generator=generator, dtype=torch.float32)
    if len(shape) >= 2:
        fan_in = shape[-2] if transposed else math.prod(shape[1:])
        return noise / math.sqrt(fan_in)
    if "bias" in name:
        return noise * BIAS_DEVIATION
    return neutral + noise * GAIN_DEVIATION
