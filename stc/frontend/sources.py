"""One entry point for everything that can be compiled: a preset, `file.py:factory`, or `file.mlir`."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from stc.diagnostics import CompileError
from stc.frontend.checkpoint import HUB, WEIGHTS_ACCEPTED, load_weights
from stc.frontend.export import export
from stc.frontend.exported import ExportedModel
from stc.frontend.factory import build_from_factory
from stc.frontend.linalg_file import load_linalg_file
from stc.frontend.parameters import randomise
from stc.frontend.presets import Preset, find_preset, preset_inputs

DTYPES = ("f32",)


def load_model(
    spec: str,
    *,
    stage: str = "prefill",
    seq: int = 32,
    dtype: str = "f32",
    seed: int = 0,
    weights: str | None = None,
    layer: int = 0,
) -> ExportedModel:
    """A model with inputs, parameters and reference outputs.

    `stage`, `seq` (tokens) and `layer` (which decoder layer's weights) concern presets; a factory or a file fixes its own shapes.
    Equal `seed`s give equal inputs and random parameters. `weights` is a folder of safetensors files, `hub:ID`, or `hub` (the
    preset's own model); without it the parameters are random (presets, files) or the module's own (factories). Raises CompileError
    for everything unusable.
    """
    if dtype not in DTYPES:
        raise CompileError(f"unknown dtype {dtype}", where=spec, accepted=", ".join(DTYPES))
    if spec.endswith(".mlir"):
        model = _from_linalg(spec, seed, weights)
    elif ".py:" in spec or spec.endswith(".py"):
        model = _from_factory(spec, seed, weights)
    else:
        model = _from_preset(spec, stage, seq, seed, weights, layer)
    _require_f32(model)
    return model


def _from_linalg(spec: str, seed: int, weights: str | None) -> ExportedModel:
    if weights is not None:
        raise CompileError("weights cannot be given for a linalg file", where=spec, accepted="no weights")
    return load_linalg_file(Path(spec), seed)


def _from_factory(spec: str, seed: int, weights: str | None) -> ExportedModel:
    module, inputs = build_from_factory(spec, seed)
    if weights is not None:
        load_weights(module, weights)
    return export(module, inputs, name=spec.rpartition(":")[2])


def _from_preset(spec: str, stage: str, seq: int, seed: int, weights: str | None, layer: int) -> ExportedModel:
    preset = find_preset(spec)
    if not 0 <= layer < preset.layers:
        raise CompileError(f"layer {layer}", where=spec, accepted=f"0 to {preset.layers - 1}")
    inputs = preset_inputs(preset, stage, seq, seed)
    module = preset.family.build(preset.options)
    if weights is None:
        randomise(module, seed + 1, transposed=preset.family.transposed)
    else:
        prefixes = [prefix.format(layer=layer) for prefix in preset.family.prefixes]
        load_weights(module, _resolved(weights, preset), prefixes=prefixes, ignored=preset.family.ignored)
    return export(module, inputs, name=preset.name)


def _resolved(weights: str, preset: Preset) -> str:
    """`hub` alone means the preset's own model."""
    if weights != "hub":
        return weights
    if preset.hub_id is None:
        raise CompileError("the model is not on the hub", where=preset.name, accepted=WEIGHTS_ACCEPTED)
    return f"{HUB}{preset.hub_id}"


def _require_f32(model: ExportedModel) -> None:
    for name, array in {**model.arguments, **model.golden}.items():
        if np.issubdtype(array.dtype, np.floating) and array.dtype != np.float32:
            raise CompileError(f"{name} has dtype {array.dtype}", where=model.name, accepted="float32, integers, bool")
