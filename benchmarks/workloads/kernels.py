"""The five fp32 workloads that Stream-HLS (FPGA'25) publishes cycles and DSPs for, as `stc compile kernels.py:NAME` takes them.

Shapes and operations are those of its repository (`examples/data.py`): gemm and 3mm multiply plain matrices, atax is A^T (A x), the
feed-forward is linear, ReLU, linear with biases, attention is unmasked with biases on all four projections. Each factory returns
the module and example inputs. PyTorch draws both at random, from the seed of the compile.
"""

from __future__ import annotations

import math

import torch
from torch import nn


class Gemm(nn.Module):
    """A @ B."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return a @ b


class ThreeMatrixProducts(nn.Module):
    """(A @ B) @ (C @ D)."""

    def forward(self, a: torch.Tensor, b: torch.Tensor, c: torch.Tensor, d: torch.Tensor) -> torch.Tensor:
        return (a @ b) @ (c @ d)


class Atax(nn.Module):
    """A^T (A x)."""

    def forward(self, a: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return a.t() @ (a @ x)


class FeedForward(nn.Module):
    """Linear, ReLU, linear."""

    def __init__(self, width: int, inner: int):
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


class SelfAttention(nn.Module):
    """Multi-head self-attention without a mask."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, positions, width = x.shape

        def by_head(t: torch.Tensor) -> torch.Tensor:
            return t.view(batch, positions, self.heads, width // self.heads).transpose(1, 2)

        q, k, v = by_head(self.query(x)), by_head(self.key(x)), by_head(self.value(x))
        scores = torch.softmax(q @ k.transpose(-2, -1) / math.sqrt(width // self.heads), dim=-1)
        return self.out((scores @ v).transpose(1, 2).reshape(batch, positions, width))


def gemm(m: int = 200, k: int = 240, n: int = 220) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Gemm(), (torch.randn(m, k), torch.randn(k, n))


def three_products(
    m: int = 180, k: int = 200, n: int = 190, p: int = 220, q: int = 210
) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return ThreeMatrixProducts(), (torch.randn(m, k), torch.randn(k, n), torch.randn(n, p), torch.randn(p, q))


def atax(m: int = 390, n: int = 410) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Atax(), (torch.randn(m, n), torch.randn(n))


def feed_forward(positions: int = 512, width: int = 128, inner: int = 256) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return FeedForward(width, inner), (torch.randn(1, positions, width),)


def attention(positions: int = 64, width: int = 128, heads: int = 8) -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return SelfAttention(width, heads), (torch.randn(1, positions, width),)
