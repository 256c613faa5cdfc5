"""Where the tokens of a part of a tensor lie in memory that holds all of it."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from stc.iteration.normal_form import normal_form
from stc.iteration.order import Loop, StreamOrder
from stc.iteration.size import Size, maximum, minimum, static


def enlarged(order: StreamOrder, shape: Sequence[int]) -> StreamOrder:
    """`order` (static, without reuse) for a tensor of `shape`, of which it has the first entries: the loops run on, as one where
    one continued the other.

    ValueError where a dimension that grows has not one loop over single entries.
    """
    if order.static_shape == tuple(shape):
        return order
    order = normal_form(order)
    loops = list(order.loops)
    for dimension, (extent, whole) in enumerate(zip(order.static_shape, shape, strict=True)):
        if extent == whole:
            continue
        if len(own := order.loops_of(dimension)) != 1 or loops[own[0]].step != 1 or order.element[dimension] != 1:
            raise ValueError(f"{extent} of the {whole} entries of dimension {dimension}")
        loops[own[0]] = Loop(whole, 1)
    return StreamOrder(order.element, tuple(loops), order.coordinates)


def token_strides(layout: StreamOrder, part: StreamOrder) -> list[int | None]:
    """How many tokens of memory further each loop of `part` goes per iteration; None of a reuse loop.

    `layout` (static) is the order in which the tokens of the whole tensor lie, each once. A loop of `part` is one of `layout` that
    may end earlier, or one of larger steps along a dimension that one loop of `layout` runs along. ValueError where it is neither.
    """
    if layout.element != part.element:
        raise ValueError(f"tokens of {list(part.element)} in memory with tokens of {list(layout.element)}")
    layout = layout.without_reuse()
    strides: list[int | None] = []
    for loop, dimension in zip(part.loops, part.dimension_of_loop, strict=True):
        strides.append(None if dimension is None else _stride(layout, dimension, loop.step, maximum(loop.trip)))
    return strides


def entry_stride(layout: StreamOrder, dimension: int, offset: Size) -> int:
    """How many tokens further the tensor's next entry along `dimension` lies, for a part that begins at `offset` there.

    0 where it begins with the tensor. ValueError where not every such offset is the beginning of a token, or no one stride leads
    there.
    """
    if offset == 0:
        return 0
    layout = layout.without_reuse()
    loops = layout.loops_of(dimension)
    if len(loops) != 1 or layout.loops[loops[0]].step != 1:
        raise ValueError(f"dimension {dimension} begins at {offset}, where memory has no loop over single entries")
    return _stride(layout, dimension, 1, maximum(offset) - minimum(offset) + 1)


def _stride(layout: StreamOrder, dimension: int, step: int, trip: int) -> int:
    loops = layout.loops_of(dimension)
    same = [loop for loop in loops if layout.loops[loop].step == step and trip <= static(layout.loops[loop].trip)]
    if same:
        return _tokens_inside(layout, same[0])
    if len(loops) == 1 and step % layout.loops[loops[0]].step == 0:
        return _tokens_inside(layout, loops[0]) * (step // layout.loops[loops[0]].step)
    raise ValueError(f"a loop of {trip} steps of {step} along dimension {dimension}, which memory has not")


def _tokens_inside(layout: StreamOrder, loop: int) -> int:
    return prod(static(inner.trip) for inner in layout.loops[loop + 1 :])
