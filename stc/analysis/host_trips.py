"""Intermediate tensors that pass through the host between two kernels: unpacked from one layout, packed in another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from xdsl.dialects.builtin import ModuleOp, TensorType, VectorType
from xdsl.ir import Attribute

from stc.analysis.kernel_memory import tensor_bytes
from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.dialects.use_def import through_reshapes
from stc.iteration.bus_words import common_word, same_entries


@dataclass(frozen=True)
class HostTrip:
    """A tensor of `bytes` that the host takes from kernel `source`, packs anew, and gives to `target`, and why it has to."""

    tensor: str
    source: str
    target: str
    bytes: int
    reason: str


def host_trips(module: ModuleOp) -> list[HostTrip]:
    """Every trip, in the order of the packs."""
    return [trip for op in module.walk() if isinstance(op, PackOp) for trip in _trips(op)]


def _trips(pack: PackOp) -> Iterator[HostTrip]:
    unpack = through_reshapes(pack.source).owner
    producer = unpack.stripes[0].owner if isinstance(unpack, UnpackOp) else None
    if not isinstance(unpack, UnpackOp) or not isinstance(producer, KernelOp):
        return
    for target in dict.fromkeys(use.operation for stripe in pack.stripes for use in stripe.uses):
        if isinstance(target, KernelOp):
            name = unpack.result.name_hint or pack.source.name_hint or "intermediate"
            size = tensor_bytes(unpack.result.type)
            yield HostTrip(name, producer.sym_name.data, target.sym_name.data, size, _reason(pack, unpack))


def _reason(pack: PackOp, unpack: UnpackOp) -> str:
    if pack.source is not unpack.result:
        return "the host reshapes it in between"
    if len(pack.stripes) != len(unpack.stripes):
        return f"it leaves in {len(unpack.stripes)} stripes and enters in {len(pack.stripes)}"
    most = max(tensor_lanes(op.stripes[0].type) for op in (pack, unpack))
    if common_word(unpack.layout.order, pack.layout.order, most) is not None:
        return "nothing stands in the way of cancel-packs"
    if same_entries(unpack.layout.order, pack.layout.order):
        return "the consumer pads its tokens differently, and a converter in the producer does not fit on chip"
    return "the consumer wants another order, and a converter in the producer does not fit on chip"


def tensor_lanes(packed: Attribute) -> int:
    """Lanes of a word of a packed tensor."""
    assert isinstance(packed, TensorType) and isinstance(packed.element_type, VectorType)
    return packed.element_type.get_shape()[0]
