"""A decoder layer that reads as many rows of its cache as there are: every level, at every draw's position, nothing behind it."""

from __future__ import annotations

import numpy as np
import pytest

from stc.dialects.context import make_context
from stc.execution.run import execute
from stc.frontend.draws import DRAWS
from stc.frontend.exported import ExportedModel
from stc.frontend.signature import argument_names
from stc.frontend.sources import load_model
from stc.pipeline import PipelineOptions, Stage, run_stages, stages

pytestmark = pytest.mark.heavy
MAX_SEQ = 16
"""Which tiles of 16 would divide."""
LEVELS = ("verify-streams", "lower-tasks", "verify-bounds")


LAYERS = {
    "one row": ("gpt2-tiny", 1, 16),
    "window, grouped queries": ("gemma3-1b-tiny", 1, 16),
    "three rows": ("qwen3-0.6b-tiny", 3, 16),
    "grouped queries, heads of two tiles": ("qwen2.5-0.5b-tiny", 1, 3),
}
"""A preset, the rows of a launch, and the tile size."""


@pytest.fixture(scope="module", params=LAYERS)
def model(request: pytest.FixtureRequest) -> ExportedModel:
    preset, rows, _ = LAYERS[request.param]
    stage = "decode" if rows == 1 else "prefill"
    return load_model(preset, stage=stage, seq=rows, max_seq=MAX_SEQ, run_time_sizes=True, check_inputs=DRAWS)


@pytest.fixture
def options(request: pytest.FixtureRequest) -> PipelineOptions:
    _, _, tile = LAYERS[request.node.callspec.params["model"]]
    return PipelineOptions(kernel_name="k", tile=tile, lanes=tile)


def test_draws_are_at_several_positions(model: ExportedModel) -> None:
    last = MAX_SEQ - model.inputs["x"].shape[1]
    assert {draw.name: int(draw.inputs["pos"]) for draw in model.draws} == {
        "example": last, "draw": last // 2, "zeros": 0, "tiny": 1, "huge": last - 1,
    }  # fmt: skip
    for draw in model.draws:
        position, rows = int(draw.inputs["pos"]), draw.inputs["x"].shape[1]
        assert np.isnan(draw.inputs["k_cache"][:, :, position:]).all()
        assert np.isnan(draw.inputs["mask"][..., position + rows :]).all()
        assert not np.isnan(draw.golden["y"]).any()
        for updated, cache in (("k_updated", "k_cache"), ("v_updated", "v_cache")):
            found, given = draw.golden[updated].copy(), draw.inputs[cache]
            assert not np.isnan(found[:, :, position : position + rows]).any()
            found[:, :, position : position + rows] = given[:, :, position : position + rows]
            np.testing.assert_array_equal(found, given)


def test_every_level_agrees_with_pytorch(model: ExportedModel, options: PipelineOptions) -> None:
    module = model.module.clone()
    for part in parts_up_to(LEVELS, options):
        run_stages(module, make_context(), [part])
        for draw in model.draws:
            arrays = {**draw.inputs, **model.parameters}
            found = execute(module, [arrays[name] for name in argument_names(model.module)])
            for array, (name, expected) in zip(found, draw.golden.items(), strict=True):
                allowed = 1e-5 * np.nanmax(np.abs(expected))
                np.testing.assert_allclose(array, expected, atol=allowed, err_msg=f"{name} of {draw.name}")


def parts_up_to(levels: tuple[str, ...], options: PipelineOptions) -> list[Stage]:
    """The passes of a compile, cut behind each of `levels`."""
    parts: list[Stage] = []
    passes: list[str] = []
    for one in (one for stage in stages(options) for one in stage.passes):
        assert isinstance(one, str)
        passes.append(one)
        if one.partition("{")[0] in levels:
            parts.append(Stage("part", tuple(passes)))
            passes = []
    return parts
