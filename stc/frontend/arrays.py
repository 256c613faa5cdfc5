"""Tensors of PyTorch's as arrays, and back."""

from __future__ import annotations

import numpy as np
import torch

from stc.diagnostics import CompileError


def to_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    """A contiguous numpy copy; CompileError for dtypes numpy lacks. Unsigned bytes become signed ones of the same bits."""
    try:
        array = tensor.detach().cpu().contiguous().numpy().copy()
        return array.view(np.int8) if array.dtype == np.uint8 else array
    except TypeError:
        raise CompileError(f"{name} has dtype {tensor.dtype}", accepted="float32, integers, bool") from None


def to_tensor(array: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """`to_numpy` backwards: a tensor of its own, of the type of `like`."""
    return torch.from_numpy(array.copy()).view(like.dtype)
