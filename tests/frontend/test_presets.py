"""Presets export to named, exact, executable linalg; random parameters can fail; every refusal says what would be accepted."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr, UnitAttr
from xdsl.dialects.linalg import ops

from stc.diagnostics import CompileError
from stc.dialects.parsing import parse_module
from stc.dialects.printing import print_module
from stc.frontend.exported import ExportedModel
from stc.frontend.families import build_decoder_layer
from stc.frontend.presets import PRESETS, find_preset
from stc.frontend.reference import execute_linalg, optimiser_path
from stc.frontend.signature import main_function
from stc.frontend.sources import load_model

pytestmark = pytest.mark.heavy


@pytest.fixture(scope="module")
def tiny() -> ExportedModel:
    return load_model("gpt2-medium-tiny", seq=7, seed=3)


def modules_of(model: ExportedModel, operation: str) -> list[str]:
    found = [op.attributes.get("stc.module") for op in model.module.walk() if op.name == operation]
    return [entry.data for entry in found if isinstance(entry, StringAttr)]


def test_module_paths_stay_on_the_operations(tiny: ExportedModel) -> None:
    assert modules_of(tiny, "linalg.matmul") == ["attn.c_attn", "attn.c_proj", "mlp.c_fc", "mlp.c_proj"]
    assert modules_of(tiny, "linalg.batch_matmul") == ["attn", "attn"]
    assert {"ln_1", "ln_2", "mlp.act"} <= set(modules_of(tiny, "linalg.generic"))


def test_arguments_are_named(tiny: ExportedModel) -> None:
    function = main_function(tiny.module)
    assert function.sym_name.data == "main" and function.arg_attrs is not None and function.res_attrs is not None
    names = [entry.data["stc.name"] for entry in function.arg_attrs]
    assert names == [StringAttr(name) for name in tiny.arguments]
    assert tiny.input_names == ("x", "mask") and tiny.output_names == ("out",)
    assert tiny.parameter_names[:4] == ("ln_1.weight", "ln_1.bias", "attn.c_attn.weight", "attn.c_attn.bias")
    marked = {entry.data["stc.name"] for entry in function.arg_attrs if entry.data.get("stc.parameter") == UnitAttr()}
    assert marked == {StringAttr(name) for name in tiny.parameter_names}
    assert [argument.name_hint for argument in function.body.block.args][:3] == ["x", "mask", "ln_1_weight"]
    for argument, array in zip(function.function_type.inputs, tiny.arguments.values(), strict=True):
        assert tuple(argument.get_shape()) == array.shape  # pyright: ignore[reportAttributeAccessIssue]


def test_the_tiny_twin_meets_odd_sizes(tiny: ExportedModel) -> None:
    hidden, heads = 36, 3
    assert tiny.inputs["x"].shape == (1, 7, hidden) and hidden // heads == 12


def test_the_mask_is_causal_with_real_infinities(tiny: ExportedModel) -> None:
    mask = tiny.inputs["mask"][0, 0]
    assert np.array_equal(mask == -np.inf, np.triu(np.ones((7, 7), bool), 1)) and np.all(np.tril(mask.clip(-1)) == 0)


def test_parameters_can_fail() -> None:
    model = load_model("gpt2-tiny", seq=4, seed=0)
    for name, value in model.parameters.items():
        if value.ndim == 2:
            assert abs(value.std() * np.sqrt(value.shape[0]) - 1) < 0.1, name
        elif name.endswith("bias"):
            assert np.all(value != 0) and 0.3 < value.std() < 0.7, name
        else:
            assert np.all(value != 1) and 0.1 < value.std() < 0.3 and abs(value.mean() - 1) < 0.15, name


def test_seeds_decide_everything(tiny: ExportedModel) -> None:
    again, other = load_model("gpt2-medium-tiny", seq=7, seed=3), load_model("gpt2-medium-tiny", seq=7, seed=4)
    assert all(np.array_equal(tiny.arguments[name], again.arguments[name]) for name in tiny.arguments)
    assert np.array_equal(tiny.golden["out"], again.golden["out"])
    assert not np.array_equal(tiny.inputs["x"], other.inputs["x"])
    assert not np.array_equal(tiny.parameters["ln_1.bias"], other.parameters["ln_1.bias"])


def test_the_text_round_trips_and_mlir_computes_the_golden_output(tiny: ExportedModel) -> None:
    text = print_module(tiny.module)
    assert print_module(parse_module(text)) == text
    command = [str(optimiser_path()), "-allow-unregistered-dialect", "-"]
    assert subprocess.run(command, input=text, capture_output=True, text=True, check=False).returncode == 0
    out = np.zeros_like(tiny.golden["out"])
    execute_linalg(text, "main", list(tiny.arguments.values()), [out], "tiny")
    change = np.abs(tiny.golden["out"] - tiny.inputs["x"]).max()
    assert np.abs(out - tiny.golden["out"]).max() < 1e-5 * change


def test_named_operations_of_the_block_are_known(tiny: ExportedModel) -> None:
    assert any(isinstance(op, ops.GenericOp) and len(op.results) == 2 for op in tiny.module.walk()), "softmax's maximum"


def test_full_size_presets() -> None:
    shapes = {
        name: (preset.options["n_embd"], preset.options["n_head"], preset.options["n_layer"])
        for name, preset in PRESETS.items()
        if preset.model_type == "gpt2"
    }
    assert shapes["gpt2"] == (768, 12, 12) and shapes["gpt2-medium"] == (1024, 16, 24)
    layer = build_decoder_layer(find_preset("gpt2").configuration(), layer=11, seq=1, seed=0, where="gpt2").module
    assert sum(parameter.numel() for parameter in layer.parameters()) == 7087872


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"spec": "gpt3"}, r"unknown model gpt3; accepted: gpt2, .*gemma3-1b-full, .*config:PATH.*file\.py:factory, or file\.mlir"),
        ({"spec": "gpt2", "seq": 0}, r"gpt2: sequence length 0; accepted: 1 to 1024"),
        ({"spec": "gpt2-tiny", "seq": 65}, r"gpt2-tiny: sequence length 65; accepted: 1 to 64"),
        ({"spec": "gpt2", "stage": "train"}, r"gpt2: unknown stage train; accepted: prefill, decode, head, token"),
        ({"spec": "gpt2", "dtype": "int4"}, r"gpt2: unknown dtype int4; accepted: f32, w8a8, w4a8"),
        ({"spec": "gpt2-tiny", "stage": "decode", "max_seq": 65}, "gpt2-tiny: --max-seq 65; accepted: 1 to 64"),
        ({"spec": "gpt2-tiny", "stage": "decode", "layer": 1}, "gpt2-tiny: layer 1; accepted: 0 to 0"),
        ({"spec": "gpt2-tiny", "seq": 9, "max_seq": 8}, ".*: a launch of 9 rows behind .*; accepted: --max-seq of 11 at least"),
        ({"spec": "file.py:f", "stage": "head"}, "file.py:f: --stage head concerns language models; accepted: a preset or .*"),
        ({"spec": "gpt2", "layer": 12}, r"gpt2: layer 12; accepted: 0 to 11"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(CompileError, match=f"^{message}$"):
        load_model(**arguments)
