"""Whole models of tiny twins, compiled and built, and the same models in PyTorch."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from stc.frontend.families import CausalModel
from stc.frontend.presets import PRESETS
from stc.frontend.sources import find_language_model
from stc.runtime.language_model import Generation, LanguageModel
from stc.tools.language_model import compile_language_model, model_request
from stc_testing.small import small_options

MAX_SEQ = 73
"""No multiple of the rows of a launch."""
NEW = 64
ROWS = 4
LONG = [5, 17, 3, 44, 23]


@dataclass(frozen=True)
class Twin:
    """A compiled model, ready to write, and the same in PyTorch."""

    compiled: LanguageModel
    torch: Any

    def greedy(self, prompt: list[int], count: int) -> list[int]:
        """What transformers writes, whether it is the end of a text or not."""
        given = torch.tensor([prompt])
        with torch.no_grad():
            greedy = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "max_new_tokens": count}
            made = self.torch.generate(given, attention_mask=torch.ones_like(given), **greedy)
        return made[0, len(prompt) :].tolist()

    def logits(self, tokens: list[int]) -> np.ndarray:
        """Those behind each of the tokens."""
        with torch.no_grad():
            return self.torch(torch.tensor([tokens])).logits[0].numpy()


def configured(folder: Path, name: str, **options: Any) -> str:
    """The folder of a preset's configuration with some options changed, as a model."""
    preset = PRESETS[name]
    positions = "n_positions" if preset.model_type == "gpt2" else "max_position_embeddings"
    folder.mkdir(parents=True, exist_ok=True)
    written = {"model_type": preset.model_type, **preset.options, positions: 2 * MAX_SEQ, **options}
    (folder / "config.json").write_text(json.dumps(written))
    return f"config:{folder}"


def compiled(
    spec: str, out: Path, *, max_seq: int = MAX_SEQ, rows: int = ROWS, weights: str | None = None, **options: Any
) -> Path:
    compile_language_model(model_request(spec, max_seq, weights, 0, small_options(rows=rows, **options)), out)
    return out


def in_torch(spec: str, max_seq: int = MAX_SEQ) -> CausalModel:
    return find_language_model(spec, max_seq=max_seq, seed=0, weights=None).model


def close(found: np.ndarray, expected: np.ndarray) -> bool:
    return float(np.abs(found - expected).max()) <= 1e-4 * float(np.abs(expected).max())


def written_by(generation: Generation) -> tuple[list[int], np.ndarray]:
    """All its tokens, and the logits by which each was chosen."""
    tokens: list[int] = []
    logits: list[np.ndarray] = []
    for token in generation:
        assert generation.logits is not None
        tokens.append(token)
        logits.append(generation.logits)
    return tokens, np.stack(logits)
