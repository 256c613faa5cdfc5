"""Named models. Adding one is adding an entry to `PRESETS`; adding an architecture is adding a `Family`."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from stc.diagnostics import CompileError
from stc.frontend.families import GPT2, Family, Options

STAGES = ("prefill",)


@dataclass(frozen=True)
class Preset:
    """A model known by name: its family, the options of its transformers configuration, and its id on the hub if it has one."""

    name: str
    family: Family
    options: Options
    hub_id: str | None = None

    @property
    def layers(self) -> int:
        """How many decoder layers the whole model has."""
        return self.family.layers(self.options)


def _registry(*presets: Preset) -> dict[str, Preset]:
    return {preset.name: preset for preset in presets}


# The tiny twin of gpt2-medium has a hidden size and a head size that are no powers of two, so that odd sizes are met in every test.
PRESETS = _registry(
    Preset("gpt2", GPT2, {"n_embd": 768, "n_head": 12, "n_layer": 12, "n_positions": 1024}, "openai-community/gpt2"),
    Preset(
        "gpt2-medium", GPT2, {"n_embd": 1024, "n_head": 16, "n_layer": 24, "n_positions": 1024}, "openai-community/gpt2-medium"
    ),
    Preset("gpt2-tiny", GPT2, {"n_embd": 32, "n_head": 2, "n_layer": 1, "n_positions": 64}),
    Preset("gpt2-medium-tiny", GPT2, {"n_embd": 36, "n_head": 3, "n_layer": 1, "n_positions": 64}),
)


def find_preset(name: str) -> Preset:
    """The preset called `name`; CompileError listing the names otherwise."""
    if name not in PRESETS:
        raise CompileError(f"unknown model {name}", accepted=f"{', '.join(PRESETS)}, file.py:factory, or file.mlir")
    return PRESETS[name]


def preset_inputs(preset: Preset, stage: str, seq: int, seed: int) -> dict[str, torch.Tensor]:
    """Example inputs of one layer: x from N(0, 1), true positions, a causal mask with real -inf.

    Raises CompileError for an unknown stage and for sequence lengths outside 1 .. the model's maximum.
    """
    if stage not in STAGES:
        raise CompileError(f"unknown stage {stage}", where=preset.name, accepted=", ".join(STAGES))
    longest = preset.family.max_positions(preset.options)
    if not 1 <= seq <= longest:
        raise CompileError(f"sequence length {seq}", where=preset.name, accepted=f"1 to {longest}")
    return preset.family.prefill_inputs(preset.options, seq, torch.Generator().manual_seed(seed))
