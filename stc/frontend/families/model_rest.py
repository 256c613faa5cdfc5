"""A causal language model without its layers: what makes their first input, and what follows the last."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from transformers import PreTrainedModel


class Head(torch.nn.Module):
    """Final norm, matrix product, and the largest of its results: the next token.

    The vocabulary is filled up to a multiple of `multiple` with the first token once more: its logit is as large, so that a token
    behind the vocabulary is the first one.
    """

    def __init__(self, norm: torch.nn.Module, output: torch.nn.Linear, multiple: int = 1):
        super().__init__()
        self.norm, self.lm_head = norm, _filled_up(output, multiple)

    def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
        return _token(self, x)


def _token(holder: Any, x: torch.Tensor) -> dict[str, torch.Tensor]:
    """What the modules of a head, which are the `holder`'s, make of a hidden state."""
    logits = holder.lm_head(holder.norm(x))
    return {"token": logits.argmax(-1), "logits": logits}


def follow_with_head(layer: torch.nn.Module, head: Head) -> None:
    """Change the class of `layer`, which takes inputs by name and returns `y` among others: it holds the modules of `head`, and
    returns what these make of `y`, too. Its parameters, and the head's, keep their names."""
    original: Any = type(layer)
    for name, module in head.named_children():
        layer.add_module(name, module)

    def forward(self: torch.nn.Module, **inputs: torch.Tensor) -> dict[str, torch.Tensor]:
        found = original.forward(self, **inputs)
        return {**found, **_token(self, found["y"])}

    layer.__class__ = type(original.__name__, (original,), {"forward": forward})


def _filled_up(output: torch.nn.Linear, multiple: int) -> torch.nn.Linear:
    missing = -output.out_features % multiple
    if not missing:
        return output
    parameters = dict(output.named_parameters())
    filled = torch.nn.Linear(output.in_features, output.out_features + missing, "bias" in parameters, device="meta")
    for name, parameter in parameters.items():
        rows = torch.cat([parameter, parameter[:1].expand(missing, *parameter.shape[1:])])
        setattr(filled, name, torch.nn.Parameter(rows, requires_grad=False))
    return filled


class ModelRest:
    """`model` with one stand-in for all layers, in the list at `path`, that passes hidden states on or gives others. What the model
    asks a layer for beside calling it, `layer` answers; `returns_tensor`: whether it returns one, or a tuple with it."""

    def __init__(self, model: PreTrainedModel, path: str, layer: torch.nn.Module, returns_tensor: bool):
        self.model, self._path = model, path
        self._passed = _Passed(layer, returns_tensor)
        self._set_layers(model, [self._passed])

    def owners(self) -> Iterator[tuple[str, torch.nn.Module]]:
        """The modules with parameters of their own, by path, but the output that shares its matrix with the embedding."""
        for path, module in self.model.named_modules():
            is_tied = self._is_tied and module is self.model.get_output_embeddings()
            if not is_tied and any(True for _ in module.parameters(recurse=False)):
                yield path, module

    def tie(self) -> None:
        """Let the output have the embedding's matrix, where the model says so."""
        if self._is_tied:
            self.model.get_output_embeddings().weight = self.model.get_input_embeddings().weight  # pyright: ignore[reportOptionalMemberAccess]

    def first_input(self, **inputs: torch.Tensor) -> torch.Tensor:
        """What the first layer gets."""
        self._passed.given = None
        self.model(**inputs, use_cache=False)
        assert self._passed.seen is not None
        return self._passed.seen

    def token_rows(self) -> torch.Tensor:
        """The embedding's row of each token, [vocabulary, hidden]."""
        embedding = self.model.get_input_embeddings()
        return embedding(torch.arange(self.model.config.vocab_size))

    def logits(self, x: torch.Tensor) -> torch.Tensor:
        """What the model makes of what its last layer returns, `x` [1, tokens, hidden]."""
        self._passed.given = x
        return self.model(inputs_embeds=torch.zeros_like(x), use_cache=False).logits

    def norm_and_output(self, x: torch.Tensor) -> tuple[torch.nn.Module, torch.nn.Module]:
        """The only module that the model calls between its last layer and its output, and the output; ValueError where there is
        not exactly one."""
        called: list[torch.nn.Module] = []
        stack = self.model.base_model
        inner = [module for module in stack.children() if not isinstance(module, torch.nn.ModuleList)]
        handles = [module.register_forward_hook(lambda module, *_: called.append(module)) for module in [*inner, self._passed]]
        try:
            self.logits(x)
        finally:
            for handle in handles:
                handle.remove()
        after = called[called.index(self._passed) + 1 :]
        output = self.model.get_output_embeddings()
        if len(after) != 1 or output is None:
            raise ValueError(f"{len(after)} modules follow the last layer, expected a norm, and an output behind it")
        return after[0], output

    def with_layers(self, layers: Sequence[torch.nn.Module]) -> PreTrainedModel:
        """A copy of the model with these layers."""
        model = copy.deepcopy(self.model)
        self._set_layers(model, layers)
        return model

    @property
    def _is_tied(self) -> bool:
        return bool(getattr(self.model.config, "tie_word_embeddings", False)) and self.model.get_output_embeddings() is not None

    def _set_layers(self, model: PreTrainedModel, layers: Sequence[torch.nn.Module]) -> None:
        owner, _, name = self._path.rpartition(".")
        setattr(model.get_submodule(owner), name, torch.nn.ModuleList(layers))


class _Passed(torch.nn.Module):
    """In place of all layers: keeps what it was called with, and returns that, or what is `given`."""

    def __init__(self, layer: torch.nn.Module, returns_tensor: bool):
        super().__init__()
        self.__dict__["layer"] = layer  # no part of the model any more
        self._returns_tensor = returns_tensor
        self.seen: torch.Tensor | None = None
        self.given: torch.Tensor | None = None

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        self.seen = args[0] if args else next(iter(kwargs.values()))
        result = self.seen if self.given is None else self.given
        return result if self._returns_tensor else (result,)

    def __getattr__(self, name: str) -> Any:
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(self.__dict__["layer"], name)
