"""Arrays whose contents nobody may use: NaN (floats) or the smallest integer, so that reading them shows."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

_CONTENTS: ContextVar[int | None] = ContextVar("contents of undefined arrays", default=None)


@contextmanager
def undefined_as(value: int) -> Generator[None]:
    """While in the `with` block, arrays whose contents nobody may use hold `value`: a result that depends on it uses them."""
    token = _CONTENTS.set(value)
    try:
        yield
    finally:
        _CONTENTS.reset(token)


def undefined(shape: Sequence[int], dtype: np.dtype) -> np.ndarray:
    """An array whose contents nobody may use."""
    if (value := _CONTENTS.get()) is not None:
        return np.full(shape, value, dtype)
    if np.issubdtype(dtype, np.floating):
        return np.full(shape, np.nan, dtype)
    return np.full(shape, True if dtype == np.bool_ else np.iinfo(dtype).min, dtype)
