"""Modules that torchao quantised: weights of 4 bits in groups, activations with a zero point for each token."""

from __future__ import annotations

import torch
from torchao.kernel import intmm
from torchao.quantization import Int8DynamicActivationInt8WeightConfig, Int8DynamicActivationIntxWeightConfig, quantize_
from torchao.quantization.granularity import PerAxis, PerGroup
from torchao.quantization.quant_primitives import MappingType

from stc.frontend.families import build_decoder_layer
from stc.frontend.presets import find_preset

Made = tuple[torch.nn.Module, tuple[torch.Tensor, ...]]
_INT4: torch.dtype = torch.int4  # pyright: ignore[reportAttributeAccessIssue]


def _quantised(module: torch.nn.Module, group: int, inputs: int = 0, kind: MappingType = MappingType.SYMMETRIC) -> torch.nn.Module:
    """In groups of `group` terms, 0 for one scale for each output; `inputs`: only the layers that have as many, 0 for all."""
    granularity = PerGroup(group) if group else PerAxis(0)
    config = Int8DynamicActivationIntxWeightConfig(weight_dtype=_INT4, weight_granularity=granularity, weight_mapping_type=kind)
    quantize_(module.eval(), config, lambda layer, _: isinstance(layer, torch.nn.Linear) and inputs in (0, layer.in_features))
    return module


def linear() -> Made:
    """Weights with zero points, too."""
    torch.manual_seed(0)
    return _quantised(torch.nn.Sequential(torch.nn.Linear(48, 13)), 16, kind=MappingType.ASYMMETRIC), (torch.randn(5, 48),)


def mlp() -> Made:
    """An odd number of outputs, whose groups are then rows."""
    torch.manual_seed(0)
    first, second = (torch.nn.Sequential(torch.nn.Linear(*sizes)) for sizes in ((64, 37), (37, 14)))
    module = torch.nn.Sequential(_quantised(first, 16), torch.nn.SiLU(), _quantised(second, 0))
    return module, (torch.randn(3, 64),)


def of_bytes() -> Made:
    """Multiplied as integers by torchao itself: `_int_mm`."""
    return _of_bytes(unsigned=False)


def of_unsigned_bytes() -> Made:
    """Activations with 128 added, which products with the sums of the weights take away again."""
    return _of_bytes(unsigned=True)


def _of_bytes(unsigned: bool) -> Made:
    """torchao asks the processor at each call which of both it multiplies faster: here the caller says it."""
    for asked, answer in {"_cpu_is_vnni_supported": unsigned, "_cpu_is_amx_tile_supported": False}.items():
        setattr(intmm, asked, lambda answer=answer: answer)
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(47, 13)).eval()
    quantize_(module, Int8DynamicActivationInt8WeightConfig())
    return module, (torch.randn(5, 47),)


def block() -> tuple[torch.nn.Module, dict[str, torch.Tensor]]:
    """A whole decoder layer of a twin of Qwen2.5: layers of 36 and of 44 inputs."""
    preset = find_preset("qwen2.5-0.5b-tiny")
    built = build_decoder_layer(preset.configuration(), layer=preset.layer(None), seq=4, seed=0, where=preset.name)
    return _quantised(_quantised(built.module, 12, inputs=36), 22, inputs=44), dict(built.inputs)
