"""`--tokens-per-launch`: several tokens in a launch, each behind the one before, are those that PyTorch writes one by one."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from whole_models import configured

from stc.manifest.files import read_manifest
from stc.manifest.model_files import read_model
from stc_testing.commands import Stc, refused

pytestmark = pytest.mark.heavy

needs_compiler = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is needed")
SMALL = ("--target", "decoder", "--small", "--max-seq", 11)
GPT2: dict[str, Any] = {"n_layer": 2, "n_embd": 20, "n_head": 2, "vocab_size": 37}
LLAMA: dict[str, Any] = {"num_hidden_layers": 2}


@needs_compiler
@pytest.mark.parametrize(("name", "changed"), [("gpt2-tiny", GPT2), ("llama-3.2-1b-tiny", LLAMA)])
def test_tokens_are_those_of_pytorch(name: str, changed: dict[str, Any], tmp_path: Path, stc: Stc) -> None:
    """A prompt of five, which the second launch goes on behind, up to the last position; the third launch begins before what the
    caches have, since there is no room for four more. With a table of positions, and with rotations of each step."""
    configured(folder := tmp_path / "config", name, **changed)
    ended = stc("generate", folder, *SMALL, "--tokens-per-launch", 4, "--tokens", "5,17,3,9,2", "--max-new-tokens", 9, "--check",
                "--json", "--out", out := tmp_path / "out")
    assert ended.code == 0, ended
    told = json.loads(ended.stdout)
    assert (len(told["tokens"]), told["finish"], told["launches"]) == (7, "cache full", {"decode": 3})
    assert told["check"]["reference"]["equal"] == 7
    (kernel,) = read_manifest(out / "decode").kernels
    assert (kernel.steps, kernel.scalars[0].maximum) == (4, 7)
    assert read_model(out).kinds[""].stages["decode"].steps == 4
    said = ("generate", out, "--tokens", "5,17,3,9,2", "--json")
    (sampled,) = (json.loads(stc(*said, "--max-new-tokens", 4, "--sample", "2,1,7").stdout),)
    assert len(sampled["tokens"]) == 4
    refused(stc("generate", out, "--tokens", "5", "--tokens-per-launch", 4), "the model is compiled already", "--tokens-per-launch")


@needs_compiler
def test_dumps_of_all_levels_give_one_design(tmp_path: Path, stc: Stc) -> None:
    asked = ("gpt2-tiny", "--stage", "token", "--max-seq", 8, "--run-time-sizes", "--layers", 2, "--units", "memory", "--small")
    ended = stc("compile", *asked, "--tokens-per-launch", 3, "--emit-ir", "--check", "--out", out := tmp_path / "out")
    assert ended.code == 0, ended
    (dump,) = (out / "ir").glob("*_repeat-steps.mlir")
    texts = [(out / name).read_text() for name in ("kernel.cpp", "manifest.json")]
    for number, given in enumerate([(dump,), (*asked, "--tokens-per-launch", 3, "--schedule", out / "schedule.toml")]):
        again = tmp_path / f"again{number}"
        assert stc("compile", *given, "--out", again).code == 0
        assert [(again / name).read_text() for name in ("kernel.cpp", "manifest.json")][: 2 - number] == texts[: 2 - number]


def test_what_cannot_be_a_launch_of_several_tokens(tmp_path: Path, stc: Stc) -> None:
    asked = ("compile", "gpt2-tiny", "--out", tmp_path / "out", "--max-seq", 8, "--tokens-per-launch")
    refused(stc(*asked, 2, "--target", "decoder"), "--tokens-per-launch 2 with one layer in a launch; accepted: all layers and the")
    of_token = ("--stage", "decode", "--layers", 2, "--units", "memory", "--run-time-sizes")
    refused(stc(*asked, 2, *of_token), "gpt2-tiny_decode does not find the next token; accepted: a layer that the head follows")
    configured(folder := tmp_path / "config", "gpt2-tiny", n_layer=2)
    ended = stc("compile", folder, "--target", "decoder", "--layers", 1, "--tokens-per-launch", 2, "--out", tmp_path / "out")
    refused(ended, "--tokens-per-launch 2 with the head in a launch of its own; accepted: --target decoder")
    several = ("--stage", "token", "--layers", 2, "--units", "memory")
    refused(stc(*asked, 9, *several, "--run-time-sizes"), "--tokens-per-launch 9 of 8 positions; accepted: at most 8")
    refused(stc(*asked, 2, *several), "--tokens-per-launch 2 of a layer that reads all of its cache under a mask; accepted:")
