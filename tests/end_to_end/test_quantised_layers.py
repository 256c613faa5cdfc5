"""Quantised layers from PyTorch to agreeing C++: integers in memory, the reference's very bits where sums have one order."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from projects import Compile, Project

from stc.pipeline import PipelineOptions
from stc.tools.compile import CompileRequest, compile_model

pytestmark = pytest.mark.heavy

MODULES = Path(__file__).parent / "modules.py"


@pytest.mark.parametrize(
    "text", ["bits=8", "bits=4,group=32,scale=bf16", pytest.param("bits=8,group=32,activations=group", marks=pytest.mark.full)]
)
def test_a_layer_has_the_bits_of_its_reference(compiled: Compile, text: str) -> None:
    """37 terms: in groups of 32, the last is filled up with zeros."""
    project = compiled(f"{MODULES}:linear", quantize=text)
    project.require_agreement()
    assert {output.max_abs_error for draw in project.result.draws for output in draw.outputs} == {0.0}
    errors = project.report["quantisation"]["errors"]
    assert all(0 < error["relative_rms"] < 0.2 for error in errors if error["draw"] not in ("zeros", "tiny")) and len(errors) == 5
    ports = json.loads((project.folder / "manifest.json").read_text())["kernels"][0]["ports"]
    kept = {port["element_type"] for port in ports if port["kind"] == "parameter"}
    assert kept >= {"i8", "i16" if "bf16" in text else "f16"}
    assert ("f32" in kept) is ("activations=group" in text)  # the zeros that fill up activations


@pytest.mark.full
@pytest.mark.parametrize("text", ["bits=8", "bits=4,group=32", "bits=8,group=24,activations=group,except=attn.c_proj"])
def test_a_layer_of_gpt2(compiled: Compile, text: str) -> None:
    compiled("gpt2-tiny", 5, quantize=text).require_agreement()


@pytest.mark.parametrize("text", ["bits=4,group=8", pytest.param("bits=4,group=32,activations=group", marks=pytest.mark.full)])
def test_a_layer_behind_a_cache(tmp_path: Path, text: str) -> None:
    """Pairs of rows, and groups that cut heads of 16: neither reaches the cache, which is written in place."""
    request = CompileRequest("gpt2-tiny", stage="decode", max_seq=8, options=PipelineOptions(quantize=text))
    report = compile_model(request, tmp_path / "layer")
    Project(tmp_path / "layer", report, 0).require_agreement()
