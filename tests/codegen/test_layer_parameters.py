"""Which parameters several designs take as one: computed alike, lying alike. Equal names or bytes say nothing."""

from __future__ import annotations

from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import stc
from stc.codegen.design import Design, design_of
from stc.codegen.layer_parameters import PackedParameter, packed_parameters, packed_words
from stc.manifest.files import read_manifest
from stc.manifest.model_files import parameter_layouts
from stc.manifest.model_schema import CheckedFile, LayerKind, LayerParameter, ModelLayer, ModelManifest, StageProject, Table
from stc.manifest.model_sharing import Sharing, sharing
from stc.manifest.schema import Manifest
from stc.platforms.platform import load_platform

pytestmark = pytest.mark.heavy

FILE = CheckedFile("", 0, "")


class Scaled(torch.nn.Module):
    """Two parameters of equal content; the host scales one of them."""

    def __init__(self, scale: float):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(16, 16))
        self.other = torch.nn.Parameter(torch.ones(16, 16))
        self.scale = scale

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x @ (self.weight * self.scale) @ self.other


def packed(folder: Path, stages: dict[str, tuple[float, dict[str, Any]]]) -> list[PackedParameter]:
    """Of stages that are compiled for a scale, with options."""
    designs: dict[str, Design] = {}
    manifests: dict[str, Manifest] = {}
    for name, (scale, options) in stages.items():
        made = stc.compile(Scaled(scale), (torch.ones(3, 16),), out=folder / name, budget="small", **options)
        designs[name] = design_of(made.module.clone(), load_platform("u55c"))
        manifests[name] = read_manifest(made.folder)
    return packed_parameters(designs, {name: parameter_layouts(manifest) for name, manifest in manifests.items()})


def told(parameters: list[PackedParameter]) -> Sharing:
    """What a model of two such layers says."""
    offsets = accumulate((it.layout.bytes for it in parameters), initial=0)
    taken = tuple(LayerParameter(at, it.layout, it.buffers) for at, it in zip(offsets, parameters, strict=False))
    project, table = StageProject("", 1, FILE, (), ""), Table((), FILE)
    stages = dict.fromkeys((stage for it in parameters for stage in it.buffers), project)
    kinds = {"": LayerKind({}, taken, table, {}, stages)}
    layers = (ModelLayer("", FILE),) * 2
    return sharing(ModelManifest(0, "", {}, 1, 1, 1, kinds, layers, 1, project, table, None, None, (), 0, 1, 1))


def test_what_lies_alike_is_packed_once(tmp_path: Path) -> None:
    """`other` is `weight`'s equal in bytes and layout, and each is itself in both stages."""
    found = packed(tmp_path, {"prefill": (2.0, {}), "decode": (2.0, {})})
    assert [it.buffers["prefill"] == it.buffers["decode"] for it in found] == [True, True]
    parameters = {"weight": np.full((16, 16), 1.5, np.float32), "other": np.full((16, 16), 7.0, np.float32)}
    words = [set(np.frombuffer(each, np.float32)) for each in packed_words(found, parameters)]
    assert words == [{3.0}, {7.0}] and told(found) == Sharing(2 * 2 * 1024, 0, ())


@pytest.mark.parametrize(("change", "reason"), [
    ((2.0, {"tile": 8}), "for prefill, "),
    ((3.0, {}), "computed in another way for decode"),
])
def test_what_does_not_is_packed_twice(tmp_path: Path, change: tuple[float, dict[str, Any]], reason: str) -> None:
    found = packed(tmp_path, {"prefill": (2.0, {}), "decode": change})
    alone = [stage for it in found if len(it.buffers) == 1 for stage in it.buffers]
    result = told(found)
    assert sorted(set(alone)) == ["decode", "prefill"] and result.apart == 2 * 1024 * len(alone)
    assert result.shared == 2 * 1024 * (len(found) - len(alone))
    assert len(result.reasons) == len(alone) // 2 and all(reason in it for it in result.reasons), result.reasons
    assert f"; {result.apart:,} that do not lie alike: " in str(result)
