"""Modules that others quantised, from PyTorch to agreeing C++: integers in memory and in products."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from projects import Compile, Project

from stc_testing import quantised_modules

pytestmark = pytest.mark.heavy

HERE = Path(__file__).parent
BY_HAND = quantised_modules.__file__
NEAR = 2e-6
"""Of the largest output: what f32 rounds, without a single integer that differs."""


def require_near(project: Project, draws: tuple[str, ...]) -> None:
    """Agreement on all draws, and on some of them without help of what rounding errors move."""
    project.require_agreement()
    errors = {draw.name: max(output.relative_error for output in draw.outputs) for draw in project.result.draws}
    assert {name for name in draws if errors[name] > NEAR} == set(), errors


def parameter_types(project: Project) -> Counter[str]:
    ports = json.loads((project.folder / "manifest.json").read_text())["kernels"][0]["ports"]
    return Counter(port["element_type"] for port in ports if port["kind"] == "parameter")


@pytest.mark.parametrize(
    ("name", "weights"),
    [
        ("asymmetric_tokens_by_bytes_with_zeros", "i8"),
        ("one_scale_by_groups_with_zeros", "i4"),
        pytest.param("two_layers", "i8", marks=pytest.mark.full),
        *(pytest.param(name, "i8", marks=pytest.mark.full) for name in ("tokens", "groups_of_both", "decomposed_one_scale")),
    ],
)
def test_written_by_hand(compiled: Compile, name: str, weights: str) -> None:
    project = compiled(f"{BY_HAND}:{name}")
    require_near(project, ("example", "zeros", "tiny"))
    assert project.report["quantised_by_model"]["left"] == [] and parameter_types(project)[weights]


def test_attention_on_integers(compiled: Compile) -> None:
    project = compiled(f"{BY_HAND}:attention")
    project.require_agreement()
    assert project.report["quantised_by_model"]["layers"] == ["", ""]


@pytest.mark.parametrize("name", ["linear", "mlp"])
def test_by_torchao(compiled: Compile, name: str) -> None:
    project = compiled(f"{HERE / 'torchao_modules.py'}:{name}")
    require_near(project, ("example", "draw", "zeros", "tiny", "huge"))
    assert len(project.report["quantised_by_model"]["layers"]) == {"linear": 1, "mlp": 2}[name]
    types = parameter_types(project)
    assert types["i8"] + types["i4"] >= 1 and project.report["quantised_by_model"]["left"] == []


@pytest.mark.parametrize(("name", "sums"), [("of_bytes", 0), ("of_unsigned_bytes", 1)])
def test_products_of_bytes_by_torchao(compiled: Compile, name: str, sums: int) -> None:
    """Which are integers before they are compiled, of 32 bits. A module with sums of its weights takes them from its own sums."""
    project = compiled(f"{HERE / 'torchao_modules.py'}:{name}")
    require_near(project, ("example", "draw", "zeros", "tiny", "huge"))
    types = parameter_types(project)
    assert types["i8"] == 1 and types["i32"] == sums


def test_a_decoder_layer_by_torchao(compiled: Compile) -> None:
    project = compiled(f"{HERE / 'torchao_modules.py'}:block")
    project.require_agreement()
    assert len(project.report["quantised_by_model"]["layers"]) == 7
