"""Every family's decoder layer is the model's own: inputs, positions, masks and parameters, each of which can fail."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache

import numpy as np
import pytest
import torch
from transformers import AutoModel

from stc.diagnostics import CompileError
from stc.dialects.printing import print_module
from stc.frontend.exported import ExportedModel
from stc.frontend.families import build_decoder_layer
from stc.frontend.presets import PRESETS, find_preset
from stc.frontend.reference import execute_linalg
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy

ROTARY = sorted(name for name in PRESETS if name.endswith("-tiny") and not name.startswith("gpt2"))
TINY = ["gpt2-medium-tiny", *ROTARY]
GEMMA = [name for name in ROTARY if name.startswith("gemma")]
SEQ, SEED, TOLERANCE = 7, 3, 1e-4


@cache
def exported(name: str) -> ExportedModel:
    return load_model(name, seq=SEQ, seed=SEED)


def whole_model(name: str, parameters: Mapping[str, np.ndarray]) -> tuple[torch.nn.Module, torch.nn.Module]:
    """The transformers model built in its ordinary way, and its only layer, with the given parameters."""
    configuration = find_preset(name).configuration()
    configuration.vocab_size, configuration.pad_token_id = 3, None
    model = AutoModel.from_config(configuration, attn_implementation="eager").eval()
    if name.startswith("gpt2"):
        torch.nn.init.zeros_(model.wpe.weight)  # GPT-2 adds these to the hidden states before its first layer.
    (layer,) = next(module for module in model.modules() if isinstance(module, torch.nn.ModuleList) and len(module) == 1)
    layer.load_state_dict({key: torch.tensor(value) for key, value in parameters.items()}, strict=False)
    return model, layer


@pytest.mark.parametrize("name", TINY)
def test_the_layer_computes_what_it_computes_inside_its_model(name: str) -> None:
    found = exported(name)
    model, layer = whole_model(name, found.parameters)
    results = []
    layer.register_forward_hook(lambda _module, _arguments, result: results.append(result))
    with torch.no_grad():
        model(inputs_embeds=torch.tensor(found.inputs["x"]))
    result = results[0][0] if isinstance(results[0], tuple) else results[0]
    assert np.abs(result.numpy() - found.golden["out"]).max() < 1e-5 * np.abs(found.golden["out"] - found.inputs["x"]).max()


@pytest.mark.parametrize("name", ["gemma3-1b-tiny", "qwen2.5-0.5b-tiny"])
def test_mlir_computes_the_golden_output(name: str) -> None:
    model = exported(name)
    out = np.zeros_like(model.golden["out"])
    execute_linalg(print_module(model.module), "main", list(model.arguments.values()), [out], name)
    assert np.abs(out - model.golden["out"]).max() < 3e-6 * np.abs(model.golden["out"]).max()


@pytest.mark.parametrize("name", TINY)
def test_every_parameter_and_input_can_fail(name: str) -> None:
    model = exported(name)
    layer = build_decoder_layer(find_preset(name).configuration(), layer=0, seq=SEQ, seed=SEED, where=name)

    def output() -> np.ndarray:
        with torch.no_grad():
            return layer.module(**layer.inputs).numpy()

    limit = 10 * TOLERANCE * np.abs(model.golden["out"]).max()
    assert np.array_equal(output(), model.golden["out"])
    for key, parameter in layer.module.named_parameters():
        saved = parameter.detach().clone()
        neutral = 1.0 if "norm" in key and not name.startswith("gemma") and parameter.dim() == 1 else 0.0
        parameter.data.fill_(neutral)
        assert np.abs(output() - model.golden["out"]).max() > limit, key
        parameter.data.copy_(saved)
    for key in set(layer.inputs) - {"x"}:
        saved = layer.inputs[key]
        layer.inputs[key] = torch.full_like(saved, 1.0 if key == "cos" else 0.0)
        assert np.abs(output() - model.golden["out"]).max() > limit, key
        layer.inputs[key] = saved


@pytest.mark.parametrize("name", ROTARY)
def test_inputs(name: str) -> None:
    model, configuration = exported(name), find_preset(name).configuration()
    hidden, head = configuration.hidden_size, getattr(configuration, "head_dim", None) or 6
    assert {key: value.shape for key, value in model.inputs.items()} == {
        "x": (1, SEQ, hidden),
        "mask": (1, 1, SEQ, SEQ),
        "cos": (1, SEQ, head),
        "sin": (1, SEQ, head),
    }


@pytest.mark.parametrize("name", ROTARY)
def test_tiny_twins_have_odd_sizes(name: str) -> None:
    configuration = find_preset(name).configuration()
    assert configuration.hidden_size & (configuration.hidden_size - 1) != 0 and configuration.intermediate_size % 16 != 0
    assert (configuration.num_attention_heads, configuration.num_key_value_heads) == (6, 2)


def causal(window: int) -> np.ndarray:
    row, column = np.indices((SEQ, SEQ))
    return np.where((column <= row) & (column > row - window), 0.0, -np.inf)


@pytest.mark.parametrize("name", TINY)
def test_masks(name: str) -> None:
    window = 4 if name == "gemma3-1b-tiny" else SEQ
    assert np.array_equal(exported(name).inputs["mask"][0, 0], causal(window))


def tables(theta: float, head: int) -> tuple[np.ndarray, np.ndarray]:
    angles = np.outer(np.arange(SEQ), theta ** (-np.arange(0, head, 2) / head))
    doubled = np.concatenate([angles, angles], 1)
    return np.cos(doubled), np.sin(doubled)


@pytest.mark.parametrize(
    ("name", "theta", "head"),
    [
        ("qwen2.5-0.5b-tiny", 1e6, 6),
        ("qwen3-0.6b-tiny", 1e6, 10),
        ("tinyllama-1.1b-tiny", 1e4, 6),
        ("gemma3-1b-tiny", 1e4, 8),
        ("gemma3-1b-full-tiny", 1e6, 8),
    ],
)
def test_rotations(name: str, theta: float, head: int) -> None:
    cos, sin = tables(theta, head)
    assert np.allclose(exported(name).inputs["cos"][0], cos, atol=1e-6)
    assert np.allclose(exported(name).inputs["sin"][0], sin, atol=1e-6)


def test_rotations_of_llama_3_are_rescaled() -> None:
    found = exported("llama-3.2-1b-tiny").inputs["sin"][0]
    _, plain = tables(5e5, 10)
    # Wavelengths 6.3, 87, ... against 16 positions of training: between a quarter and all of them interpolated, then divided by 4.
    wavelength = 2 * np.pi * 5e5 ** (np.arange(0, 10, 2) / 10)
    smooth = (16 / wavelength - 1) / 3
    factor = np.where(wavelength > 16, 1 / 4, np.where(wavelength < 4, 1, (1 - smooth) / 4 + smooth))
    expected = np.sin(np.outer(np.arange(SEQ), factor / wavelength * 2 * np.pi))
    assert np.allclose(found[:, :5], expected, atol=1e-6)
    assert np.abs(found - plain).max() > 0.1


@pytest.mark.parametrize("name", GEMMA)
def test_gains_of_gemma_are_around_zero(name: str) -> None:
    gains = [value for key, value in exported(name).parameters.items() if "norm" in key]
    assert len(gains) == 6 and all(0.05 < value.std() < 0.4 and abs(value.mean()) < 0.2 for value in gains)


@pytest.mark.parametrize("name", [name for name in ROTARY if name not in GEMMA])
def test_gains_of_the_others_are_around_one(name: str) -> None:
    gains = [value for key, value in exported(name).parameters.items() if "norm" in key]
    assert len(gains) in (2, 4) and all(abs(value.mean() - 1) < 0.2 and value.std() > 0.05 for value in gains)


def parameter_count(name: str, vocabulary: int) -> int:
    """Of the whole model with tied embeddings, computed from one layer of each preset."""
    preset = find_preset(name)
    configuration = preset.configuration()
    layer = build_decoder_layer(configuration, layer=preset.layer(None), seq=1, seed=0, where=name).module
    inside = sum(parameter.numel() for parameter in layer.parameters())
    return inside * configuration.num_hidden_layers + (vocabulary + 1) * configuration.hidden_size


@pytest.mark.parametrize(
    ("name", "vocabulary", "published"),
    [
        ("qwen2.5-0.5b", 151936, 494_032_768),
        ("qwen3-0.6b", 151936, 596_049_920),
        ("tinyllama-1.1b", 2 * 32000, 1_100_048_384),
        ("llama-3.2-1b", 128256, 1_235_814_400),
        ("gemma3-1b", 262144, 999_885_952),
    ],
)
def test_full_size_presets_have_the_published_number_of_parameters(name: str, vocabulary: int, published: int) -> None:
    assert parameter_count(name, vocabulary) == published


def test_gemma_has_sliding_and_full_layers() -> None:
    kinds = find_preset("gemma3-1b").configuration().layer_types
    assert [index for index, kind in enumerate(kinds) if kind == "full_attention"] == [5, 11, 17, 23]
    assert (find_preset("gemma3-1b").layer(None), find_preset("gemma3-1b-full").layer(None)) == (0, 5)
    with pytest.raises(CompileError, match=r"^gemma3-1b-full: layer 6 has no full_attention; accepted: 5, 11, 17, 23$"):
        load_model("gemma3-1b-full", layer=6)


def in_gemma(layer: int) -> Callable[[], dict[str, torch.Tensor]]:
    configuration = find_preset("gemma3-1b").configuration()
    configuration.sliding_window = 4
    return lambda: build_decoder_layer(configuration, layer=layer, seq=SEQ, seed=0, where="g").inputs


def test_the_layer_number_decides_mask_and_rotations() -> None:
    sliding, full = in_gemma(4)(), in_gemma(5)()
    assert np.array_equal(sliding["mask"][0, 0], causal(4)) and np.array_equal(full["mask"][0, 0], causal(SEQ))
    assert torch.equal(sliding["x"], full["x"]) and not torch.equal(sliding["cos"], full["cos"])
