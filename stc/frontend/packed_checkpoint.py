"""Layers that a checkpoint has as packed integers: what its configuration says of them, and their tensors, unpacked."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import torch

from stc.diagnostics import CompileError
from stc.frontend.arrays import to_numpy
from stc.quantisation.packed_weights import (
    GPTQ,
    QWEIGHT,
    TENSORS,
    GroupedIntegers,
    PackedFormat,
    read_packed_format,
    unpack,
)
from stc.quantisation.reference import linear_layers, weight_of
from stc.user_files import json_of, reason_of

KEY = "quantization_config"
CONFIGURATIONS = ("config.json", "quantize_config.json")
"""Where a folder says how its layers are packed: below `KEY`, or (AutoGPTQ) as a whole."""

PACKED_TENSORS = TENSORS[GPTQ]
"""By what packed layers are known; those of AWQ are among them."""


def unpacked_layers(
    module: torch.nn.Module, names: Collection[str], read: Callable[[str], torch.Tensor], prefix: str, folder: Path
) -> dict[str, GroupedIntegers]:
    """The layers of `module` of which `names` (without `prefix`) has tensors of GPTQ or AWQ, by path; `read` gives one by its name.

    CompileError, naming the folder and the layer, for unknown formats, missing tensors, and whatever `unpack` refuses.
    """
    chosen = packed_format(folder)
    layers = linear_layers(module)
    found: dict[str, GroupedIntegers] = {}
    known = (QWEIGHT,) if chosen is None else TENSORS[chosen.method]
    for path in dict.fromkeys(name.rpartition(".")[0] for name in names if name.rpartition(".")[2] in known):
        where = f"{folder}, layer {(prefix + path).rstrip('.')}"
        if chosen is None:
            raise CompileError("packed weights, and nothing says how", where=where, accepted=f"config.json with {KEY}")
        weight = weight_of(layers[path]) if path and path in layers else None
        if weight is None:
            accepted = "packed linear layers inside decoder layers; embeddings, norms and lm_head in floats"
            raise CompileError("packed weights of what is no linear layer of a decoder layer", where=where, accepted=accepted)
        tensors = {name: _array(path, name, names, read, where) for name in TENSORS[chosen.method]}
        outputs, inputs = weight.shape
        found[path] = unpack(chosen, tensors, outputs, inputs, where)
    return found


def packed_format(folder: Path) -> PackedFormat | None:
    """What the folder says of packed layers; None where it says nothing. CompileError for what is not supported."""
    for name in CONFIGURATIONS:
        if (path := folder / name).is_file():
            said = _json(path)
            if (own := said.get(KEY) if name == CONFIGURATIONS[0] else {"quant_method": "gptq", **said}) is not None:
                if not isinstance(own, dict):
                    raise CompileError(f"{KEY} is no object", where=str(path), accepted="an object with quant_method, bits, ...")
                return read_packed_format(own, f"{path}: {KEY}" if name == CONFIGURATIONS[0] else str(path))
    return None


def _json(path: Path) -> dict[str, Any]:
    try:
        content = json_of(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise CompileError(f"cannot read the file: {reason_of(error)}", where=str(path), accepted="a JSON object") from None
    except ValueError as error:
        raise CompileError(f"no JSON ({error})", where=str(path), accepted="a JSON object") from None
    if not isinstance(content, dict):
        raise CompileError("no JSON object", where=str(path), accepted="a JSON object")
    return content


def _array(path: str, name: str, names: Collection[str], read: Callable[[str], torch.Tensor], where: str) -> Any:
    full = f"{path}.{name}"
    if full not in names:
        raise CompileError(f"tensor {name} is missing", where=where, accepted="all tensors of a packed layer")
    value = read(full)
    if value.dtype not in (torch.int32, torch.float16):
        raise CompileError(f"{name} has dtype {value.dtype}", where=where, accepted="int32 words, float16 scales")
    return to_numpy(value, full)
