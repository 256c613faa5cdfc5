"""GPTQ's and AWQ's words: every layer packed by our own packer comes back, and what cannot be read is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from stc.diagnostics import CompileError
from stc.quantisation.packed_weights import PackedFormat, read_packed_format, unpack

pytestmark = pytest.mark.heavy

FORMATS = [
    PackedFormat(method, bits, group, symmetric, less_one)
    for method, bits, less_one in (("gptq", 4, True), ("gptq", 4, False), ("gptq", 8, True), ("gptq", 8, False), ("awq", 4, False))
    for group in (0, 16, 24)
    for symmetric in (False, True)
]


def drawn(chosen: PackedFormat, outputs: int, inputs: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fields, scales and zero points of all values that there are."""
    rng = np.random.default_rng(3)
    shape = (outputs, chosen.groups(inputs))
    zeros = np.full(shape, chosen.half) if chosen.symmetric else rng.integers(chosen.less_one, 2**chosen.bits, shape)
    return rng.integers(0, 2**chosen.bits, (outputs, inputs)), rng.uniform(0.01, 2, shape).astype(np.float16), zeros


@pytest.mark.parametrize("chosen", FORMATS, ids=str)
@pytest.mark.parametrize("outputs, inputs", [(8, 8), (24, 40), (56, 16)])
def test_what_was_packed_comes_back(chosen: PackedFormat, outputs: int, inputs: int):
    from stc_testing.packed_checkpoints import pack

    fields, scales, zeros = drawn(chosen, outputs, inputs)
    found = unpack(chosen, pack(chosen, fields, scales, zeros), outputs, inputs, "here")
    assert np.array_equal(found.integers.astype(int) + chosen.half, fields) and np.array_equal(found.scales, scales)
    assert found.integers.dtype == np.int8 and found.scales.dtype == np.float16
    assert (found.zeros is None) is chosen.symmetric
    assert found.zeros is None or np.array_equal(found.zeros.astype(int) + chosen.half, zeros)


def test_words_by_hand():
    """Without the packer: GPTQ's fields go along inputs, AWQ's along outputs 0, 2, 4, 6, 1, 3, 5, 7."""
    word, ones, scales = np.array([[0x76543210]], np.int32), np.full((1, 8), 0x11111111, np.int32), np.ones((1, 8), np.float16)
    tensors = {"qweight": np.repeat(word, 8, 1), "qzeros": ones[:, :1], "scales": scales, "g_idx": np.zeros(8, np.int32)}
    gptq = unpack(PackedFormat("gptq", 4, 8, False, True), tensors, 8, 8, "here")
    assert gptq.integers[5].tolist() == [-8, -7, -6, -5, -4, -3, -2, -1] and gptq.zeros is not None and (gptq.zeros == 2 - 8).all()
    awq = unpack(PackedFormat("awq", 4, 1, False, False), {"qweight": word, "qzeros": word, "scales": scales}, 8, 1, "here")
    assert awq.zeros is not None and np.array_equal(awq.zeros, awq.integers)
    assert awq.integers[:, 0].tolist() == [-8, -4, -7, -3, -6, -2, -5, -1]


def test_configurations():
    gptq = {"quant_method": "gptq", "bits": 4, "group_size": 128, "desc_act": True, "sym": True, "meta": {"quantizer": "x"}}
    assert read_packed_format(gptq, "here") == PackedFormat("gptq", 4, 128, True, True)
    second = {**gptq, "checkpoint_format": "gptq_v2", "sym": False}
    assert read_packed_format(second, "here") == PackedFormat("gptq", 4, 128, False, False)
    awq = {"quant_method": "awq", "bits": 4, "group_size": 64, "zero_point": True, "version": "GEMM"}
    assert read_packed_format(awq, "here") == PackedFormat("awq", 4, 64, False, False)
    old = {"quant_method": "awq", "w_bit": 4, "q_group_size": -1}
    assert read_packed_format(old, "here") == PackedFormat("awq", 4, 0, False, False)


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"quant_method": "aqlm"}, "here: quant_method 'aqlm'; accepted: gptq, awq"),
    ({"quant_method": None}, "quant_method None"),
    ({"bits": 3}, "here: bits 3; accepted: 4, 8"),
    ({"bits": 2}, "here: bits 2; accepted: 4, 8"),
    ({"bits": True}, "bits True"),
    ({"group_size": 0}, "group_size 0; accepted: a length of groups, or -1"),
    ({"group_size": "all"}, "group_size 'all'"),
    ({"sym": "yes"}, "sym 'yes'; accepted: true, false"),
    ({"checkpoint_format": "marlin"}, "checkpoint_format 'marlin'; accepted: gptq, gptq_v2"),
    ({"format": "bitblas"}, "checkpoint_format 'bitblas'; accepted: gptq, gptq_v2"),
    ({"is_marlin_format": True}, "'is_marlin_format'; accepted: checkpoint_format gptq or gptq_v2"),
    ({"pack_dtype": "int64"}, "pack_dtype 'int64'; accepted: int32"),
    ({"dynamic": {".*": {"bits": 8}}}, "layers have formats of their own ('dynamic')"),
    ({"quant_method": "awq", "version": "gemv"}, "version 'gemv'; accepted: gemm"),
    ({"quant_method": "awq", "version": "marlin"}, "version 'marlin'; accepted: gemm"),
    ({"quant_method": "awq", "bits": 8}, "bits 8; accepted: 4"),
]


