"""What of the bus words of memory ports is data: the figures for report.json."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import SSAValue
from xdsl.utils.hints import isa

from stc.analysis.kernel_memory import bits_of
from stc.dialects.dataflow import PackOp, UnpackOp
from stc.dialects.dataflow.memory_ops import striped
from stc.iteration.bus_words import filled
from stc.iteration.order import StreamOrder


@dataclass(frozen=True)
class BusWords:
    """The bus words that carry a tensor of the host, or one stripe of it.

    `bits`: of one word. `words`: how many. `filled`: the part of all their bits that is no padding.
    """

    tensor: str
    bits: int
    words: int
    filled: float


def bus_words(module: ModuleOp) -> list[BusWords]:
    """Every packed tensor that the host packs or unpacks, in the order of the operations."""
    found: list[BusWords] = []
    for op in module.walk():
        if isinstance(op, PackOp | UnpackOp):
            plain = op.source if isinstance(op, PackOp) else op.result
            parts = striped(op.layout, len(op.stripes))
            found += [_figures(plain, value, part.order) for value, part in zip(op.stripes, parts, strict=True)]
    return found


def _figures(plain: SSAValue, packed: SSAValue, order: StreamOrder) -> BusWords:
    assert isa(packed.type, TensorType) and isinstance(packed.type.element_type, VectorType)
    word = packed.type.element_type
    lanes = word.get_shape()[0]
    bits = lanes * bits_of(word.element_type)
    return BusWords(plain.name_hint or "tensor", bits, packed.type.get_shape()[0], filled(order, lanes))
