"""Which packed tensors of the host are one buffer in external memory."""

from __future__ import annotations

from xdsl.ir import OpResult, SSAValue

from stc.dialects.dataflow import KernelOp, PackOp, UnpackOp
from stc.iteration.normal_form import same_sequence


def buffer_value(packed: SSAValue) -> SSAValue:
    """The packed tensor whose buffer `packed` lies in: itself, what was unpacked only to be packed again in the same layout, or the
    operand that it updates in place.

    That the host neither unpacks nor packs: layouts that enumerate one sequence, temporal reuse left out, in the same words.
    """
    while (before := _unpacked_alike(packed) or _updated(packed)) is not None:
        packed = before
    return packed


def _updated(packed: SSAValue) -> SSAValue | None:
    """The operand that a result of a kernel updates."""
    kernel = packed.owner
    if not isinstance(kernel, KernelOp) or not isinstance(packed, OpResult) or (place := kernel.places[packed.index]) is None:
        return None
    return kernel.inputs[place.operand]


def _unpacked_alike(packed: SSAValue) -> SSAValue | None:
    """What an unpack took that the pack of `packed` undoes."""
    pack = packed.owner
    unpack = pack.source.owner if isinstance(pack, PackOp) else None
    if not isinstance(pack, PackOp) or not isinstance(unpack, UnpackOp) or unpack.stripes.types != pack.stripes.types:
        return None
    before, after = unpack.layout.order.without_reuse(), pack.layout.order.without_reuse()
    is_same = before.element == after.element and same_sequence(before, after)
    return unpack.stripes[tuple[SSAValue, ...](pack.stripes).index(packed)] if is_same else None
