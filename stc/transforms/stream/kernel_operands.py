"""Operands of kernels, added and taken away: results that update others in place name theirs by position."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from xdsl.ir import Attribute, BlockArgument, SSAValue

from stc.dialects.dataflow import KernelOp, Place


def with_operand(kernel: KernelOp, value: SSAValue, kind: Attribute) -> BlockArgument:
    """What is `value` outside is one more operand of `kernel`: inside, of this `kind`."""
    block = kernel.body.block
    port = block.insert_arg(kind, len(block.args))
    port.name_hint = value.name_hint
    kernel.operands = [*kernel.operands, value]
    return port


def without_operands(kernel: KernelOp, dropped: Collection[BlockArgument]) -> None:
    """`kernel` takes no more what is `dropped` inside, which nothing there uses."""
    left = [port.index for port in kernel.arguments if port not in dropped]
    places = [None if place is None else _moved(place, left) for place in kernel.places]
    kernel.operands = [kernel.inputs[index] for index in left]
    kernel.places = places
    for port in dropped:
        port.block.erase_arg(port)


def _moved(place: Place, left: list[int]) -> Place:
    offsets = zip(place.offsets, place.scalars, strict=True)
    moved = tuple(left.index(offset) if is_operand else offset for offset, is_operand in offsets)
    return replace(place, operand=left.index(place.operand), offsets=moved)
