"""One full-size layer of each family behind 128 positions, at the first, the last and between, with NaN where no row is yet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from stc.frontend.families.cached_layer import updates
from stc.frontend.presets import PRESETS
from stc.frontend.sources import find_language_model
from stc.quantisation.rows import F32_ROWS
from stc.runtime.accelerator import Accelerator
from stc.tools.compile import CompileRequest, compile_model
from stc_testing.small import small_options

pytestmark = [pytest.mark.heavy, pytest.mark.full, pytest.mark.optimised]

MAX_SEQ = 128
HEADS = {"gpt2": 64, "qwen2.5-0.5b": 64, "qwen3-0.6b": 128, "tinyllama-1.1b": 64, "gemma3-1b": 256}
"""Entries of a head. Tiles are as long, so that probabilities are read once: a row of run-time size is not repeated yet."""


@pytest.mark.parametrize("name", HEADS)
def test_a_layer_at_positions(name: str, tmp_path: Path) -> None:
    """The reference is PyTorch's layer on the whole cache, under its mask; the kernel gets as many columns of it as are there."""
    options = small_options(tile=HEADS[name])
    request = CompileRequest(name, stage="decode", options=options, check_inputs=("example",), max_seq=MAX_SEQ, run_time_sizes=True)
    compile_model(request, tmp_path / "layer")
    run = Accelerator(tmp_path / "layer")
    model, index = find_language_model(name, max_seq=MAX_SEQ, seed=0, weights=None).model, PRESETS[name].layer(None)
    called = {tensor.name for tensor in run.manifest.tensors if tensor.role == "input"}
    for position in (0, 1, 31, MAX_SEQ - 1):
        layer = model.cached_layer(index, 1, position)
        with torch.no_grad():
            expected = {key: value.numpy() for key, value in layer.module(**layer.inputs).items()}
        given = {key: value.numpy() for key, value in layer.inputs.items()} | model.tables(index).inputs_at(position, 1, position)
        given = {key if key in called else f"{key}_": value for key, value in given.items()}
        given["pos"] = np.asarray(position, np.int32)
        found = rows_of(run(behind(given, position, np.nan)), position)
        for key, array in expected.items():
            error = np.abs(found[key] - array).max() / np.abs(array).max()
            assert error <= 1e-4, f"{key} at {position}: {error}"
            print(f"{name} at {position}: {key} is off by {error:.1e} of its largest entry")
        other = rows_of(run(behind(given, position, 7.0)), position)
        assert all(np.array_equal(found[key], other[key]) for key in expected), "what is behind the position matters"


def rows_of(outputs: dict[str, np.ndarray], position: int) -> dict[str, np.ndarray]:
    """The outputs, with the row that was appended in place of a cache."""
    appended = {rows: outputs[name][:, :, position : position + 1] for rows, (_, name) in updates(F32_ROWS).items()}
    return {"y": outputs["y"], **appended}


def behind(inputs: dict[str, np.ndarray], position: int, value: float) -> dict[str, np.ndarray]:
    """With `value` in the rows of the cache from the position on, and in the columns of the mask that none has."""
    changed = {key: inputs[key].copy() for key in ("k_cache", "v_cache", "mask")}
    for key in ("k_cache", "v_cache"):
        changed[key][:, :, position:] = value
    changed["mask"][..., position + 1 :] = value
    return inputs | changed
