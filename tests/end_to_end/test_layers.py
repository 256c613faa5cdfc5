"""Several layers in one launch: each with its own weights and cache rows, equal to PyTorch's layers one after the other."""

from __future__ import annotations

