"""PyTorch's operations that quantise and dequantise, in terms of plain ones: what they compute to the bit, ties included.

torch-mlir divides by the scale where PyTorch multiplies by its reciprocal, which rounds other entries up.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

_DECOMPOSED = "torch.ao.quantization.fx._decomposed"


def quantisation_decompositions() -> dict[Any, Callable[..., Any]]:
    """A rule for each operation. Those of `quantized_decomposed` exist once their module is imported, and are rules themselves."""
    found: dict[Any, Callable[..., Any]] = {
        torch.ops.aten.fake_quantize_per_tensor_affine_cachemask.default: _by_numbers,
        torch.ops.aten._fake_quantize_per_tensor_affine_cachemask_tensor_qparams.default: _by_tensors,
        torch.ops.aten.fake_quantize_per_channel_affine_cachemask.default: _by_channels,
    }
    module, operations = sys.modules.get(_DECOMPOSED), torch.ops.quantized_decomposed
    for name in () if module is None else _OF_DECOMPOSED:
        found[getattr(operations, name).default] = getattr(module, name)
    for name in () if module is None else ("quantize_per_tensor", "dequantize_per_tensor"):
        found[getattr(operations, name).tensor] = getattr(module, f"{name}_tensor")
    return found


_OF_DECOMPOSED = (
    *("choose_qparams_per_token", "choose_qparams_per_token_asymmetric", "_choose_qparams_per_token_asymmetric_impl"),
    *("quantize_per_tensor", "quantize_per_token", "quantize_per_channel", "quantize_per_channel_group"),
    *("dequantize_per_tensor", "dequantize_per_token", "dequantize_per_channel", "dequantize_per_channel_group"),
)


def _by_numbers(x: torch.Tensor, scale: float, zero: int, least: int, most: int) -> tuple[torch.Tensor, torch.Tensor]:
    reciprocal = float(np.float32(1) / np.float32(scale))
    return _cut(torch.round(x * reciprocal) + zero, zero, scale, least, most)


def _by_tensors(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, enabled: torch.Tensor, least: int, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """`enabled` is 1 in what PyTorch makes of `torch.fake_quantize_per_tensor_affine`."""
    return _cut(torch.round(x * (1 / scale)) + zero, zero, scale, least, most)


def _by_channels(
    x: torch.Tensor, scale: torch.Tensor, zero: torch.Tensor, axis: int, least: int, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    shape = [-1 if dim == axis else 1 for dim in range(x.dim())]
    scale, zero = scale.view(shape), zero.view(shape)
    return _cut(torch.round(x * (1 / scale)) + zero, zero, scale, least, most)


def _cut(
    rounded: torch.Tensor, zero: torch.Tensor | int, scale: torch.Tensor | float, least: int, most: int
) -> tuple[torch.Tensor, torch.Tensor]:
    """Brought within bounds and back to floats, and where it was within them. NaN has the least integer."""
    cut = torch.where(rounded > least, rounded, float(least))
    cut = torch.where(cut < most, cut, float(most))
    return (cut - zero) * scale, (rounded >= least) & (rounded <= most)
