"""Ordinary small modules of odd sizes, as a user's file would hold them: each `factory` returns (module, example inputs)."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from stc.quantisation.packed_linear import PackedLinear
from stc.quantisation.packed_weights import GroupedIntegers


class Branching(nn.Module):
    """Two inputs and two results, one of which is also an intermediate."""

    def __init__(self) -> None:
        super().__init__()
        self.fc = nn.Linear(7, 11)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = torch.relu(self.fc(x)) + y
        return h, h.sum(-1)


class Outer(nn.Module):
    """Both operands of the sum are broadcast; the task would be called like a function of the HLS library."""

    def forward(self, a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return torch.tanh(a[:, None] + b[None, :])


class MeanSquare(nn.Module):
    """A reduction to a scalar."""

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
        return ((x - y) ** 2).mean()


class Gram(nn.Module):
    """One input, read three times in three orders; the results do not depend on each other."""

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return x @ x.transpose(0, 1), x.amax(0)


class Scores(nn.Module):
    """A named input, results by name, one of them called like the input."""

    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(10)
        self.head = nn.Linear(10, 3, bias=False)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return {"p": torch.softmax(self.head(self.norm(x)), -1), "x": x + 1}


def branching():
    return Branching(), (torch.randn(5, 7), torch.randn(11))


def outer():
    return Outer(), (torch.randn(5), torch.randn(9))


def mean_square():
    return MeanSquare(), (torch.randn(6, 7), torch.randn(6, 7))


def gram():
    return Gram(), (torch.randn(6, 9),)


def scores():
    return Scores(), {"x": torch.randn(2, 7, 10)}


class Perceptron(nn.Module):
    """Two layers to be quantised."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.down = nn.Linear(12, 8), nn.Linear(8, 6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(torch.relu(self.up(x)))


def perceptron():
    return Perceptron(), (torch.randn(3, 12),)


def linear():
    """Of 37 terms, which no group divides."""
    torch.manual_seed(0)
    return torch.nn.Linear(37, 6, bias=False), (torch.randn(3, 37),)


def matrix_vector():
    """One token, 256 terms, 448 outputs: 7,168 words of 512 bits in f32, 896 in 4 bits."""
    torch.manual_seed(0)
    return torch.nn.Linear(256, 448), (torch.randn(1, 256),)


def packed_weight(*, symmetric: bool) -> GroupedIntegers:
    """[6, 37] in groups of 16, all integers of 4 bits."""
    rng = np.random.default_rng(0)
    integers, scales = rng.integers(-8, 8, (6, 37), np.int8), rng.uniform(0.01, 0.1, (6, 3)).astype(np.float16)
    integers.flat[:16] = np.arange(-8, 8)
    zeros = None if symmetric else np.concatenate([np.arange(-8, 8), [3, -8]]).astype(np.int8).reshape(6, 3)
    return GroupedIntegers(4, 16, integers, scales, zeros)


def packed():
    return torch.nn.Sequential(PackedLinear(packed_weight(symmetric=False), torch.randn(6))), (torch.randn(3, 37),)


def packed_without_zeros():
    return torch.nn.Sequential(PackedLinear(packed_weight(symmetric=True), torch.randn(6))), (torch.randn(3, 37),)
