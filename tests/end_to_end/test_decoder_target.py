"""`--target decoder`: the whole accelerator of a decoder by one option, for layers of one kind and of several."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from whole_models import configured

from stc.diagnostics import CompileError
from stc.frontend.presets import FULL, SLIDING
from stc.manifest.model_files import read_model
from stc.pipeline import APART, BEHIND_LAYERS, PipelineOptions
from stc.tools.language_model import model_request
from stc.tools.targets import DECODER, for_layers, most_in_a_row, targeted
from stc_testing.commands import Stc, refused

SHORT = ("--target", DECODER, "--max-seq", 8, "--budget", "dsp=700", "--quantize", "bits=4,group=16,activations=group")


def test_all_of_a_model_by_one_option(tmp_path: Path, stc: Stc) -> None:
    """Two layers and the head in one launch for each token, on multipliers that they share; tokens are PyTorch's."""
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2, n_embd=16, vocab_size=40)
    said = ("--tokens", "5,17", "--max-new-tokens", 3, "--check", "--json")
    ended = stc("generate", folder, *SHORT, *said, "--out", out := tmp_path / "out")
    assert ended.code == 0, ended
    told = json.loads(ended.stdout)
    assert told["launches"] == {"decode": 4}
    model = read_model(out)
    assert (model.layers_per_launch, len(model.layers), model.head) == (2, 1, None)
    sends = re.findall(r"array(?:_\d+)?_send\((.*)\);", (out / "decode" / "kernel.cpp").read_text())
    assert any("lm_head" in each and "attn_c_attn" in each for each in sends), sends
    refused(stc("generate", out, "--target", DECODER, "--tokens", "1"), "the model is compiled already", "--target")


def test_options_that_are_said_count_more() -> None:
    chosen = targeted(PipelineOptions(conversions="operators", rows=4), DECODER, {"conversions", "rows"})
    assert (chosen.conversions, chosen.rows, chosen.weight_ports, chosen.units) == ("operators", 4, "in-turn", "memory")


@pytest.mark.parametrize(
    ("kinds", "given", "layers", "head"),
    [
        ([FULL] * 6, {}, 6, BEHIND_LAYERS),
        ([FULL], {}, 1, BEHIND_LAYERS),
        ([FULL] * 6, {"layers": 3}, 3, APART),
        ([FULL] * 6, {"head": APART}, 6, APART),
        ([SLIDING, SLIDING, FULL, FULL], {}, 2, APART),
        ([SLIDING, SLIDING, FULL], {}, 1, APART),
        ([FULL] * 6, {"layers": 3, "head": BEHIND_LAYERS}, 3, BEHIND_LAYERS),
    ],
)
def test_layers_of_a_launch(kinds: list[str], given: dict[str, int | str], layers: int, head: str) -> None:
    """As many as are alike everywhere; the head behind them if these are all. What is said stays, to be refused if it has to be."""
    options = PipelineOptions(units="memory", **given)  # pyright: ignore[reportArgumentType]
    request = for_layers(model_request("gpt2-tiny", 8, None, 0, options, DECODER, frozenset(given)), kinds)
    assert (request.options.layers, request.options.head, request.options.rows) == (layers, head, 1)
    assert "rows" in request.given


def test_rows_of_one_kind() -> None:
    assert [most_in_a_row(kinds) for kinds in ("aaaa", "aabb", "aabbb", "a", "aaab")] == [4, 2, 1, 1, 1]


def test_no_such_target(tmp_path: Path, stc: Stc) -> None:
    asked = ("compile", "gpt2-tiny", "--out", tmp_path / "out")
    refused(stc(*asked, "--target", "encoder"), "--target encoder; accepted: stages or decoder")
    refused(stc(*asked, "--target", DECODER, "--stage", "head"), "--target decoder with --stage head; accepted: --stage model")
    with pytest.raises(CompileError, match="--target encoder"):
        targeted(PipelineOptions(), "encoder", ())


def test_a_prompt_in_rows_wants_a_head_of_its_own(tmp_path: Path, stc: Stc) -> None:
    """A tile height that the launch of layers and head does not have."""
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2)
    ended = stc("compile", folder, "--target", DECODER, "--rows", 4, "--max-seq", 8, "--out", tmp_path / "out")
    refused(ended, "--head behind-layers with 1 launches of layers and 4 rows of a prompt", "--layers 2 --rows 1, or --head apart")
