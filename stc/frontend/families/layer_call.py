"""How a model calls its decoder layers: observed once, then repeated with named inputs."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from transformers import Cache, PreTrainedModel

HIDDEN, MASK = "x", "mask"
CACHE = "*cache"
"""Of a leaf that is no input."""
RENAMED = {"attention_mask": MASK, "position_embeddings_0": "cos", "position_embeddings_1": "sin"}


@dataclass(frozen=True)
class LayerCall:
    """The arguments of one call, as a tree whose leaves are tensors (by the name of an input) and constants.

    `inputs` holds the tensors by name, in the order of the layer's `forward`; `leaves` a name for each of them, `CACHE` for the
    model's cache, or None where the constant in `constants` is passed.
    """

    inputs: dict[str, torch.Tensor]
    leaves: tuple[str | None, ...]
    constants: tuple[Any, ...]
    tree: pytree.TreeSpec

    def arguments(self, inputs: Mapping[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Positional and keyword arguments with these tensors, and the cache; a name that is missing is passed as None."""
        leaves = [
            constant if name is None else inputs.get(name) for name, constant in zip(self.leaves, self.constants, strict=True)
        ]
        return pytree.tree_unflatten(leaves, self.tree)

    @property
    def is_cached(self) -> bool:
        """Whether the layer was given a cache."""
        return CACHE in self.leaves

    def without(self, name: str) -> LayerCall:
        """The same call with None for one input."""
        retained = {key: value for key, value in self.inputs.items() if key != name}
        leaves = tuple(None if leaf == name else leaf for leaf in self.leaves)
        return LayerCall(retained, leaves, self.constants, self.tree)


class _Observed(Exception):
    """Ends the model's run once the layer has been called."""


def observe_call(
    model: PreTrainedModel, layer: torch.nn.Module, embeddings: torch.Tensor, *, with_cache: bool = False
) -> LayerCall:
    """Run `model` on token `embeddings` [1, seq, hidden] up to its call of `layer`, with an empty cache or none.

    Masks, positions and rotary tables are thereby the model's own. The layer must be the first that the model calls. Lets the
    model's own exceptions pass; RuntimeError if it ends without calling the layer.
    """
    seen: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def stop(_module: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        seen.append((args, kwargs))
        raise _Observed

    handle = layer.register_forward_pre_hook(stop, with_kwargs=True)
    try:
        model(inputs_embeds=embeddings, use_cache=with_cache)
    except _Observed:
        pass
    finally:
        handle.remove()
    if not seen:
        raise RuntimeError("the model does not call the layer")
    return _flatten(layer, *seen[0])


def _flatten(layer: torch.nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> LayerCall:
    positional = list(inspect.signature(layer.forward).parameters)
    found, tree = pytree.tree_flatten_with_path((args, kwargs))
    inputs: dict[str, torch.Tensor] = {}
    leaves: list[str | None] = []
    constants: list[Any] = []
    for path, leaf in found:
        is_tensor = isinstance(leaf, torch.Tensor)
        name = _input_name(path, positional) if is_tensor else None
        if name is not None:
            inputs[name] = _with_real_infinities(leaf)
        leaves.append(CACHE if isinstance(leaf, Cache) else name)
        constants.append(None if is_tensor or isinstance(leaf, Cache) else leaf)
    return LayerCall(inputs, tuple(leaves), tuple(constants), tree)


def _input_name(path: pytree.KeyPath, positional: list[str]) -> str:
    """`x` for the first argument, otherwise the parameter's name, with the index inside a tuple."""
    keys = [str(getattr(entry, "key", getattr(entry, "idx", ""))) for entry in path]
    if keys[0] == "0":
        keys[1] = positional[int(keys[1])]
    name = "_".join(keys[1:])
    return HIDDEN if keys[1] == positional[0] else RENAMED.get(name, name)


def _with_real_infinities(tensor: torch.Tensor) -> torch.Tensor:
    """transformers masks with the most negative finite number; ours is a real -inf, which a compiler may not get wrong either."""
    if not tensor.is_floating_point():
        return tensor
    return tensor.masked_fill(tensor <= torch.finfo(tensor.dtype).min, float("-inf"))
