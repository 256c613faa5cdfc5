"""Quantised models of every family write what the quantised reference writes, one row a launch."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from whole_models import LONG, NEW, Twin, close, compiled, configured, in_torch, written_by

from stc.frontend.presets import FULL, SLIDING
from stc.runtime.language_model import LanguageModel

pytestmark = [pytest.mark.heavy, pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")]


@dataclass(frozen=True)
class Quantised:
    """A tiny twin with these options of its configuration changed, in this arithmetic (`--quantize`)."""

    twin: str
    options: dict[str, Any]
    quantize: str


FAMILIES = {
    "gpt2": Quantised("gpt2-tiny", {}, "bits=4,group=16,head=8"),
    "gpt2-medium": Quantised("gpt2-medium-tiny", {"n_layer": 2}, "bits=4,group=32,head=8"),
    "qwen2.5": Quantised("qwen2.5-0.5b-tiny", {"num_hidden_layers": 2}, "bits=4,group=128,head=8"),
    "qwen3": Quantised("qwen3-0.6b-tiny", {"num_hidden_layers": 2}, "bits=4,group=128,head=8,activations=group,kv=int8"),
    "tinyllama": Quantised("tinyllama-1.1b-tiny", {"num_hidden_layers": 2}, "bits=4,group=64,head=4,kv=int8,attention=int8"),
    "llama-3.2": Quantised("llama-3.2-1b-tiny", {"num_hidden_layers": 2}, "bits=4,group=16,head=8,activations=group"),
    "gemma3": Quantised("gemma3-1b-tiny", {"num_hidden_layers": 2, "layer_types": [SLIDING, FULL]}, "bits=4,head=8,kv=int8"),
}
HERE = ("gpt2-medium", "qwen3")
"""They cover the most: groups that divide rows, or do not, groups of activations, a quantised cache and head. The others on
request: `test_generation.py` has a model with integers in attention, too, and of each family a model writes there or here, or its
decode is compared in `test_cached_layer.py`."""
ALL = [pytest.param(name, marks=() if name in HERE else pytest.mark.full) for name in FAMILIES]


@pytest.mark.parametrize("name", ALL)
def test_greedy_tokens_are_those_of_the_quantised_reference(name: str, tmp_path: Path) -> None:
    family = FAMILIES[name]
    spec = configured(tmp_path / "model", family.twin, **family.options)
    model = LanguageModel(compiled(spec, tmp_path / "out", rows=1, quantize=family.quantize))
    twin = Twin(model, in_torch(spec).whole(family.quantize))
    written, logits = written_by(model.generate(LONG, NEW, ends=False))
    assert len(written) == NEW and written == twin.greedy(LONG, NEW)
    # Rounding errors make another integer of a tie, now and then: what follows from it is no error, but less near.
    of_f32 = Twin(model, in_torch(spec).whole())
    near = [np.mean([close(*rows) for rows in zip(logits, of_torch(one, written), strict=True)]) for one in (twin, of_f32)]
    assert near[0] > 0.9 and near[1] < 0.1


def test_a_cache_of_bf16_is_pytorchs(tmp_path: Path) -> None:
    """Of grouped queries; nothing else is rounded, so that all logits are near."""
    spec = configured(tmp_path / "model", "qwen2.5-0.5b-tiny", num_hidden_layers=1)
    model = LanguageModel(compiled(spec, tmp_path / "out", max_seq=16, rows=1, quantize="kv=bf16"))
    caches = [cache for kind in model.manifest.kinds.values() for cache in kind.caches.values()]
    assert [(cache.element_type, cache.bytes) for cache in caches] == [("i16", 2 * 16 * 8 * 2)] * 2  # 6 entries in 8 lanes
    twin, of_f32 = (Twin(model, in_torch(spec, 16).whole(quantize)) for quantize in ("kv=bf16", ""))
    written, logits = written_by(model.generate(LONG, 8, ends=False))
    assert written == twin.greedy(LONG, 8)
    near = [[close(*rows) for rows in zip(logits, of_torch(one, written), strict=True)] for one in (twin, of_f32)]
    assert all(near[0]) and not any(near[1])


def of_torch(twin: Twin, written: list[int]) -> np.ndarray:
    """The logits behind each token but the last."""
    return twin.logits([*LONG, *written[:-1]])[len(LONG) - 1 :]
