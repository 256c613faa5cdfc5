"""Tensors of PyTorch's as arrays, and back."""

from __future__ import annotations

import numpy as np
import torch

from stc.diagnostics import CompileError
from stc.scalars.bf16 import NAN

ACCEPTED = "float32, integers, bool"


def to_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    """A contiguous numpy copy; CompileError for dtypes numpy lacks. Unsigned bytes become signed ones of the same bits, numbers of
    bf16 their bits, of every NaN the same ones."""
    return as_numpy(tensor, name).copy()


def as_numpy(tensor: torch.Tensor, name: str) -> np.ndarray:
    """`to_numpy` without a copy where memory can be shared: of tensors that nobody changes. It cannot be written to."""
    if tensor.dtype == torch.bfloat16:
        tensor = torch.where(tensor.isnan(), torch.tensor(NAN, dtype=torch.int16), tensor.view(torch.int16))
    try:
        array = tensor.detach().cpu().contiguous().numpy()
    except TypeError:
        raise CompileError(f"{name} has dtype {tensor.dtype}", accepted=ACCEPTED) from None
    found = array.view(np.int8 if array.dtype == np.uint8 else array.dtype)
    found.flags.writeable = False
    return found


def to_tensor(array: np.ndarray, like: torch.Tensor) -> torch.Tensor:
    """`to_numpy` backwards: a tensor of its own, of the type of `like`."""
    return torch.from_numpy(array.copy()).view(like.dtype)
