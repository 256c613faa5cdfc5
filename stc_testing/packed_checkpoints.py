"""Folders with random models in the formats of GPTQ and AWQ: what `stc.quantisation.packed_weights` reads, written."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, PreTrainedConfig
from transformers.pytorch_utils import Conv1D

from stc.frontend.parameters import randomise
from stc.quantisation.packed_weights import AWQ, AWQ_OUTPUTS, G_IDX, QWEIGHT, QZEROS, SCALE, PackedFormat
from stc.quantisation.reference import weight_of

Tensors = dict[str, np.ndarray]


def quantise(weight: np.ndarray, chosen: PackedFormat) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fields [outputs, inputs], scales [outputs, groups] f16 and zero points [outputs, groups] of `weight` [outputs, inputs]: each
    group from its least to its largest number, or around 0."""
    inputs = weight.shape[1]
    group, largest = chosen.group or inputs, 2**chosen.bits - 1
    begins = np.arange(0, inputs, group)
    low, high = np.minimum.reduceat(weight, begins, 1), np.maximum.reduceat(weight, begins, 1)
    if chosen.symmetric:
        high = np.maximum(np.abs(low), np.abs(high))
        low = -high
    scales = np.maximum((high - low) / largest, 2.0**-14).astype(np.float16)
    zeros = np.clip(np.rint(-low / scales), 1, largest) if not chosen.symmetric else np.full_like(low, chosen.half)
    of = np.arange(inputs) // group
    fields = np.clip(np.rint(weight / scales.astype(np.float32)[:, of]) + zeros[:, of], 0, largest)
    return fields.astype(np.uint8), scales, zeros.astype(np.uint8)


def pack(chosen: PackedFormat, fields: np.ndarray, scales: np.ndarray, zeros: np.ndarray) -> Tensors:
    """A layer's tensors. `fields` [outputs, inputs], `scales` f16 and `zeros` [outputs, groups]."""
    stored = zeros.astype(np.int64) - chosen.less_one
    if chosen.method == AWQ:
        words = {QWEIGHT: _awq_words(fields.T), QZEROS: _awq_words(stored.T), SCALE: scales.T}
        return {name: np.ascontiguousarray(array) for name, array in words.items()}
    inputs = fields.shape[1]
    order = (np.arange(inputs) // (chosen.group or inputs)).astype(np.int32)
    words = {QWEIGHT: _words(fields, chosen.bits).T, QZEROS: _words(stored.T, chosen.bits), SCALE: scales.T, G_IDX: order}
    return {name: np.ascontiguousarray(array) for name, array in words.items()}


def _words(fields: np.ndarray, bits: int) -> np.ndarray:
    """[rows, columns] as int32 [rows, columns * bits / 32], the lowest bits of a word first."""
    rows, count = len(fields), 32 // bits
    parts = fields.astype(np.uint64).reshape(rows, -1, count) << np.arange(0, 32, bits, dtype=np.uint64)
    return np.bitwise_or.reduce(parts, -1).astype(np.uint32).view(np.int32)


def _awq_words(fields: np.ndarray) -> np.ndarray:
    rows = len(fields)
    return _words(fields.reshape(rows, -1, len(AWQ_OUTPUTS))[..., AWQ_OUTPUTS].reshape(rows, -1), 4)


def quantization_config(chosen: PackedFormat) -> dict[str, Any]:
    """What config.json says of it."""
    said = {"quant_method": chosen.method, "bits": chosen.bits, "group_size": chosen.group or -1}
    if chosen.method == AWQ:
        return {**said, "zero_point": not chosen.symmetric, "version": "gemm"}
    files = "gptq" if chosen.less_one else "gptq_v2"
    return {**said, "sym": chosen.symmetric, "desc_act": False, "checkpoint_format": files}


def write_packed_model(
    folder: Path,
    configuration: PreTrainedConfig,
    chosen: PackedFormat,
    seed: int = 0,
    change: Callable[[dict[str, Any], dict[str, torch.Tensor]], None] = lambda said, state: None,
) -> None:
    """A folder of transformers in which the linear layers of all decoder layers are packed. `change` may alter
    `quantization_config` and the tensors."""
    model = AutoModelForCausalLM.from_config(configuration, dtype=torch.float32)
    randomise(model, seed, transposed=(Conv1D,))
    state = {name: value.contiguous().clone() for name, value in model.state_dict().items()}
    if configuration.tie_word_embeddings:
        del state["lm_head.weight"]
    for path, layer in model.named_modules():
        weight = weight_of(layer)
        if weight is None or layer is model.get_output_embeddings():
            continue
        del state[f"{path}.weight"]
        tensors = pack(chosen, *quantise(weight.numpy(), chosen))
        state |= {f"{path}.{name}": torch.from_numpy(array) for name, array in tensors.items()}
    said = quantization_config(chosen)
    change(said, state)
    folder.mkdir(exist_ok=True)
    save_file(state, folder / "model.safetensors")
    content = {**json.loads(configuration.to_json_string(use_diff=False)), "quantization_config": said}
    (folder / "config.json").write_text(json.dumps(content), encoding="utf-8")
