"""Named models. Adding one is adding an entry to `PRESETS`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from transformers import PreTrainedConfig

from stc.diagnostics import CompileError
from stc.frontend.families import make_configuration

SLIDING, FULL = "sliding_attention", "full_attention"


@dataclass(frozen=True)
class Preset:
    """A model known by name.

    `model_type` and `options` are its transformers configuration with the published hyper-parameters (those that concern a decoder
    layer), `hub_id` its id on the hub if it has one. `attention` restricts the preset to layers of one kind.
    """

    name: str
    model_type: str
    options: dict[str, Any]
    hub_id: str | None = None
    attention: str | None = None

    def configuration(self) -> PreTrainedConfig:
        """A new transformers configuration."""
        return make_configuration(self.model_type, self.options, self.name)

    def layer(self, required: int | None) -> int:
        """Which decoder layer to take: the wanted one, by default the first; CompileError where it is not of the preset's kind."""
        if self.attention is None:
            return 0 if required is None else required
        kinds = self.configuration().layer_types
        indices = [index for index, kind in enumerate(kinds) if kind == self.attention]
        if required is None:
            return indices[0]
        if required not in indices:
            accepted = ", ".join(str(index) for index in indices)
            raise CompileError(f"layer {required} has no {self.attention}", where=self.name, accepted=accepted)
        return required


def _gpt2(hidden: int, heads: int, layers: int, positions: int, **options: Any) -> dict[str, Any]:
    return {"n_embd": hidden, "n_head": heads, "n_layer": layers, "n_positions": positions, **options}


def _gated(hidden: int, inner: int, layers: int, heads: tuple[int, int], positions: int, **options: Any) -> dict[str, Any]:
    """Options of a layer with a gated MLP of `inner` and `heads` = (query heads, key and value heads)."""
    return {
        "hidden_size": hidden,
        "intermediate_size": inner,
        "num_hidden_layers": layers,
        "num_attention_heads": heads[0],
        "num_key_value_heads": heads[1],
        "max_position_embeddings": positions,
        **options,
    }


def _rope(theta: float, **scaling: Any) -> dict[str, Any]:
    return {"rope_type": "default", "rope_theta": theta, **scaling}


def _llama3(factor: float, original: int) -> dict[str, Any]:
    scaling = {"factor": factor, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": original}
    return _rope(500000.0, **{"rope_type": "llama3", **scaling})


GEMMA_ROPE = {SLIDING: _rope(10000.0), FULL: _rope(1000000.0)}

QWEN2_5 = {"rms_norm_eps": 1e-6, "rope_parameters": _rope(1000000.0), "use_sliding_window": False}
QWEN3 = {"rms_norm_eps": 1e-6, "rope_parameters": _rope(1000000.0), "use_sliding_window": False, "attention_bias": False}
TINYLLAMA = {"rms_norm_eps": 1e-5, "rope_parameters": _rope(10000.0)}
LLAMA_3_2 = {"rms_norm_eps": 1e-5}
GEMMA3 = {"rms_norm_eps": 1e-6, "rope_parameters": GEMMA_ROPE, "hidden_activation": "gelu_pytorch_tanh"}

GEMMA3_1B = _gated(
    1152, 6912, 26, (4, 1), 32768, head_dim=256, query_pre_attn_scalar=256, sliding_window=512, sliding_window_pattern=6, **GEMMA3
)

TINY = {"vocab_size": 67, "bos_token_id": 1, "eos_token_id": 2}
GEMMA3_TINY = {"head_dim": 8, "query_pre_attn_scalar": 12, "sliding_window": 4, **TINY}

# Tiny twins have sizes that are no powers of two and that tiles of 16 do not divide, so that odd sizes are met in every test. Heads
# that together are wider or narrower than the hidden size are kept where the published model has them. gemma3-1b-tiny looks back
# over 4 tokens, and its score scale is not that of its head size; llama-3.2-1b-tiny rescales rotations from 16 positions on.
PRESETS = {
    preset.name: preset
    for preset in (
        Preset("gpt2", "gpt2", _gpt2(768, 12, 12, 1024), "openai-community/gpt2"),
        Preset("gpt2-medium", "gpt2", _gpt2(1024, 16, 24, 1024), "openai-community/gpt2-medium"),
        Preset("gpt2-tiny", "gpt2", _gpt2(32, 2, 1, 64, **TINY)),
        Preset("gpt2-medium-tiny", "gpt2", _gpt2(36, 3, 1, 64, **TINY)),
        Preset("qwen2.5-0.5b", "qwen2", _gated(896, 4864, 24, (14, 2), 32768, **QWEN2_5), "Qwen/Qwen2.5-0.5B"),
        Preset("qwen2.5-0.5b-tiny", "qwen2", _gated(36, 44, 1, (6, 2), 64, **TINY, **QWEN2_5)),
        Preset("qwen3-0.6b", "qwen3", _gated(1024, 3072, 28, (16, 8), 40960, head_dim=128, **QWEN3), "Qwen/Qwen3-0.6B"),
        Preset("qwen3-0.6b-tiny", "qwen3", _gated(36, 52, 1, (6, 2), 64, **TINY, head_dim=10, **QWEN3)),
        Preset("tinyllama-1.1b", "llama", _gated(2048, 5632, 22, (32, 4), 2048, **TINYLLAMA), "TinyLlama/TinyLlama-1.1B-Chat-v1.0"),
        Preset("tinyllama-1.1b-tiny", "llama", _gated(36, 44, 1, (6, 2), 64, **TINY, **TINYLLAMA)),
        Preset(
            "llama-3.2-1b",
            "llama",
            _gated(2048, 8192, 16, (32, 8), 131072, head_dim=64, rope_parameters=_llama3(32.0, 8192), **LLAMA_3_2),
            "meta-llama/Llama-3.2-1B",
        ),
        Preset(
            "llama-3.2-1b-tiny",
            "llama",
            _gated(60, 84, 1, (6, 2), 64, **TINY, head_dim=10, rope_parameters=_llama3(4.0, 16), **LLAMA_3_2),
        ),
        Preset("gemma3-1b", "gemma3_text", GEMMA3_1B, "google/gemma-3-1b-pt"),
        Preset("gemma3-1b-full", "gemma3_text", GEMMA3_1B, "google/gemma-3-1b-pt", FULL),
        *(
            Preset(
                name,
                "gemma3_text",
                _gated(36, 44, 1, (6, 2), 64, layer_types=[kind], **GEMMA3_TINY, **GEMMA3),
            )
            for name, kind in (("gemma3-1b-tiny", SLIDING), ("gemma3-1b-full-tiny", FULL))
        ),
    )
}
"""By name. `gemma3-1b` takes any layer of the model, by default the first, which has a sliding window; `gemma3-1b-full` is
restricted to layers with full attention, by default the first of those."""


def find_preset(name: str) -> Preset:
    """The preset called `name`; CompileError listing the names otherwise."""
    if name not in PRESETS:
        others = "config:PATH, a folder with config.json, file.py:factory, or file.mlir"
        raise CompileError(f"unknown model {name}", accepted=f"{', '.join(PRESETS)}, {others}")
    return PRESETS[name]
