"""Real weights from safetensors folders."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2Model

from stc.diagnostics import CompileError
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy

CONFIGURATION = GPT2Config(n_embd=36, n_head=3, n_layer=2, n_positions=64, vocab_size=11)


def layer_state(layer: int) -> dict[str, torch.Tensor]:
    torch.manual_seed(5)
    state = GPT2Model(CONFIGURATION).state_dict()
    return {name: value.contiguous().clone() for name, value in state.items() if f"h.{layer}." in name}


def test_saved_by_transformers(tmp_path: Path) -> None:
    torch.manual_seed(5)
    model = GPT2Model(CONFIGURATION).eval()
    model.save_pretrained(tmp_path)
    exported = load_model("gpt2-medium-tiny", seq=3, weights=str(tmp_path))
    assert np.array_equal(exported.parameters["attn.c_attn.weight"], model.state_dict()["h.0.attn.c_attn.weight"].numpy())
    x, mask = (torch.from_numpy(exported.inputs[name].copy()) for name in ("x", "mask"))
    with torch.no_grad():
        expected = model.h[0](x, attention_mask=mask)
    assert np.allclose(expected[0] if isinstance(expected, tuple) else expected, exported.golden["out"], atol=1e-5)


def test_prefix_shards_half_precision_and_old_buffers(tmp_path: Path) -> None:
    state = {f"transformer.{name}": value.to(torch.bfloat16) for name, value in layer_state(0).items()}
    state["transformer.h.0.attn.bias"] = torch.ones(1, 1, 64, 64)
    names = sorted(state)
    save_file({name: state[name] for name in names[:5]}, tmp_path / "model-00001-of-00002.safetensors")
    save_file({name: state[name] for name in names[5:]}, tmp_path / "model-00002-of-00002.safetensors")
    exported = load_model("gpt2-medium-tiny", seq=3, weights=str(tmp_path))
    expected = state["transformer.h.0.mlp.c_fc.weight"].to(torch.float32).numpy()
    assert np.array_equal(exported.parameters["mlp.c_fc.weight"], expected)


def refused(folder: Path, message: str) -> None:
    with pytest.raises(CompileError, match=message):
        load_model("gpt2-medium-tiny", seq=3, weights=str(folder))


def test_wrong_shape(tmp_path: Path) -> None:
    state = layer_state(0) | {"h.0.ln_1.weight": torch.ones(37)}
    save_file(state, tmp_path / "model.safetensors")
    refused(tmp_path, r"model\.safetensors: tensor h\.0\.ln_1\.weight has shape \(37,\); accepted: shape \(36,\)")


def test_missing_name(tmp_path: Path) -> None:
    state = layer_state(0)
    del state["h.0.mlp.c_proj.bias"]
    save_file(state, tmp_path / "model.safetensors")
    refused(tmp_path, r"tensor h\.0\.mlp\.c_proj\.bias of shape \(36,\) is missing")


def test_superfluous_name(tmp_path: Path) -> None:
    save_file(layer_state(0) | {"h.0.attn.q_norm.weight": torch.ones(12)}, tmp_path / "model.safetensors")
    refused(tmp_path, r"tensor h\.0\.attn\.q_norm\.weight is not a parameter of the model")


def test_integer_weights(tmp_path: Path) -> None:
    save_file(layer_state(0) | {"h.0.ln_1.weight": torch.ones(36, dtype=torch.int8)}, tmp_path / "model.safetensors")
    refused(tmp_path, r"tensor h\.0\.ln_1\.weight has dtype torch\.int8; accepted: floating point")


def test_other_layer_only(tmp_path: Path) -> None:
    save_file(layer_state(1), tmp_path / "model.safetensors")
    refused(tmp_path, r"no tensor of this layer \(found h\.1\..*\); accepted: names transformer\.h\.0\.\.\.\. or h\.0\.\.\.\.")


@pytest.mark.parametrize("kept", [0, 4, 1000, -1])
def test_truncated_file(tmp_path: Path, kept: int) -> None:
    save_file(layer_state(0), tmp_path / "model.safetensors")
    whole = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").write_bytes(whole[:kept])
    refused(tmp_path, r"model\.safetensors: the file is truncated or no safetensors file")


def test_a_preset_that_is_not_on_the_hub() -> None:
    with pytest.raises(CompileError, match=r"gpt2-medium-tiny: the model is not on the hub; accepted: a folder"):
        load_model("gpt2-medium-tiny", seq=3, weights="hub")


def test_no_folder_and_no_files(tmp_path: Path) -> None:
    refused(
        tmp_path / "none", r"none: no such folder; accepted: a folder with \*\.safetensors files, or hub:ORGANISATION/MODEL"
    )
    refused(tmp_path, r"the folder has no \*\.safetensors file")
