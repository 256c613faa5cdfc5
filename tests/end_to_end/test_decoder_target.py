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
from stc.pipeline import APART, BEHIND_LAYERS, BY_HEAD, IN_TURN, PipelineOptions
from stc.tools.language_model import model_request
from stc.tools.request import DECODER, STAGES
from stc.tools.schedule_file import with_schedule
from stc.tools.targets import OF_DECODER, for_layers, most_in_a_row, with_target
from stc_testing.commands import Stc, refused

SHORT = ("--target", DECODER, "--max-seq", 8, "--budget", "dsp=350", "--quantize", "bits=4,group=16,activations=group")


def test_all_of_a_model_by_one_option(tmp_path: Path, stc: Stc) -> None:
    """Two layers and the head in one launch for each token, on multipliers that they share; tokens are PyTorch's. The vocabulary is
    filled up to 64: a copy's part of it is whole words of a port, as those of the layers are, whose ports bring it in turn then."""
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2, n_embd=16, vocab_size=61)
    said = ("--tokens", "5,17", "--max-new-tokens", 3, "--check", "--json")
    ended = stc("generate", folder, *SHORT, *said, "--out", out := tmp_path / "out")
    assert ended.code == 0, ended
    told = json.loads(ended.stdout)
    assert told["launches"] == {"decode": 4}
    model = read_model(out)
    assert (model.layers_per_launch, len(model.layers), model.head) == (2, 1, None)
    sends = re.findall(r"array(?:_\d+)?_send\((.*)\);", (out / "decode" / "kernel.cpp").read_text())
    assert any("lm_head" in each and re.search("attn_c|mlp_c", each) for each in sends), sends
    refused(stc("generate", out, "--target", DECODER, "--tokens", "1"), "the model is compiled already", "--target")


def test_options_that_are_said_count_more() -> None:
    chosen = with_target({"conversions": "operators", "rows": 4}, DECODER, {"conversions", "rows"})
    assert chosen == {**OF_DECODER, "conversions": "operators", "rows": 4, "head": APART, "caches": BY_HEAD}
    chosen = with_target({"weight_ports": APART}, DECODER, {"weight_ports"})
    assert chosen == {**OF_DECODER, "weight_ports": APART, "contractions": APART, "sums": APART}
    assert with_target({"rows": 3}, STAGES, {"rows"}) == {"rows": 3}


@pytest.mark.parametrize(
    ("kinds", "given", "layers", "head"),
    [
        ([FULL] * 6, {}, 6, BEHIND_LAYERS),
        ([FULL], {}, 1, BEHIND_LAYERS),
        ([FULL] * 6, {"layers": 3}, 3, APART),
        ([FULL] * 6, {"head": APART}, 6, APART),
        ([FULL] * 6, {"units": "one"}, 1, APART),
        ([FULL] * 6, {"quantize": "kv=bf16"}, 1, APART),
        ([SLIDING, SLIDING, FULL, FULL], {}, 2, APART),
        ([SLIDING, SLIDING, FULL], {}, 1, APART),
        ([FULL] * 6, {"layers": 3, "head": BEHIND_LAYERS}, 3, BEHIND_LAYERS),
    ],
)
def test_layers_of_a_launch(kinds: list[str], given: dict[str, int | str], layers: int, head: str) -> None:
    """As many as are alike everywhere; the head behind them if these are all. What is said stays, to be refused if it has to be."""
    options = PipelineOptions(**with_target(given, DECODER, given))
    request = for_layers(model_request("gpt2-tiny", 8, None, 0, options, DECODER, frozenset(given)), kinds)
    assert (request.options.layers, request.options.head, request.options.rows) == (layers, head, 1)
    assert request.given >= {"rows", "units", "head"}


def test_a_schedule_says_how_its_lanes_take_sums(tmp_path: Path) -> None:
    """Lanes of a schedule were chosen for sums as it says; what else the target says counts more."""
    (tmp_path / "before.toml").write_text('[stc.options]\nsums = "apart"\nweight_ports = "apart"\n')
    options = PipelineOptions(**with_target({}, DECODER, ()), schedule=str(tmp_path / "before.toml"))
    request = for_layers(model_request("gpt2-tiny", 8, None, 0, options, DECODER, frozenset()), [FULL])
    decided = with_schedule(request.options, request.given)
    assert (decided.sums, decided.weight_ports) == (APART, IN_TURN)
    said = for_layers(model_request("gpt2-tiny", 8, None, 0, options, DECODER, frozenset({"sums"})), [FULL])
    assert with_schedule(said.options, said.given).sums == IN_TURN


def test_rows_of_one_kind() -> None:
    assert [most_in_a_row(kinds) for kinds in ("aaaa", "aabb", "aabbb", "a", "aaab")] == [4, 2, 1, 1, 1]


def test_no_such_target(tmp_path: Path, stc: Stc) -> None:
    asked = ("compile", "gpt2-tiny", "--out", tmp_path / "out")
    refused(stc(*asked, "--target", "encoder"), "--target encoder; accepted: stages or decoder")
    refused(stc(*asked, "--target", DECODER, "--stage", "head"), "--target decoder with --stage head; accepted: --stage model")
    with pytest.raises(CompileError, match="--target encoder"):
        with_target({}, "encoder", ())


@pytest.mark.parametrize("whole", [("--target", DECODER), ("--stage", "model")])
@pytest.mark.parametrize("option", ["--seq", "--layer"])
def test_a_part_of_a_whole_model(tmp_path: Path, stc: Stc, whole: tuple[str, str], option: str) -> None:
    """What says which part of a model is compiled was passed over in silence."""
    ended = stc("compile", "gpt2-tiny", "--out", tmp_path / "out", *whole, option, 3)
    refused(ended, f"{option} with {' '.join(whole)}; accepted:")


def test_a_part_of_a_whole_model_that_is_explored(tmp_path: Path, stc: Stc) -> None:
    ended = stc("explore", "gpt2-tiny", "--stage", "model", "--layer", 7, "--trials", 1, "--out", tmp_path / "out")
    refused(ended, "--layer with --stage model; accepted:")


def test_a_tile_height_that_a_launch_with_the_head_does_not_have(tmp_path: Path, stc: Stc) -> None:
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2)
    asked = ("compile", folder, "--target", DECODER, "--layers", 2, "--max-seq", 8, "--out", tmp_path / "out")
    ended = stc(*asked, "--rows", 4, "--head", BEHIND_LAYERS)
    refused(ended, "--head behind-layers with 1 launches of layers and 4 rows of a prompt", "--layers 2 --rows 1, or --head apart")
