"""Tensors whose entries lie one after the other as a stream order sends them."""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.ir import SSAValue

from stc.iteration.order import StreamOrder
from stc.iteration.reshape import Groups, positions
from stc.iteration.size import static
from stc.transforms.linalg.generics import shape_of, transposed
from stc.transforms.linalg.reshapes import collapse_shape, split_value


def in_order(builder: Builder, value: SSAValue, order: StreamOrder) -> SSAValue:
    """The entries of `value` as a tensor of one dimension, in the order in which `order` has its distinct tokens, those of a token
    row-major. `order` is exact, and its sizes are static."""
    assert order.is_static and order.is_exact
    parts, dims = _split(order.without_reuse().without_unit_loops())
    numbers = positions(dims)
    wanted = [numbers[dimension][at] for dimension, at in parts]
    if wanted != sorted(wanted):
        made, value = split_value(value, dims)
        for op in (*made, *transposed(value, wanted)):
            value = builder.insert(op).results[0]
    shape = shape_of(value)
    return value if len(shape) == 1 else builder.insert(collapse_shape(value, (shape,))).result


def _split(order: StreamOrder) -> tuple[list[tuple[int, int]], Groups]:
    """Of each loop, and then of each dimension of a token, the dimension that it moves along, and which of its parts it is; and the
    extents of the parts of each dimension, a token's last."""
    loops: dict[int, tuple[int, int]] = {}
    entries: list[tuple[int, int]] = []
    groups: list[tuple[int, ...]] = []
    for dimension, extent in enumerate(order.element):
        moving = sorted(order.loops_of(dimension), key=lambda loop: -order.loops[loop].step)
        extents = [static(order.loops[loop].trip) for loop in moving]
        loops |= {loop: (dimension, at) for at, loop in enumerate(moving)}
        if extent > 1 or not moving:
            entries.append((dimension, len(moving)))
            extents.append(extent)
        groups.append(tuple(extents))
    return [*(loops[loop] for loop in range(len(order.loops))), *entries], tuple(groups)
