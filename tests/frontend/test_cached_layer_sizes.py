"""A decoder layer that reads as many rows of its cache as there are: every level, at every draw's position, nothing behind it."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects import func
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr

from stc.dialects.context import make_context
from stc.dialects.facts import BEGINS
from stc.execution.run import execute
from stc.frontend.draws import DRAWS
from stc.frontend.exported import ExportedModel
from stc.frontend.families.causal_model import CausalModel
from stc.frontend.families.configuration import make_configuration
from stc.frontend.presets import PRESETS
from stc.frontend.signature import argument_names
from stc.frontend.sources import load_model
from stc.iteration.size import Symbol, largest_of, least_of, sum_of
from stc.pipeline import PipelineOptions, Stage, run_stages, stages
from stc.scalars.bf16 import NAN
from stc_testing.small import small_options

pytestmark = pytest.mark.heavy
MAX_SEQ = 16
"""Which tiles of 16 would divide."""
LEVELS = ("verify-streams", "lower-tasks", "verify-bounds")


INTEGER_CACHE = "kv=int8,attention=int8"
"""With linear layers in f32, which leaves no integer near a tie here."""
LAYERS = {
    "one row": ("gpt2-tiny", 1, 16, ""),
    "window, grouped queries": ("gemma3-1b-tiny", 1, 16, INTEGER_CACHE),
    "three rows": ("qwen3-0.6b-tiny", 3, 16, "kv=int8"),
    "grouped queries, heads of two tiles": ("qwen2.5-0.5b-tiny", 1, 3, "kv=bf16"),
}
"""A preset, the rows of a launch, the tile size, and what is quantised."""


@pytest.fixture(scope="module", params=LAYERS)
def model(request: pytest.FixtureRequest) -> ExportedModel:
    preset, rows, _, quantised = LAYERS[request.param]
    stage = "decode" if rows == 1 else "prefill"
    return load_model(
        preset, stage=stage, seq=rows, max_seq=MAX_SEQ, run_time_sizes=True, check_inputs=DRAWS, quantize=quantised
    )


@pytest.fixture
def options(request: pytest.FixtureRequest) -> PipelineOptions:
    _, _, tile, _ = LAYERS[request.node.callspec.params["model"]]
    return small_options(kernel_name="k", tile=tile, lanes=tile)


def test_draws_are_at_several_positions(model: ExportedModel, request: pytest.FixtureRequest) -> None:
    preset = LAYERS[request.node.callspec.params["model"]][0]
    window = PRESETS[preset].options.get("sliding_window", MAX_SEQ)
    last = MAX_SEQ - model.inputs["x"].shape[1]
    assert {draw.name: int(draw.inputs["pos"]) for draw in model.draws} == {
        "example": last, "draw": last // 2, "zeros": 0, "tiny": 1, "huge": last - 1,
    }  # fmt: skip
    for draw in model.draws:
        position, rows = int(draw.inputs["pos"]), draw.inputs["x"].shape[1]
        begin = max(position - window + 1, 0)
        assert ("mask" in draw.inputs) is (rows > 1)  # of one row it would add nothing
        caches = {updated: updated.replace("updated", "cache") for updated in draw.golden if "updated" in updated}
        assert len(caches) in (2, 4)
        for cache in (draw.inputs[cache] for cache in caches.values()):
            missing = np.isnan(cache) if cache.dtype.kind == "f" else cache == (NAN if cache.dtype == np.int16 else 0)
            assert missing[:, :, position:].all() and missing[:, :, :begin].all()
        assert rows == 1 or np.isnan(draw.inputs["mask"][..., position - begin + rows :]).all()
        assert not np.isnan(draw.golden["y"]).any()
        for updated, cache in caches.items():
            found, given = draw.golden[updated].copy(), draw.inputs[cache]
            assert not np.isnan(found[:, :, position : position + rows]).any()
            found[:, :, position : position + rows] = given[:, :, position : position + rows]
            np.testing.assert_array_equal(found, given)


def windowed(window: int) -> CausalModel:
    options = {**PRESETS["gemma3-1b-tiny"].options, "sliding_window": window}
    return CausalModel(make_configuration("gemma3_text", options, "twin"), max_seq=8, seed=0, where="m")


WINDOWS = [(4, 1, 3), (4, 3, 3), (2, 1, 1), (1, 1, 1), (7, 1, 6), (8, 1, 7), (20, 1, 7), (20, 3, 5)]
"""Of a cache of 8 rows: the window, the rows of a launch, and how many rows before them may be seen."""


@pytest.mark.parametrize(("window", "rows", "seen"), WINDOWS)
def test_no_more_rows_than_a_window_has(window: int, rows: int, seen: int) -> None:
    """A cache longer than the window, as long, and shorter."""
    model = windowed(window)
    layer = model.cached_layer(0, rows, window=True)
    assert layer.inputs["k_cache"].shape[2] == 8
    if rows == 1 and window > 1:  # of one, no earlier row is open, but one is read
        assert "mask" not in layer.inputs
    else:
        assert layer.inputs["mask"].shape == (1, 1, rows, seen + rows)
    sizes, pos = model.cache_sizes(0, layer, sized=True), Symbol("pos", 8 - rows)
    assert sizes.of["k_cache"][2] == least_of(pos, seen)
    assert sizes.begins.get("k_cache", (0, 0, 0, 0))[2] == largest_of(sum_of(pos, -seen), 0)
    assert model.cached_layer(0, rows).inputs["mask"].shape[-1] == 8


@pytest.mark.parametrize("wrong", [-4, -2])
def test_a_window_that_begins_one_row_off_is_caught(wrong: int) -> None:
    """A row too early: it is NaN. Too late: that of the token itself, which is not there yet, or is proved to be written."""
    model = load_model("gemma3-1b-tiny", stage="decode", max_seq=MAX_SEQ, run_time_sizes=True, check_inputs=("example",))
    module = model.module.clone()
    (function,) = (op for op in module.walk() if isinstance(op, func.FuncOp))
    assert function.arg_attrs is not None
    begin = (0, 0, largest_of(sum_of(Symbol("pos", MAX_SEQ - 1), wrong), 0), 0)
    entries = [DictionaryAttr({**entry.data, **BEGINS.entry(begin)}) if BEGINS.on(entry) else entry for entry in function.arg_attrs]
    function.arg_attrs = ArrayAttr(entries)
    for part in parts_up_to(LEVELS[:1], small_options(kernel_name="k")):
        run_stages(module, make_context(), [part])
    (draw,) = model.draws
    arrays = {**draw.inputs, **model.parameters}
    found = execute(module, [arrays[name] for name in argument_names(model.module)])
    assert np.isnan(found[0]).any()


def test_every_level_agrees_with_pytorch(model: ExportedModel, options: PipelineOptions) -> None:
    module = model.module.clone()
    for part in parts_up_to(LEVELS, options):
        run_stages(module, make_context(), [part])
        for draw in model.draws:
            arrays = {**draw.inputs, **model.parameters}
            found = execute(module, [arrays[name] for name in argument_names(model.module)])
            for array, (name, expected) in zip(found, draw.golden.items(), strict=True):
                allowed = 1e-5 * np.nanmax(np.abs(expected)) if array.dtype.kind == "f" else 0
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


def test_scales_of_a_cache_under_a_mask() -> None:
    """Positions are their last dimension, of which a whole number of tiles is read and memory has more: entry by entry."""
    quantised = "kv=int8"
    model = load_model("gpt2-tiny", stage="prefill", seq=4, max_seq=20, check_inputs=("example",), quantize=quantised)
    run_stages(model.module, make_context(), stages(small_options(kernel_name="k"))[:4])
    (draw,) = model.draws
    arrays = {**draw.inputs, **model.parameters}
    found = execute(model.module, [arrays[name] for name in argument_names(model.module)])
    for array, (name, expected) in zip(found, draw.golden.items(), strict=True):
        allowed = 1e-5 * np.abs(expected).max() if array.dtype.kind == "f" else 0
        np.testing.assert_allclose(array, expected, atol=allowed, err_msg=name)
