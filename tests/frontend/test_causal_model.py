"""A language model taken apart: its parts, one after the other, are the model, token for token."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from transformers import GenerationConfig, PreTrainedConfig

from stc.diagnostics import CompileError
from stc.frontend.families import CausalModel, make_configuration
from stc.frontend.presets import PRESETS

pytestmark = pytest.mark.heavy
MAX_SEQ = 19
PROMPT = [3, 5, 7, 1, 9]
TWINS = [name for name in PRESETS if name.endswith("-tiny")]


def configuration(name: str, **options: Any) -> PreTrainedConfig:
    preset = PRESETS[name]
    return make_configuration(preset.model_type, {**preset.options, **options}, name)


class Parts:
    """Generation by the parts alone, prompts in chunks of `rows` tokens."""

    def __init__(self, model: CausalModel, rows: int):
        self.model, self.rows, self.position = model, rows, 0
        count = len(model.layer_kinds)
        self.layers = {taken: [model.cached_layer(index, taken) for index in range(count)] for taken in {1, rows}}
        # What lies behind the position is never read: the reference keeps zeros there, NaN would show in sums of 0 times NaN.
        self.caches = [{name: torch.zeros_like(layer.inputs[name]) for name in ("k_cache", "v_cache")} for layer in self.layers[1]]
        self.head = model.head()[0]

    def step(self, tokens: list[int], rows: int) -> torch.Tensor:
        """The hidden state behind the last token, [1, 1, hidden]."""
        count, embedding = len(tokens), self.model.embedding
        x = embedding.tokens[tokens + [0] * (rows - count)].copy()
        if embedding.positions is not None:
            x += embedding.positions[np.minimum(np.arange(self.position, self.position + rows), MAX_SEQ - 1)]
        hidden = torch.from_numpy(x)[None]
        for index, layer in enumerate(self.layers[rows]):
            tables = self.model.tables(index).inputs_at(self.position, rows, MAX_SEQ - rows)
            inputs = {"x": hidden, **self.caches[index], **{key: torch.from_numpy(value) for key, value in tables.items()}}
            with torch.no_grad():
                found = layer.module(**inputs)
            hidden = found["y"]
            for cache, new in (("k_cache", "k_rows"), ("v_cache", "v_rows")):
                self.caches[index][cache][:, :, self.position : self.position + count] = found[new][:, :, :count]
        self.position += count
        return hidden[:, count - 1 : count]

    def generate(self, prompt: list[int], count: int) -> list[int]:
        hidden, new = torch.empty(0), []
        while prompt:
            rows = self.rows if self.position + self.rows <= MAX_SEQ else 1
            hidden, prompt = self.step(prompt[:rows], rows), prompt[rows:]
        while len(new) < count:
            new.append(int(self.head(hidden)["token"]))
            if len(new) < count:
                hidden = self.step(new[-1:], 1)
        return new


def reference(model: CausalModel, prompt: list[int], count: int) -> list[int]:
    options = GenerationConfig(max_new_tokens=count, do_sample=False, eos_token_id=None, pad_token_id=0)
    found = model.whole().generate(torch.tensor([prompt]), generation_config=options)  # pyright: ignore[reportCallIssue]
    return found[0].tolist()[len(prompt) :]


@pytest.mark.parametrize("name", TWINS)
def test_the_parts_are_the_model(name: str) -> None:
    model = CausalModel(configuration(name), max_seq=MAX_SEQ, seed=3, where=name)
    count = MAX_SEQ - len(PROMPT) + 1
    assert Parts(model, 3).generate(PROMPT, count) == reference(model, PROMPT, count)


def test_two_kinds_of_layers() -> None:
    """Windows of 4 positions and all of them, with other rotary tables."""
    kinds = ["sliding_attention", "full_attention", "sliding_attention"]
    options = {"layer_types": kinds, "num_hidden_layers": 3, "tie_word_embeddings": False}
    model = CausalModel(configuration("gemma3-1b-tiny", **options), max_seq=MAX_SEQ, seed=0, where="two kinds")
    model.require_equal_kinds()
    assert model.layer_kinds == tuple(kinds)
    assert not np.array_equal(model.tables(0).mask, model.tables(1).mask)
    assert not np.array_equal(model.tables(0).rows["cos"], model.tables(1).rows["cos"])
    found = Parts(model, 4).generate(PROMPT, 12)
    assert found == reference(model, PROMPT, 12) and len(set(found)) > 2


def test_rows_of_the_cache_behind_the_position_are_seen_by_nobody() -> None:
    tables = CausalModel(configuration("gpt2-tiny"), max_seq=8, seed=0, where="m").tables(0)
    for own, seen in ((6, [[1, 1, 1, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 0, 1, 1]]), (3, [[1] * 4 + [0] * 4, [1] * 5 + [0] * 3])):
        mask = tables.inputs_at(3, 2, own)["mask"][0, 0]
        assert np.array_equal(mask == 0, seen) and np.isneginf(mask[mask != 0]).all()


def test_rows_of_the_cache_before_the_window_have_no_column() -> None:
    """Of a window of 4 behind row 1 of a cache: rows 2, 3 and 4, of which the second row of the launch sees two."""
    tables = CausalModel(configuration("gemma3-1b-tiny"), max_seq=8, seed=0, where="m").tables(0)
    assert tables.reach == 3
    mask = tables.inputs_at(5, 2, 3, 3)["mask"][0, 0]
    assert np.array_equal(mask == 0, [[1, 1, 1, 1, 0], [0, 1, 1, 1, 1]])
    first = tables.inputs_at(1, 2, 1, 3)["mask"][0, 0]
    assert np.array_equal(first == 0, [[1, 1, 0, 0, 0], [1, 1, 1, 0, 0]])


def test_a_launch_of_all_positions_leaves_no_room() -> None:
    model = CausalModel(configuration("gpt2-tiny"), max_seq=8, seed=0, where="m")
    message = "m: a launch of 7 rows behind a cache of 8 positions; accepted: --max-seq of 9 at least"
    with pytest.raises(CompileError, match=message):
        model.cached_layer(0, 7)


def test_layers_that_differ_in_more_than_their_parameters_are_refused() -> None:
    """Each layer divides its scores by its number."""
    options = {"n_layer": 2, "scale_attn_by_inverse_layer_idx": True}
    model = CausalModel(configuration("gpt2-tiny", **options), max_seq=8, seed=0, where="m")
    with pytest.raises(CompileError, match="m: layers 0 and 1 compute different functions; accepted: layers that differ in"):
        model.require_equal_kinds()


def test_what_cannot_be_taken_apart_is_named() -> None:
    heads = {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 8}
    options = {"hidden_size": 16, "intermediate_size": 20, "num_hidden_layers": 1, "vocab_size": 11, **heads}
    gemma2 = make_configuration("gemma2", options, "gemma2")
    with pytest.raises(CompileError, match="what follows the last layer is more than a norm and a matrix product"):
        CausalModel(gemma2, max_seq=8, seed=0, where="gemma2").head()
    with pytest.raises(CompileError, match="m: --max-seq 65; accepted: 1 to 64"):
        CausalModel(configuration("gpt2-tiny"), max_seq=65, seed=0, where="m")


def test_rotary_tables_that_depend_on_the_length_are_refused() -> None:
    """Other factors from 8 positions on: tables of one length would be wrong for shorter texts."""
    factors = {"short_factor": [1.0] * 5, "long_factor": [2.0] * 5, "original_max_position_embeddings": 8, "factor": 8.0}
    rope = {"rope_type": "longrope", "rope_theta": 10000.0, **factors}
    model = CausalModel(configuration("llama-3.2-1b-tiny", rope_parameters=rope), max_seq=32, seed=0, where="long")
    with pytest.raises(CompileError, match="of a position depends on the number of positions"):
        model.tables(0)
