"""Any transformers configuration: architectures nobody named here, real weights, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from stc.diagnostics import CompileError
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy

STORIES = Path("/work/shared/data/stories260K")
SIZES: dict[str, Any] = {
    "hidden_size": 36,
    "intermediate_size": 44,
    "num_hidden_layers": 2,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
    "vocab_size": 11,
    "pad_token_id": None,
    "head_dim": 6,
}


def write(folder: Path, model_type: str, **options: Any) -> Path:
    (folder / "config.json").write_text(json.dumps({"model_type": model_type, **options}))
    return folder


@pytest.mark.parametrize(
    ("model_type", "inputs"),
    [
        ("mistral", {"x", "mask", "cos", "sin"}),
        ("phi3", {"x", "mask", "cos", "sin"}),
        ("gemma2", {"x", "mask", "cos", "sin"}),
        ("granite", {"x", "mask", "cos", "sin"}),
        ("olmo2", {"x", "mask", "cos", "sin"}),
        ("gpt_neox", {"x", "mask", "cos", "sin"}),
        ("opt", {"x", "mask"}),
        ("bert", {"x"}),
    ],
)
def test_other_architectures(tmp_path: Path, model_type: str, inputs: set[str]) -> None:
    sizes = {**SIZES, "word_embed_proj_dim": 36, "ffn_dim": 44} if model_type == "opt" else SIZES
    model = load_model(f"config:{write(tmp_path, model_type, **sizes)}", seq=5, layer=1)
    assert set(model.inputs) == inputs and model.inputs["x"].shape == (1, 5, 36)
    assert model.golden["out"].shape == (1, 5, 36) and np.isfinite(model.golden["out"]).all()
    assert model.name == tmp_path.name


def test_a_file_and_half_precision_and_the_text_model_of_a_larger_one(tmp_path: Path) -> None:
    write(tmp_path, "gemma3", text_config={**SIZES, "layer_types": ["full_attention", "sliding_attention"], "sliding_window": 2})
    path = tmp_path / "my-gemma.json"
    (tmp_path / "config.json").rename(path)
    content = json.loads(path.read_text())
    content["torch_dtype"] = content["text_config"]["torch_dtype"] = "bfloat16"
    path.write_text(json.dumps(content))
    model = load_model(f"config:{path}", seq=3, layer=1)
    assert model.name == "my-gemma" and model.inputs["mask"][0, 0, 2, 0] == -np.inf
    assert all(value.dtype == np.float32 for value in model.arguments.values())


def test_weights_saved_by_transformers(tmp_path: Path) -> None:
    torch.manual_seed(1)
    configuration = CONFIG_MAPPING["qwen3"](**SIZES)
    AutoModel.from_config(configuration).save_pretrained(tmp_path)
    model = load_model(f"config:{tmp_path}", seq=3, layer=1, weights=str(tmp_path))
    saved = load_file(tmp_path / "model.safetensors")
    assert np.array_equal(model.parameters["self_attn.q_proj.weight"], saved["layers.1.self_attn.q_proj.weight"].numpy())


def test_weights_that_do_not_match(tmp_path: Path) -> None:
    write(tmp_path, "llama", **SIZES)
    save_file({"model.layers.0.mlp.up_proj.weight": torch.ones(3, 3)}, tmp_path / "model.safetensors")
    with pytest.raises(CompileError, match=r"tensor model\.layers\.0\.\S+ of shape \(\d+, \d+\) is missing$"):
        load_model(f"config:{tmp_path}", seq=3, weights=str(tmp_path))
    with pytest.raises(CompileError, match=r"no tensor of this layer .*; accepted: names model\.layers\.1\.\.\.\."):
        load_model(f"config:{tmp_path}", seq=3, weights=str(tmp_path), layer=1)
    with pytest.raises(CompileError, match=r"the model is not on the hub; accepted: a folder"):
        load_model(f"config:{tmp_path}", seq=3, weights="hub")


@pytest.mark.skipif(not STORIES.is_dir(), reason="the trained model is not on this machine")
@pytest.mark.parametrize("layer", [0, 4])
def test_a_trained_llama(layer: int) -> None:
    found = load_model(f"config:{STORIES}", seq=9, weights=str(STORIES), layer=layer)
    whole = AutoModel.from_pretrained(STORIES, attn_implementation="eager").eval()
    x, mask, cos, sin = (torch.tensor(found.inputs[name]) for name in ("x", "mask", "cos", "sin"))
    with torch.no_grad():
        expected = whole.layers[layer](x, attention_mask=mask, position_embeddings=(cos, sin)).numpy()
        tables = whole.rotary_emb(x, torch.arange(9)[None])
    assert np.allclose(found.golden["out"], expected, atol=1e-5)
    assert torch.equal(tables[0], cos) and torch.equal(tables[1], sin)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"model_type": "wavebox"}', r"config\.json: unknown architecture wavebox; accepted: an architecture of the installed"),
        ('{"hidden_size": 3}', r"config\.json: no model_type, which names the architecture; accepted: config\.json"),
        ("[1, 2]", r"config\.json: no model_type"),
        pytest.param("[" * 100_000, r"config\.json: no JSON \(nested too deep\); accepted: config\.json", id="deep"),
        ("{", r"config\.json: no JSON \(.*\); accepted: config\.json"),
        ('{"model_type": "llama", "hidden_size": "big"}', r"config\.json: transformers refuses this configuration: .*hidden_size"),
        ('{"model_type": "llama", "hidden_size": 36, "num_attention_heads": 7}', r"refuses this configuration: .*not a multiple"),
        ('{"model_type": "t5"}', r"config\.json: t5 is an encoder-decoder model; accepted: a model with one stack of layers"),
        ('{"model_type": "vit", "hidden_size": 36, "num_attention_heads": 6}', r"vit does not run: .*; accepted: models"),
        ('{"model_type": "resnet"}', r"resnet is no stack of decoder layers; accepted: a configuration with num_hidden_layers"),
    ],
)
def test_refused_configurations(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "config.json").write_text(content)
    with pytest.raises(CompileError, match=message) as refusal:
        load_model(f"config:{tmp_path}", seq=3)
    assert "\n" not in str(refusal.value)


def test_no_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    for missing in (tmp_path, tmp_path / "none.json"):
        with pytest.raises(CompileError, match=r"\.json: cannot read the file: No such file or directory; accepted: config\.json"):
            load_model(f"config:{missing}")
    for missing in ("nobody/nothing", str(tmp_path / "none")):
        message = rf"^{missing}: no such file, and not on the hub: .*; accepted: config\.json"
        with pytest.raises(CompileError, match=message) as refusal:
            load_model(f"config:{missing}")
        assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"layer": 2}, r": layer 2; accepted: 0 to 1$"), ({"seq": 65}, r": sequence length 65; accepted: 1 to 64$")],
)
def test_refused_options(tmp_path: Path, arguments: dict[str, int], message: str) -> None:
    write(tmp_path, "llama", **SIZES)
    with pytest.raises(CompileError, match=message):
        load_model(f"config:{tmp_path}", **arguments)  # pyright: ignore[reportArgumentType]
