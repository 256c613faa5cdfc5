"""What a preset needs to know about a model family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch

Options = Mapping[str, Any]
"""Keyword arguments of the family's transformers configuration."""


class Family(ABC):
    """A transformers architecture, one decoder layer of which becomes hardware.

    `transposed` lists module classes that store matrices as [in, out] instead of [out, in]; `prefixes` are the names under which
    checkpoints store a layer, with `{layer}` for its index; `ignored` are names below
    the prefix that are no parameters.
    """

    name: str
    transposed: tuple[type[torch.nn.Module], ...] = ()
    prefixes: tuple[str, ...]
    ignored: tuple[str, ...] = ()

    @abstractmethod
    def build(self, options: Options) -> torch.nn.Module:
        """One decoder layer with eager attention, in evaluation mode, whose `forward` takes the inputs by name."""

    @abstractmethod
    def prefill_inputs(self, options: Options, seq: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        """Inputs of the layer for `seq` tokens, by name, in the order of `forward`."""

    @abstractmethod
    def layers(self, options: Options) -> int:
        """How many decoder layers the model has."""

    @abstractmethod
    def max_positions(self, options: Options) -> int:
        """The longest sequence the model was made for."""


def causal_mask(seq: int) -> torch.Tensor:
    """The additive mask [1, 1, seq, seq]: 0 where a token may look, -inf (a real one) where it may not."""
    return torch.full((1, 1, seq, seq), float("-inf")).triu(1)
