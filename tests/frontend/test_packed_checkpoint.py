"""Folders in the formats of GPTQ and AWQ: the same model as with weights in floats, integers and scales as they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import GPT2Config, LlamaConfig, PreTrainedConfig

from stc.diagnostics import CompileError
from stc.frontend.families import CausalModel, find_configuration
from stc.quantisation.packed_linear import PackedLinear
from stc.quantisation.packed_weights import AWQ, GPTQ, PackedFormat
from stc_testing.commands import Stc
from stc_testing.commands import refused as ended_refused
from stc_testing.packed_checkpoints import write_packed_model

pytestmark = pytest.mark.heavy

SMALL: dict[str, Any] = {"vocab_size": 67, "bos_token_id": 1, "eos_token_id": 2}
LLAMA = LlamaConfig(
    hidden_size=40, intermediate_size=56, num_hidden_layers=2, num_attention_heads=5, num_key_value_heads=1,
    max_position_embeddings=64, tie_word_embeddings=False, **SMALL,
)  # fmt: skip
GPT2 = GPT2Config(n_embd=32, n_head=2, n_layer=1, n_positions=64, **SMALL)
ASYMMETRIC = PackedFormat(GPTQ, 4, 16, False, True)


def of(folder: Path) -> CausalModel:
    return CausalModel(find_configuration(str(folder)), max_seq=8, seed=0, weights=str(folder), where="here")


def in_floats(folder: Path, packed: CausalModel) -> None:
    """The same model in `folder`, its weights multiplied out here."""
    whole = packed.whole()
    state: dict[str, torch.Tensor] = {}
    for path, module in whole.named_modules():
        own: dict[str, torch.Tensor] = dict(module.named_parameters(recurse=False))
        if isinstance(module, PackedLinear):
            of_input = torch.arange(module.in_features) // module.integers.shape[2]
            zeros = torch.zeros_like(module.scales) if module.zeros is None else module.zeros
            centred = module.integers.flatten(1)[:, : module.in_features] - zeros[:, of_input].to(torch.float64)
            weight = centred * module.scales[:, of_input]
            own["weight"] = (weight.T if "gpt2" in packed.configuration.model_type else weight).to(torch.float32)
            own |= {} if module.bias is None else {"bias": module.bias}
        state |= {f"{path}.{name}": value.contiguous() for name, value in own.items()}
    if packed.configuration.tie_word_embeddings:
        state.pop("lm_head.weight", None)
    folder.mkdir()
    save_file(state, folder / "model.safetensors")
    packed.configuration.save_pretrained(folder)


@pytest.mark.parametrize(
    "configuration, chosen",
    [
        (LLAMA, ASYMMETRIC),
        (LLAMA, PackedFormat(AWQ, 4, 8, False, False)),
        (GPT2, PackedFormat(GPTQ, 8, 0, True, False)),
    ],
    ids=lambda value: getattr(value, "method", ""),
)
def test_logits_are_those_of_the_multiplied_weights(configuration: PreTrainedConfig, chosen: PackedFormat, tmp_path: Path):
    write_packed_model(tmp_path / "packed", configuration, chosen)
    packed = of(tmp_path / "packed")
    layers = [module for module in packed.layer(0).modules() if isinstance(module, PackedLinear)]
    assert len(layers) == (4 if configuration is GPT2 else 7)
    assert all((layer.zeros is None) is chosen.symmetric and layer.bits == chosen.bits for layer in layers)
    in_floats(tmp_path / "floats", packed)
    tokens = torch.tensor([[5, 17, 3, 66]])
    with torch.no_grad():
        found, expected = (model.whole()(tokens).logits for model in (packed, of(tmp_path / "floats")))
    if configuration is GPT2:  # Conv1D's weights lie otherwise, and some processors add up in another order then
        torch.testing.assert_close(found, expected)
    else:
        assert torch.equal(found, expected)


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packed")
    write_packed_model(folder, LLAMA, ASYMMETRIC)
    return folder


LAYER = "model.layers.0.mlp.down_proj"
REFUSED: dict[str, tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]] = {
    "scale of zero": ({}, {f"{LAYER}.scales": 0}, (f"layer {LAYER}: a scale is zero, NaN", "accepted: finite scales")),
    "scale of NaN": ({}, {f"{LAYER}.scales": float("nan")}, (f"layer {LAYER}: a scale is zero, NaN",)),
    "symmetric": ({"sym": True}, {}, ("zero points other than 8 in a symmetric format (qzeros)", "accepted: sym false")),
    "method": ({"quant_method": "bitsandbytes"}, {}, ("config.json: quantization_config: quant_method 'bits", "gptq, awq")),
    "version": ({"quant_method": "awq", "version": "gemv"}, {}, ("version 'gemv'", "accepted: gemm")),
    "marlin": ({"checkpoint_format": "marlin"}, {}, ("checkpoint_format 'marlin'", "accepted: gptq, gptq_v2")),
    "three bits": ({"bits": 3}, {}, ("bits 3", "accepted: 4, 8")),
    "no g_idx": ({}, {f"{LAYER}.g_idx": None}, (f"layer {LAYER}: tensor g_idx is missing",)),
    "no qzeros": ({}, {f"{LAYER}.qzeros": None}, (f"layer {LAYER}: tensor qzeros is missing",)),
    "order": ({"desc_act": True}, {f"{LAYER}.g_idx": 1}, ("not in the order of their groups (g_idx; desc_act)", "desc_act false")),
    "another group": ({"group_size": 32}, {}, ("qzeros is int32 of shape (4, 5); accepted: int32 of shape (2, 5)",)),
    "brain floats": ({}, {f"{LAYER}.scales": torch.bfloat16}, ("scales has dtype torch.bfloat16", "float16 scales")),
    "not said": ({"quant_method": None}, {}, ("quant_method None",)),
    "head": ({}, {"lm_head.qweight": torch.zeros(5, 67, dtype=torch.int32)}, ("layer lm_head: packed weights of what is no",)),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_bad_folders(written: Path, tmp_path: Path, stc: Stc, case: str):
    said, changed, expected = REFUSED[case]
    state = load_file(written / "model.safetensors")
    for name, value in changed.items():
        if value is None:
            del state[name]
        elif isinstance(value, torch.dtype):
            state[name] = state[name].to(value)
        elif isinstance(value, torch.Tensor):
            state[name] = value
        else:
            state[name].view(-1)[3] = value
    save_file(state, tmp_path / "model.safetensors")
    content = json.loads((written / "config.json").read_text())
    content["quantization_config"] |= said
    (tmp_path / "config.json").write_text(json.dumps(content))
    stage = "head" if case == "head" else "prefill"
    ended_refused(stc("compile", tmp_path, "--stage", stage, "--seq", "3", "--out", tmp_path / "out"), str(tmp_path), *expected)
    assert not (tmp_path / "out").exists()


def test_layers_of_different_formats(written: Path, tmp_path: Path):
    """A kernel that all layers share reads the same of each."""
    state = load_file(written / "model.safetensors")
    for name in ("qweight", "qzeros", "scales", "g_idx"):
        del state[f"model.layers.1.mlp.down_proj.{name}"]
    state["model.layers.1.mlp.down_proj.weight"] = torch.randn(40, 56)
    save_file(state, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text((written / "config.json").read_text())
    with pytest.raises(CompileError, match="layers 0 and 1 have weights of different formats"):
        of(tmp_path).require_equal_kinds()


def test_layers_whose_integers_have_different_ranges(written: Path, tmp_path: Path):
    """A kernel for zero points that are all 0 reads none: layers that have others are not computed without them."""
    state = load_file(written / "model.safetensors")
    zeros = state["model.layers.0.mlp.down_proj.qzeros"]
    zeros.fill_(0x77777777)  # 7 in each field: a zero point of 8, which is 0 as a signed number
    save_file(state, tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text((written / "config.json").read_text())
    with pytest.raises(CompileError, match=r"layers 0 and 1 have integers of different ranges in mlp\.down_proj\.zeros"):
        of(tmp_path).require_equal_kinds()


@pytest.mark.parametrize("kept", [0, 1000, -1])
def test_truncated_files(written: Path, tmp_path: Path, kept: int):
    (tmp_path / "config.json").write_text((written / "config.json").read_text())
    (tmp_path / "model.safetensors").write_bytes((written / "model.safetensors").read_bytes()[:kept])
    with pytest.raises(CompileError, match="the file is truncated or no safetensors file"):
        of(tmp_path).layer(0)


def test_weights_without_a_configuration(written: Path, tmp_path: Path):
    (tmp_path / "config.json").write_text(LLAMA.to_json_string())
    (tmp_path / "model.safetensors").symlink_to(written / "model.safetensors")
    with pytest.raises(CompileError, match=r"packed weights, and nothing says how; accepted: config\.json with"):
        of(tmp_path).layer(0)
    (tmp_path / "quantize_config.json").write_text(json.dumps({"bits": 4, "group_size": 16, "sym": False}))
    assert any(isinstance(module, PackedLinear) for module in of(tmp_path).layer(0).modules())
