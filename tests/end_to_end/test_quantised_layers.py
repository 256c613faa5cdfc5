"""Quantised layers from PyTorch to agreeing C++: integers in memory, the reference's very bits where sums have one order."""

from __future__ import annotations

import json
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import torch
from modules import linear, packed_weight
from projects import Compile, Project, parameter_in

from stc.manifest.files import read_manifest
from stc.quantisation.formats import read_quantisation
from stc.quantisation.packed_linear import PackedLinear
from stc.quantisation.reference import QuantisedWeight, quantise_weight
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy

MODULES = Path(__file__).parent / "modules.py"


@pytest.mark.parametrize("text", ["bits=8", "bits=4,group=32,scale=bf16", "bits=8,group=32,activations=group"])
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
    layer, chosen = linear()[0], read_quantisation(text).default
    assert chosen is not None
    require_held(project.folder, quantise_weight(layer.weight.detach(), chosen, "here"))


@pytest.mark.parametrize(
    "factory, text",
    [
        ("packed", "bits=4"),
        ("packed", ""),
        pytest.param("packed", "bits=4,activations=group", marks=pytest.mark.full),
        pytest.param("packed_without_zeros", "bits=4", marks=pytest.mark.full),
    ],
)
def test_a_packed_layer_keeps_its_integers(compiled: Compile, factory: str, text: str) -> None:
    """With zero points, which sums of activations are multiplied by; 37 terms do not fill the third group. Where nothing is said of
    activations, they are f32, and integers of weights are made f32 on the device."""
    project = compiled(f"{MODULES}:{factory}", quantize=text)
    project.require_agreement()
    if text:
        assert {output.max_abs_error for draw in project.result.draws for output in draw.outputs} == {0.0}
        assert project.report["quantisation"]["layers"] == ["0"]
    weight = PackedLinear(packed_weight(symmetric=factory != "packed"), None)
    require_held(project.folder, QuantisedWeight(weight.integers, weight.scales, weight.zeros))


def require_held(project: Path, weight: QuantisedWeight) -> None:
    """The files of parameters hold the integers, scales and zero points of a layer, each once: what their words are unpacked to is
    that, with axes in another order, and pairs of rows in bytes."""
    ports = [port for kernel in read_manifest(project).kernels for port in kernel.ports if port.kind == "parameter"]
    held = [parameter_in(project, port)[0] for port in ports]
    for tensor in (weight.integers, weight.scales, weight.zeros):
        if tensor is not None:
            expected = (tensor.view(torch.int16) if tensor.dtype == torch.bfloat16 else tensor).numpy()
            assert sum(_holds(array, expected) for array in held) == 1, (expected.shape, [array.shape for array in held])


def _holds(array: np.ndarray, expected: np.ndarray) -> bool:
    if array.dtype != expected.dtype:
        return False
    if 2 * array.size == expected.size:
        array = np.stack([np.left_shift(array, 4) >> 4, array >> 4], -1)
    orders = permutations(range(array.ndim)) if array.size == expected.size else ()
    return any(np.array_equal(array.transpose(order).reshape(expected.shape), expected) for order in orders)


@pytest.mark.full
@pytest.mark.parametrize("text", ["bits=8", "bits=4,group=32", "bits=8,group=24,activations=group,except=attn.c_proj"])
def test_a_layer_of_gpt2(compiled: Compile, text: str) -> None:
    compiled("gpt2-tiny", 5, quantize=text).require_agreement()


@pytest.mark.parametrize("text", ["bits=4,group=8", pytest.param("bits=4,group=32,activations=group", marks=pytest.mark.full)])
def test_a_layer_behind_a_cache(tmp_path: Path, text: str) -> None:
    """Pairs of rows, and groups that cut heads of 16: neither reaches the cache, which is written in place."""
    request = CompileRequest("gpt2-tiny", stage="decode", max_seq=8, options=small_options(quantize=text))
    report = compile_model(request, tmp_path / "layer")
    Project(tmp_path / "layer", report, 0).require_agreement()