@pytest.mark.parametrize("changed, message", WRONG)
def test_unknown_formats(changed: dict[str, Any], message: str):
    with pytest.raises(CompileError) as error:
        read_packed_format({"quant_method": "gptq", "bits": 4, "group_size": 16, **changed}, "here")
    assert message in str(error.value)


def test_what_is_missing_in_a_configuration():
    with pytest.raises(CompileError, match="no bits; accepted: 4, 8"):
        read_packed_format({"quant_method": "gptq", "group_size": 16}, "here")


def _changed(tensors: dict[str, np.ndarray], name: str, value: Any) -> None:
    tensors[name] = tensors[name].copy()
    tensors[name].flat[3] = value


DAMAGES: dict[str, tuple[str, Any, str]] = {
    "zero": ("scales", 0, "a scale is zero, NaN, infinite or below 2^-14 (scales); accepted: finite scales"),
    "nan": ("scales", np.nan, "a scale is zero, NaN"),
    "infinite": ("scales", np.inf, "a scale is zero, NaN"),
    "subnormal": ("scales", 2.0**-15, "a scale is zero, NaN"),
    "order": ("g_idx", 1, "inputs are not in the order of their groups (g_idx; desc_act)"),
    "zeros": ("qzeros", 0x7777F777, "a zero point is stored as 15, which stands for 16 or for 0 (qzeros)"),
    "asymmetric": ("qzeros", 0x77777677, "zero points other than 8 in a symmetric format (qzeros); accepted: sym false"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_values_that_no_layer_has(name: str):
    from stc_testing.packed_checkpoints import pack

    chosen = PackedFormat("gptq", 4, 16, True, True)
    tensors = pack(chosen, *drawn(chosen, 16, 40))
    tensor, value, message = DAMAGES[name]
    _changed(tensors, tensor, value)
    with pytest.raises(CompileError) as error:
        unpack(chosen, tensors, 16, 40, "here")
    assert str(error.value).startswith("here: ") and message in str(error.value)


@pytest.mark.parametrize("method", ["gptq", "awq"])
@pytest.mark.parametrize("name", ["qweight", "qzeros", "scales", "g_idx"])
def test_shapes_that_do_not_fit(method: str, name: str):
    from stc_testing.packed_checkpoints import pack

    chosen = PackedFormat(method, 4, 16, False, False)
    tensors = pack(chosen, *drawn(chosen, 16, 40))
    if name not in tensors:
        return
    whole = tensors[name]
    for wrong in (whole[:-1], whole.astype(np.float32)):
        with pytest.raises(CompileError) as error:
            unpack(chosen, {**tensors, name: wrong}, 16, 40, "here")
        accepted = f"{whole.dtype} of shape {whole.shape}"
        assert f"here: {name} is {wrong.dtype} of shape {wrong.shape}; accepted: {accepted}" in str(error.value)


@pytest.mark.parametrize("method, outputs, inputs, message", [
    ("gptq", 16, 36, "36 inputs of 4 bits do not fill words of int32; accepted: multiples of 8"),
    ("gptq", 12, 40, "12 outputs of 4 bits"),
    ("awq", 12, 40, "12 outputs of 4 bits"),
])  # fmt: skip
def test_sizes_that_fill_no_words(method: str, outputs: int, inputs: int, message: str):
    with pytest.raises(CompileError) as error:
        unpack(PackedFormat(method, 4, 16, False, False), {}, outputs, inputs, "here")
    assert message in str(error.value)
