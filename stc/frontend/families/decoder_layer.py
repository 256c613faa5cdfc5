"""One decoder layer of any transformers model whose layers work on token embeddings."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils import _pytree as pytree
from transformers import AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.pytorch_utils import Conv1D

from stc.diagnostics import CompileError
from stc.frontend.families.layer_call import HIDDEN, LayerCall, observe_call
from stc.frontend.families.weightless import allocate, fill_with_zeros, weightless_matrices
from stc.frontend.parameters import randomise

TRANSPOSED = (Conv1D,)
"""Classes that store matrices as [in, out]."""

OLD_BUFFERS = ("attn.bias", "attn.masked_bias", "self_attn.rotary_emb.inv_freq", "attention.rotary_emb.inv_freq")
"""What old checkpoints store below a layer although it is no parameter."""

MODEL_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    ImportError,
    LookupError,
    NotImplementedError,
    RuntimeError,
    TypeError,
    ValueError,
)


@dataclass(frozen=True)
class DecoderLayer:
    """A layer in evaluation mode whose `forward` takes exactly `inputs`, by keyword, and returns the new hidden states.

    `x` [1, seq, hidden] comes from N(0, 1). What else there is depends on the architecture, with the model's own values: `mask`
    (additive, with real -inf), `cos` and `sin` (rotary tables of the tokens' positions), ... `prefixes` are the names under which
    checkpoints may store the layer.
    """

    module: torch.nn.Module
    inputs: dict[str, torch.Tensor]
    prefixes: tuple[str, ...]


def build_decoder_layer(configuration: PreTrainedConfig, *, layer: int, seq: int, seed: int, where: str) -> DecoderLayer:
    """Layer number `layer` for `seq` tokens, with random parameters that can fail (`parameters.randomise`).

    Raises CompileError, naming `where`, for a layer or sequence length the model does not have, and for models that cannot be
    built or run on token embeddings.
    """
    count = layer_count(configuration, where)
    if not 0 <= layer < count:
        raise CompileError(f"layer {layer}", where=where, accepted=f"0 to {count - 1}")
    longest = getattr(configuration, "max_position_embeddings", None) or seq
    if not 1 <= seq <= longest:
        raise CompileError(f"sequence length {seq}", where=where, accepted=f"1 to {longest}")
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(1, seq, configuration.hidden_size, generator=generator)
    with warnings.catch_warnings(), torch.no_grad():
        warnings.simplefilter("ignore")
        try:
            model = build_model(configuration)
            path, layers = layer_list(model, count, where)
            module = layers[layer]
            allocate(module)
            randomise(module, seed + 1, transposed=TRANSPOSED)
            fill_with_zeros(model)
            call_first(model, layers, layer)
            call = without_unused(module, observe_call(model, module, x))
        except MODEL_ERRORS as error:
            reason = " ".join(str(error).split())[:200]
            accepted = "models whose layers transformers can run on token embeddings"
            raise CompileError(f"{configuration.model_type} does not run: {reason}", where=where, accepted=accepted) from None
    if HIDDEN not in call.inputs:
        raise CompileError(f"a layer of {configuration.model_type} takes no hidden states", where=where)
    _take_inputs_by_name(module, call)
    return DecoderLayer(module, {**call.inputs, HIDDEN: x}, layer_prefixes(model.base_model_prefix, path, layer))


def layer_count(configuration: PreTrainedConfig, where: str) -> int:
    """How many layers the model has; CompileError if the configuration does not say."""
    count = getattr(configuration, "num_hidden_layers", None)
    if not isinstance(count, int) or not isinstance(getattr(configuration, "hidden_size", None), int):
        accepted = "a configuration with num_hidden_layers and hidden_size"
        raise CompileError(f"{configuration.model_type} is no stack of decoder layers", where=where, accepted=accepted)
    return count


def build_model(configuration: PreTrainedConfig, kind: Any = AutoModel) -> PreTrainedModel:
    """The model in evaluation mode, its matrices without memory; with its head where `kind` is AutoModelForCausalLM."""
    with weightless_matrices():
        return kind.from_config(configuration, attn_implementation="eager", dtype=torch.float32).eval()


def layer_list(model: PreTrainedModel, count: int, where: str) -> tuple[str, torch.nn.ModuleList]:
    """The model's layers, and the path of their list; CompileError where there is no list of so many."""
    for path, module in model.named_modules():
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return path, module
    raise CompileError(f"{type(model).__name__} has no list of {count} layers", where=where, accepted="a stack of decoder layers")


def call_first(model: PreTrainedModel, layers: torch.nn.ModuleList, layer: int) -> None:
    """Put the layer in the first place, with what the model knows of it by its index."""
    layers[0] = layers[layer]
    kinds = getattr(model.config, "layer_types", None)
    if kinds:
        model.config.layer_types = [kinds[layer], *kinds[1:]]


def without_unused(module: torch.nn.Module, call: LayerCall) -> LayerCall:
    """Models hand positions to layers that only want rotary tables: an integer input that changes nothing is none of ours."""
    expected = _run(module, call)
    for name in [name for name, value in call.inputs.items() if not value.is_floating_point()]:
        reduced = call.without(name)
        try:
            unused = torch.equal(_run(module, reduced), expected)
        except MODEL_ERRORS:
            unused = False
        call = reduced if unused else call
    return call


def _run(module: torch.nn.Module, call: LayerCall) -> torch.Tensor:
    args, kwargs = call.arguments(call.inputs)
    return hidden_states(module(*args, **kwargs))


def hidden_states(result: Any) -> torch.Tensor:
    """The first tensor of what a layer returns; attention weights and caches may follow it."""
    return next(leaf for leaf in pytree.tree_leaves(result) if isinstance(leaf, torch.Tensor))


def _take_inputs_by_name(module: torch.nn.Module, call: LayerCall) -> None:
    """Change the class of `module`, not its place: its parameters keep their names."""
    original: Any = type(module)

    def forward(self: torch.nn.Module, **inputs: torch.Tensor) -> torch.Tensor:
        args, kwargs = call.arguments(inputs)
        return hidden_states(original.forward(self, *args, **kwargs))

    module.__class__ = type(original.__name__, (original,), {"forward": forward})


def layer_prefixes(model: str, path: str, layer: int) -> tuple[str, ...]:
    """Under which names checkpoints may store a layer. `model`: how the stack is called in models with a head."""
    return prefixes_of(model, f"{path}.{layer}")


def prefixes_of(model: str, path: str) -> tuple[str, ...]:
    """Under which names checkpoints may store the module at `path` of the stack."""
    roots: Sequence[str] = (f"{model}.", "", f"language_model.{model}.", f"{model}.language_model.")
    return tuple(f"{root}{path}." for root in roots)
