"""GPT-2: learned positions, LayerNorm, fused QKV, GELU (tanh form)."""

from __future__ import annotations

import torch
from transformers import GPT2Config
from transformers.models.gpt2.modeling_gpt2 import GPT2Block
from transformers.pytorch_utils import Conv1D

from stc.frontend.families.family import Family, Options, causal_mask


class Gpt2Layer(GPT2Block):
    """A GPT-2 block as a function of `x` [1, seq, hidden] and the additive `mask` [1, 1, seq, seq]."""

    def forward(self, x: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        result = super().forward(x, attention_mask=mask)  # pyright: ignore[reportArgumentType]
        return result[0] if isinstance(result, tuple) else result


class Gpt2Family(Family):
    name = "gpt2"
    transposed = (Conv1D,)
    prefixes = ("transformer.h.{layer}.", "h.{layer}.")
    ignored = ("attn.bias", "attn.masked_bias")

    def build(self, options: Options) -> torch.nn.Module:
        return Gpt2Layer(_configuration(options), layer_idx=0).eval()

    def prefill_inputs(self, options: Options, seq: int, generator: torch.Generator) -> dict[str, torch.Tensor]:
        hidden = _configuration(options).n_embd
        return {"x": torch.randn(1, seq, hidden, generator=generator), "mask": causal_mask(seq)}

    def layers(self, options: Options) -> int:
        return _configuration(options).n_layer

    def max_positions(self, options: Options) -> int:
        return _configuration(options).n_positions


def _configuration(options: Options) -> GPT2Config:
    configuration = GPT2Config(**options)
    configuration._attn_implementation = "eager"
    return configuration


GPT2 = Gpt2Family()
