"""What a model generates with lies in the channels: parameters and caches of all layers, and what stages have themselves."""

from __future__ import annotations

from dataclasses import replace

import pytest
from l6_examples import EXAMPLES

from stc.codegen.design import design_of
from stc.codegen.manifest_builder import build_manifest
from stc.manifest.model_files import parameter_layouts
from stc.manifest.model_schema import CheckedFile, LayerKind, LayerParameter, ModelLayer, ModelManifest, StageProject, Table
from stc.manifest.schema import Manifest
from stc.platforms.platform import Platform, load_platform
from stc.tools.model_room import lacking_room

pytestmark = pytest.mark.heavy

FILE = CheckedFile("", 0, "")
TABLE = Table((), FILE)


def holding(size: int) -> Platform:
    """One channel of so many bytes."""
    platform = load_platform("u55c")
    return replace(platform, memory=replace(platform.memory, channels=1, tags=1, channel_bytes=size))


@pytest.fixture(scope="module")
def stage() -> Manifest:
    design = design_of(EXAMPLES["matmul"].model().module, holding(1 << 20))
    return build_manifest("stage", design, {}, {}, (), holding(1 << 20), {}, 1e-4)


def model_of(stage: Manifest, layers: int) -> ModelManifest:
    """Layers whose parameter is `stage`'s, with a cache of the parameter's layout; `stage` again as the head."""
    ((name, layout),) = parameter_layouts(stage).items()
    decode, head = StageProject("decode", 1, FILE, (), ""), StageProject("head", 1, FILE, (), "")
    kind = LayerKind({"k": layout}, (LayerParameter(0, layout, {"decode": name}),), TABLE, {}, {"decode": decode})
    each = (ModelLayer("", FILE),) * layers
    return ModelManifest(0, "model", {}, 1, 1, 1, {"": kind}, each, 1, head, TABLE, None, None, (), 0, 1, 1)


def test_every_layer_counts(stage: Manifest) -> None:
    sizes = {port.buffer: port.bytes for kernel in stage.kernels for port in kernel.ports}
    (parameter,) = (layout.bytes for layout in parameter_layouts(stage).values())
    own = sum(sizes.values())
    total = (own - parameter) + own + 3 * 2 * parameter
    projects = {"decode": stage, "head": stage}
    assert lacking_room(model_of(stage, 3), projects, holding(total)) is None
    said = lacking_room(model_of(stage, 3), projects, holding(total - 1)) or ""
    lies = f"model lays {total:,} bytes of all layers, caches and stages into channel 0 of u55c, which has {total - 1:,}: "
    assert said.startswith(f"{lies}C simulation runs it, a card does not")
