"""Modules with submodules that no kernel computes: control flow and positions that depend on data."""

from __future__ import annotations

import torch
from host_part_helpers import ordered
from torch import nn


class Odd(nn.Module):
    """Control flow that depends on data: torch.export cannot trace it."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.gain = nn.Parameter(torch.randn(width))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if x.sum() > 0:
            return ordered(x) * self.gain
        return x - self.gain


class Block(nn.Module):
    def __init__(self, width: int, inner: int) -> None:
        super().__init__()
        self.up = nn.Linear(width, inner)
        self.odd = Odd(inner)
        self.down = nn.Linear(inner, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.down(self.odd(torch.relu(self.up(x)) - 0.25))


class Top(nn.Module):
    def forward(self, x: torch.Tensor, *, count: int) -> tuple[torch.Tensor, torch.Tensor]:
        found = torch.topk(x, count)
        return found.values, found.indices


class Branches(nn.Module):
    """One part at the start, one that is called twice and read in several places, and one at the end."""

    def __init__(self, width: int = 7) -> None:
        super().__init__()
        self.first = Top()
        self.a = nn.Linear(width, width)
        self.twice = Top()
        self.b = nn.Linear(width, width)
        self.last = Top()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        values, places = self.first(x, count=7)
        h = torch.relu(self.a(values))
        g, _ = self.twice(h, count=7)
        g += h  # in place: of what the part gave
        y = self.b(g) * h
        z, _ = self.twice((y + g).T.reshape(5, 7), count=7)
        return self.last(z * 2, count=3)[0], y, places


class Changing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x.add_(1.0)).values


class Drawing(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.sort(x + torch.rand(5)).values


class Counting(nn.Module):
    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return torch.sort(x).values, int((x > 0).sum())


class Times(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.counting = Counting()
        self.a = nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, count = self.counting(x)
        return self.a(y) * count


class Outside(nn.Module):
    """Control flow that depends on data, in no submodule."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x if x.sum() > 0 else x * 2


class Between(nn.Module):
    def __init__(self, part: nn.Module) -> None:
        super().__init__()
        self.a = nn.Linear(5, 5)
        self.part = part
        self.spare = nn.Linear(5, 5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.a(self.part(self.a(x)))


class Alone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.odd = Odd(5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.odd(x)


def block() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return nn.Sequential(Block(5, 7)), (torch.randn(3, 5),)


def blocks() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return nn.Sequential(Block(5, 7), Block(5, 7)), (torch.randn(3, 5),)


def changing() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Between(Changing()), (torch.randn(3, 5),)


def drawing() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Between(Drawing()), (torch.randn(3, 5),)


def counting() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Times(), (torch.randn(3, 5),)


def outside() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Outside(), (torch.randn(3, 5),)


def between() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Between(nn.Sequential(Odd(5))), (torch.randn(3, 5),)


def alone() -> tuple[nn.Module, tuple[torch.Tensor, ...]]:
    return Alone(), (torch.randn(3, 5),)
