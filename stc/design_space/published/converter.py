"""Algorithm 1 as printed: the converter between two stream orders, by walking over the dimensions of the tensor.

For each data dimension in turn it asks which loops drive it on both sides; where these stand at the same positions they are shared
and the buffer holds one element of that dimension. At the first dimension that does not match it stops: that dimension and those
behind it are buffered whole. Trip counts and steps are not looked at. The buffer is doubled for ping-pong.

Against our `stc.iteration.converter.infer_converter`, which walks over the loops from the outside: on the publication's own example
(types (b) and (c) over 8x8) this gives a buffer of 8x8 where its text says 8x2, and between types whose loops differ in trip count
or step it shares loops that are not the same. The last is a ValueError here, never a plan.
"""

from __future__ import annotations

from stc.iteration.converter import ConverterPlan, block_order, check_orders
from stc.iteration.order import StreamOrder


def published_converter(source: StreamOrder, target: StreamOrder) -> ConverterPlan:
    """The plan of Algorithm 1 as printed; ValueError, as a clause about it, where what it decides is no converter."""
    check_orders(source, target)
    shared, buffer_shape = shared_loops(source, target)
    if (gap := next((loop for loop in range(len(shared)) if loop not in shared), None)) is not None:
        raise ValueError(f"shares loop {max(shared)} but not loop {gap} around it")
    for loop in sorted(shared):
        if source.loops[loop] != target.loops[loop]:
            first, second = source.loops[loop], target.loops[loop]
            raise ValueError(
                f"shares loop {loop}, which is {first.trip} times a step of {first.step} on one side and {second.trip} times "
                f"{second.step} on the other"
            )
    needed = block_order(source, len(shared)).static_shape
    if buffer_shape != needed and any(held < want for held, want in zip(buffer_shape, needed, strict=True)):
        raise ValueError(f"buffers {list(buffer_shape)} entries where {list(needed)} are visited inside the shared loops")
    return ConverterPlan(source, target, len(shared), buffer_shape)


def shared_loops(source: StreamOrder, target: StreamOrder) -> tuple[set[int], tuple[int, ...]]:
    """The positions of the loops that Algorithm 1 shares, and the shape of its buffer."""
    shared: set[int] = set()
    shape = list(source.static_shape)
    for dimension, (first, second) in enumerate(zip(source.coordinates, target.coordinates, strict=True)):
        if not first.loops or first.loops != second.loops:
            break
        shared |= set(first.loops)
        shape[dimension] = source.element[dimension]
    return shared, tuple(shape)
